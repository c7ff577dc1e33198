// IdleMemory: gives freed memory back to the system while nothing is done.
#ifndef HAWSER_SERVER_IDLE_MEMORY_H_
#define HAWSER_SERVER_IDLE_MEMORY_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/time/time.h"

namespace hawser::server {

// The allocator keeps what was freed, and engines keep blocks for values to
// come: right while work goes on, wrong for hours after a burst. Of one thread.
class IdleMemory {
 public:
  // `let_go` has engines give back what they keep.
  explicit IdleMemory(std::function<void()> let_go)
      : let_go_(std::move(let_go)) {}

  // To be called every second or so. Once the process has used little of a core
  // since the last call, gives back what is free; again only after it has
  // worked.
  void Look();

 private:
  const std::function<void()> let_go_;
  absl::Duration used_;  // processor time, at the last look
  absl::Time looked_ = absl::InfinitePast();
  int64_t given_back_at_ = 0;  // bytes resident after it was done last
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_IDLE_MEMORY_H_
