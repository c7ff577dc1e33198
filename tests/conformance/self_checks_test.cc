// Programs that check themselves on every target: a few that are written here,
// and a fixed sample of StableHLO's own where they are at hand.
#include <string>
#include <vector>

#include "client/stablehlo/check/self_check.h"
#include "gtest/gtest.h"
#include "tests/client/stablehlo/oracle_files.h"
#include "tests/conformance/target.h"

namespace hawser {
namespace {

constexpr char kLoop[] = R"mlir(
func.func @main() {
  %n = stablehlo.constant dense<0> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %x = stablehlo.constant dense<[1.0, 0.5, -1.0]> : tensor<3xf32>
  %0:2 = stablehlo.while(%i = %n, %s = %x) : tensor<i32>, tensor<3xf32> cond {
    %p = stablehlo.compare LT, %i, %ten, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    %t = stablehlo.add %s, %x : tensor<3xf32>
    stablehlo.return %j, %t : tensor<i32>, tensor<3xf32>
  }
  check.expect_eq_const %0#0, dense<10> : tensor<i32>
  check.expect_eq_const %0#1, dense<[11.0, 5.5, -11.0]> : tensor<3xf32>
  return
})mlir";

constexpr char kFunctions[] = R"mlir(
func.func @main() {
  %x = stablehlo.constant dense<[0.5, -1.5]> : tensor<2xf32>
  %0 = chlo.erf %x : tensor<2xf32> -> tensor<2xf32>
  %e = stablehlo.constant dense<[0.520499878, -0.966105146]> : tensor<2xf32>
  check.expect_close %0, %e, max_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  %1 = chlo.sinh %x : tensor<2xf32> -> tensor<2xf32>
  check.expect_almost_eq_const %1, dense<[0.52109531, -2.12927946]> : tensor<2xf32>
  return
})mlir";

constexpr const char* kSample[] = {
    "scatter_add_float32_3_float32_3.mlir",
    "dot_general_bfloat16_4_3_float64_3_6.mlir",
    "argmin_float32_4.mlir",
    "gather_float32_10_10_10_int32_3_1.mlir",
    "erfc_float32_20_20_chlo.mlir",
    "sort_complex64_5_7.mlir",
};

class SelfChecksTest : public ::testing::TestWithParam<TargetRow> {
 protected:
  void Expect(stablehlo::SelfCheck::Outcome outcome, const std::string& program,
              const std::string& name) {
    const stablehlo::SelfCheck check =
        stablehlo::RunSelfCheck(program, SharedTarget(GetParam()).runtime());
    EXPECT_EQ(check.outcome, outcome) << name << ": " << check.what;
  }
};

TEST_P(SelfChecksTest, HoldHere) {
  Expect(stablehlo::SelfCheck::kPassed, kLoop, "loop");
  Expect(stablehlo::SelfCheck::kPassed, kFunctions, "functions");
}

TEST_P(SelfChecksTest, TellWhatIsWrong) {
  std::string wrong = kLoop;
  wrong.replace(wrong.find("-11.0"), 5, "-12.0");
  Expect(stablehlo::SelfCheck::kFailed, wrong, "loop");
}

TEST_P(SelfChecksTest, ASampleOfStableHlosOwn) {
  const auto folder = stablehlo::OracleFolder("testdata");
  if (stablehlo::OraclePrograms(folder).empty()) {
    GTEST_SKIP() << folder << " has no files: name the folder by HAWSER_ORACLE";
  }
  const std::string list = stablehlo::ContentsOf(stablehlo::kOracleList);
  for (const std::string name : kSample) {
    const bool passes = list.find("pass " + name) != std::string::npos;
    Expect(
        passes ? stablehlo::SelfCheck::kPassed : stablehlo::SelfCheck::kLeftOut,
        stablehlo::ContentsOf(folder / name), name);
  }
}

INSTANTIATE_TEST_SUITE_P(All, SelfChecksTest, ::testing::ValuesIn(AllTargets()),
                         [](const ::testing::TestParamInfo<TargetRow>& info) {
                           return std::string(info.param.name);
                         });

}  // namespace
}  // namespace hawser
