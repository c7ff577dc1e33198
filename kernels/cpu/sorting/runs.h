// Runs: what a sort sorts on its own, all of it along one axis.
#ifndef HAWSER_KERNELS_CPU_SORTING_RUNS_H_
#define HAWSER_KERNELS_CPU_SORTING_RUNS_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/status.h"
#include "core/ops/movement/shape.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/movement/axis_track.h"
#include "kernels/cpu/sorting/part_sort.h"

namespace hawser::cpu {

// Steps of an element that is moved from anywhere.
inline constexpr double kMoveSteps = 3;

// Memory that the runs of one thread have in turn.
class Rooms {
 public:
  explicit Rooms(const KernelContext& c) : c_(c) {}

  // Errors: kResourceExhausted.
  template <typename Item>
  absl::StatusOr<Item*> Get(int which, int64_t n) {
    Literal& room = rooms_[which];
    const int64_t bytes = n * static_cast<int64_t>(sizeof(Item));
    if (!room.valid() || room.shape().byte_size() < bytes) {
      HAWSER_ASSIGN_OR_RETURN(
          room, c_.environment.allocator->Allocate(
                    Shape::Of(DType::kU8, {bytes}), c_.environment.memory));
    }
    return reinterpret_cast<Item*>(room.mutable_bytes().data());
  }

 private:
  const KernelContext& c_;
  Literal rooms_[3];
};

// The runs of an instruction: what is sorted on its own.
class Runs {
 public:
  Runs(const KernelContext& c, const AxisTrack& track,
       absl::Span<char* const> out)
      : c_(c), track_(track), out_(out) {}

  const KernelContext& context() const { return c_; }
  int64_t size() const { return track_.size; }
  // How many elements of a sorted run anything reads: the first ones.
  int64_t wanted() const { return std::min(c_.use.wanted, track_.size); }
  int64_t step() const { return track_.step; }
  int num_operands() const { return static_cast<int>(out_.size()); }
  template <typename T>
  const T* In(int operand, int64_t run) const {
    return reinterpret_cast<const T*>(c_.data(operand)) + track_.Begin(run);
  }
  template <typename T>
  T* Out(int result, int64_t run) const {
    return reinterpret_cast<T*>(out_[result]) + track_.Begin(run);
  }
  // An element of a run.
  const char* At(int operand, int64_t run, int64_t place) const {
    return c_.data(operand) + (track_.Begin(run) + place * track_.step) *
                                  ByteWidth(c_.shape(operand).dtype());
  }

  // fn for each, on several threads; an element takes so many steps.
  absl::Status ForEach(
      double steps,
      absl::FunctionRef<absl::Status(int64_t, Rooms&, WorkMeter*)> fn) const {
    return c_.ForMetered(
        track_.runs(), steps * static_cast<double>(track_.size),
        [&](int64_t begin, int64_t end, WorkMeter* meter) -> absl::Status {
          Rooms rooms(c_);
          for (int64_t run = begin; run < end; ++run) {
            HAWSER_RETURN_IF_ERROR(fn(run, rooms, meter));
          }
          return meter->End();
        });
  }

  // fn(i) for i from 0 to n - 1, on several threads where these are many; one
  // takes about `steps`. Each on its own.
  template <typename Fn>
  absl::Status ForElements(int64_t n, double steps, WorkMeter* meter,
                           Fn fn) const {
    if (n <= kPartItems) {
      HAWSER_RETURN_IF_ERROR(meter->Begin(steps * static_cast<double>(n)));
      for (int64_t i = 0; i < n; ++i) fn(i);
      return absl::OkStatus();
    }
    return c_.ForRanges(n, steps,
                        [&](int64_t begin, int64_t end) -> absl::Status {
                          for (int64_t i = begin; i < end; ++i) fn(i);
                          return absl::OkStatus();
                        });
  }

  // The same, of fn(i, step), whose step is known where it is 1.
  template <typename Fn>
  absl::Status ForSteps(int64_t n, double steps, WorkMeter* meter,
                        Fn fn) const {
    if (track_.step == 1) {
      return ForElements(n, steps, meter, [&](int64_t i) {
        fn(i, std::integral_constant<int64_t, 1>());
      });
    }
    return ForElements(n, steps, meter, [&](int64_t i) { fn(i, track_.step); });
  }

  // Element place(i) of an operand's run becomes element i of its result's, of
  // those that are wanted.
  template <typename Place>
  absl::Status Move(int operand, int64_t run, Place place,
                    WorkMeter* meter) const {
    const int64_t step = track_.step;
    return VisitWidth(ByteWidth(c_.shape(operand).dtype()), [&](auto tag) {
      using W = typename decltype(tag)::type;
      const W* from = In<W>(operand, run);
      W* to = Out<W>(operand, run);
      return ForElements(wanted(), kMoveSteps, meter, [&](int64_t i) {
        to[i * step] = from[static_cast<int64_t>(place(i)) * step];
      });
    });
  }

  // True if an operand is 0, 1, 2, ... along the axis, in integers.
  bool IsPlaces(int operand) const {
    const Computation& in = c_.computation;
    const int producer = in.producer(c_.instruction.operands[operand]);
    const Instruction& made = in.instructions()[producer];
    return made.op == &kIota && IsInteger(c_.shape(operand).dtype()) &&
           made.attributes.GetInt("iota_dimension") ==
               c_.attributes().GetInt("dimension");
  }
  // Move of such an operand, which is not read.
  template <typename Place>
  absl::Status MovePlaces(int operand, int64_t run, Place place,
                          WorkMeter* meter) const {
    const int64_t step = track_.step;
    return VisitWidth(ByteWidth(c_.shape(operand).dtype()), [&](auto tag) {
      using W = typename decltype(tag)::type;
      if constexpr (std::is_integral_v<W>) {
        W* to = Out<W>(operand, run);
        return ForElements(wanted(), 1, meter, [&](int64_t i) {
          to[i * step] = static_cast<W>(place(i));
        });
      } else {
        return Internal("no integer is so wide");
      }
    });
  }

 private:
  const KernelContext& c_;
  const AxisTrack& track_;
  const absl::Span<char* const> out_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_SORTING_RUNS_H_
