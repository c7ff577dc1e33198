// Transforms side by side in lanes, and what loops over groups of them need.
#ifndef HAWSER_KERNELS_CPU_TRANSFORMS_LANE_TRANSFORM_H_
#define HAWSER_KERNELS_CPU_TRANSFORMS_LANE_TRANSFORM_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "core/base/mutex.h"
#include "core/base/values/literal.h"
#include "kernels/cpu/butterflies/lane_passes.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/transforms/plan.h"

namespace hawser::cpu {

// FFT or its inverse, which is then to be divided: `scale` does it.
struct Turn {
  bool inverse = false;
  double scale = 1;
};

// A loop over groups: on several threads, or on the one that has the meter.
class GroupLoop {
 public:
  explicit GroupLoop(const KernelContext& context) : context_(&context) {}
  explicit GroupLoop(WorkMeter* meter) : meter_(meter) {}

  // fn(i) for i < n, each of which takes `steps`: kLookSteps at most. Errors:
  // of fn; what the token says.
  absl::Status For(int64_t n, double steps,
                   absl::FunctionRef<absl::Status(int64_t)> fn) const;

 private:
  const KernelContext* context_ = nullptr;
  WorkMeter* meter_ = nullptr;
};

// Memory that is needed for a moment, `count` numbers of T, kept for the next
// who needs it. Thread-safe.
template <typename T>
class RoomPool {
 public:
  RoomPool(const KernelContext& context, int64_t count)
      : context_(context), count_(count) {}

  class Room {
   public:
    Room(RoomPool* pool, Literal memory)
        : pool_(pool), memory_(std::move(memory)) {}
    Room(Room&& other) noexcept
        : pool_(other.pool_),
          memory_(std::exchange(other.memory_, Literal())) {}
    ~Room() {
      if (memory_.valid()) pool_->Give(std::move(memory_));
    }
    T* data() { return memory_.template mutable_data<T>().data(); }

   private:
    RoomPool* pool_;
    Literal memory_;
  };
  absl::StatusOr<Room> Take();

 private:
  void Give(Literal memory);

  const KernelContext& context_;
  const int64_t count_;
  Mutex mu_;
  std::vector<Literal> free_ ABSL_GUARDED_BY(mu_);
};

// Transforms of a plan that runs in lanes.
template <typename T>
class LaneTransform {
 public:
  // `elements`: of a lane, where there are more than the plan needs.
  LaneTransform(const KernelContext& context, const FftPlan<T>& plan,
                int64_t elements = 0);

  // Lanes for `count` transforms, and as many beside them.
  struct Lanes {
    typename RoomPool<T>::Room room;
    int64_t count, width;
    LaneParts<T> x, spare;

    LaneParts<const T> parts() const { return {x.re, x.im}; }
  };
  absl::StatusOr<Lanes> Take(int64_t count);

  // Exchanges x and spare as it goes.
  void Run(bool inverse, Lanes* lanes) const;

  const LanePasses<T>& passes() const { return passes_; }
  const FftPlan<T>& plan() const { return plan_; }

 private:
  const FftPlan<T>& plan_;
  const int64_t elements_;
  const LanePasses<T>& passes_;
  RoomPool<T> rooms_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_TRANSFORMS_LANE_TRANSFORM_H_
