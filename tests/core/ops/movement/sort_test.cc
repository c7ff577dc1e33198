#include "core/ops/movement/sort.h"

#include "core/ops/registry.h"
#include "tests/core/ops/infer.h"

namespace hawser {
namespace {

Attributes SortAlong(int64_t dimension) { return {{"dimension", dimension}}; }
constexpr absl::string_view kLess = "f32[] f32[] -> bool[]";
// Of each input the left one and the right one.
constexpr absl::string_view kLessOfTwo = "f32[] f32[] s32[] s32[] -> bool[]";

TEST(SortInfer, GivesTheInputsShapes) {
  EXPECT_THAT(Infer(kSort, "f32[2,3]", SortAlong(1), {kLess}),
              Gives("f32[2,3]"));
  EXPECT_THAT(Infer(kSort, "f32[0] s32[0]", SortAlong(0), {kLessOfTwo}),
              Gives("f32[0] s32[0]"));
}

TEST(SortInfer, RejectsInputsOfOtherSizes_C1) {
  EXPECT_THAT(Infer(kSort, "f32[2] s32[3]", SortAlong(0), {kLessOfTwo}),
              Breaks(kSort, 1));
}

TEST(SortInfer, RejectsDimensionThatIsNoAxis_C2) {
  EXPECT_THAT(Infer(kSort, "f32[2]", SortAlong(1), {kLess}), Breaks(kSort, 2));
  EXPECT_THAT(Infer(kSort, "f32[2]", SortAlong(-1), {kLess}), Breaks(kSort, 2));
}

TEST(SortInfer, RejectsOtherComputations_C3) {
  for (absl::string_view bad :
       {"f32[] -> bool[]", "f64[] f64[] -> bool[]", "f32[] f32[] -> f32[]",
        "f32[] f32[] -> bool[1]", "f32[] f32[] -> bool[] bool[]"}) {
    EXPECT_THAT(Infer(kSort, "f32[2]", SortAlong(0), {bad}), Breaks(kSort, 3))
        << bad;
  }
  EXPECT_THAT(Infer(kSort, "f32[2] s32[2]", SortAlong(0),
                    {"f32[] s32[] f32[] s32[] -> bool[]"}),
              Breaks(kSort, 3));
}

TEST(SortAxes, OthersThanTheDimensionAreParallel) {
  EXPECT_EQ(AxesOf(kSort, "f32[2,3]", SortAlong(0), {kLess}), "o0,p1 -> o0,p1");
}

}  // namespace
}  // namespace hawser
