// Transforms of many rows or columns of an array: the stages of one along
// several axes.
#ifndef HAWSER_KERNELS_CPU_TRANSFORMS_STAGES_H_
#define HAWSER_KERNELS_CPU_TRANSFORMS_STAGES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/transforms/lane_transform.h"

namespace hawser::cpu {

// Steps of an element that is moved to a row, a column or a pair.
inline constexpr double kMoveSteps = 0.5;

// Rows of n numbers, one behind the other. Complex numbers have their parts in
// turn; `from` and `to` may be the same where both sides are complex.
template <typename T>
struct FftRows {
  const T* from;
  T* to;
  int64_t count, n;
};

template <typename T>
absl::Status TransformRows(const KernelContext& context, const FftRows<T>& rows,
                           const Turn& turn);
// Real numbers to the first n / 2 + 1 of their transform.
template <typename T>
absl::Status TransformRealRows(const KernelContext& context,
                               const FftRows<T>& rows);
// The other way round.
template <typename T>
absl::Status InvertToRealRows(const KernelContext& context,
                              const FftRows<T>& rows, double scale);

// Complex numbers [outer, n, inner], transformed along n; `from` and `to` may
// be the same.
template <typename T>
struct FftColumns {
  const T* from;
  T* to;
  int64_t outer, n, inner;
};
template <typename T>
absl::Status TransformColumns(const KernelContext& context,
                              const FftColumns<T>& columns, const Turn& turn);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_TRANSFORMS_STAGES_H_
