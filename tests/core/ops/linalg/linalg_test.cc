#include "core/ops/linalg/linalg.h"

#include <string>

#include "tests/core/ops/infer.h"

namespace hawser {
namespace {

Attributes Lower() { return {{"lower", true}}; }
Attributes SolveBy(bool left, absl::string_view op = kNoTranspose) {
  return {{"left_side", left},
          {"lower", true},
          {"transpose_a", std::string(op)},
          {"unit_diagonal", false}};
}

TEST(CholeskyInfer, GivesTheOperandsShape) {
  EXPECT_THAT(Infer(kCholesky, "f32[3,3]", Lower()), Gives("f32[3,3]"));
  EXPECT_THAT(Infer(kCholesky, "c128[2,0,4,4]", Lower()),
              Gives("c128[2,0,4,4]"));
  EXPECT_THAT(Infer(kCholesky, "f64[0,0]", Lower()), Gives("f64[0,0]"));
}

TEST(CholeskyInfer, RejectsOtherDTypes_C1) {
  for (absl::string_view bad : {"f16[2,2]", "bf16[2,2]", "s32[2,2]"}) {
    EXPECT_THAT(Infer(kCholesky, bad, Lower()), Breaks(kCholesky, 1)) << bad;
  }
}

TEST(CholeskyInfer, RejectsFewerThanTwoAxes_C2) {
  EXPECT_THAT(Infer(kCholesky, "f32[]", Lower()), Breaks(kCholesky, 2));
  EXPECT_THAT(Infer(kCholesky, "f32[4]", Lower()), Breaks(kCholesky, 2));
}

TEST(CholeskyInfer, RejectsMatricesThatAreNotSquare_C3) {
  EXPECT_THAT(Infer(kCholesky, "f32[3,2]", Lower()), Breaks(kCholesky, 3));
  EXPECT_THAT(Infer(kCholesky, "f32[2,2,0]", Lower()), Breaks(kCholesky, 3));
}

TEST(TriangularSolveInfer, GivesTheShapeOfB) {
  EXPECT_THAT(Infer(kTriangularSolve, "f32[3,3] f32[3,5]", SolveBy(true)),
              Gives("f32[3,5]"));
  EXPECT_THAT(Infer(kTriangularSolve, "f32[2,3,3] f32[2,5,3]",
                    SolveBy(false, kAdjointOf)),
              Gives("f32[2,5,3]"));
  EXPECT_THAT(Infer(kTriangularSolve, "c64[0,0] c64[0,5]", SolveBy(true)),
              Gives("c64[0,5]"));
}

TEST(TriangularSolveInfer, RejectsOtherDTypes_C1) {
  EXPECT_THAT(Infer(kTriangularSolve, "f16[3,3] f16[3,5]", SolveBy(true)),
              Breaks(kTriangularSolve, 1));
}

TEST(TriangularSolveInfer, RejectsTwoDTypes_C2) {
  EXPECT_THAT(Infer(kTriangularSolve, "f32[3,3] f64[3,5]", SolveBy(true)),
              Breaks(kTriangularSolve, 2));
}

TEST(TriangularSolveInfer, RejectsFewerThanTwoAxes_C3) {
  EXPECT_THAT(Infer(kTriangularSolve, "f32[3] f32[3]", SolveBy(true)),
              Breaks(kTriangularSolve, 3));
}

TEST(TriangularSolveInfer, RejectsOtherNumbersOfAxes_C4) {
  EXPECT_THAT(Infer(kTriangularSolve, "f32[3,3] f32[3]", SolveBy(true)),
              Breaks(kTriangularSolve, 4));
}

TEST(TriangularSolveInfer, RejectsMatricesThatAreNotSquare_C5) {
  EXPECT_THAT(Infer(kTriangularSolve, "f32[3,2] f32[3,5]", SolveBy(true)),
              Breaks(kTriangularSolve, 5));
}

TEST(TriangularSolveInfer, RejectsOtherBatches_C6) {
  EXPECT_THAT(Infer(kTriangularSolve, "f32[2,3,3] f32[1,3,5]", SolveBy(true)),
              Breaks(kTriangularSolve, 6));
}

TEST(TriangularSolveInfer, RejectsASideOfAnotherSize_C7) {
  EXPECT_THAT(Infer(kTriangularSolve, "f32[3,3] f32[5,3]", SolveBy(true)),
              Breaks(kTriangularSolve, 7));
  EXPECT_THAT(Infer(kTriangularSolve, "f32[3,3] f32[3,5]", SolveBy(false)),
              Breaks(kTriangularSolve, 7));
}

TEST(TriangularSolveInfer, RejectsAnotherTurn_C8) {
  for (absl::string_view bad : {"", "transpose", "TRANSPOSE_INVALID"}) {
    EXPECT_THAT(
        Infer(kTriangularSolve, "f32[3,3] f32[3,5]", SolveBy(true, bad)),
        Breaks(kTriangularSolve, 8))
        << bad;
  }
}

TEST(LinalgAxes, ThoseBeforeTheMatricesAreParallel) {
  EXPECT_EQ(AxesOf(kCholesky, "f32[4,2,3,3]", Lower()),
            "p0,p1,o2,o3 -> p0,p1,o4,o5");
  EXPECT_EQ(AxesOf(kTriangularSolve, "f32[2,3,3] f32[2,3,5]", SolveBy(true)),
            "p0,o1,o2 p0,o3,o4 -> p0,o5,o6");
}

}  // namespace
}  // namespace hawser
