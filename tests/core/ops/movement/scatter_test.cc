#include "core/ops/movement/scatter.h"

#include <string>

#include "tests/core/ops/infer.h"

namespace hawser {
namespace {

struct ScatterNumbers {
  Dims window;
  Dims inserted;
  Dims map;
  int64_t vector_axis;

  operator Attributes() const {  // NOLINT: reads like the op's text
    return {{"update_window_dims", window},
            {"inserted_window_dims", inserted},
            {"scatter_dims_to_operand_dims", map},
            {"index_vector_dim", vector_axis}};
  }
};

// ScatterRows of a matrix by a vector of row numbers: the common case.
ScatterNumbers ScatterRows() { return {{1}, {0}, {0}, 1}; }
constexpr absl::string_view kScatterRows = "f32[9,5] s32[3] f32[3,5]";
constexpr absl::string_view kBody = "f32[] f32[] -> f32[]";

absl::StatusOr<std::string> InferRows(absl::string_view operands,
                                      ScatterNumbers n,
                                      absl::string_view body = kBody) {
  return Infer(kScatter, operands, n, {body});
}

TEST(ScatterInfer, GivesTheInputsShapes) {
  EXPECT_THAT(InferRows(kScatterRows, ScatterRows()), Gives("f32[9,5]"));
  // The example of the StableHLO specification, without its batch.
  EXPECT_THAT(
      Infer(kScatter, "s64[3,4,2] s64[2,3,2] s64[2,3,2,2]",
            ScatterNumbers{{2, 3}, {0}, {1, 0}, 2}, {"s64[] s64[] -> s64[]"}),
      Gives("s64[3,4,2]"));
  // Window axes in front of and between batch axes, smaller than the input.
  EXPECT_THAT(InferRows("f32[9,5,7] u8[3,4,1] f32[2,3,6,4]",
                        ScatterNumbers{{0, 2}, {1}, {1}, 2}),
              Gives("f32[9,5,7]"));
  // Scalar indices: index_vector_dim is their rank.
  EXPECT_THAT(InferRows("f32[9] s32[] f32[]", ScatterNumbers{{}, {0}, {0}, 0}),
              Gives("f32[9]"));
  EXPECT_THAT(InferRows("f32[9,5] s32[0] f32[0,5]", ScatterRows()),
              Gives("f32[9,5]"));
  EXPECT_THAT(InferRows("f32[0,5] s32[3] f32[3,5]", ScatterRows()),
              Gives("f32[0,5]"));
  EXPECT_THAT(InferRows("f32[] s32[2,0] f32[2]", ScatterNumbers{{}, {}, {}, 1}),
              Gives("f32[]"));
}

TEST(ScatterInfer, TakesSeveralInputs) {
  EXPECT_THAT(Infer(kScatter, "f32[9] s8[9] u64[3] f32[3] s8[3]",
                    ScatterNumbers{{}, {0}, {0}, 1},
                    {"f32[] s8[] f32[] s8[] -> f32[] s8[]"}),
              Gives("f32[9] s8[9]"));
}

TEST(ScatterInfer, RejectsAnEvenNumberOfOperands_C1) {
  EXPECT_THAT(InferRows("f32[9] f32[9] s32[3] f32[3]", ScatterRows()),
              Breaks(kScatter, 1));
}

TEST(ScatterInfer, RejectsInputsOfOtherSizes_C2) {
  EXPECT_THAT(InferRows("f32[9] f32[8] s32[3] f32[3] f32[3]", ScatterRows()),
              Breaks(kScatter, 2));
}

TEST(ScatterInfer, RejectsUpdatesOfOtherSizes_C3) {
  EXPECT_THAT(InferRows("f32[9] f32[9] s32[3] f32[3] f32[2]", ScatterRows()),
              Breaks(kScatter, 3));
}

TEST(ScatterInfer, RejectsUpdatesOfAnotherDType_C4) {
  EXPECT_THAT(InferRows("f32[9,5] s32[3] f64[3,5]", ScatterRows()),
              Breaks(kScatter, 4));
}

TEST(ScatterInfer, RejectsIndicesThatAreNoIntegers_C5) {
  for (absl::string_view indices : {"f32[3]", "bool[3]", "c64[3]"}) {
    EXPECT_THAT(InferRows(absl::StrCat("f32[9,5] ", indices, " f32[3,5]"),
                          ScatterRows()),
                Breaks(kScatter, 5));
  }
}

TEST(ScatterInfer, RejectsIndexVectorDimOutside_C6) {
  ScatterNumbers n = ScatterRows();
  for (int64_t bad : {int64_t{-1}, int64_t{2}, INT64_MAX, INT64_MIN}) {
    n.vector_axis = bad;
    EXPECT_THAT(InferRows(kScatterRows, n), Breaks(kScatter, 6)) << bad;
  }
}

TEST(ScatterInfer, RejectsInsertedThatIsNoAxis_C7) {
  ScatterNumbers n = ScatterRows();
  for (int64_t bad : {-1, 2}) {
    n.inserted = {bad};
    EXPECT_THAT(InferRows(kScatterRows, n), Breaks(kScatter, 7)) << bad;
  }
}

TEST(ScatterInfer, RejectsInsertedThatDoesNotAscend_C8) {
  ScatterNumbers n{{}, {1, 0}, {0}, 1};
  EXPECT_THAT(InferRows(kScatterRows, n), Breaks(kScatter, 8));
  n.inserted = {0, 0};
  EXPECT_THAT(InferRows(kScatterRows, n), Breaks(kScatter, 8));
}

TEST(ScatterInfer, RejectsWrongNumberOfWindowAxes_C9) {
  ScatterNumbers n = ScatterRows();
  n.window = {};
  EXPECT_THAT(InferRows(kScatterRows, n), Breaks(kScatter, 9));
  n.window = {0, 1};
  EXPECT_THAT(InferRows(kScatterRows, n), Breaks(kScatter, 9));
}

TEST(ScatterInfer, RejectsUpdatesOfAnotherRank_C10) {
  EXPECT_THAT(InferRows("f32[9,5] s32[3] f32[5]", ScatterRows()),
              Breaks(kScatter, 10));
  EXPECT_THAT(InferRows("f32[9,5] s32[3] f32[3,5,1]", ScatterRows()),
              Breaks(kScatter, 10));
  // Batch axes above the largest rank cannot be had.
  const std::string indices =
      absl::StrCat("s32[", absl::StrJoin(Dims(16, 1), ","), "]");
  EXPECT_THAT(InferRows(absl::StrCat("f32[9,5] ", indices, " f32[3,5]"),
                        ScatterNumbers{{1}, {0}, {0}, 16}),
              Breaks(kScatter, 10));
}

TEST(ScatterInfer, RejectsWindowThatIsNoAxis_C11) {
  ScatterNumbers n = ScatterRows();
  for (int64_t bad : {-1, 2}) {
    n.window = {bad};
    EXPECT_THAT(InferRows(kScatterRows, n), Breaks(kScatter, 11)) << bad;
  }
}

TEST(ScatterInfer, RejectsWindowThatDoesNotAscend_C12) {
  ScatterNumbers n{{2, 1}, {}, {0}, 1};
  EXPECT_THAT(InferRows("f32[9,5] s32[3] f32[3,5,1]", n), Breaks(kScatter, 12));
  n.window = {1, 1};
  EXPECT_THAT(InferRows("f32[9,5] s32[3] f32[3,5,1]", n), Breaks(kScatter, 12));
}

TEST(ScatterInfer, RejectsWrongNumberOfComponents_C13) {
  ScatterNumbers n = ScatterRows();
  n.map = {0, 1};
  EXPECT_THAT(InferRows(kScatterRows, n), Breaks(kScatter, 13));
  n.map = {};
  EXPECT_THAT(InferRows(kScatterRows, n), Breaks(kScatter, 13));
}

TEST(ScatterInfer, RejectsMapThatIsNoAxis_C14) {
  ScatterNumbers n = ScatterRows();
  for (int64_t bad : {-1, 2}) {
    n.map = {bad};
    EXPECT_THAT(InferRows(kScatterRows, n), Breaks(kScatter, 14)) << bad;
  }
}

TEST(ScatterInfer, RejectsMapTwice_C15) {
  EXPECT_THAT(InferRows("f32[9,5] s32[3,2] f32[3,5]",
                        ScatterNumbers{{1}, {0}, {0, 0}, 1}),
              Breaks(kScatter, 15));
}

TEST(ScatterInfer, RejectsWindowsLargerThanTheInput_C16) {
  EXPECT_THAT(InferRows("f32[9,5] s32[3] f32[3,6]", ScatterRows()),
              Breaks(kScatter, 16));
}

TEST(ScatterInfer, RejectsBatchesOfOtherSizes_C17) {
  EXPECT_THAT(InferRows("f32[9,5] s32[3] f32[2,5]", ScatterRows()),
              Breaks(kScatter, 17));
  EXPECT_THAT(
      InferRows("f32[9] s32[2,3,1] f32[3,2]", ScatterNumbers{{}, {0}, {0}, 2}),
      Breaks(kScatter, 17));
}

TEST(ScatterInfer, RejectsComputationsThatTakeSomethingElse_C18) {
  for (absl::string_view body :
       {"f32[] -> f32[]", "f32[] f64[] -> f32[]", "f32[1] f32[1] -> f32[]",
        "f32[] f32[] f32[] -> f32[]", "-> f32[]"}) {
    EXPECT_THAT(InferRows(kScatterRows, ScatterRows(), body),
                Breaks(kScatter, 18))
        << body;
  }
}

TEST(ScatterInfer, RejectsComputationsThatGiveSomethingElse_C19) {
  for (absl::string_view body :
       {"f32[] f32[] -> f64[]", "f32[] f32[] -> f32[] f32[]", "f32[] f32[] ->",
        "f32[] f32[] -> f32[1]"}) {
    EXPECT_THAT(InferRows(kScatterRows, ScatterRows(), body),
                Breaks(kScatter, 19))
        << body;
  }
}

TEST(ScatterAxes, WholeWindowsParallelRestIndexedBatchOpaque) {
  EXPECT_EQ(AxesOf(kScatter, kScatterRows, ScatterRows(), {kBody}),
            "i1,p0 o2 o3,p0 -> i1,p0");
  EXPECT_EQ(AxesOf(kScatter, "f32[9,5] s32[9,5] u8[2] f32[2,4] s32[2,4]",
                   ScatterRows(), {"f32[] s32[] f32[] s32[] -> f32[] s32[]"}),
            "i0,i1 i0,i1 o2 o3,o4 o5,o6 -> i0,i1 i0,i1");
  // A window as large as the axis it moves along is pushed out of it.
  EXPECT_EQ(AxesOf(kScatter, "f32[5,9] s32[1] f32[5,9]",
                   ScatterNumbers{{0, 1}, {}, {0}, 0}, {kBody}),
            "i1,p0 o2 o3,p0 -> i1,p0");
}

}  // namespace
}  // namespace hawser
