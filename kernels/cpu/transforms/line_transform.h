// LineTransform: one transform of numbers behind one another, of any length.
#ifndef HAWSER_KERNELS_CPU_TRANSFORMS_LINE_TRANSFORM_H_
#define HAWSER_KERNELS_CPU_TRANSFORMS_LINE_TRANSFORM_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/transforms/lane_transform.h"
#include "kernels/cpu/transforms/plan.h"

namespace hawser::cpu {

// Thread-safe. The context and the plan outlive it.
template <typename T>
class LineTransform {
 public:
  LineTransform(const KernelContext& context, const FftPlan<T>& plan);

  // plan.n complex numbers, parts in turn; `from` and `to` may be the same. The
  // bits do not depend on the loop.
  absl::Status Run(const T* from, T* to, const Turn& turn,
                   const GroupLoop& loop);

 private:
  absl::Status RunInLanes(const T* from, T* to, const Turn& turn);
  absl::Status RunColumns(const T* from, T* to, bool inverse,
                          const GroupLoop& loop);
  absl::Status RunRows(const T* from, T* to, const Turn& turn,
                       const GroupLoop& loop);
  absl::Status RunChirps(const T* from, T* to, const Turn& turn,
                         const GroupLoop& loop);

  const FftPlan<T>& plan_;
  // Of kMatrix, the columns' and the rows'; the first of kPasses, too.
  std::optional<LaneTransform<T>> columns_, rows_;
  double column_steps_ = 0, row_steps_ = 0;  // of a group
  std::unique_ptr<LineTransform<T>> wide_;   // of kChirps
  RoomPool<T> lines_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_TRANSFORMS_LINE_TRANSFORM_H_
