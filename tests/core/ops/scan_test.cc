#include "core/ops/contraction/scan.h"

#include "core/ops/registry.h"
#include "tests/core/ops/infer.h"

namespace hawser {
namespace {

Attributes ScanAlong(int64_t dimension) { return {{"dimension", dimension}}; }
constexpr absl::string_view kRunningSum = "f32[] f32[] -> f32[]";
constexpr absl::string_view kRunningPair =
    "f32[] s32[] f32[] s32[] -> f32[] s32[]";

TEST(ScanInfer, GivesTheInputsShapes) {
  EXPECT_THAT(Infer(kScan, "f32[2,3]", ScanAlong(1), {kRunningSum}),
              Gives("f32[2,3]"));
  EXPECT_THAT(Infer(kScan, "f32[0] s32[0]", ScanAlong(0), {kRunningPair}),
              Gives("f32[0] s32[0]"));
}

TEST(ScanInfer, RejectsInputsOfOtherSizes_C1) {
  EXPECT_THAT(Infer(kScan, "f32[2] s32[3]", ScanAlong(0), {kRunningPair}),
              Breaks(kScan, 1));
}

TEST(ScanInfer, RejectsDimensionThatIsNoAxis_C2) {
  EXPECT_THAT(Infer(kScan, "f32[2]", ScanAlong(1), {kRunningSum}),
              Breaks(kScan, 2));
  EXPECT_THAT(Infer(kScan, "f32[2]", ScanAlong(-1), {kRunningSum}),
              Breaks(kScan, 2));
  EXPECT_THAT(Infer(kScan, "f32[]", ScanAlong(0), {kRunningSum}),
              Breaks(kScan, 2));
}

TEST(ScanInfer, RejectsComputationThatTakesSomethingElse_C3) {
  for (absl::string_view bad : {"f32[] -> f32[]", "f64[] f64[] -> f64[]",
                                "f32[1] f32[1] -> f32[1]", "->"}) {
    EXPECT_THAT(Infer(kScan, "f32[2]", ScanAlong(0), {bad}), Breaks(kScan, 3))
        << bad;
  }
}

TEST(ScanInfer, RejectsComputationThatGivesSomethingElse_C4) {
  for (absl::string_view bad : {"f32[] f32[] -> bool[]", "f32[] f32[] ->",
                                "f32[] f32[] -> f32[] f32[]"}) {
    EXPECT_THAT(Infer(kScan, "f32[2]", ScanAlong(0), {bad}), Breaks(kScan, 4))
        << bad;
  }
}

TEST(ScanAxes, OthersThanTheDimensionAreParallel) {
  EXPECT_EQ(AxesOf(kScan, "f32[2,3,4]", ScanAlong(1), {kRunningSum}),
            "p0,o1,p2 -> p0,o1,p2");
}

}  // namespace
}  // namespace hawser
