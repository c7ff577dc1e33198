#include "core/ops/movement/slice.h"

#include <string>

#include "tests/core/ops/infer.h"

namespace hawser {
namespace {

Attributes Part(Dims start, Dims limit, Dims stride) {
  return {
      {"start_indices", start}, {"limit_indices", limit}, {"strides", stride}};
}

TEST(SliceInfer, RejectsWrongNumberOfEntries_C1) {
  EXPECT_THAT(Infer(kSlice, "f32[4]", Part({}, {4}, {1})), Breaks(kSlice, 1));
  EXPECT_THAT(Infer(kSlice, "f32[4]", Part({0}, {4, 4}, {1})),
              Breaks(kSlice, 1));
  EXPECT_THAT(Infer(kSlice, "f32[4]", Part({0}, {4}, {})), Breaks(kSlice, 1));
}

TEST(SliceInfer, RejectsPartsOutside_C2) {
  EXPECT_THAT(Infer(kSlice, "f32[4]", Part({-1}, {4}, {1})), Breaks(kSlice, 2));
  EXPECT_THAT(Infer(kSlice, "f32[4]", Part({3}, {2}, {1})), Breaks(kSlice, 2));
  EXPECT_THAT(Infer(kSlice, "f32[4]", Part({0}, {5}, {1})), Breaks(kSlice, 2));
  EXPECT_THAT(Infer(kSlice, "f32[4]", Part({5}, {5}, {1})), Breaks(kSlice, 2));
}

TEST(SliceInfer, RejectsStridesBelowOne_C3) {
  EXPECT_THAT(Infer(kSlice, "f32[4]", Part({0}, {4}, {0})), Breaks(kSlice, 3));
  EXPECT_THAT(Infer(kSlice, "f32[4]", Part({0}, {4}, {-1})), Breaks(kSlice, 3));
}

TEST(SliceInfer, CountsWhatIsTaken) {
  EXPECT_THAT(Infer(kSlice, "f32[10]", Part({1}, {10}, {4})), Gives("f32[3]"));
  EXPECT_THAT(Infer(kSlice, "f32[10]", Part({1}, {9}, {4})), Gives("f32[2]"));
  EXPECT_THAT(Infer(kSlice, "f32[4]", Part({4}, {4}, {1})), Gives("f32[0]"));
  EXPECT_THAT(Infer(kSlice, "f32[4]", Part({0}, {4}, {INT64_MAX})),
              Gives("f32[1]"));
  EXPECT_THAT(Infer(kSlice, "f32[0,2]", Part({0, 0}, {0, 2}, {1, 1})),
              Gives("f32[0,2]"));
  EXPECT_THAT(Infer(kSlice, "f32[]", Part({}, {}, {})), Gives("f32[]"));
}

TEST(SliceAxes, WholeAxesAreParallel) {
  EXPECT_EQ(AxesOf(kSlice, "f32[4,5,6]", Part({0, 1, 0}, {4, 5, 6}, {1, 1, 2})),
            "p0,o1,o2 -> p0,o3,o4");
  EXPECT_EQ(AxesOf(kSlice, "f32[1]", Part({0}, {1}, {1})), "p0 -> p0");
}

Attributes SliceSizes(Dims sizes) { return {{"slice_sizes", sizes}}; }

TEST(DynamicSliceInfer, RejectsWrongNumberOfStarts_C1) {
  EXPECT_THAT(Infer(kDynamicSlice, "f32[4,4] s32[]", SliceSizes({1, 1})),
              Breaks(kDynamicSlice, 1));
  EXPECT_THAT(Infer(kDynamicSlice, "f32[] s32[]", SliceSizes({})),
              Breaks(kDynamicSlice, 1));
}

TEST(DynamicSliceInfer, RejectsStartsThatAreNoIntegerScalars_C2) {
  for (absl::string_view start : {"f32[]", "bool[]", "s32[1]"}) {
    EXPECT_THAT(
        Infer(kDynamicSlice, absl::StrCat("f32[4] ", start), SliceSizes({1})),
        Breaks(kDynamicSlice, 2))
        << start;
  }
}

TEST(DynamicSliceInfer, RejectsMixedStarts_C3) {
  EXPECT_THAT(Infer(kDynamicSlice, "f32[4,4] s32[] s64[]", SliceSizes({1, 1})),
              Breaks(kDynamicSlice, 3));
}

TEST(DynamicSliceInfer, RejectsWrongNumberOfSizes_C4) {
  EXPECT_THAT(Infer(kDynamicSlice, "f32[4] s32[]", SliceSizes({1, 1})),
              Breaks(kDynamicSlice, 4));
  EXPECT_THAT(Infer(kDynamicSlice, "f32[4] s32[]", SliceSizes({})),
              Breaks(kDynamicSlice, 4));
}

TEST(DynamicSliceInfer, RejectsSizesThatDoNotFit_C5) {
  EXPECT_THAT(Infer(kDynamicSlice, "f32[4] s32[]", SliceSizes({5})),
              Breaks(kDynamicSlice, 5));
  EXPECT_THAT(Infer(kDynamicSlice, "f32[4] s32[]", SliceSizes({-1})),
              Breaks(kDynamicSlice, 5));
}

TEST(DynamicSliceInfer, GivesItsSizes) {
  EXPECT_THAT(Infer(kDynamicSlice, "f32[4,5] u8[] u8[]", SliceSizes({4, 0})),
              Gives("f32[4,0]"));
  EXPECT_THAT(Infer(kDynamicSlice, "f32[]", SliceSizes({})), Gives("f32[]"));
  EXPECT_EQ(AxesOf(kDynamicSlice, "f32[4,5] s32[] s32[]", SliceSizes({4, 2})),
            "p0,i1 - - -> p0,o2");
}

TEST(DynamicUpdateSliceInfer, RejectsMixedDTypes_C1) {
  EXPECT_THAT(Infer(kDynamicUpdateSlice, "f32[4] f64[2] s32[]"),
              Breaks(kDynamicUpdateSlice, 1));
}

TEST(DynamicUpdateSliceInfer, RejectsOtherRank_C2) {
  EXPECT_THAT(Infer(kDynamicUpdateSlice, "f32[4] f32[] s32[]"),
              Breaks(kDynamicUpdateSlice, 2));
}

TEST(DynamicUpdateSliceInfer, RejectsLargerUpdate_C3) {
  EXPECT_THAT(Infer(kDynamicUpdateSlice, "f32[4] f32[5] s32[]"),
              Breaks(kDynamicUpdateSlice, 3));
}

TEST(DynamicUpdateSliceInfer, RejectsWrongNumberOfStarts_C4) {
  EXPECT_THAT(Infer(kDynamicUpdateSlice, "f32[4] f32[2]"),
              Breaks(kDynamicUpdateSlice, 4));
  EXPECT_THAT(Infer(kDynamicUpdateSlice, "f32[4] f32[2] s32[] s32[]"),
              Breaks(kDynamicUpdateSlice, 4));
}

TEST(DynamicUpdateSliceInfer, RejectsStartsThatAreNoIntegerScalars_C5) {
  EXPECT_THAT(Infer(kDynamicUpdateSlice, "f32[4] f32[2] f32[]"),
              Breaks(kDynamicUpdateSlice, 5));
  EXPECT_THAT(Infer(kDynamicUpdateSlice, "f32[4] f32[2] s32[1]"),
              Breaks(kDynamicUpdateSlice, 5));
}

TEST(DynamicUpdateSliceInfer, RejectsMixedStarts_C6) {
  EXPECT_THAT(Infer(kDynamicUpdateSlice, "f32[4,4] f32[2,2] s32[] u32[]"),
              Breaks(kDynamicUpdateSlice, 6));
}

TEST(DynamicUpdateSliceInfer, KeepsTheOperandsShape) {
  EXPECT_THAT(Infer(kDynamicUpdateSlice, "f32[4,5] f32[0,5] s8[] s8[]"),
              Gives("f32[4,5]"));
  EXPECT_THAT(Infer(kDynamicUpdateSlice, "f32[] f32[]"), Gives("f32[]"));
  EXPECT_EQ(AxesOf(kDynamicUpdateSlice, "f32[4,5] f32[4,2] s32[] s32[]"),
            "p0,i1 p0,o2 - - -> p0,i1");
}

}  // namespace
}  // namespace hawser
