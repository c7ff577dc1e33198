// Gradients of f16 and bf16, and of f32 at its ends, beside derivatives in f64:
// at everyday numbers and large ones, nothing on the way leaves the range where
// the result does not.
#include <cmath>
#include <functional>
#include <iostream>
#include <numbers>
#include <string>
#include <vector>

#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

// One number of `dtype`, as it is rounded there.
double RoundedIn(DType dtype, double x) {
  return Convert(Scalar(dtype, x), DType::kF64).Fetch()->data<double>()[0];
}

// Within two units in the last place, or of the smallest number.
void ExpectNearInDType(double got, double want, DType dtype,
                       const std::string& what, bool saturates = false) {
  const double unit = dtype == DType::kF16    ? 0x1p-10
                      : dtype == DType::kBF16 ? 0x1p-7
                                              : 0x1p-23;
  const double least = dtype == DType::kF16 ? 0x1p-24 : 0x1p-133;
  const double most = dtype == DType::kF16 ? 65504 : 3.3e38;
  if (std::abs(want) > most) return;  // the result leaves the range itself
  const double size = saturates ? 1 : std::abs(want);
  EXPECT_NEAR(got, want, 2 * (unit * size + least))
      << what << " of " << DTypeName(dtype);
}

struct Differentiated {
  std::string name;
  std::function<Tensor(Tensor)> fn;
  std::function<double(double)> slope;
  std::vector<double> points;
  // Made of the rounded result's distance from 1, which is known to a unit.
  bool saturates = false;
};

double SechSquaredAt(double x) { return 1 / (std::cosh(x) * std::cosh(x)); }

constexpr double kSlopeOfErf = 2 * std::numbers::inv_sqrtpi;

const std::vector<Differentiated>& Elementary() {
  static const auto& functions = *new std::vector<Differentiated>{
      {"Exp",
       [](Tensor x) { return Exp(x); },
       [](double x) { return std::exp(x); },
       {0, 1, -3, 8, -9}},
      {"Expm1",
       [](Tensor x) { return Expm1(x); },
       [](double x) { return std::exp(x); },
       {0, 1, -3, -7, -9}},
      {"Log",
       [](Tensor x) { return Log(x); },
       [](double x) { return 1 / x; },
       {0.01, 1, 300, 60000}},
      {"Log1p",
       [](Tensor x) { return Log1p(x); },
       [](double x) { return 1 / (1 + x); },
       {0, -0.875, 3, 300, 60000}},
      {"Log2",
       [](Tensor x) { return Log2(x); },
       [](double x) { return std::numbers::log2e / x; },
       {0.01, 1, 300}},
      {"Sqrt",
       [](Tensor x) { return Sqrt(x); },
       [](double x) { return 0.5 / std::sqrt(x); },
       {1e-4, 1, 300, 60000}},
      {"Rsqrt",
       [](Tensor x) { return Rsqrt(x); },
       [](double x) { return -0.5 / (x * std::sqrt(x)); },
       {6e-4, 1e-3, 1, 300, 60000}},
      {"Cbrt",
       [](Tensor x) { return Cbrt(x); },
       [](double x) { return 1 / (3 * std::cbrt(x) * std::cbrt(x)); },
       {1e-5, 1, -300, 60000}},
      {"Sigmoid",
       [](Tensor x) { return Sigmoid(x); },
       [](double x) { return 0.25 / std::pow(std::cosh(x / 2), 2); },
       {0, 1, -3, 6, 8, -8},
       /*saturates=*/true},
      {"Tanh",
       [](Tensor x) { return Tanh(x); },
       SechSquaredAt,
       {0, 1, 3, -4, 5},
       /*saturates=*/true},
  };
  return functions;
}

const std::vector<Differentiated>& Circular() {
  static const auto& functions = *new std::vector<Differentiated>{
      {"Sin",
       [](Tensor x) { return Sin(x); },
       [](double x) { return std::cos(x); },
       {0, 1, -3, 100}},
      {"Cos",
       [](Tensor x) { return Cos(x); },
       [](double x) { return -std::sin(x); },
       {0, 1, -3, 100}},
      {"Tan",
       [](Tensor x) { return Tan(x); },
       [](double x) { return 1 / std::pow(std::cos(x), 2); },
       {0, 1, -3, 1.5}},
      {"a small part of Tan",
       [](Tensor x) { return Tan(x) * 1e-3; },
       [](double x) { return 1e-3 / std::pow(std::cos(x), 2); },
       {1.5, 1.5625}},
  };
  return functions;
}

const std::vector<Differentiated>& Inverses() {
  static const auto& functions = *new std::vector<Differentiated>{
      {"Asin",
       [](Tensor x) { return Asin(x); },
       [](double x) { return 1 / std::sqrt(1 - x * x); },
       {0, 0.5, -0.875}},
      {"Acos",
       [](Tensor x) { return Acos(x); },
       [](double x) { return -1 / std::sqrt(1 - x * x); },
       {0, 0.5, -0.875}},
      {"Atan",
       [](Tensor x) { return Atan(x); },
       [](double x) { return 1 / (1 + x * x); },
       {0, 1, 30, 200, -200}},
      {"Sinh",
       [](Tensor x) { return Sinh(x); },
       [](double x) { return std::cosh(x); },
       {0, 1, -9, 10}},
      {"Cosh",
       [](Tensor x) { return Cosh(x); },
       [](double x) { return std::sinh(x); },
       {0, 1, -9, 10}},
      {"Asinh",
       [](Tensor x) { return Asinh(x); },
       [](double x) { return 1 / std::hypot(1, x); },
       {0, 1, -300, 60000}},
      {"Acosh",
       [](Tensor x) { return Acosh(x); },
       [](double x) { return 1 / std::sqrt(x * x - 1); },
       {1.5, 300, 60000}},
      {"Atanh",
       [](Tensor x) { return Atanh(x); },
       [](double x) { return 1 / (1 - x * x); },
       {0, 0.5, -0.875}},
      {"Erf",
       [](Tensor x) { return Erf(x); },
       [](double x) { return kSlopeOfErf * std::exp(-x * x); },
       {0, 1, -2, 3, 300}},
      {"Erfc",
       [](Tensor x) { return Erfc(x); },
       [](double x) { return -kSlopeOfErf * std::exp(-x * x); },
       {0, 1, -2, 3, 300}},
  };
  return functions;
}

const std::vector<Differentiated>& OfSeveralSteps() {
  static const auto& functions = *new std::vector<Differentiated>{
      {"Atan2 beside 200",
       [](Tensor x) { return Atan2(x, 200); },
       [](double x) { return 200 / (x * x + 40000); },
       {200, 3, -500, 20000}},
      {"Atan2 below 200",
       [](Tensor x) { return Atan2(200, x); },
       [](double x) { return -200 / (x * x + 40000); },
       {200, 3, -500, 20000}},
      {"a quotient",
       [](Tensor x) { return 300 / x; },
       [](double x) { return -300 / (x * x); },
       {3, 300, -1000, 0.125}},
      {"a small part of a quotient",
       [](Tensor x) { return 16 / x * 0.0009765625; },
       [](double x) { return -0.015625 / (x * x); },
       {0.002, 0.004}},
      {"a square by a power",
       [](Tensor x) { return Power(x, 2); },
       [](double x) { return 2 * x; },
       {0, 3, -300, 255}},
      {"the power 0",
       [](Tensor x) { return Power(x, 0.0); },
       [](double) { return 0.0; },
       {0, 1e-5, 3, -300}},
      {"an exponent",
       [](Tensor x) { return Power(2, x); },
       [](double x) { return std::numbers::ln2 * std::exp2(x); },
       {0, 3, -8, 15}},
      {"LogSumExp",
       [](Tensor x) {
         return LogSumExp(Stack({x, x - 1}));
       },
       [](double) { return 1.0; },
       {0, 3, -300, 1000}},
      {"Softplus by parts",
       [](Tensor x) { return Maximum(x, 0) + Log1p(Exp(-Abs(x))); },
       [](double x) { return 1 / (1 + std::exp(-x)); },
       {1, 3, 5}},
      {"StandardDeviation",
       [](Tensor x) {
         return StandardDeviation(Stack({x, -x}));
       },
       [](double x) { return x < 0 ? -1.0 : 1.0; },
       {3, -300, 2000}},
      {"Lgamma",
       [](Tensor x) { return Lgamma(x); },
       [](double x) {
         constexpr double kStep = 1e-5;
         return (std::lgamma(x + kStep) - std::lgamma(x - kStep)) / (2 * kStep);
       },
       {0.5, 3, 30, 300}},
  };
  return functions;
}

void ExpectGradientsOfF64(const std::vector<Differentiated>& functions) {
  int tried = 0;
  for (const Differentiated& one : functions) {
    for (const DType dtype : {DType::kF16, DType::kBF16}) {
      for (const double point : one.points) {
        const double x = RoundedIn(dtype, point);
        const auto got =
            Convert(Grad(one.fn)(Scalar(dtype, x)), DType::kF64).Fetch();
        ASSERT_OK(got) << one.name;
        ExpectNearInDType(got->data<double>()[0], one.slope(x), dtype,
                          one.name + " at " + std::to_string(x), one.saturates);
        ++tried;
      }
    }
  }
  std::cout << tried << " gradients of halves, " << functions.size()
            << " functions\n";
}

TEST(HalfGradients, AreThoseOfF64) {
  ExpectGradientsOfF64(Elementary());
  ExpectGradientsOfF64(Circular());
  ExpectGradientsOfF64(Inverses());
  ExpectGradientsOfF64(OfSeveralSteps());
}

// The ends of f32, where squares are out of range.
TEST(GradientsAtTheEnds, OfF32AreThoseOfF64) {
  const auto at = [](double x) { return Scalar(DType::kF32, x); };
  const auto expect = [](const Tensor& got, double want, const char* what) {
    const auto value = Convert(got, DType::kF64).Fetch();
    ASSERT_OK(value) << what;
    ExpectNearInDType(value->data<double>()[0], want, DType::kF32, what);
  };
  const auto scaled = [](Tensor y, Tensor x) { return 1e25f * Atan2(y, x); };
  const auto angle = [](Tensor y, Tensor x) { return Atan2(y, x); };
  expect(Grad<0>(scaled)(at(1e25), at(1e25)), 0.5, "Atan2 by y, large");
  expect(Grad<1>(scaled)(at(1e25), at(1e25)), -0.5, "Atan2 by x, large");
  expect(Grad<0>(angle)(at(1e-25), at(1e-25)), 0.5e25, "Atan2 by y, small");
  expect(Grad<1>(angle)(at(1e-25), at(1e-25)), -0.5e25, "Atan2 by x, small");
  expect(Grad<0>(angle)(at(3e38), at(1)), 1 / 9e76, "Atan2, far above");
  expect(Grad<1>(angle)(at(2), at(kInf)), 0, "Atan2, infinite");
  const auto size = [](Tensor x, Tensor y) { return Abs(Complex(x, y)); };
  expect(Grad<0>(size)(at(3e30), at(4e30)), 0.6, "Abs, large");
  expect(Grad<0>(size)(at(3e-30), at(4e-30)), 0.6, "Abs, small");
  const auto unit = [](Tensor x, Tensor y) {
    return Real(Sign(Complex(x, y))) * 1e25f;
  };
  // y^2 / r^3
  expect(Grad<0>(unit)(at(3e25), at(4e25)), 0.128, "Sign by x, large");
  expect(Grad<1>(unit)(at(3e25), at(4e25)), -0.096, "Sign by y, large");
}

}  // namespace
}  // namespace hawser
