// What qr, eigh, svd and eig share: room for calls of LAPACK that may go on
// without their run, and how these are made.
#ifndef HAWSER_KERNELS_CPU_LINALG_LONG_CALLS_H_
#define HAWSER_KERNELS_CPU_LINALG_LONG_CALLS_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/process/library_call.h"
#include "core/base/status.h"
#include "kernels/cpu/libraries/long_call.h"
#include "kernels/cpu/linalg/matrices.h"

namespace hawser::cpu {

// Rows up to which own loops find values and vectors sooner than LAPACK; and
// steps that a matrix takes besides.
inline constexpr int64_t kOwnSpectralRows = 4;
inline constexpr double kSpectralSteps = 1000;

// Memory that stays as long as a copy of this does; not what a plan gave for
// results, which may be another's then.
template <typename T>
struct Room {
  static absl::StatusOr<Room> Of(const KernelContext& c, int64_t elements) {
    Room room;
    const auto bytes = elements * static_cast<int64_t>(sizeof(T));
    HAWSER_ASSIGN_OR_RETURN(room.storage, c.environment.allocator->Allocate(
                                              Shape::Of(DType::kU8, {bytes}),
                                              c.environment.memory));
    room.data = reinterpret_cast<T*>(room.storage.mutable_bytes().data());
    return room;
  }
  Literal storage;
  T* data = nullptr;
};

// Room that LAPACK asked for. Errors: kResourceExhausted, more than it counts
// in 32 bits.
template <typename T>
absl::StatusOr<Room<T>> WorkRoom(const KernelContext& c, double elements) {
  if (!(elements <= std::numeric_limits<int32_t>::max())) {
    return ResourceExhausted("a factorization needs room for ", elements,
                             " elements, more than LAPACK counts");
  }
  return Room<T>::Of(c, std::max<int64_t>(static_cast<int64_t>(elements), 1));
}

// The first element says how many LAPACK wants.
template <typename T>
double Wanted(T first) {
  return static_cast<double>(Re(first)) * (1 + 1e-6);  // f32 rounds it
}

// Tells the meter of work that was done while the token was watched.
inline absl::Status Report(double steps, WorkMeter* meter) {
  for (; steps > 0; steps -= kLookSteps) {
    HAWSER_RETURN_IF_ERROR(meter->Begin(std::min(steps, kLookSteps)));
  }
  return absl::OkStatus();
}

// Makes a call of so many steps: on this thread if it is short. `call` must
// hold all memory that it uses.
inline absl::Status Call(const KernelContext& c, double steps,
                         std::function<void()> call, WorkMeter* meter) {
  if (steps <= kLookSteps) {
    HAWSER_RETURN_IF_ERROR(meter->Begin(steps));
    const LibraryCall under_way;
    call();
    return absl::OkStatus();
  }
  HAWSER_RETURN_IF_ERROR(RunLong(c.environment.cancel, std::move(call)));
  return Report(steps, meter);
}

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LINALG_LONG_CALLS_H_
