// IdleMemory: gives freed memory back to the system while nothing is done.
#ifndef HAWSER_SERVER_IDLE_MEMORY_H_
#define HAWSER_SERVER_IDLE_MEMORY_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/time/time.h"

namespace hawser::server {

// The allocator keeps what was freed, and engines keep blocks for values to
// come: right while work goes on, wrong for hours after a burst. Used by one
// thread.
class IdleMemory {
 public:
  // The process that it looks at and trims; this process, unless a test gives
  // another.
  struct Process {
    std::function<absl::Time()> now;
    std::function<absl::Duration()> used;  // of the processors, in all
    std::function<int64_t()> resident;
    std::function<void()> trim;  // the allocator's part
  };
  static Process ThisProcess();

  // `let_go` has engines give back what they keep.
  explicit IdleMemory(std::function<void()> let_go,
                      Process process = ThisProcess())
      : let_go_(std::move(let_go)), process_(std::move(process)) {}

  // To be called every second or so. If the process has used little of a core
  // since the last call, gives back what is free: once, until it has worked
  // again or grown in spite of that.
  void Look();

 private:
  const std::function<void()> let_go_;
  const Process process_;
  absl::Duration used_;  // at the last look
  absl::Time looked_ = absl::InfinitePast();
  bool worked_ = false;  // since memory was given back
  int64_t least_ = 0;    // bytes resident since then
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_IDLE_MEMORY_H_
