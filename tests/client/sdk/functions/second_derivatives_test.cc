// Second derivatives in both orders, at points where a formula guards itself,
// beside closed forms computed here in f64.
#include <cmath>
#include <functional>
#include <iostream>
#include <numbers>
#include <string>
#include <vector>

#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

constexpr double kRoundingOfSecond = 1e-9;

double ValueOf(const Tensor& x) {
  const auto value = Convert(x, DType::kF64).Fetch();
  EXPECT_OK(value);
  return value.ok() ? value->data<double>()[0] : std::nan("");
}

void ExpectClose(double got, double want, const std::string& what) {
  EXPECT_NEAR(got, want, kRoundingOfSecond * (1 + std::abs(want))) << what;
}

struct OfTwo {
  std::string name;
  std::function<Tensor(Tensor, Tensor)> fn;
  // Of it by both.
  std::function<double(double, double)> mixed;
  std::vector<std::pair<double, double>> points;
};

const std::vector<OfTwo>& FunctionsOfTwo() {
  static const auto& functions = *new std::vector<OfTwo>{
      {"Power",
       [](Tensor x, Tensor y) { return Power(x, y); },
       [](double x, double y) {
         return std::pow(x, y - 1) * (1 + y * std::log(x));
       },
       {{23, 0},
        {2, 0},
        {0.5, 0},
        {1, 0},
        {1e-3, 0},
        {7, 1},
        {3, -2},
        {2, 0.5},
        {1e10, 0}}},
      {"Power times a power",
       [](Tensor x, Tensor y) { return Power(x, y) * x; },
       [](double x, double y) {
         return std::pow(x, y) * (1 + (y + 1) * std::log(x));
       },
       {{23, 0}, {3, 0}, {2, -1}}},
      {"Atan2",
       [](Tensor y, Tensor x) { return Atan2(y, x); },
       [](double y, double x) {
         const double r = x * x + y * y;
         return (y * y - x * x) / (r * r);
       },
       {{3, 4}, {1, 1}, {0, 2}, {2, 0}, {-3, 3}, {5, -5}, {1e-3, 1e3}}},
      {"Divide",
       [](Tensor x, Tensor y) { return x / y; },
       [](double, double y) { return -1 / (y * y); },
       {{0, 2}, {3, -4}, {1, 1}}},
      {"Multiply",
       [](Tensor x, Tensor y) { return x * y; },
       [](double, double) { return 1.0; },
       {{0, 0}, {0, 3}}},
      {"a product of two",
       [](Tensor x, Tensor y) {
         return Product(Stack({x, y, x}));
       },
       [](double x, double) { return 2 * x; },
       {{0, 0}, {0, 2}, {3, 0}}},
  };
  return functions;
}

const std::vector<OfTwo>& CompositesOfTwo() {
  static const auto& functions = *new std::vector<OfTwo>{
      {"the size of a complex number",
       [](Tensor x, Tensor y) { return Abs(Complex(x, y)); },
       [](double x, double y) {
         return -x * y / std::pow(std::hypot(x, y), 3);
       },
       {{3, 4}, {0, 2}, {2, 0}, {-1, 1}}},
      {"LogSumExp",
       [](Tensor x, Tensor y) {
         return LogSumExp(Stack({x, y}));
       },
       [](double x, double y) {
         const double p = 1 / (1 + std::exp(y - x));
         return -p * (1 - p);
       },
       {{0, 0}, {1, 1}, {3, -2}}},
      {"Softmax",
       [](Tensor x, Tensor y) {
         return Softmax(Stack({x, y}))[{0}];
       },
       [](double x, double y) {
         const double p = 1 / (1 + std::exp(y - x));
         return -p * (1 - p) * (1 - 2 * p);
       },
       {{0, 0}, {2, 2}, {1, -1}}},
  };
  return functions;
}

void ExpectBothOrders(const std::vector<OfTwo>& functions) {
  int points = 0;
  for (const OfTwo& one : functions) {
    for (const auto& [x, y] : one.points) {
      const double want = one.mixed(x, y);
      const std::string what =
          one.name + " at " + std::to_string(x) + ", " + std::to_string(y);
      ExpectClose(ValueOf(Grad<1>(Grad<0>(one.fn))(F64(x), F64(y))), want,
                  what + ", by the first, then the second");
      ExpectClose(ValueOf(Grad<0>(Grad<1>(one.fn))(F64(x), F64(y))), want,
                  what + ", by the second, then the first");
      ++points;
    }
  }
  std::cout << points << " mixed second derivatives\n";
}

TEST(SecondDerivatives, AreTheSameInBothOrders) {
  ExpectBothOrders(FunctionsOfTwo());
  ExpectBothOrders(CompositesOfTwo());
}

// At 0 to the 0 there is none; both orders say 0.
TEST(SecondDerivatives, OfZeroToThePowerZeroAgree) {
  const auto power = [](Tensor x, Tensor y) { return Power(x, y); };
  EXPECT_EQ(ValueOf(Grad<1>(Grad<0>(power))(F64(0), F64(0))), 0);
  EXPECT_EQ(ValueOf(Grad<0>(Grad<1>(power))(F64(0), F64(0))), 0);
  EXPECT_EQ(ValueOf(Grad<0>(power)(F64(0), F64(0))), 0);
}

struct OfOne {
  std::string name;
  std::function<Tensor(Tensor)> fn;
  std::function<double(double)> first, second;
  std::vector<double> points;
};

double SechSquared(double x) { return 1 / (std::cosh(x) * std::cosh(x)); }

constexpr double kBellOfErf = 2 * std::numbers::inv_sqrtpi;

const std::vector<OfOne>& HyperbolicFunctions() {
  static const auto& functions = *new std::vector<OfOne>{
      {"Sinh",
       [](Tensor x) { return Sinh(x); },
       [](double x) { return std::cosh(x); },
       [](double x) { return std::sinh(x); },
       {0, -0.0, 1, -2, 20, -20, 25}},
      {"Cosh",
       [](Tensor x) { return Cosh(x); },
       [](double x) { return std::sinh(x); },
       [](double x) { return std::cosh(x); },
       {0, 1, -2, 20, -20, 25}},
      {"Tanh",
       [](Tensor x) { return Tanh(x); },
       SechSquared,
       [](double x) { return -2 * std::tanh(x) * SechSquared(x); },
       {0, 1, -2}},
      {"Asinh",
       [](Tensor x) { return Asinh(x); },
       [](double x) { return 1 / std::hypot(x, 1); },
       [](double x) { return -x / std::pow(std::hypot(x, 1), 3); },
       {0, -0.0, 1, -3, 1e5}},
      {"Acosh",
       [](Tensor x) { return Acosh(x); },
       [](double x) { return 1 / std::sqrt(x * x - 1); },
       [](double x) { return -x / std::pow(x * x - 1, 1.5); },
       {1.5, 4, 1e4}},
      {"Atanh",
       [](Tensor x) { return Atanh(x); },
       [](double x) { return 1 / (1 - x * x); },
       [](double x) { return 2 * x / std::pow(1 - x * x, 2); },
       {0, 0.5, -0.9}},
      {"Asin",
       [](Tensor x) { return Asin(x); },
       [](double x) { return 1 / std::sqrt(1 - x * x); },
       [](double x) { return x / std::pow(1 - x * x, 1.5); },
       {0, 0.5, -0.9}},
      {"Acos",
       [](Tensor x) { return Acos(x); },
       [](double x) { return -1 / std::sqrt(1 - x * x); },
       [](double x) { return -x / std::pow(1 - x * x, 1.5); },
       {0, 0.5, -0.9}},
      {"Atan",
       [](Tensor x) { return Atan(x); },
       [](double x) { return 1 / (1 + x * x); },
       [](double x) { return -2 * x / std::pow(1 + x * x, 2); },
       {0, 1, -1, 3, 1e6}},
  };
  return functions;
}

const std::vector<OfOne>& OtherFunctions() {
  static const auto& functions = *new std::vector<OfOne>{
      {"Expm1",
       [](Tensor x) { return Expm1(x); },
       [](double x) { return std::exp(x); },
       [](double x) { return std::exp(x); },
       {0, 1, -2}},
      {"Log1p",
       [](Tensor x) { return Log1p(x); },
       [](double x) { return 1 / (1 + x); },
       [](double x) { return -1 / ((1 + x) * (1 + x)); },
       {0, 3, -0.5}},
      {"Sigmoid",
       [](Tensor x) { return Sigmoid(x); },
       [](double x) { return 0.25 / std::pow(std::cosh(x / 2), 2); },
       [](double x) {
         return -0.25 * std::tanh(x / 2) / std::pow(std::cosh(x / 2), 2);
       },
       {0, 1, -3}},
      {"Erf",
       [](Tensor x) { return Erf(x); },
       [](double x) { return kBellOfErf * std::exp(-x * x); },
       [](double x) { return -2 * x * kBellOfErf * std::exp(-x * x); },
       {0, 0.5, -1}},
      {"ErfInv",
       [](Tensor x) { return ErfInv(Erf(x)); },
       [](double) { return 1.0; },
       [](double) { return 0.0; },
       {0, 0.25, -0.5, 1.5}},
      {"Square of a power",
       [](Tensor x) { return Power(x, 2.0); },
       [](double x) { return 2 * x; },
       [](double) { return 2.0; },
       {0, -0.0, 1, -3}},
      {"Cube by a power",
       [](Tensor x) { return Power(x, 3.0); },
       [](double x) { return 3 * x * x; },
       [](double x) { return 6 * x; },
       {0, 1, -3}},
      {"The power 1",
       [](Tensor x) { return Power(x, 1.0); },
       [](double) { return 1.0; },
       [](double) { return 0.0; },
       {0, 1, -3}},
      {"The power 0",
       [](Tensor x) { return Power(x, 0.0); },
       [](double) { return 0.0; },
       [](double) { return 0.0; },
       {0, 1, -3}},
      {"Exponent",
       [](Tensor x) { return Power(2.0, x); },
       [](double x) { return std::log(2) * std::exp2(x); },
       [](double x) { return std::log(2) * std::log(2) * std::exp2(x); },
       {0, 1, -3}},
  };
  return functions;
}

const std::vector<OfOne>& RootsAndSigns() {
  static const auto& functions = *new std::vector<OfOne>{
      {"Sign",
       [](Tensor x) { return Sign(x); },
       [](double) { return 0.0; },
       [](double) { return 0.0; },
       {0, -0.0, 1, -2}},
      {"Sign times a square",
       [](Tensor x) { return Sign(x) * x * x; },
       [](double x) { return 2 * std::abs(x); },
       [](double x) { return x > 0   ? 2.0
                             : x < 0 ? -2.0
                                     : 0.0; },
       {0, 1, -2}},
      {"Sqrt",
       [](Tensor x) { return Sqrt(x); },
       [](double x) { return 0.5 / std::sqrt(x); },
       [](double x) { return -0.25 * std::pow(x, -1.5); },
       {4, 1, 1e-4, 1e8}},
      {"Rsqrt",
       [](Tensor x) { return Rsqrt(x); },
       [](double x) { return -0.5 * std::pow(x, -1.5); },
       [](double x) { return 0.75 * std::pow(x, -2.5); },
       {4, 1, 1e-2, 1e6}},
      {"Cbrt",
       [](Tensor x) { return Cbrt(x); },
       [](double x) { return 1 / (3 * std::pow(std::cbrt(x), 2)); },
       [](double x) { return -2 / (9 * std::pow(std::cbrt(x), 5)); },
       {8, -8, 1, 1e-3, -1e6}},
      {"Cbrt of a cube",
       [](Tensor x) { return Cbrt(x * x * x); },
       [](double) { return 1.0; },
       [](double) { return 0.0; },
       {1, -2, 0.5}},
      {"Clip",
       [](Tensor x) { return Clip(x, -1.0, 1.0) * x; },
       [](double x) { return std::abs(x) < 1 ? 2 * x
                             : x > 0         ? 1.0
                                             : -1.0; },
       [](double x) { return std::abs(x) < 1 ? 2.0 : 0.0; },
       {0, 0.5, -0.25, 2, -3}},
  };
  return functions;
}

const std::vector<OfTwo>& FoldsOfTwo() {
  static const auto& functions = *new std::vector<OfTwo>{
      {"products so far",
       [](Tensor x, Tensor y) {
         return Sum(CumulativeProduct(Stack({x, y, x})));
       },
       [](double x, double) { return 1 + 2 * x; },
       {{0, 0}, {0, 2}, {3, 0}, {2, -1}}},
      {"the larger, times the first",
       [](Tensor x, Tensor y) { return Maximum(x, y) * x; },
       [](double x, double y) { return y > x ? 1.0 : 0.0; },
       {{0, 2}, {2, 0}, {-1, -3}}},
      {"the standard deviation",
       [](Tensor x, Tensor y) {
         return StandardDeviation(Stack({x, y}));
       },
       [](double, double) { return 0.0; },
       {{3, 1}, {-1, 2}}},
      {"a complex square",
       [](Tensor x, Tensor y) {
         const Tensor z = Complex(x, y);
         return Imag(z * z);
       },
       [](double, double) { return 2.0; },
       {{0, 0}, {1, 0}, {0, -2}, {3, 4}}},
  };
  return functions;
}

// Which of two equal numbers is the larger is a choice, the same in both
// orders.
TEST(SecondDerivatives, AtTiesAgree) {
  const std::vector<
      std::pair<const char*, std::function<Tensor(Tensor, Tensor)>>>
      functions = {
          {"max", [](Tensor x, Tensor y) { return Maximum(x, y) * x; }},
          {"min", [](Tensor x, Tensor y) { return Minimum(x, y) * y; }},
          {"clip", [](Tensor x, Tensor y) { return Clip(x, -y, y) * x * y; }},
          {"reduce",
           [](Tensor x, Tensor y) {
             return ReduceMax(Stack({x, y})) * x;
           }},
          {"deviation",
           [](Tensor x, Tensor y) {
             return Square(StandardDeviation(Stack({x, y})));
           }},
          {"complex root",
           [](Tensor x, Tensor y) { return Real(Sqrt(Complex(x, y))); }},
          {"complex logarithm",
           [](Tensor x, Tensor y) { return Imag(Log(Complex(x, y))); }},
          {"complex power",
           [](Tensor x, Tensor y) {
             return Real(Power(Complex(x, y), Complex(2.5, 0.0)));
           }},
          {"complex size",
           [](Tensor x, Tensor y) { return Abs(Complex(x, y)) * x; }},
          {"complex sign",
           [](Tensor x, Tensor y) { return Real(Sign(Complex(x, y))); }},
          {"complex inverse",
           [](Tensor x, Tensor y) { return Imag(Asin(Complex(x, y))); }},
      };
  for (const auto& [name, fn] : functions) {
    for (const double at : {0.0, 1.0, -2.0}) {
      const double one = ValueOf(Grad<1>(Grad<0>(fn))(F64(at), F64(at)));
      const double other = ValueOf(Grad<0>(Grad<1>(fn))(F64(at), F64(at)));
      std::cout << name << " at " << at << ": " << one << ", " << other << "\n";
      const double rounding = kRoundingOfSecond * std::abs(one);
      EXPECT_TRUE(std::abs(one - other) <= rounding || one == other ||
                  (std::isnan(one) && std::isnan(other)))
          << name;
    }
  }
}

void ExpectClosedForms(const std::vector<OfOne>& functions) {
  int points = 0;
  for (const OfOne& one : functions) {
    for (const double x : one.points) {
      const std::string what = one.name + " at " + std::to_string(x);
      ExpectClose(ValueOf(Grad(one.fn)(F64(x))), one.first(x), what);
      ExpectClose(ValueOf(Grad(Grad(one.fn))(F64(x))), one.second(x),
                  what + ", second");
      ++points;
    }
  }
  std::cout << points << " second derivatives\n";
}

TEST(SecondDerivatives, OfFunctionsOfOneNumberAreClosedForms) {
  ExpectClosedForms(HyperbolicFunctions());
  ExpectClosedForms(OtherFunctions());
  ExpectClosedForms(RootsAndSigns());
}

TEST(SecondDerivatives, OfFoldsAreTheSameInBothOrders) {
  ExpectBothOrders(FoldsOfTwo());
}

// Where two series meet, and where one is kept to its bound, the slope is that
// of both sides.
TEST(SecondDerivatives, AreSmoothWhereSeriesMeet) {
  const auto i0e = [](Tensor x) { return BesselI0e(x); };
  const auto i1e = [](Tensor x) { return BesselI1e(x); };
  const auto erf_inv = [](Tensor x) { return ErfInv(x); };
  const struct {
    std::string name;
    std::function<Tensor(Tensor)> fn;
    double at;
  } meets[] = {{"i0e", i0e, 8},
               {"i0e", i0e, -8},
               {"i1e", i1e, 8},
               {"i1e", i1e, -8},
               {"erf_inv", erf_inv, 0.85},
               {"erf_inv", erf_inv, -0.85}};
  for (const auto& [name, fn, at] : meets) {
    for (int order : {1, 2}) {
      const auto derivative = [&](double x) {
        return ValueOf(order == 1 ? Grad(fn)(F64(x)) : Grad(Grad(fn))(F64(x)));
      };
      const double sides = (derivative(at - 1e-6) + derivative(at + 1e-6)) / 2;
      EXPECT_NEAR(derivative(at), sides, 1e-5 * std::abs(sides))
          << name << " at " << at << ", order " << order;
    }
  }
}

}  // namespace
}  // namespace hawser
