// BlockRunner: runs the threads of a block in turns, in a chosen order, and
// checks that they meet at barriers.
#ifndef HAWSER_KERNELS_EMU_LAUNCH_BLOCK_RUNNER_H_
#define HAWSER_KERNELS_EMU_LAUNCH_BLOCK_RUNNER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/emu/launch/fiber.h"
#include "kernels/emu/launch/schedule.h"

namespace hawser::emu {

// The threads of one block as fibers. Reused for block after block. Not
// thread-safe.
class BlockRunner {
 public:
  BlockRunner();
  ~BlockRunner();

  // Runs `body` once as each of `threads` threads. Returns the first error,
  // empty without one.
  std::string Run(unsigned threads, Schedule schedule, uint64_t seed,
                  const std::function<void(unsigned thread)>& body);

  // ---- from within a body -------------------------------------------------
  unsigned current() const { return current_; }
  // Sets a function that is called before a thread goes on, with its number.
  void OnSwitch(std::function<void(unsigned thread)> told) {
    on_switch_ = std::move(told);
  }
  // Return once all threads of the block, or of the warp, have called them.
  void AwaitBlock(int line) { Wait(State::kAtBarrier, line); }
  void AwaitWarp(int line) { Wait(State::kAtWarp, line); }
  // Ends the run with `what`, at the latest when this thread stops.
  void Report(std::string what);
  [[noreturn]] void Stop();
  // The number of barriers passed, from 1: of the block, and of the warp alone.
  unsigned block_turn() const { return block_turn_; }
  unsigned warp_turn(unsigned thread) const {
    return warp_turns_[thread / kWarp];
  }

  static constexpr unsigned kWarp = 32;

 private:
  enum class State : uint8_t { kRunning, kAtBarrier, kAtWarp, kDone };
  struct Thread {
    BlockRunner* runner = nullptr;
    unsigned index = 0;
    State state = State::kDone;
    int line = 0;
    Fiber fiber;
  };
  struct Census {
    unsigned running = 0, at_barrier = 0, at_warp = 0, done = 0;
  };

  static void Body(void* thread);
  void Wait(State state, int line);
  void Resume(unsigned thread);
  bool RunWarpToItsEnd(unsigned warp, unsigned threads);
  bool RunTurn(unsigned threads, Schedule schedule);
  Census Count(unsigned begin, unsigned end) const;
  bool SameLine(unsigned begin, unsigned end) const;
  void Release(unsigned begin, unsigned end);
  bool ReleaseWarp(unsigned begin, unsigned end);
  bool ReleaseBlock(unsigned threads);

  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<unsigned> order_;
  std::vector<unsigned> warp_turns_;
  unsigned block_turn_ = 1;
  unsigned current_ = 0;
  std::mt19937_64 random_;
  const std::function<void(unsigned)>* body_ = nullptr;
  std::function<void(unsigned)> on_switch_;
  std::string what_;
};

}  // namespace hawser::emu
#endif  // HAWSER_KERNELS_EMU_LAUNCH_BLOCK_RUNNER_H_
