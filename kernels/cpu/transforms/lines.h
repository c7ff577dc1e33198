// Loops over transforms that are too long for lanes, and over pieces of one.
#ifndef HAWSER_KERNELS_CPU_TRANSFORMS_LINES_H_
#define HAWSER_KERNELS_CPU_TRANSFORMS_LINES_H_

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "core/base/status.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/transforms/lane_transform.h"

namespace hawser::cpu {

// Whether `count` transforms run side by side in lanes, rather than each as a
// line: these would be left empty. The bits are the same.
template <typename T>
bool FillsLanes(const FftPlan<T>& plan, int64_t count) {
  if (plan.way.kind == FftWay::kPasses) return true;
  return !plan.is_long() && 2 * count >= kMostLanes<T>;
}

// Lines of fewer steps run beside one another; in longer ones, threads share a
// line. The bits are the same.
inline constexpr double kStepsOfSharedLine = 1 << 20;

// fn(i, loop) for i < count, each of which takes `steps` within `loop`.
template <typename Fn>
absl::Status ForLines(const KernelContext& context, int64_t count, double steps,
                      Fn fn) {
  if (steps >= kStepsOfSharedLine) {
    for (int64_t i = 0; i < count; ++i) {
      HAWSER_RETURN_IF_ERROR(fn(i, GroupLoop(context)));
    }
    return absl::OkStatus();
  }
  return context.ForMetered(
      count, steps,
      [&](int64_t begin, int64_t end, WorkMeter* meter) -> absl::Status {
        for (int64_t i = begin; i < end; ++i) {
          HAWSER_RETURN_IF_ERROR(fn(i, GroupLoop(meter)));
        }
        return meter->End();
      });
}

// fn(begin, end) for pieces of [0, n), where one of n takes `steps`.
template <typename Fn>
absl::Status ForPieces(const GroupLoop& loop, int64_t n, double steps, Fn fn) {
  constexpr int64_t kPiece = 1 << 14;
  return loop.For((n + kPiece - 1) / kPiece, kPiece * steps,
                  [&](int64_t piece) {
                    fn(piece * kPiece, std::min((piece + 1) * kPiece, n));
                    return absl::OkStatus();
                  });
}

// Steps of a transform, of a dtype.
template <typename T>
double StepsOfLine(int64_t n) {
  return StepsOf(n) * (sizeof(T) == sizeof(double) ? 2 : 1);
}

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_TRANSFORMS_LINES_H_
