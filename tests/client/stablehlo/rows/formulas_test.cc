// Formulas that CHLO has functions for, against their functions in 50 digits, in every dtype.
#include <cmath>
#include <complex>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/stablehlo/check/compare.h"
#include "client/stablehlo/stablehlo.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/cpu/client/cpu_client.h"
#include "tests/testing/matchers.h"

namespace hawser::stablehlo {
namespace {

// What an op makes of vectors; `type` is of their elements.
Literal Computed(const std::string& op, const std::string& type,
                 const std::vector<Literal>& operands,
                 const std::string& attributes = "") {
  const std::string tensor =
      absl::StrCat("tensor<", operands[0].shape().dim(0), "x", type, ">");
  std::string arguments, names, types;
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::string comma = i == 0 ? "" : ", ";
    absl::StrAppend(&arguments, comma, "%a", i, ": ", tensor);
    absl::StrAppend(&names, comma, "%a", i);
    absl::StrAppend(&types, comma, tensor);
  }
  auto module = ReadProgram(
      absl::StrCat("func.func @main(", arguments, ") -> ", tensor,
                   " {\n  %0 = \"", op, "\"(", names, ") ", attributes, " : (",
                   types, ") -> ", tensor, "\n  return %0 : ", tensor, "\n}"));
  EXPECT_OK(module);
  if (!module.ok()) return Literal();
  const auto client = cpu::MakeCpuClient();
  const auto executable =
      client->Compile(std::make_shared<const Module>(std::move(module->module)),
                      {.numerics = runtime::Numerics::kStrict}, {});
  EXPECT_OK(executable);
  const std::vector<runtime::Argument> given(operands.begin(), operands.end());
  return *(*(*executable)->Execute(given, {}))[0]->Fetch({}).Await();
}

template <typename T>
Literal VectorOf(const std::vector<T>& values) {
  return Literal::Of<T>(absl::MakeConstSpan(values),
                        {static_cast<int64_t>(values.size())});
}

void ExpectWithin(int64_t ulps, const Literal& actual, const Literal& expected,
                  const std::string& what) {
  EXPECT_EQ(Difference({.kind = Check::kClose, .ulps = ulps}, actual, expected),
            "")
      << what;
}

struct RealCase {
  const char* name;
  std::vector<double> x, y;
};

const RealCase kReals[] = {
    {"sinh",
     {1e-9, 0.3, -2.5, 40, -710},
     {1.0000000000000001e-9, 0.30452029344714261, -6.0502044810397873,
      1.1769263341850999e+17, -1.1169973830808555e+308}},
    {"cosh",
     {0.001, 1.5, -30, 710},
     {1.0000005000000417, 2.3524096152432473, 5343237290762.2311,
      1.1169973830808555e+308}},
    {"asin",
     {1e-8, 0.5, -0.999},
     {1.0e-8, 0.52359877559829887, -1.5260712396261632}},
    {"acos",
     {0.999999, -0.25, -1},
     {0.0014142136802445851, 1.8234765819369753, 3.1415926535897932}},
    {"atan",
     {1e-9, -3, 1e6},
     {1.0000000000000001e-9, -1.2490457723982544, 1.5707953267948966}},
    {"asinh",
     {1e-9, -0.5, 3, 1e200},
     {1.0000000000000001e-9, -0.48121182505960345, 1.8184464592320668,
      461.21016577936908}},
    {"acosh",
     {1.0009765625, 2, 1e200},
     {0.044190578083110094, 1.3169578969248167, 461.21016577936908}},
    {"atanh",
     {1e-9, 0.5, -0.96875},
     {1.0000000000000001e-9, 0.54930614433405485, -2.0715673631957663}},
    {"erf_inv",
     {1e-9, 0.25, -0.75, 0.9990234375},
     {8.8622692545275807e-10, 0.2253120550121781, -0.81341984759761854,
      2.3314677736219477}},
    {"digamma",
     {0.25, 4.5, 100, -2.25},
     {-4.2274535333762654, 1.3888709263595289, 4.6001618527380874,
      4.1585835646579723}},
    {"bessel_i1e",
     {1e-9, 0.5, -3, 7.5, 9, 100},
     {4.9999999950000003e-10, 0.1564208031848717, -0.19682671329730085,
      0.1380412115485542, 0.12722498393589121, 0.039744153025130253}},
};

template <typename T>
std::vector<T> As(const std::vector<double>& values) {
  std::vector<T> out;
  for (const double value : values) out.push_back(static_cast<T>(value));
  return out;
}

TEST(Formulas, OfF64) {
  for (const RealCase& c : kReals) {
    ExpectWithin(
        4, Computed(absl::StrCat("chlo.", c.name), "f64", {VectorOf(c.x)}),
        VectorOf(c.y), c.name);
  }
}

// Values that f32 holds exactly, so that what is off is the function.
TEST(Formulas, OfF32AreRoundedOnce) {
  for (const RealCase& c : kReals) {
    std::vector<double> x, y;
    for (size_t i = 0; i < c.x.size(); ++i) {
      if (static_cast<double>(static_cast<float>(c.x[i])) != c.x[i] ||
          std::abs(c.y[i]) > 1e38) {
        continue;
      }
      x.push_back(c.x[i]);
      y.push_back(c.y[i]);
    }
    ExpectWithin(0,
                 Computed(absl::StrCat("chlo.", c.name), "f32",
                          {VectorOf(As<float>(x))}),
                 VectorOf(As<float>(y)), c.name);
  }
}

struct ComplexCase {
  const char* name;
  std::vector<std::complex<double>> x, y;
};

const ComplexCase kComplexes[] = {
    {"sinh",
     {{0.5, -0.25}, {-3.0, 2.0}, {1.5, 0.015625}},
     {{0.50489571438799502, -0.27897912835026152},
      {4.1689069599665644, 9.1544991469114296},
      {2.1290195385744139, 0.036754904634678252}}},
    {"cosh",
     {{0.5, -0.25}, {-3.0, 2.0}, {1.5, 0.015625}},
     {{1.0925708047319177, -0.12892104172809825},
      {-4.1896256909688072, -9.1092278937553366},
      {2.3521224617086115, 0.033268637742962627}}},
    {"asin",
     {{0.5, -0.25}, {-3.0, 2.0}, {1.5, 0.015625}},
     {{0.50160885327550076, -0.28139605624529277},
      {-0.96465850440760279, 1.9686379257930963},
      {1.5568229027927863, 0.96255463136199295}}},
    {"acos",
     {{0.5, -0.25}, {-3.0, 2.0}, {1.5, 0.015625}},
     {{1.0691874735193959, 0.28139605624529277},
      {2.5354548312024994, -1.9686379257930963},
      {0.01397342400211032, -0.96255463136199295}}},
    {"atan",
     {{0.5, -0.25}, {-3.0, 2.0}, {1.5, 0.015625}},
     {{0.48425449032996622, -0.20058661813123432},
      {-1.3389725222944936, 0.14694666622552975},
      {0.98282839310356695, 0.0048074793209403085}}},
    {"asinh",
     {{0.5, -0.25}, {-3.0, 2.0}, {1.5, 0.015625}},
     {{0.49267568342077062, -0.2243284526346675},
      {-1.9833870299165354, 0.5706527843210994},
      {1.194794468905263, 0.0086670737041076525}}},
    {"acosh",
     {{0.5, -0.25}, {-3.0, 2.0}, {1.5, 0.015625}},
     {{0.28139605624529277, -1.0691874735193959},
      {1.9686379257930963, 2.5354548312024994},
      {0.96255463136199295, 0.01397342400211032}}},
    {"atanh",
     {{0.5, -0.25}, {-3.0, 2.0}, {1.5, 0.015625}},
     {{0.50037000005253102, -0.31439814320771648},
      {-0.22907268296853877, 1.4099210495965755},
      {0.80448470015805643, 1.558301369390612}}},
};

TEST(Formulas, OfComplexNumbersInEachPart) {
  for (const ComplexCase& c : kComplexes) {
    ExpectWithin(4,
                 Computed(absl::StrCat("chlo.", c.name), "complex<f64>",
                          {VectorOf(c.x)}),
                 VectorOf(c.y), c.name);
    std::vector<std::complex<float>> x(c.x.begin(), c.x.end());
    std::vector<std::complex<float>> y(c.y.begin(), c.y.end());
    ExpectWithin(
        0,
        Computed(absl::StrCat("chlo.", c.name), "complex<f32>", {VectorOf(x)}),
        VectorOf(y), c.name);
  }
}

TEST(Formulas, AtTheEdges) {
  const double inf = INFINITY, nan = NAN;
  const struct {
    const char* name;
    std::vector<double> x, y;
  } kEdges[] = {
      {"sinh", {-0.0, inf, -inf, nan}, {-0.0, inf, -inf, nan}},
      {"cosh", {0, inf, -inf, nan}, {1, inf, inf, nan}},
      {"asinh", {inf, -inf, nan}, {inf, -inf, nan}},
      {"acosh", {1, 0.5, -5, inf}, {0, nan, nan, inf}},
      {"atanh", {1, -1, 2}, {inf, -inf, nan}},
      {"erf_inv", {0, 1, -1, 2, nan}, {0, inf, -inf, nan, nan}},
      {"digamma", {0, -1, -7, nan}, {nan, nan, nan, nan}},
      {"bessel_i1e", {0, inf}, {0, 0}},
  };
  for (const auto& e : kEdges) {
    const Literal y = VectorOf(e.y);
    EXPECT_EQ(
        Difference(
            {.kind = Check::kAlmostEqual, .tolerance = 1e-14},
            Computed(absl::StrCat("chlo.", e.name), "f64", {VectorOf(e.x)}), y),
        "")
        << e.name;
  }
}

// tan of what it gives is y / x, also where that is no real number.
TEST(Formulas, Atan2OfComplexNumbersIsAnAngle) {
  using C = std::complex<double>;
  const std::vector<C> y = {{1, 0}, {0.5, 2}, {-3, 0.25}, {0.1, -0.2}};
  const std::vector<C> x = {{1, 0}, {1.5, -0.5}, {2, 1}, {4, 3}};
  std::vector<C> quotients;
  for (size_t i = 0; i < x.size(); ++i) quotients.push_back(y[i] / x[i]);
  const Literal angles = Computed("stablehlo.atan2", "complex<f64>",
                                  {VectorOf(y), VectorOf(x)});
  EXPECT_EQ(Difference({.kind = Check::kAlmostEqual, .tolerance = 1e-14},
                       Computed("stablehlo.tan", "complex<f64>", {angles}),
                       VectorOf(quotients)),
            "");
}

TEST(Formulas, NextAfterIsThatOfC) {
  const std::vector<float> numbers = {
      0,       -0.0f, 1,        -1,  1e-45f,    2.5f,
      -1e-45f, 3e38f, INFINITY, NAN, -INFINITY, 1.17549435e-38f};
  std::vector<float> from, to, next;
  for (const float a : numbers) {
    for (const float b : numbers) {
      from.push_back(a);
      to.push_back(b);
      next.push_back(std::nextafterf(a, b));
    }
  }
  EXPECT_EQ(Difference({.kind = Check::kEqual},
                       Computed("chlo.next_after", "f32",
                                {VectorOf(from), VectorOf(to)}),
                       VectorOf(next)),
            "");
}

TEST(Formulas, RoundsHalvesAwayFromZero) {
  const std::vector<double> x = {0.5,  -0.5,  0.49999999999999994, 2.5,
                                 -3.5, -0.25, 4503599627370497.0,  INFINITY};
  std::vector<double> rounded;
  for (const double value : x) rounded.push_back(std::round(value));
  EXPECT_THAT(Computed("stablehlo.round_nearest_afz", "f64", {VectorOf(x)}),
              LiteralBitEquals(VectorOf(rounded)));
}

TEST(Formulas, CountsBits) {
  EXPECT_THAT(Computed("stablehlo.popcnt", "i8",
                       {Literal::Vector<int8_t>({0, -1, 5, -128})}),
              LiteralBitEquals(Literal::Vector<int8_t>({0, 8, 2, 1})));
  EXPECT_THAT(
      Computed("stablehlo.popcnt", "ui64",
               {Literal::Vector<uint64_t>({~uint64_t{0}, uint64_t{5} << 40})}),
      LiteralBitEquals(Literal::Vector<uint64_t>({64, 2})));
}

TEST(Formulas, ReducesPrecision) {
  EXPECT_THAT(
      Computed(
          "stablehlo.reduce_precision", "f32",
          {Literal::Vector<float>({1.0f, 1.0f + 0x1p-11f, 1.0f + 0x1p-10f,
                                   1.0f + 0x3p-11f, 70000, -1e-6f, 65519.0f})},
          "{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}"),
      LiteralBitEquals(
          Literal::Vector<float>({1.0f, 1.0f, 1.0f + 0x1p-10f, 1.0f + 0x1p-9f,
                                  INFINITY, -0.0f, 65504.0f})));
}

}  // namespace
}  // namespace hawser::stablehlo
