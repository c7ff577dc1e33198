// lu: panels of columns by a library, or own loops. A matrix is factored where
// its copy stands.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "core/base/status.h"
#include "kernels/cpu/linalg/matrices.h"
#include "kernels/cpu/linalg/rows.h"
#include "kernels/cpu/movement/strided.h"

namespace hawser::cpu {
namespace {

template <typename T>
void SwapRows(View<T> a, int64_t i, int64_t j) {
  if (i != j) std::swap_ranges(a.Row(i), a.Row(i) + a.columns, a.Row(j));
}

// The first of the largest is the pivot; a column of zeros has none.
template <typename T>
absl::Status OwnLu(View<T> a, int32_t* pivots, WorkMeter* meter) {
  const int64_t columns = a.columns;
  for (int64_t k = 0; k < std::min(a.rows, columns); ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < a.rows; ++i) {
      if (SizeOf(a.At(i, k)) > SizeOf(a.At(pivot, k))) pivot = i;
    }
    pivots[k] = static_cast<int32_t>(pivot);
    SwapRows(a, k, pivot);
    const T divisor = a.At(k, k);
    if (divisor == T(0)) continue;
    for (int64_t i = k + 1; i < a.rows; ++i) {
      HAWSER_RETURN_IF_ERROR(
          meter->Begin(kOwnProductSteps<T> * static_cast<double>(columns - k)));
      const T factor = a.At(i, k) / divisor;
      a.At(i, k) = factor;
      SubtractTimes(factor, a.Row(k) + k + 1, columns - k - 1,
                    a.Row(i) + k + 1);
    }
  }
  return absl::OkStatus();
}

// Columns [k, k + size) from row k on, through a copy that stands column by
// column; the rows of all other columns are swapped alike.
template <typename T>
absl::Status FactorPanel(View<T> a, int64_t k, int64_t size, T* columns,
                         int32_t* pivots, const DenseCalls<T>& calls,
                         WorkMeter* meter) {
  const View<T> panel = a.Block(k, k, a.rows - k, size);
  HAWSER_RETURN_IF_ERROR(ForRows(panel, meter, [&](int64_t i) {
    for (int64_t j = 0; j < size; ++j) {
      columns[j * panel.rows + i] = panel.At(i, j);
    }
  }));
  const int64_t count = std::min(panel.rows, size);
  HAWSER_RETURN_IF_ERROR(
      calls.Lu(View<T>{columns, size, panel.rows, panel.rows}, pivots + k));
  for (int64_t i = 0; i < count; ++i) {
    pivots[k + i] += static_cast<int32_t>(k) - 1;  // LAPACK counts from 1
    HAWSER_RETURN_IF_ERROR(
        meter->Begin(kElementSteps * static_cast<double>(a.columns)));
    SwapRows(a.Block(0, 0, a.rows, k), k + i, pivots[k + i]);
    SwapRows(a.Block(0, k + size, a.rows, a.columns - k - size), k + i,
             pivots[k + i]);
  }
  return ForRows(panel, meter, [&](int64_t i) {
    for (int64_t j = 0; j < size; ++j) {
      panel.At(i, j) = columns[j * panel.rows + i];
    }
  });
}

template <typename T>
absl::Status FactorBlocks(View<T> a, T* columns, int32_t* pivots,
                          const DenseCalls<T>& calls, WorkMeter* meter) {
  const int64_t count = std::min(a.rows, a.columns);
  for (int64_t k = 0; k < count; k += kBlockRows) {
    const int64_t size = std::min(kBlockRows, count - k);
    HAWSER_RETURN_IF_ERROR(
        FactorPanel(a, k, size, columns, pivots, calls, meter));
    const int64_t right = a.columns - k - size, below = a.rows - k - size;
    if (right == 0) continue;
    const View<T> beside = a.Block(k, k + size, size, right);
    HAWSER_RETURN_IF_ERROR(calls.SolveTriangle(
        /*left=*/true, /*lower=*/true, Op::kNone, /*unit=*/true,
        a.Block(k, k, size, size), beside));
    if (below == 0) continue;
    HAWSER_RETURN_IF_ERROR(
        calls.Subtract(a.Block(k + size, k + size, below, right), Op::kNone,
                       a.Block(k + size, k, below, size), Op::kNone, beside));
  }
  return absl::OkStatus();
}

// The rows of A in the order that the swaps give them.
void Permute(const int32_t* pivots, int64_t count, int64_t rows,
             int32_t* permutation) {
  std::iota(permutation, permutation + rows, 0);
  for (int64_t k = 0; k < count; ++k) {
    std::swap(permutation[k], permutation[pivots[k]]);
  }
}

// One matrix. `room`: for the columns of a panel, where a library is asked.
template <typename T>
absl::Status FactorOne(View<T> a, int32_t* pivots, int32_t* permutation,
                       T* room, const Lapack* lapack, WorkMeter* meter) {
  const int64_t count = std::min(a.rows, a.columns);
  bool finite = true;
  HAWSER_RETURN_IF_ERROR(ForRows(a, meter, [&](int64_t i) {
    finite = finite && AllFinite(a.Row(i), a.columns);
  }));
  if (!finite) {
    std::iota(pivots, pivots + count, 0);
    HAWSER_RETURN_IF_ERROR(ForRows(a, meter, [&](int64_t i) {
      std::fill_n(a.Row(i), a.columns, NotANumber<T>());
    }));
  } else if (lapack == nullptr) {
    HAWSER_RETURN_IF_ERROR(OwnLu(a, pivots, meter));
  } else {
    HAWSER_RETURN_IF_ERROR(FactorBlocks(
        a, room, pivots, DenseCalls<T>(lapack->Of<T>(), meter), meter));
  }
  Permute(pivots, count, a.rows, permutation);
  return absl::OkStatus();
}

double StepsOf(DType dtype, const Batch& batch) {
  const auto least = static_cast<double>(std::min(batch.rows, batch.columns));
  const auto most = static_cast<double>(std::max(batch.rows, batch.columns));
  return least * least * (most / 2 - least / 6) *
             ProductSteps(dtype, std::min(batch.rows, batch.columns)) +
         4 * kElementSteps * least * most + most;
}

}  // namespace

absl::StatusOr<Literals> RunLu(const KernelContext& c) {
  HAWSER_ASSIGN_OR_RETURN(Literal packed, WritableCopy(c, 0));
  HAWSER_ASSIGN_OR_RETURN(Literal pivots, c.Allocate(c.result_shape(1)));
  HAWSER_ASSIGN_OR_RETURN(Literal order, c.Allocate(c.result_shape(2)));
  const Batch batch(packed.shape());
  const DType dtype = packed.shape().dtype();
  const int64_t count = std::min(batch.rows, batch.columns);
  const Lapack* const lapack =
      LapackFor(c, count, std::max(batch.rows, batch.columns));
  char* const data = packed.mutable_bytes().data();
  int32_t* const swaps = pivots.mutable_data<int32_t>().data();
  int32_t* const permutation = order.mutable_data<int32_t>().data();
  // Without columns there is nothing but an order to give.
  const bool none = order.shape().num_elements() == 0;
  HAWSER_RETURN_IF_ERROR(VisitFactored(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return c.ForMetered(
        none ? 0 : batch.count, StepsOf(dtype, batch),
        [&](int64_t begin, int64_t end, WorkMeter* meter) -> absl::Status {
          HAWSER_ASSIGN_OR_RETURN(
              Literal room,
              c.Allocate(Shape::Of(
                  dtype,
                  {lapack == nullptr ? 0 : std::min(kBlockRows, batch.columns),
                   batch.rows})));
          for (int64_t i = begin; i < end; ++i) {
            HAWSER_RETURN_IF_ERROR(
                FactorOne(batch.At(reinterpret_cast<T*>(data), i),
                          swaps + i * count, permutation + i * batch.rows,
                          reinterpret_cast<T*>(room.mutable_bytes().data()),
                          lapack, meter));
          }
          return meter->End();
        });
  }));
  return Literals{std::move(packed), std::move(pivots), std::move(order)};
}

double LuCost(const CostContext& c) {
  const Batch batch(c.operand(0));
  if (c.result(2).num_elements() == 0) return 0;
  return static_cast<double>(batch.count) *
             StepsOf(c.operand(0).dtype(), batch) +
         ResultCost(c);
}

}  // namespace hawser::cpu
