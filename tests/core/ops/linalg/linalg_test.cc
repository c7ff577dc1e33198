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

TEST(LuInfer, GivesFactorsAndOrders) {
  EXPECT_THAT(Infer(kLu, "f32[2,3,5]"), Gives("f32[2,3,5] s32[2,3] s32[2,3]"));
  EXPECT_THAT(Infer(kLu, "c64[5,3]"), Gives("c64[5,3] s32[3] s32[5]"));
  EXPECT_THAT(Infer(kLu, "f64[4,0]"), Gives("f64[4,0] s32[0] s32[4]"));
}
TEST(LuInfer, RejectsOtherDTypes_C1) {
  EXPECT_THAT(Infer(kLu, "s32[2,2]"), Breaks(kLu, 1));
}
TEST(LuInfer, RejectsFewerThanTwoAxes_C2) {
  EXPECT_THAT(Infer(kLu, "f32[2]"), Breaks(kLu, 2));
}

TEST(QrInfer, GivesReducedAndFullFactors) {
  const Attributes full = {{"full_matrices", true}};
  const Attributes reduced = {{"full_matrices", false}};
  EXPECT_THAT(Infer(kQr, "f32[2,5,3]", full), Gives("f32[2,5,5] f32[2,5,3]"));
  EXPECT_THAT(Infer(kQr, "f32[2,5,3]", reduced),
              Gives("f32[2,5,3] f32[2,3,3]"));
  EXPECT_THAT(Infer(kQr, "f32[3,5]", full), Gives("f32[3,3] f32[3,5]"));
}
TEST(QrInfer, RejectsOtherDTypes_C1) {
  EXPECT_THAT(Infer(kQr, "f16[2,2]", {{"full_matrices", true}}),
              Breaks(kQr, 1));
}
TEST(QrInfer, RejectsFewerThanTwoAxes_C2) {
  EXPECT_THAT(Infer(kQr, "f32[2]", {{"full_matrices", true}}), Breaks(kQr, 2));
}
TEST(QrInfer, RejectsResultsTooLargeForAShape_C3) {
  EXPECT_THAT(Infer(kQr, "f32[4294967296,1]", {{"full_matrices", true}}),
              Breaks(kQr, 3));
}

TEST(GeqrfInfer, GivesThePackedAndTaus) {
  EXPECT_THAT(Infer(kGeqrf, "f32[2,5,3]"), Gives("f32[2,5,3] f32[2,3]"));
}
TEST(GeqrfInfer, RejectsOtherDTypes_C1) {
  EXPECT_THAT(Infer(kGeqrf, "f16[2,2]"), Breaks(kGeqrf, 1));
}
TEST(GeqrfInfer, RejectsFewerThanTwoAxes_C2) {
  EXPECT_THAT(Infer(kGeqrf, "f32[2]"), Breaks(kGeqrf, 2));
}

TEST(HouseholderProductInfer, GivesTheShapeOfTheVectors) {
  EXPECT_THAT(Infer(kHouseholderProduct, "f32[2,5,3] f32[2,2]"),
              Gives("f32[2,5,3]"));
}
TEST(HouseholderProductInfer, RejectsOtherDTypes_C1) {
  EXPECT_THAT(Infer(kHouseholderProduct, "f16[2,2] f16[2]"),
              Breaks(kHouseholderProduct, 1));
}
TEST(HouseholderProductInfer, RejectsTwoDTypes_C2) {
  EXPECT_THAT(Infer(kHouseholderProduct, "f32[2,2] f64[2]"),
              Breaks(kHouseholderProduct, 2));
}
TEST(HouseholderProductInfer, RejectsFewerThanTwoAxes_C3) {
  EXPECT_THAT(Infer(kHouseholderProduct, "f32[2] f32[]"),
              Breaks(kHouseholderProduct, 3));
}
TEST(HouseholderProductInfer, RejectsTausOfOtherAxes_C4) {
  EXPECT_THAT(Infer(kHouseholderProduct, "f32[2,2] f32[1,2]"),
              Breaks(kHouseholderProduct, 4));
}
TEST(HouseholderProductInfer, RejectsOtherBatches_C5) {
  EXPECT_THAT(Infer(kHouseholderProduct, "f32[3,2,2] f32[1,2]"),
              Breaks(kHouseholderProduct, 5));
}
TEST(HouseholderProductInfer, RejectsMoreColumnsThanRows_C6) {
  EXPECT_THAT(Infer(kHouseholderProduct, "f32[2,3] f32[2]"),
              Breaks(kHouseholderProduct, 6));
}
TEST(HouseholderProductInfer, RejectsMoreTausThanColumns_C7) {
  EXPECT_THAT(Infer(kHouseholderProduct, "f32[3,2] f32[3]"),
              Breaks(kHouseholderProduct, 7));
}

TEST(EighInfer, GivesValuesAndVectors) {
  EXPECT_THAT(Infer(kEigh, "c64[2,3,3]", Lower()),
              Gives("f32[2,3] c64[2,3,3]"));
}
TEST(EighInfer, RejectsOtherDTypes_C1) {
  EXPECT_THAT(Infer(kEigh, "f16[2,2]", Lower()), Breaks(kEigh, 1));
}
TEST(EighInfer, RejectsFewerThanTwoAxes_C2) {
  EXPECT_THAT(Infer(kEigh, "f32[2]", Lower()), Breaks(kEigh, 2));
}
TEST(EighInfer, RejectsMatricesThatAreNotSquare_C3) {
  EXPECT_THAT(Infer(kEigh, "f32[2,3]", Lower()), Breaks(kEigh, 3));
}

Attributes SvdBy(bool vectors, bool full) {
  return {{"compute_uv", vectors}, {"full_matrices", full}};
}
TEST(SvdInfer, GivesValuesAndWhatElseIsAskedFor) {
  EXPECT_THAT(Infer(kSvd, "c128[2,5,3]", SvdBy(false, true)),
              Gives("f64[2,3]"));
  EXPECT_THAT(Infer(kSvd, "f32[2,5,3]", SvdBy(true, false)),
              Gives("f32[2,3] f32[2,5,3] f32[2,3,3]"));
  EXPECT_THAT(Infer(kSvd, "f32[3,5]", SvdBy(true, true)),
              Gives("f32[3] f32[3,3] f32[5,5]"));
}
TEST(SvdInfer, RejectsOtherDTypes_C1) {
  EXPECT_THAT(Infer(kSvd, "f16[2,2]", SvdBy(true, true)), Breaks(kSvd, 1));
}
TEST(SvdInfer, RejectsFewerThanTwoAxes_C2) {
  EXPECT_THAT(Infer(kSvd, "f32[2]", SvdBy(true, true)), Breaks(kSvd, 2));
}
TEST(SvdInfer, RejectsResultsTooLargeForAShape_C3) {
  EXPECT_THAT(Infer(kSvd, "f32[1,4294967296]", SvdBy(true, true)),
              Breaks(kSvd, 3));
}

TEST(EigInfer, GivesComplexValuesAndVectors) {
  EXPECT_THAT(Infer(kEig, "f32[2,3,3]"), Gives("c64[2,3] c64[2,3,3]"));
  EXPECT_THAT(Infer(kEig, "f64[3,3]"), Gives("c128[3] c128[3,3]"));
  EXPECT_THAT(Infer(kEig, "c64[0,0]"), Gives("c64[0] c64[0,0]"));
  EXPECT_THAT(Infer(kEig, "c128[1,1]"), Gives("c128[1] c128[1,1]"));
}
TEST(EigInfer, RejectsOtherDTypes_C1) {
  EXPECT_THAT(Infer(kEig, "f16[2,2]"), Breaks(kEig, 1));
}
TEST(EigInfer, RejectsFewerThanTwoAxes_C2) {
  EXPECT_THAT(Infer(kEig, "f32[2]"), Breaks(kEig, 2));
}
TEST(EigInfer, RejectsMatricesThatAreNotSquare_C3) {
  EXPECT_THAT(Infer(kEig, "f32[2,3]"), Breaks(kEig, 3));
}
TEST(EigInfer, RejectsResultsTooLargeForAShape_C4) {
  EXPECT_THAT(Infer(kEig, "f32[576460752303423488,1,1]"), Breaks(kEig, 4));
}

TEST(LinalgAxes, ThoseBeforeTheMatricesAreParallel) {
  EXPECT_EQ(AxesOf(kCholesky, "f32[4,2,3,3]", Lower()),
            "p0,p1,o2,o3 -> p0,p1,o4,o5");
  EXPECT_EQ(AxesOf(kTriangularSolve, "f32[2,3,3] f32[2,3,5]", SolveBy(true)),
            "p0,o1,o2 p0,o3,o4 -> p0,o5,o6");
}

}  // namespace
}  // namespace hawser
