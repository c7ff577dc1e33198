#include "core/base/clock.h"

#include <algorithm>

#include "absl/time/clock.h"

namespace hawser {
namespace {

// Conversions of what is further away would overflow.
constexpr absl::Duration kFar = absl::Hours(24 * 365);

struct Start {
  absl::Time wall = absl::Now();
  std::chrono::steady_clock::time_point steady =
      std::chrono::steady_clock::now();
};

const Start& TheStart() {
  static const Start start;
  return start;
}

absl::Duration Left(absl::Time time) {
  return std::clamp(time - SteadyNow(), -kFar, kFar);
}

}  // namespace

absl::Time SteadyNow() {
  const Start& start = TheStart();
  return start.wall +
         absl::FromChrono(std::chrono::steady_clock::now() - start.steady);
}

std::chrono::steady_clock::time_point ToSteadyChrono(absl::Time time) {
  return std::chrono::steady_clock::now() +
         absl::ToChronoNanoseconds(Left(time));
}

std::chrono::system_clock::time_point ToWallChrono(absl::Time time) {
  return absl::ToChronoTime(absl::Now() + Left(time));
}

absl::Time FromWall(absl::Time wall) {
  if (wall == absl::InfiniteFuture() || wall == absl::InfinitePast()) {
    return wall;
  }
  return SteadyNow() + (wall - absl::Now());
}

}  // namespace hawser
