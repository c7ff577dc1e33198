#include "kernels/emu/launch/block_runner.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"

namespace hawser::emu {

absl::string_view ScheduleName(Schedule schedule) {
  constexpr absl::string_view kNames[] = {"forward", "reverse", "shuffled",
                                          "greedy up", "greedy down"};
  return kNames[static_cast<int>(schedule)];
}

BlockRunner::BlockRunner() = default;
BlockRunner::~BlockRunner() = default;

void BlockRunner::Body(void* thread) {
  Thread* self = static_cast<Thread*>(thread);
  (*self->runner->body_)(self->index);
  self->state = State::kDone;
  self->fiber.Yield();
}

void BlockRunner::Wait(State state, int line) {
  Thread& self = *threads_[current_];
  self.state = state;
  self.line = line;
  self.fiber.Yield();
}

void BlockRunner::Report(std::string what) {
  if (what_.empty()) what_ = std::move(what);
}

void BlockRunner::Stop() {
  threads_[current_]->state = State::kDone;
  threads_[current_]->fiber.Yield();
  std::abort();
}

void BlockRunner::Resume(unsigned thread) {
  current_ = thread;
  on_switch_(thread);
  threads_[thread]->fiber.Resume();
}

BlockRunner::Census BlockRunner::Count(unsigned begin, unsigned end) const {
  Census c;
  for (unsigned t = begin; t < end; ++t) {
    switch (threads_[t]->state) {
      case State::kRunning: ++c.running; break;
      case State::kAtBarrier: ++c.at_barrier; break;
      case State::kAtWarp: ++c.at_warp; break;
      case State::kDone: ++c.done; break;
    }
  }
  return c;
}

bool BlockRunner::SameLine(unsigned begin, unsigned end) const {
  for (unsigned t = begin; t < end; ++t) {
    if (threads_[t]->line != threads_[begin]->line) return false;
  }
  return true;
}

void BlockRunner::Release(unsigned begin, unsigned end) {
  for (unsigned t = begin; t < end; ++t) {
    threads_[t]->state = State::kRunning;
  }
}

// Runs one warp until all its threads are done, at a barrier, or stuck.
bool BlockRunner::RunWarpToItsEnd(unsigned begin, unsigned end) {
  bool ran = false;
  for (;;) {
    bool progress = false;
    for (unsigned t = begin; t < end; ++t) {
      if (threads_[t]->state != State::kRunning) continue;
      progress = true;
      Resume(t);
      if (!what_.empty()) return true;
    }
    if (!progress && !ReleaseWarp(begin, end)) return ran;
    if (!what_.empty()) return true;
    ran = true;
  }
}

bool BlockRunner::RunTurn(unsigned threads, Schedule schedule) {
  bool ran = false;
  if (schedule == Schedule::kGreedyUp || schedule == Schedule::kGreedyDown) {
    const unsigned warps = (threads + kWarp - 1) / kWarp;
    for (unsigned i = 0; i < warps && what_.empty(); ++i) {
      const unsigned w = schedule == Schedule::kGreedyUp ? i : warps - 1 - i;
      ran |= RunWarpToItsEnd(w * kWarp, std::min(threads, (w + 1) * kWarp));
    }
    return ran;
  }
  if (schedule == Schedule::kShuffled) {
    std::shuffle(order_.begin(), order_.end(), random_);
  }
  for (const unsigned t : order_) {
    if (threads_[t]->state != State::kRunning) continue;
    ran = true;
    Resume(t);
    if (!what_.empty()) return true;
  }
  return ran;
}

// Lets a warp go on when all its threads are at the same place, and returns
// whether they are. Reports a place that they can no longer reach together.
bool BlockRunner::ReleaseWarp(unsigned begin, unsigned end) {
  const Census c = Count(begin, end);
  if (c.at_warp == 0 || c.running > 0) return false;
  if (c.at_warp == end - begin && SameLine(begin, end)) {
    ++warp_turns_[begin / kWarp];
    Release(begin, end);
    return true;
  }
  int line = 0;
  for (unsigned t = begin; t < end; ++t) {
    if (threads_[t]->state == State::kAtWarp) line = threads_[t]->line;
  }
  what_ = c.at_warp == end - begin
              ? absl::StrCat("line ", line,
                             ": a warp exchanges values at different lines")
              : absl::StrCat("line ", line, ": divergent warp: ", c.at_warp,
                             " threads exchange values, ", c.at_barrier,
                             " are at a barrier, ", c.done, " are gone");
  return false;
}

bool BlockRunner::ReleaseBlock(unsigned threads) {
  const Census c = Count(0, threads);
  if (c.at_barrier == threads && SameLine(0, threads)) {
    ++block_turn_;
    Release(0, threads);
    return true;
  }
  if (c.at_barrier == threads) {
    what_ = absl::StrCat("line ", threads_[0]->line,
                         ": the block is at different barriers");
  } else if (c.at_barrier > 0) {
    what_ = absl::StrCat("divergent barrier: ", c.at_barrier,
                         " threads wait, ", c.done, " are gone");
  }
  return false;
}

std::string BlockRunner::Run(unsigned threads, Schedule schedule,
                             uint64_t seed,
                             const std::function<void(unsigned)>& body) {
  body_ = &body;
  what_.clear();
  random_.seed(seed);
  block_turn_ = 1;
  warp_turns_.assign((threads + kWarp - 1) / kWarp, 1);
  while (threads_.size() < threads) {
    threads_.push_back(std::make_unique<Thread>());
    threads_.back()->runner = this;
    threads_.back()->index = static_cast<unsigned>(threads_.size()) - 1;
  }
  order_.resize(threads);
  std::iota(order_.begin(), order_.end(), 0u);
  if (schedule == Schedule::kReverse) {
    std::reverse(order_.begin(), order_.end());
  }
  for (unsigned t = 0; t < threads; ++t) {
    threads_[t]->fiber.Start(Body, threads_[t].get());
    threads_[t]->state = State::kRunning;
  }
  for (;;) {
    RunTurn(threads, schedule);
    if (!what_.empty()) return what_;
    bool released = false;
    for (unsigned w = 0; w < threads; w += kWarp) {
      released |= ReleaseWarp(w, std::min(threads, w + kWarp));
      if (!what_.empty()) return what_;
    }
    if (released || ReleaseBlock(threads)) continue;
    return what_;
  }
}

}  // namespace hawser::emu
