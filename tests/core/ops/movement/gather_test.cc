#include "core/ops/movement/gather.h"

#include <string>

#include "tests/core/ops/infer.h"

namespace hawser {
namespace {

struct GatherNumbers {
  Dims offset;
  Dims collapsed;
  Dims map;
  int64_t vector_axis;
  Dims sizes;

  operator Attributes() const {  // NOLINT: reads like the op's text
    return {{"offset_dims", offset},
            {"collapsed_slice_dims", collapsed},
            {"start_index_map", map},
            {"index_vector_dim", vector_axis},
            {"slice_sizes", sizes}};
  }
};

// GatherRows of a matrix by a vector of row numbers: the common case.
GatherNumbers GatherRows() { return {{1}, {0}, {0}, 1, {1, 5}}; }
constexpr absl::string_view kGatherRows = "f32[9,5] s32[3]";

TEST(GatherInfer, GivesBatchAndOffsetAxes) {
  EXPECT_THAT(Infer(kGather, kGatherRows, GatherRows()), Gives("f32[3,5]"));
  // The example of the StableHLO specification.
  EXPECT_THAT(Infer(kGather, "s32[3,4,2] s64[2,3,2]",
                    GatherNumbers{{2, 3}, {0}, {1, 0}, 2, {1, 2, 2}}),
              Gives("s32[2,3,2,2]"));
  // Offset axes in front of and between batch axes.
  EXPECT_THAT(Infer(kGather, "f32[9,5,7] u8[3,4,1]",
                    GatherNumbers{{0, 2}, {1}, {1}, 2, {9, 1, 2}}),
              Gives("f32[9,3,2,4]"));
  // Scalar indices: index_vector_dim is their rank.
  EXPECT_THAT(
      Infer(kGather, "f32[9] s32[]", GatherNumbers{{}, {0}, {0}, 0, {1}}),
      Gives("f32[]"));
  EXPECT_THAT(Infer(kGather, "f32[9,5] s32[0]", GatherRows()),
              Gives("f32[0,5]"));
  EXPECT_THAT(
      Infer(kGather, "bool[9] s32[2,0]", GatherNumbers{{1}, {}, {}, 1, {4}}),
      Gives("bool[2,4]"));
}

TEST(GatherInfer, RejectsIndicesThatAreNoIntegers_C1) {
  for (absl::string_view indices : {"f32[3]", "bool[3]", "c64[3]"}) {
    EXPECT_THAT(
        Infer(kGather, absl::StrCat("f32[9,5] ", indices), GatherRows()),
        Breaks(kGather, 1));
  }
}

TEST(GatherInfer, RejectsIndexVectorDimOutside_C2) {
  GatherNumbers n = GatherRows();
  for (int64_t bad : {int64_t{-1}, int64_t{2}, INT64_MAX, INT64_MIN}) {
    n.vector_axis = bad;
    EXPECT_THAT(Infer(kGather, kGatherRows, n), Breaks(kGather, 2)) << bad;
  }
}

TEST(GatherInfer, RejectsWrongNumberOfSliceSizes_C3) {
  GatherNumbers n = GatherRows();
  n.sizes = {1};
  EXPECT_THAT(Infer(kGather, kGatherRows, n), Breaks(kGather, 3));
}

TEST(GatherInfer, RejectsSlicesThatDoNotFit_C4) {
  GatherNumbers n = GatherRows();
  n.sizes = {1, 6};
  EXPECT_THAT(Infer(kGather, kGatherRows, n), Breaks(kGather, 4));
  n.sizes = {1, -1};
  EXPECT_THAT(Infer(kGather, kGatherRows, n), Breaks(kGather, 4));
  // Nothing can be gathered from an axis without elements.
  EXPECT_THAT(Infer(kGather, "f32[0,5] s32[3]", GatherRows()),
              Breaks(kGather, 4));
}

TEST(GatherInfer, RejectsCollapsedThatIsNoAxis_C5) {
  GatherNumbers n = GatherRows();
  n.collapsed = {2};
  EXPECT_THAT(Infer(kGather, kGatherRows, n), Breaks(kGather, 5));
  n.collapsed = {-1};
  EXPECT_THAT(Infer(kGather, kGatherRows, n), Breaks(kGather, 5));
}

TEST(GatherInfer, RejectsCollapsedThatDoesNotAscend_C6) {
  GatherNumbers n{{}, {1, 0}, {0}, 1, {1, 1}};
  EXPECT_THAT(Infer(kGather, kGatherRows, n), Breaks(kGather, 6));
  n.collapsed = {0, 0};
  EXPECT_THAT(Infer(kGather, kGatherRows, n), Breaks(kGather, 6));
}

TEST(GatherInfer, RejectsCollapsedSizeOtherThanOne_C7) {
  GatherNumbers n = GatherRows();
  n.sizes = {2, 5};
  EXPECT_THAT(Infer(kGather, kGatherRows, n), Breaks(kGather, 7));
  n.sizes = {0, 5};  // the result would have elements and no source
  EXPECT_THAT(Infer(kGather, kGatherRows, n), Breaks(kGather, 7));
}

TEST(GatherInfer, RejectsWrongNumberOfComponents_C8) {
  GatherNumbers n = GatherRows();
  n.map = {0, 1};
  EXPECT_THAT(Infer(kGather, kGatherRows, n), Breaks(kGather, 8));
  n = GatherRows();
  n.vector_axis = 0;  // three components now
  EXPECT_THAT(Infer(kGather, kGatherRows, n), Breaks(kGather, 8));
}

TEST(GatherInfer, RejectsMapThatIsNoAxis_C9) {
  GatherNumbers n = GatherRows();
  n.map = {2};
  EXPECT_THAT(Infer(kGather, kGatherRows, n), Breaks(kGather, 9));
  n.map = {-1};
  EXPECT_THAT(Infer(kGather, kGatherRows, n), Breaks(kGather, 9));
}

TEST(GatherInfer, RejectsMapTwice_C10) {
  EXPECT_THAT(Infer(kGather, "f32[9,5] s32[3,2]",
                    GatherNumbers{{1}, {0}, {0, 0}, 1, {1, 5}}),
              Breaks(kGather, 10));
}

TEST(GatherInfer, RejectsWrongNumberOfOffsets_C11) {
  GatherNumbers n = GatherRows();
  n.offset = {};
  EXPECT_THAT(Infer(kGather, kGatherRows, n), Breaks(kGather, 11));
  n.offset = {0, 1};
  EXPECT_THAT(Infer(kGather, kGatherRows, n), Breaks(kGather, 11));
}

TEST(GatherInfer, RejectsOffsetThatIsNoAxis_C12) {
  GatherNumbers n = GatherRows();
  n.offset = {2};
  EXPECT_THAT(Infer(kGather, kGatherRows, n), Breaks(kGather, 12));
  n.offset = {-1};
  EXPECT_THAT(Infer(kGather, kGatherRows, n), Breaks(kGather, 12));
}

TEST(GatherInfer, RejectsOffsetThatDoesNotAscend_C13) {
  GatherNumbers n{{1, 1}, {}, {0}, 1, {1, 5}};
  EXPECT_THAT(Infer(kGather, kGatherRows, n), Breaks(kGather, 13));
  n.offset = {2, 1};
  EXPECT_THAT(Infer(kGather, kGatherRows, n), Breaks(kGather, 13));
}

TEST(GatherInfer, RejectsAResultLargerThanAShape_C14) {
  EXPECT_THAT(Infer(kGather,
                    absl::StrCat("f32[9,", int64_t{1} << 40, "] s8[",
                                 int64_t{1} << 40, "]"),
                    GatherNumbers{{1}, {0}, {0}, 1, {1, int64_t{1} << 40}}),
              Breaks(kGather, 14));
  // Rank 15 + 2.
  const std::string indices =
      absl::StrCat("s32[", absl::StrJoin(Dims(15, 1), ","), "]");
  EXPECT_THAT(Infer(kGather, absl::StrCat("f32[9,5] ", indices),
                    GatherNumbers{{0, 1}, {}, {0}, 15, {1, 5}}),
              Breaks(kGather, 14));
}

TEST(GatherAxes, BatchParallelWholeSlicesParallelRestIndexed) {
  EXPECT_EQ(AxesOf(kGather, kGatherRows, GatherRows()), "i2,p1 p0 -> p0,p1");
  EXPECT_EQ(AxesOf(kGather, "s32[3,4,2] s64[2,3,2]",
                   GatherNumbers{{2, 3}, {0}, {1, 0}, 2, {1, 2, 2}}),
            "i3,i4,p2 p0,p1,o5 -> p0,p1,o6,p2");
}

}  // namespace
}  // namespace hawser
