// Cholesky factors and what is solved with triangles, by what they satisfy.
#include <cmath>
#include <complex>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/threads/thread_pool.h"
#include "core/ops/linalg/linalg.h"
#include "kernels/cpu/program.h"
#include "tests/kernels/cpu/linalg/drawn_matrices.h"
#include "tests/reference/rows/linalg/properties.h"
#include "tests/testing/matchers.h"

namespace hawser::cpu {
namespace {

using runtime::Numerics;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Numerics kBothNumerics[] = {Numerics::kFast, Numerics::kStrict};

// The only result of an op.
Literal ResultOf(const OpDef& op, const std::vector<Literal>& operands,
                 const Attributes& attributes,
                 const CpuEvaluator::Options& options = {}) {
  const auto results = RunOp(op, operands, attributes, options);
  EXPECT_OK(results);
  return results.ok() ? results->at(0) : Literal();
}

void ExpectFactors(const OpDef& op, const std::vector<Literal>& operands,
                   const Attributes& attributes, Numerics numerics) {
  const Literal got =
      ResultOf(op, operands, attributes, {.numerics = numerics});
  EXPECT_TRUE(NoneIsNan(got, 0, got.shape().num_elements()));
  EXPECT_OK(reference::CheckFactors(op, attributes, operands, {got}));
}

Attributes By(bool left, bool lower, absl::string_view op = kNoTranspose,
              bool unit = false) {
  return {{"left_side", left},
          {"lower", lower},
          {"transpose_a", std::string(op)},
          {"unit_diagonal", unit}};
}

TEST(CholeskyTest, FactorsOfEverySizeAndDType) {
  for (const Numerics numerics : kBothNumerics) {
    for (const DType dtype : kFactored) {
      for (const int64_t n : {1, 2, 7, 24, 25, 128, 129}) {
        for (const bool lower : {true, false}) {
          SCOPED_TRACE(absl::StrCat(DTypeName(dtype), " ", n, " ", lower));
          ExpectFactors(kCholesky, {DefiniteMatrices(dtype, {n, n})},
                        {{"lower", lower}}, numerics);
        }
      }
    }
  }
}

// Several blocks, and several tiles of what a block leaves.
TEST(CholeskyTest, FactorsOfManyBlocks) {
  const Literal a = DefiniteMatrices(DType::kF64, {1300, 1300});
  for (const bool lower : {true, false}) {
    const Literal factor = ResultOf(kCholesky, {a}, {{"lower", lower}});
    const Literal own = ResultOf(kCholesky, {a}, {{"lower", lower}},
                                 {.numerics = Numerics::kStrict});
    // Elements are below 10, sums of 1,300 terms.
    EXPECT_THAT(factor, LiteralNear(own, Tolerance{.atol = 1e-11}));
  }
}

// Two numbers that textbooks factor by hand: [[4, 2], [2, 5]] and
// [[2, -i], [i, 2.5]] scaled by 2.
TEST(CholeskyTest, SmallOnesByHand) {
  const Literal real = Literal::Of<float>({4, 2, 2, 5}, {2, 2});
  EXPECT_THAT(ResultOf(kCholesky, {real}, {{"lower", true}}),
              LiteralEquals(Literal::Of<float>({2, 0, 1, 2}, {2, 2})));
  EXPECT_THAT(ResultOf(kCholesky, {real}, {{"lower", false}}),
              LiteralEquals(Literal::Of<float>({2, 1, 0, 2}, {2, 2})));
  using Z = std::complex<double>;
  const Literal complex = Literal::Of<Z>({4, Z(0, -2), Z(0, 2), 5}, {2, 2});
  EXPECT_THAT(ResultOf(kCholesky, {complex}, {{"lower", true}}),
              LiteralEquals(Literal::Of<Z>({2, 0, Z(0, 1), 2}, {2, 2})));
  EXPECT_THAT(ResultOf(kCholesky, {complex}, {{"lower", false}}),
              LiteralEquals(Literal::Of<Z>({2, Z(0, -1), 0, 2}, {2, 2})));
}

TEST(CholeskyTest, ReadsItsTriangleAlone) {
  for (const int64_t n : {5, 150}) {
    for (const bool lower : {true, false}) {
      const Literal a = DefiniteMatrices(DType::kC64, {n, n});
      Literal spoilt = CopyOf(a);
      for (int64_t k = 0; k < n * n; ++k) {
        if (k / n != k % n && (k / n > k % n) != lower) {
          SetElement(&spoilt, k, kNan);
        }
      }
      const Attributes by = {{"lower", lower}};
      EXPECT_THAT(ResultOf(kCholesky, {spoilt}, by),
                  LiteralBitEquals(ResultOf(kCholesky, {a}, by)));
    }
  }
}

// A matrix that has no factor is NaN, those beside it are as without it, and
// nothing is printed.
TEST(CholeskyTest, WithoutAFactorOneMatrixIsNan) {
  for (const DType dtype : kFactored) {
    for (const int64_t n : {1, 3, 24, 25, 200}) {
      for (const double bad : {-1.0, 0.0, kNan, kInfinity, -kInfinity}) {
        SCOPED_TRACE(absl::StrCat(DTypeName(dtype), " ", n, " ", bad));
        const Literal good = DefiniteMatrices(dtype, {3, n, n});
        Literal a = CopyOf(good);
        SetElement(&a, 2 * n * n - 1, bad);  // the second one's last pivot
        const Attributes by = {{"lower", true}};
        testing::internal::CaptureStderr();
        const Literal got = ResultOf(kCholesky, {a}, by);
        EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
        EXPECT_TRUE(NoneIsNan(got, 0, n * n));
        EXPECT_TRUE(AllAreNan(got, n * n, 2 * n * n));
        EXPECT_TRUE(NoneIsNan(got, 2 * n * n, 3 * n * n));
      }
    }
  }
}

TEST(CholeskyTest, NothingToFactor) {
  for (const Dims& dims : {Dims{0, 0}, Dims{3, 0, 0}, Dims{0, 4, 4},
                           Dims{int64_t{1} << 40, 0, 0}}) {
    const Literal a = Literal::Zeros(Shape::Of(DType::kF32, dims));
    EXPECT_EQ(ResultOf(kCholesky, {a}, {{"lower", true}}).shape(), a.shape());
    EXPECT_EQ(ResultOf(kTriangularSolve, {a, a}, By(true, true)).shape(),
              a.shape());
  }
  const Literal none = Literal::Zeros(Shape::Of(DType::kF32, {4, 0}));
  EXPECT_EQ(
      ResultOf(kTriangularSolve, {DefiniteMatrices(DType::kF32, {4, 4}), none},
               By(true, true))
          .shape(),
      none.shape());
}

TEST(TriangularSolveTest, SolvesOfEverySideTriangleAndTurn) {
  for (const Numerics numerics : kBothNumerics) {
    for (const DType dtype : kFactored) {
      for (const absl::string_view op :
           {kNoTranspose, kTransposeOf, kAdjointOf}) {
        for (int k = 0; k < 8; ++k) {
          const bool left = k & 1, lower = k & 2, unit = k & 4;
          for (const int64_t n : {1, 5, 24, 25, 140}) {
            SCOPED_TRACE(
                absl::StrCat(DTypeName(dtype), " ", op, " ", k, " ", n));
            // Beside a unit diagonal small elements hold growth back.
            const double size = unit ? 1.0 / static_cast<double>(n) : 1;
            const Literal a = DrawnMatrices(dtype, {n, n}, 8, 1, size);
            const Literal b =
                DrawnMatrices(dtype, left ? Dims{n, 3} : Dims{3, n}, 0, 7);
            ExpectFactors(kTriangularSolve, {a, b}, By(left, lower, op, unit),
                          numerics);
          }
        }
      }
    }
  }
}

// By hand: 2 x = 4; x + 4 y = 6 and its like.
TEST(TriangularSolveTest, SmallOnesByHand) {
  const Literal a = Literal::Of<float>({2, 9, 1, 4}, {2, 2});
  const Literal b = Literal::Of<float>({4, 6}, {2, 1});
  EXPECT_THAT(ResultOf(kTriangularSolve, {a, b}, By(true, true)),
              LiteralEquals(Literal::Of<float>({2, 1}, {2, 1})));
  EXPECT_THAT(ResultOf(kTriangularSolve, {a, b},
                       By(true, true, kNoTranspose, /*unit=*/true)),
              LiteralEquals(Literal::Of<float>({4, 2}, {2, 1})));
  EXPECT_THAT(ResultOf(kTriangularSolve, {a, b}, By(true, true, kTransposeOf)),
              LiteralEquals(Literal::Of<float>({1.25, 1.5}, {2, 1})));
  const Literal row = Literal::Of<float>({4, 6}, {1, 2});
  EXPECT_THAT(ResultOf(kTriangularSolve, {a, row}, By(false, true)),
              LiteralEquals(Literal::Of<float>({1.25, 1.5}, {1, 2})));
}

// What is divided by 0, or not finite, spoils its own right side from there on.
TEST(TriangularSolveTest, AZeroOnTheDiagonalDivides) {
  for (const int64_t n : {3, 60}) {
    Literal a = DrawnMatrices(DType::kF64, {n, n}, 8);
    SetElement(&a, (n - 2) * (n + 1), 0);
    const Literal b = DrawnMatrices(DType::kF64, {n, 2}, 0);
    const Literal x = ResultOf(kTriangularSolve, {a, b}, By(true, true));
    for (int64_t k = 0; k < 2 * n; ++k) {
      EXPECT_EQ(std::isfinite(x.data<double>()[k]), k < 2 * (n - 2)) << k;
    }
  }
}

TEST(TriangularSolveTest, NanStaysInItsRightSide) {
  for (const int64_t n : {3, 60}) {
    const Literal a = DrawnMatrices(DType::kF32, {n, n}, 8);
    Literal b = DrawnMatrices(DType::kF32, {n, 2}, 0);
    SetElement(&b, 1, kNan);
    const Literal x = ResultOf(kTriangularSolve, {a, b}, By(true, true));
    for (int64_t k = 0; k < 2 * n; ++k) EXPECT_EQ(IsNanAt(x, k), k % 2 == 1);
  }
}

// An inverse of the least numbers would be infinite.
TEST(TriangularSolveTest, TheLeastNumbersDivide) {
  const int64_t n = 40;
  Literal a = Literal::Zeros(Shape::Of(DType::kF32, {n, n}));
  Literal b = Literal::Zeros(Shape::Of(DType::kF32, {n, 1}));
  for (int64_t i = 0; i < n; ++i) {
    SetElement(&a, i * (n + 1), 0x1p-149);
    SetElement(&b, i, 0x1p-148);
  }
  const Literal x = ResultOf(kTriangularSolve, {a, b}, By(true, true));
  for (const float v : x.data<float>()) EXPECT_EQ(v, 2);
}

TEST(LinalgTest, BitsDoNotDependOnThreads) {
  ThreadPool threads(3);
  const Literal a = DefiniteMatrices(DType::kF32, {37, 40, 40});
  const Attributes lower = {{"lower", true}};
  const Literal one = ResultOf(kCholesky, {a}, lower);
  EXPECT_THAT(ResultOf(kCholesky, {a}, lower, {.pool = &threads}),
              LiteralBitEquals(one));
  EXPECT_THAT(
      ResultOf(kTriangularSolve, {one, a}, By(true, true), {.pool = &threads}),
      LiteralBitEquals(ResultOf(kTriangularSolve, {one, a}, By(true, true))));
}

}  // namespace
}  // namespace hawser::cpu
