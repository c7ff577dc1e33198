// Small matrices of reals side by side: what they satisfy, and that no matrix
// sees another.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/threads/thread_pool.h"
#include "core/ops/linalg/linalg.h"
#include "kernels/cpu/matrix_lanes/matrix_lanes.h"
#include "tests/kernels/cpu/linalg/drawn_matrices.h"
#include "tests/reference/rows/linalg/properties.h"
#include "tests/testing/matchers.h"

namespace hawser::cpu {
namespace {

constexpr const OpDef* kSideBySide[] = {&kCholesky, &kEigh, &kSvd};

Attributes AllFlags(const OpDef& op, bool flag) {
  Attributes flags;
  for (const AttributeSpec& spec : op.attributes) flags.Set(spec.name, flag);
  return flags;
}

std::vector<Literal> FactorsOf(const OpDef& op, const Literal& a,
                               const CpuEvaluator::Options& options = {}) {
  auto results = RunOp(op, {a}, AllFlags(op, true), options);
  EXPECT_OK(results);
  return results.ok() ? *std::move(results) : std::vector<Literal>();
}

// What op takes: definite ones for cholesky.
Literal MatricesFor(const OpDef& op, DType dtype, const Dims& dims) {
  return &op == &kCholesky ? DefiniteMatrices(dtype, dims)
                           : DrawnMatrices(dtype, dims, 0);
}

// Entry `from` of axis 0 in place of entry `to`.
void CopyEntry(const Literal& a, int64_t from, int64_t to, Literal* out) {
  const auto size = a.bytes().size() / static_cast<size_t>(a.shape().dim(0));
  std::copy_n(a.bytes().data() + from * size, size,
              out->mutable_bytes().data() + to * size);
}

// The entries of axis 0 from the last to the first.
Literal Backwards(const Literal& a) {
  Literal out = CopyOf(a);
  const int64_t n = a.shape().dim(0);
  for (int64_t i = 0; i < n; ++i) CopyEntry(a, i, n - 1 - i, &out);
  return out;
}

TEST(SideBySide, MatricesOfAllSizesAreFactored) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (int64_t n = 1; n <= 17; ++n) {
      for (const OpDef* op : kSideBySide) {
        for (const bool flag : {true, false}) {
          SCOPED_TRACE(absl::StrCat(op->name, " ", DTypeName(dtype), " ", n));
          const Literal a = MatricesFor(*op, dtype, {19, n, n});
          const auto got = RunOp(*op, {a}, AllFlags(*op, flag));
          ASSERT_OK(got);
          EXPECT_TRUE(NoneIsNan((*got)[0], 0, 19 * n));
          EXPECT_OK(
              reference::CheckFactors(*op, AllFlags(*op, flag), {a}, *got));
        }
      }
    }
  }
}

TEST(SideBySide, SvdOfWideAndTallMatrices) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const auto& [m, n] : {std::pair<int64_t, int64_t>(3, 16),
                               {16, 3},
                               {1, 8},
                               {8, 1},
                               {5, 4},
                               {9, 17}}) {
      for (const bool full : {true, false}) {
        const Attributes by = {{"compute_uv", true}, {"full_matrices", full}};
        const Literal a = DrawnMatrices(dtype, {18, m, n}, 0);
        const auto got = RunOp(kSvd, {a}, by);
        ASSERT_OK(got);
        EXPECT_OK(reference::CheckFactors(kSvd, by, {a}, *got)) << m << n;
      }
    }
  }
}

// Zeros, rows that depend on others, equal values, numbers far from 1.
TEST(SideBySide, HardMatricesAmongOthers) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const int64_t n : {2, 3, 8, 16}) {
      Literal a = DrawnMatrices(dtype, {20, n, n}, 0);
      for (int64_t k = 0; k < n * n; ++k) {
        const bool diagonal = k % (n + 1) == 0;
        SetElement(&a, k, 0);
        SetElement(&a, 3 * n * n + k, diagonal ? 7 : 0);
        SetElement(&a, 5 * n * n + k, 1);
        SetElement(&a, 9 * n * n + k, std::ldexp(static_cast<double>(k), 100));
        SetElement(&a, 12 * n * n + k, std::ldexp(k % 3 - 1.0, -120));
        SetElement(&a, 15 * n * n + k, std::ldexp(1 + k % 2, -10 * (k % 7)));
      }
      for (const OpDef* op : {&kEigh, &kSvd}) {
        const auto got = FactorsOf(*op, a);
        EXPECT_TRUE(NoneIsNan(got[0], 0, 20 * n)) << op->name << " " << n;
        EXPECT_OK(reference::CheckFactors(*op, AllFlags(*op, true), {a}, got))
            << op->name << " " << n;
      }
    }
  }
}

// Whatever stands beside it, and in a group that is not full.
TEST(SideBySide, AMatrixHasTheSameBitsWhereverItStands) {
  for (const DType dtype : {DType::kF32, DType::kF64}) {
    for (const int64_t n : {1, 3, 8, 13, 16}) {
      for (const OpDef* op : kSideBySide) {
        Literal a = MatricesFor(*op, dtype, {37, n, n});
        SetElement(&a, 4 * n * n, std::numeric_limits<double>::quiet_NaN());
        SetElement(&a, 9 * n * n, std::numeric_limits<double>::infinity());
        for (int64_t k = 0; k < n * n; ++k) SetElement(&a, 6 * n * n + k, 0);
        const auto forward = FactorsOf(*op, a);
        const auto back = FactorsOf(*op, Backwards(a));
        for (size_t k = 0; k < forward.size(); ++k) {
          EXPECT_THAT(Backwards(back[k]), LiteralBitEquals(forward[k]))
              << op->name << " " << n;
        }
        EXPECT_TRUE(AllAreNan(forward[0],
                              9 * forward[0].shape().num_elements() / 37,
                              10 * forward[0].shape().num_elements() / 37));
      }
    }
  }
}

TEST(SideBySide, AFewAreAsManyAre) {
  for (const int64_t n : {3, 8}) {
    for (const OpDef* op : kSideBySide) {
      const Literal a = MatricesFor(*op, DType::kF32, {16, n, n});
      Literal one = Literal::Zeros(Shape::Of(DType::kF32, {1, n, n}));
      CopyEntry(a, 11, 0, &one);
      const auto all = FactorsOf(*op, a), alone = FactorsOf(*op, one);
      for (size_t k = 0; k < all.size(); ++k) {
        Literal same = CopyOf(alone[k]);
        CopyEntry(all[k], 11, 0, &same);
        EXPECT_THAT(alone[k], LiteralBitEquals(same)) << op->name << " " << n;
      }
    }
  }
}

TEST(SideBySide, BitsDoNotDependOnThreads) {
  ThreadPool threads(3);
  for (const OpDef* op : kSideBySide) {
    const Literal a = MatricesFor(*op, DType::kF32, {1000, 5, 5});
    const auto one = FactorsOf(*op, a);
    const auto three = FactorsOf(*op, a, {.pool = &threads});
    for (size_t k = 0; k < one.size(); ++k) {
      EXPECT_THAT(three[k], LiteralBitEquals(one[k])) << op->name;
    }
  }
}

// Numbers in all lanes, each matrix symmetric and far from singular.
template <typename T>
std::vector<T> LanesOf(int64_t n) {
  constexpr int64_t kLanes = kMatrixLanes<T>;
  std::vector<T> out(n * n * kLanes);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i; j < n; ++j) {
      for (int64_t l = 0; l < kLanes; ++l) {
        const auto x = static_cast<T>((i * 7 + j * 3 + l * 5) % 11 - 5) / 8;
        out[(i * n + j) * kLanes + l] = x + (i == j ? T(n) : 0);
        out[(j * n + i) * kLanes + l] = x + (i == j ? T(n) : 0);
      }
    }
  }
  return out;
}

template <typename T>
void ExpectSameInEachSet() {
  for (const int64_t n : {1, 2, 5, 16}) {
    std::vector<std::vector<T>> first;
    for (Isa isa = Isa::kBase; isa <= MachineIsa();
         isa = static_cast<Isa>(static_cast<int>(isa) + 1)) {
      const MatrixLanes<T>& lanes = FindMatrixLanes<T>(isa);
      std::vector<T> factor = LanesOf<T>(n), diagonal = factor, rows = factor;
      std::vector<T> bad(kMatrixLanes<T>), v(factor.size()), j(factor.size());
      lanes.factor(n, factor.data(), bad.data());
      lanes.diagonalize(n, diagonal.data(), v.data());
      lanes.orthogonalize(n, n, rows.data(), j.data());
      const std::vector<std::vector<T>> got = {factor, bad,  diagonal,
                                               v,      rows, j};
      if (isa == Isa::kBase) first = got;
      // Zeros of both signs are equal.
      EXPECT_EQ(got, first) << IsaName(isa) << " " << n;
    }
  }
}

TEST(SideBySide, EachSetOfInstructionsGivesTheSame) {
  ExpectSameInEachSet<float>();
  ExpectSameInEachSet<double>();
}

}  // namespace
}  // namespace hawser::cpu
