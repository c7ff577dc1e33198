// FftPlan: the numbers that transforms of one length multiply by.
#ifndef HAWSER_KERNELS_CPU_TRANSFORMS_PLAN_H_
#define HAWSER_KERNELS_CPU_TRANSFORMS_PLAN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/values/literal.h"
#include "kernels/cpu/butterflies/lane_passes.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/transforms/ways.h"

namespace hawser::cpu {

template <typename T>
struct FftPlan {
  int64_t n = 1;
  FftWay way;
  std::vector<LanePass<T>> passes;  // kPasses
  // kMatrix. Element k of transformed column j is multiplied by e^(-2 pi i jk /
  // n): the parts for row k are those of `turns` at k * pitch. Of a long
  // transform these are of the first kMostLanes columns alone, and for each
  // group of so many comes what its first column has, of all k: `further`.
  std::shared_ptr<const FftPlan> columns, rows;
  LaneParts<const T> turns = {nullptr, nullptr};
  int64_t pitch = 0;
  LaneParts<const T> further = {nullptr, nullptr};
  // kChirps: e^(-pi i j^2 / n), and the transform of its conjugate, over
  // `wide`.
  std::shared_ptr<const FftPlan> wide;
  LaneParts<const T> chirp = {nullptr, nullptr};
  LaneParts<const T> answer = {nullptr, nullptr};
  // Of PlanFor::kHalves: e^(-2 pi i k / n), 4k <= n.
  const T* halves = nullptr;
  // What these numbers lie in.
  std::vector<Literal> tables;

  // Elements that a lane needs, and whether that is too many.
  int64_t room() const { return LaneRoomOf(way, n); }
  bool is_long() const {
    return way.kind != FftWay::kPasses && room() > kMostInLanes;
  }
};

template <typename T>
using FftPlanPtr = std::shared_ptr<const FftPlan<T>>;

// What a plan of n is for: WayOf, WayInLanes, or joining the halves of n real
// numbers.
enum class PlanFor : uint8_t { kAny, kLanes, kHalves };

// Plans are kept for the next call, as long as all of them are not too large.
// Errors: kResourceExhausted; what the token says.
template <typename T>
absl::StatusOr<FftPlanPtr<T>> FindPlan(const KernelContext& context, int64_t n,
                                       PlanFor use = PlanFor::kAny);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_TRANSFORMS_PLAN_H_
