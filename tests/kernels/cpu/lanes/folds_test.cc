// Folds of each set of instructions give what the row's folds give.
#include "kernels/cpu/elements/folds.h"

#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/values/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "gtest/gtest.h"
#include "kernels/cpu/folds/lanes/fold_lanes.h"
#include "kernels/cpu/kernel.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::cpu {
namespace {

constexpr Isa kSets[] = {Isa::kSse4, Isa::kAvx2, Isa::kAvx512};
constexpr const OpDef* kMonoids[] = {&kAdd,     &kAnd,      &kMaximum,
                                     &kMinimum, &kMultiply, &kOr};
// Around the lanes of a run, and beyond a block.
constexpr int64_t kRuns[] = {1,  2,  7,   8,   31,   32,   33,   63,
                             64, 65, 257, 263, 1000, 4095, 4096, 9001};
constexpr int64_t kColumns[] = {1, 3, 31, 32, 64, 255, 300, 1000};
// Around where partial results are set aside.
constexpr int64_t kRows[] = {1, 2, 7, 8, 33, 513};
constexpr int64_t kMostElements = 40000;

// Some of them rows of numbers alone, some with NaN, infinities and zeros of
// two signs.
Literal Elements(DType dtype, int64_t n) {
  Random random(static_cast<uint64_t>(n));
  return RandomLiteral(Shape::Of(dtype, {n}), random, n % 2 == 0);
}

// Which NaN it is depends on the order of operands, which is the compiler's.
Literal OneNan(Literal x) {
  VisitDType(x.shape().dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_floating_point_v<T>) {
      for (T& value : x.mutable_data<T>()) {
        if (value != value) value = std::numeric_limits<T>::quiet_NaN();
      }
    } else if constexpr (kIsComplex<T>) {
      using Part = typename T::value_type;
      for (T& value : x.mutable_data<T>()) {
        if (value != value) value = std::numeric_limits<Part>::quiet_NaN();
      }
    }
  });
  return x;
}

// Expects the folds of all sets to leave what `fold` leaves with the row's.
void ExpectSame(
    const OpDef& op, const Folds& of_row, int64_t elements, int64_t left,
    const std::string& which,
    const std::function<void(const Folds&, const char* in, char* out)>& fold) {
  const Literal x = Elements(of_row.in, elements);
  const Shape shape = Shape::Of(of_row.accumulator, {left});
  Literal want = Literal::Zeros(shape);
  fold(of_row, x.bytes().data(), want.mutable_bytes().data());
  want = OneNan(std::move(want));
  for (const Isa isa : kSets) {
    if (isa > MachineIsa()) continue;
    Literal got = Literal::Zeros(shape);
    fold(FindFolds(op, of_row, isa), x.bytes().data(),
         got.mutable_bytes().data());
    EXPECT_OK(CompareLiterals(OneNan(std::move(got)), want, {.bits = true}))
        << which << " of " << elements << " " << DTypeName(of_row.in) << " by "
        << op.name << " with " << IsaName(isa);
  }
}

void ExpectRuns(const OpDef& op, const Folds& of_row) {
  for (const int64_t n : kRuns) {
    ExpectSame(op, of_row, n, 1, "a run",
               [n](const Folds& folds, const char* in, char* out) {
                 folds.run(in, n, out);
               });
  }
}

void ExpectColumns(const OpDef& op, const Folds& of_row) {
  for (const int64_t n : kColumns) {
    for (const int64_t rows : kRows) {
      if (n * rows > kMostElements) continue;
      // Columns of rows next to each other or apart, and more of them.
      for (const int64_t stride : {n, n + 5}) {
        ExpectSame(op, of_row, (2 * rows) * stride, n, "columns",
                   [=](const Folds& folds, const char* in, char* out) {
                     folds.columns(in, rows, stride, n, out);
                     in += rows * stride * ByteWidth(folds.in);
                     folds.accumulate(in, rows, stride, n, out);
                   });
      }
    }
  }
}

TEST(FoldLanes, GiveWhatTheRowGives) {
  int there = 0;
  for (const OpDef* op : kMonoids) {
    for (const DType dtype : AllDTypes()) {
      const Reduction* row = FindCpuKernel(*op)->reduction(dtype);
      if (row == nullptr) continue;
      for (const Folds& folds : {row->elements, row->parts}) {
        there += FindFolds(*op, folds, MachineIsa()).run != folds.run;
        ExpectRuns(*op, folds);
        ExpectColumns(*op, folds);
      }
    }
  }
  EXPECT_GT(there, MachineIsa() == Isa::kBase ? -1 : 100);
}

// Parts are folded where they are.
TEST(FoldLanes, ColumnsMayBeTheirFirstRow) {
  const Folds& row = FindCpuKernel(kAdd)->reduction(DType::kF64)->elements;
  for (const int64_t n : kColumns) {
    for (const int64_t rows : {2, 513, 1100}) {
      const Literal x = Elements(DType::kF64, rows * n);
      std::vector<double> want(n),
          got(x.data<double>().begin(), x.data<double>().end());
      row.columns(x.bytes().data(), rows, n, n,
                  reinterpret_cast<char*>(want.data()));
      char* const there = reinterpret_cast<char*>(got.data());
      FindFolds(kAdd, row, MachineIsa()).columns(there, rows, n, n, there);
      for (int64_t j = 0; j < n; ++j) {
        const bool nan = want[j] != want[j] && got[j] != got[j];
        EXPECT_TRUE(nan || got[j] == want[j]) << rows << " " << j;
      }
    }
  }
}

// ---- where extremes stand ---------------------------------------------------

// Whether x, behind it, takes the place of the best: as argmax has it.
template <typename C>
bool TakesPlace(ExtremeKind kind, C x, C best) {
  if (x != x) return kind.last || best == best;
  if (x == best) return kind.last;
  return kind.largest ? x > best : x < best;
}

// Expects what a plain search over `rows` rows of n columns finds, by rows
// [0, first) and then the others; of one column: by a run.
template <typename T>
void ExpectPlaces(ExtremeKind kind, const Literal& x, int64_t rows, int64_t n,
                  int64_t first, Isa isa) {
  using C = ExtremeValue<T>;
  using P = std::conditional_t<sizeof(C) == 4, int32_t, int64_t>;
  const ExtremeFolds* folds = FindExtremes(kind, kDTypeOf<T>, isa);
  ASSERT_NE(folds, nullptr);
  const char* in = x.bytes().data();
  std::vector<C> parts(2 * n);
  char* const out = reinterpret_cast<char*>(parts.data());
  if (n == 1) {
    folds->run(in, rows, out);
  } else {
    folds->columns(in, first, n, n, 0, out);
    folds->columns(in + first * n * sizeof(T), rows - first, n, n, first, out);
  }
  const T* from = x.data<T>().data();
  for (int64_t j = 0; j < n; ++j) {
    int64_t best = 0;
    for (int64_t r = 1; r < rows; ++r) {
      if (TakesPlace(kind, static_cast<C>(from[r * n + j]),
                     static_cast<C>(from[best * n + j]))) {
        best = r;
      }
    }
    EXPECT_EQ((reinterpret_cast<const P*>(out)[n + j]), best)
        << rows << " rows of " << n << " " << DTypeName(kDTypeOf<T>) << " by "
        << IsaName(isa) << (kind.largest ? ", largest" : ", smallest")
        << (kind.last ? ", last" : ", first");
  }
}

TEST(FoldLanes, FindWhereExtremesStand) {
  for (const DType dtype : AllDTypes()) {
    VisitDType(dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (!kIsComplex<T>) {
        for (const Isa isa : kSets) {
          if (isa > MachineIsa()) continue;
          for (const bool largest : {false, true}) {
            for (const bool last : {false, true}) {
              for (const int64_t n : kRuns) {
                ExpectPlaces<T>({largest, last}, Elements(dtype, n), n, 1, 0,
                                isa);
              }
              for (const int64_t n : {3, 32, 300, 1000}) {
                ExpectPlaces<T>({largest, last}, Elements(dtype, 19 * n), 19, n,
                                8, isa);
              }
            }
          }
        }
      }
    });
  }
}

}  // namespace
}  // namespace hawser::cpu
