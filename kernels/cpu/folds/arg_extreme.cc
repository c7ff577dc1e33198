// argmin and argmax: NaN wins, -0 equals 0.
#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "core/ops/contraction/reduce.h"
#include "kernels/cpu/elements/arithmetic.h"
#include "kernels/cpu/elements/element_loops.h"
#include "kernels/cpu/elements/folds.h"
#include "kernels/cpu/families.h"

namespace hawser::cpu {
namespace {

// Steps for one element: one to search, one to find it again.
constexpr double kSearchSteps = 2;

// True if x replaces the best before it.
template <bool kLargest, bool kLast, typename C>
bool Wins(C x, C best) {
  if (x != x) return kLast || best == best;
  if (kLast && x == best) return true;
  return kLargest ? x > best : x < best;
}

// Elements searched between two looks at the token.
constexpr int64_t kSearched = int64_t{1} << 20;

// The extreme first, in a loop without branches; then where it stands.
template <bool kLargest, bool kLast, typename T>
int64_t Search(const T* x, int64_t n) {
  using C = ComputeType<T>;
  using F = std::conditional_t<kLargest, Maximum, Minimum>;
  const C best = FoldRun<F, C>(x, n);
  const bool nan = best != best;
  auto found = [&](int64_t i) {
    const C value = Widen(x[i]);
    return nan ? value != value : value == best;
  };
  int64_t i = kLast ? n - 1 : 0;
  while (!found(i)) i += kLast ? -1 : 1;
  return i;
}

// Part after part of a long run.
template <bool kLargest, bool kLast, typename T, typename Index>
absl::Status SearchRun(const T* x, int64_t n, WorkMeter* meter, Index* out) {
  int64_t best = 0;
  for (int64_t begin = 0; begin < n; begin += kSearched) {
    const int64_t size = std::min(kSearched, n - begin);
    HAWSER_RETURN_IF_ERROR(meter->Begin(kSearchSteps * size));
    const int64_t at = begin + Search<kLargest, kLast>(x + begin, size);
    if (begin == 0 || Wins<kLargest, kLast>(Widen(x[at]), Widen(x[best]))) {
      best = at;
    }
  }
  *out = static_cast<Index>(best);
  return absl::OkStatus();
}

// Searches n <= kFoldColumns columns.
template <bool kLargest, bool kLast, typename T, typename Index>
absl::Status SearchColumns(const T* x, int64_t rows, int64_t stride, int64_t n,
                           WorkMeter* meter, Index* out) {
  ComputeType<T> best[kFoldColumns];
  for (int64_t j = 0; j < n; ++j) {
    best[j] = Widen(x[j]);
    out[j] = 0;
  }
  for (int64_t r = 1; r < rows; ++r) {
    HAWSER_RETURN_IF_ERROR(meter->Begin(kSearchSteps * n));
    const T* row = x + r * stride;
    for (int64_t j = 0; j < n; ++j) {
      if (!Wins<kLargest, kLast>(Widen(row[j]), best[j])) continue;
      best[j] = Widen(row[j]);
      out[j] = static_cast<Index>(r);
    }
  }
  return absl::OkStatus();
}

template <bool kLargest, bool kLast, typename T, typename Index>
absl::Status SearchAll(const KernelContext& c, char* out) {
  const Shape& shape = c.shape(0);
  const int64_t axis = c.attributes().GetInt("dimension");
  const int64_t rows = shape.dim(axis);
  const int64_t after = shape.Strides()[axis];
  const int64_t before = c.result_shape().num_elements() / after;
  const int64_t columns = std::min(after, kFoldColumns);
  const int64_t chunks = (after + columns - 1) / columns;
  const T* x = c.operands[0].data<T>().data();
  Index* to = reinterpret_cast<Index*>(out);
  auto search = [&](int64_t i, WorkMeter* meter) {
    const int64_t column = i % chunks * columns;
    const T* from = x + i / chunks * rows * after + column;
    Index* result = to + i / chunks * after + column;
    if (after == 1) {
      return SearchRun<kLargest, kLast>(from, rows, meter, result);
    }
    return SearchColumns<kLargest, kLast>(
        from, rows, after, std::min(columns, after - column), meter, result);
  };
  return c.ForMetered(
      before * chunks, kSearchSteps * rows * columns,
      [&](int64_t begin, int64_t end, WorkMeter* meter) -> absl::Status {
        for (int64_t i = begin; i < end; ++i) {
          HAWSER_RETURN_IF_ERROR(search(i, meter));
        }
        return absl::OkStatus();
      });
}

template <bool kLargest, bool kLast>
absl::Status SearchDTypes(const KernelContext& c, char* out) {
  return VisitDType(c.shape(0).dtype(), [&](auto tag) -> absl::Status {
    using T = typename decltype(tag)::type;
    if constexpr (kIsComplex<T>) {
      return Unimplemented("complex numbers have no order");
    } else {
      // Signed or not, an index has the same bits.
      return ByteWidth(c.result_shape().dtype()) == 4
                 ? SearchAll<kLargest, kLast, T, uint32_t>(c, out)
                 : SearchAll<kLargest, kLast, T, uint64_t>(c, out);
    }
  });
}

template <bool kLargest>
absl::StatusOr<Literals> RunArgExtreme(const KernelContext& c) {
  HAWSER_ASSIGN_OR_RETURN(Literal out, c.Allocate(c.result_shape()));
  char* to = out.mutable_bytes().data();
  const bool last = c.attributes().GetString("tie", "low") == "high";
  HAWSER_RETURN_IF_ERROR((last ? SearchDTypes<kLargest, true>(c, to)
                               : SearchDTypes<kLargest, false>(c, to)));
  return Literals{std::move(out)};
}

double SearchCost(const CostContext& c) {
  return kSearchSteps * c.elements(c.operand(0));
}

constexpr CpuKernel kArgExtremeKernels[] = {
    {&kArgMax, RunArgExtreme<true>, nullptr, SearchCost},
    {&kArgMin, RunArgExtreme<false>, nullptr, SearchCost},
};

}  // namespace

absl::Span<const CpuKernel> ArgExtremeKernels() { return kArgExtremeKernels; }

}  // namespace hawser::cpu
