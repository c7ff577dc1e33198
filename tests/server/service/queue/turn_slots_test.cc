// A model of what turns may do, beside TurnSlots, over drawn schedules.
#include "server/service/queue/turn_slots.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser::server {
namespace {

using State = TurnSlots::State;

constexpr int kTurns = 6;
constexpr int kEvents = 14;
constexpr const char* kTenants[] = {"a", "b", "c"};

// The turns of a schedule and the states that they are in, by the rules of
// turn_slots.h alone.
class Model {
 protected:
  struct Kept {
    TurnSlots::TurnPtr turn;
    int tenant;
    int flow;
    bool is_brief;
    State state = State::kNew;
    bool resumed = false;  // beyond the slots
  };

  int Count(State state, int tenant = -1) const {
    return std::count_if(turns_.begin(), turns_.end(), [&](const Kept& kept) {
      return kept.state == state && (tenant < 0 || kept.tenant == tenant);
    });
  }
  int RunningOfFlow(const Kept& one) const {
    return std::count_if(turns_.begin(), turns_.end(), [&](const Kept& kept) {
      return kept.state == State::kRunning && kept.tenant == one.tenant &&
             kept.flow == one.flow;
    });
  }
  // True if it may run in the slot beyond the others.
  bool MayBeyond(const Kept& kept) const {
    return Count(State::kRunning, kept.tenant) == 0 ||
           (kept.is_brief && RunningOfFlow(kept) == 0);
  }
  int InLine(int tenant = -1) const {
    return Count(State::kWaiting, tenant) + Count(State::kPaused, tenant);
  }

  std::vector<Kept> turns_;
};

// One schedule: events are drawn and applied to the slots and to the model.
class Schedule : private Model {
 public:
  explicit Schedule(uint32_t seed)
      : draw_(seed),
        running_(1 + Draw(2)),
        slots_({.running = running_, .waiting = 4, .waiting_of_tenant = 3}) {
    for (int i = 0; i < kTurns; ++i) {
      constexpr double kEstimates[] = {std::numeric_limits<double>::infinity(),
                                       std::numeric_limits<double>::quiet_NaN(),
                                       1, 0.01, 0.002};
      const double seconds = kEstimates[Draw(5)];
      const int tenant = Draw(3), flow = Draw(2);
      turns_.push_back({.turn = std::make_shared<TurnSlots::Turn>(
                            kTenants[tenant], flow, seconds),
                        .tenant = tenant,
                        .flow = flow,
                        .is_brief = seconds <= 0.01});
    }
  }

  // Empty: all held; else what did not.
  std::string Run() {
    for (int i = 0; i < kEvents && wrong_.empty(); ++i) {
      now_ += absl::Milliseconds(Draw(3) * 7);
      Event();
      if (Draw(3) > 0) StartAll();
      CheckCounts();
    }
    // All that runs leaves, until nothing is left to run.
    for (int i = 0; i < 4 * kTurns && wrong_.empty(); ++i) {
      StartAll();
      for (Kept& kept : turns_) {
        if (kept.state == State::kRunning) Leave(kept);
      }
    }
    Expect(slots_.waiting() == 0 && slots_.running() == 0, "all has ended");
    return wrong_;
  }

 private:
  uint32_t Draw(uint32_t below) { return draw_() % below; }
  void Expect(bool holds, const char* what) {
    if (!holds && wrong_.empty()) wrong_ = what;
  }
  void Event() {
    Kept& kept = turns_[Draw(kTurns)];
    switch (Draw(6)) {
      case 0:
      case 1:
        return Enter(kept);
      case 2:
        Expect(slots_.Withdraw(kept.turn) == (kept.state == State::kWaiting),
               "only what waits is withdrawn");
        if (kept.state == State::kWaiting) kept.state = State::kOver;
        return;
      case 3:
        Expect(slots_.Pause(kept.turn, now_) == (kept.state == State::kRunning),
               "only what runs is paused");
        if (kept.state == State::kRunning) kept.state = State::kPaused;
        kept.resumed = false;
        return;
      case 4:
        Expect(slots_.Resume(kept.turn, now_) == (kept.state == State::kPaused),
               "only what is paused is resumed");
        if (kept.state != State::kPaused) return;
        kept.state = State::kRunning;
        kept.resumed = true;
        return;
      default:
        return Leave(kept);
    }
  }
  void Enter(Kept& kept) {
    if (kept.state != State::kNew) return;
    const bool full = InLine() >= 4 || InLine(kept.tenant) >= 3;
    Expect(slots_.Enter(kept.turn, now_).ok() == !full, "the bounds hold");
    if (!full) kept.state = State::kWaiting;
  }
  void Leave(Kept& kept) {
    const bool may =
        kept.state == State::kRunning || kept.state == State::kPaused;
    Expect(slots_.Leave(kept.turn, now_) == may, "what runs or pauses leaves");
    if (may) kept.state = State::kOver;
    kept.resumed = false;
  }
  void StartAll() {
    while (const auto next = slots_.Next(now_)) {
      const auto kept =
          std::find_if(turns_.begin(), turns_.end(),
                       [&](const Kept& other) { return other.turn == next; });
      Expect(kept->state == State::kWaiting || kept->state == State::kPaused,
             "what runs next was in line");
      Expect(Count(State::kRunning) < running_ ||
                 (Count(State::kRunning) == running_ && MayBeyond(*kept)),
             "a slot was free");
      kept->state = State::kRunning;
      CheckCounts();
    }
    Expect(InLine() == 0 || Count(State::kRunning) >= running_,
           "nothing waits while a slot is free");
    CheckSlices();
    if (Count(State::kRunning) != running_) return;
    for (int tenant = 0; tenant < 3; ++tenant) {
      Expect(InLine(tenant) == 0 || Count(State::kRunning, tenant) > 0,
             "the slot beyond is for tenants of which nothing runs");
    }
  }
  // What is not brief makes way for the turn beyond the slots; what is brief
  // goes on, unless something waits.
  void CheckSlices() {
    const bool beyond = Count(State::kRunning) > running_;
    for (const Kept& kept : turns_) {
      if (kept.state != State::kRunning) continue;
      const absl::Duration slice = slots_.Slice(*kept.turn);
      if (beyond && !kept.is_brief) {
        Expect(slice == TurnSlots::kShortSlice, "one makes way beyond");
      } else if (InLine() == 0) {
        Expect(slice == absl::InfiniteDuration(), "it goes on alone");
      } else {
        Expect(slice >= TurnSlots::kShortSlice && slice <= TurnSlots::kSlice,
               "a slice is as long as slices are");
      }
    }
  }
  void CheckCounts() {
    Expect(static_cast<int>(slots_.running()) == Count(State::kRunning),
           "slots in use equal turns running");
    Expect(static_cast<int>(slots_.waiting()) == InLine(),
           "those in line are counted");
    for (const Kept& kept : turns_) {
      Expect(kept.turn->state() == kept.state, "the state is the model's");
    }
  }

  std::minstd_rand draw_;
  const int running_;
  TurnSlots slots_;
  absl::Time now_ = absl::UnixEpoch();
  std::string wrong_;
};

int Schedules() {
  const char* const given = std::getenv("HAWSER_SCHEDULES");
  return given == nullptr ? 100000 : std::atoi(given);
}

TEST(TurnSlots, HoldOverDrawnSchedules) {
  const int schedules = Schedules();
  for (int seed = 1; seed <= schedules; ++seed) {
    const std::string wrong = Schedule(seed).Run();
    ASSERT_EQ(wrong, "") << "seed " << seed;
  }
  std::cout << schedules << " schedules\n";
}

}  // namespace
}  // namespace hawser::server
