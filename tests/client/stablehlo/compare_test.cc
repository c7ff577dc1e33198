// How equal is equal.
#include "client/stablehlo/check/compare.h"

#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/stablehlo/check/self_check.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/cpu/client/cpu_client.h"
#include "tests/testing/matchers.h"

namespace hawser::stablehlo {
namespace {

using ::testing::HasSubstr;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

std::string Compare(Check::Kind kind, float a, float b) {
  return Difference({.kind = kind}, Literal::Scalar(a), Literal::Scalar(b));
}

TEST(Compare, NanAndZerosByEveryCheck) {
  for (const auto kind : {Check::kEqual, Check::kClose, Check::kAlmostEqual}) {
    EXPECT_EQ(Compare(kind, kNan, -kNan), "");
    EXPECT_EQ(Compare(kind, 0.0f, -0.0f), "");
    EXPECT_EQ(Compare(kind, kInf, kInf), "");
    EXPECT_NE(Compare(kind, kInf, -kInf), "");
    EXPECT_NE(Compare(kind, kNan, 1.0f), "");
    EXPECT_NE(Compare(kind, std::numeric_limits<float>::max(), kInf), "");
    EXPECT_NE(Compare(kind, 1.0f, 2.0f), "");
  }
}

TEST(Compare, CountsUlpsAcrossZero) {
  const float tiny = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(Compare(Check::kClose, tiny, -2 * tiny), "");
  EXPECT_THAT(Compare(Check::kClose, 2 * tiny, -2 * tiny),
              HasSubstr("4 ulp off, at most 3 allowed"));
  EXPECT_NE(Compare(Check::kEqual, 1.0f, std::nextafter(1.0f, 2.0f)), "");
}

// As doubles, the numbers of two f64 are equal when they are 500 apart.
TEST(Compare, CountsUlpsOfF64OneByOne) {
  const Literal one = Literal::Scalar(1.0);
  const auto off = [&](double ulps) {
    return Difference({.kind = Check::kClose}, one,
                      Literal::Scalar(1.0 + ulps * 0x1p-52));
  };
  EXPECT_EQ(off(3), "");
  EXPECT_THAT(off(4), HasSubstr("4 ulp off"));
}

TEST(Compare, TakesATolerance) {
  EXPECT_EQ(Compare(Check::kAlmostEqual, 1000.0f, 1000.05f), "");
  EXPECT_EQ(Compare(Check::kAlmostEqual, 0.0f, 9e-5f), "");
  EXPECT_THAT(Compare(Check::kAlmostEqual, 0.0f, 2e-4f),
              HasSubstr("tolerance 0.0001"));
}

TEST(Compare, NamesTheWorstElement) {
  EXPECT_EQ(
      Difference({.kind = Check::kEqual}, Literal::Vector<int32_t>({1, 2, 3}),
                 Literal::Vector<int32_t>({1, 5, 4})),
      "s32 element 1 differs 2 instead of 5; 2 of 3 are beyond");
  using C = std::complex<double>;
  EXPECT_NE(Difference({.kind = Check::kClose}, Literal::Scalar(C(1, 2)),
                       Literal::Scalar(C(1, 2.1))),
            "");
}

TEST(SelfCheckRun, TellsWrongFromLeftOut) {
  const auto client = cpu::MakeCpuClient();
  const auto run = [&](const char* op, const char* expected) {
    return RunSelfCheck(
        absl::StrCat("func.func @main() {\n %0 = stablehlo.constant dense<4.0> "
                     ": tensor<f32>\n %1 = \"",
                     op,
                     "\"(%0) : (tensor<f32>) -> tensor<f32>\n"
                     "check.expect_almost_eq_const %1, dense<",
                     expected, "> : tensor<f32>\n return\n}"),
        *client);
  };
  EXPECT_EQ(run("stablehlo.sqrt", "2.0").outcome, SelfCheck::kPassed);
  EXPECT_EQ(run("stablehlo.sqrt", "2.0").checks, 1);
  EXPECT_EQ(run("stablehlo.sqrt", "2.1").outcome, SelfCheck::kFailed);
  const SelfCheck lacking = run("stablehlo.nothing", "2.0");
  EXPECT_EQ(lacking.outcome, SelfCheck::kLeftOut);
  EXPECT_EQ(lacking.missing, std::vector<std::string>{"stablehlo.nothing"});
  EXPECT_EQ(RunSelfCheck("func.func @main() { return }", *client).outcome,
            SelfCheck::kFailed);
}

// Taken for an unsigned number it would allow any difference.
TEST(SelfCheckRun, RefusesANegativeNumberOfUlps) {
  const SelfCheck check = RunSelfCheck(
      "func.func @main() {\n"
      "  %0 = stablehlo.constant dense<1.0> : tensor<f32>\n"
      "  %1 = stablehlo.constant dense<2.0> : tensor<f32>\n"
      "  check.expect_close %0, %1, max_ulp_difference = -1 : tensor<f32>, "
      "tensor<f32>\n  return\n}",
      *cpu::MakeCpuClient());
  EXPECT_EQ(check.outcome, SelfCheck::kFailed);
  EXPECT_THAT(check.what, HasSubstr("max_ulp_difference is -1"));
}

}  // namespace
}  // namespace hawser::stablehlo
