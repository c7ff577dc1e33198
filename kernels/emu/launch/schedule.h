// The order in which the threads of a block take turns.
#ifndef HAWSER_KERNELS_EMU_LAUNCH_SCHEDULE_H_
#define HAWSER_KERNELS_EMU_LAUNCH_SCHEDULE_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace hawser::emu {

enum class Schedule : uint8_t {
  kForward,  // thread 0 first
  kReverse,
  kShuffled,  // another order every turn
  // Each warp runs as far as it gets before the next one: shows a write that
  // should have waited for another warp's read.
  kGreedyUp,
  kGreedyDown,
};
inline constexpr Schedule kSchedules[] = {
    Schedule::kForward, Schedule::kReverse, Schedule::kShuffled,
    Schedule::kGreedyUp, Schedule::kGreedyDown};

absl::string_view ScheduleName(Schedule schedule);

}  // namespace hawser::emu
#endif  // HAWSER_KERNELS_EMU_LAUNCH_SCHEDULE_H_
