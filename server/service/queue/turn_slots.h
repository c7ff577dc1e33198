// TurnSlots: which turns run, which wait, and which is next.
#ifndef HAWSER_SERVER_SERVICE_QUEUE_TURN_SLOTS_H_
#define HAWSER_SERVER_SERVICE_QUEUE_TURN_SLOTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "server/service/queue/fair_line.h"

namespace hawser::server {

// The decisions of a device queue, as a state machine: it has no lock, no
// thread and no clock, and calls nothing. Invariants: a turn is in the line
// exactly while it is waiting or paused, and in the set of those that run
// exactly while it is running; once Next has returned null, nothing waits while
// a slot is free.
//
// One turn more than there are slots may run: that of a tenant of which nothing
// runs, or a brief one of a flow of which nothing runs. What is not brief makes
// way then, so that brief work waits neither for a slot nor for half a device.
class TurnSlots {
 public:
  enum class State { kNew, kWaiting, kRunning, kPaused, kOver };

  struct Options {
    int running = 2;
    size_t waiting = 4096;
    // The most of these of one tenant.
    size_t waiting_of_tenant = 4096;
  };

  // A pause costs some tens of microseconds.
  static constexpr absl::Duration kShortSlice = absl::Milliseconds(1);
  static constexpr absl::Duration kSlice = absl::Milliseconds(10);

  // Its fields belong to the TurnSlots that it entered.
  class Turn {
   public:
    // `seconds` is the estimate; it may be infinite.
    Turn(absl::string_view tenant, uint64_t flow, double seconds)
        : tenant_(tenant), flow_(flow), seconds_(seconds) {}
    const std::string& tenant() const { return tenant_; }
    double seconds() const { return seconds_; }
    // True if it is thought to take a slice at most.
    bool is_brief() const {
      return seconds_ >= 0 && absl::Seconds(seconds_) <= kSlice;
    }
    State state() const { return state_; }
    // Returns the time it has had of the device, up to the last Charge.
    absl::Duration had() const { return had_; }
    // Returns since when it waits, or runs.
    absl::Time since() const { return since_; }

   private:
    friend class TurnSlots;
    const std::string tenant_;
    const uint64_t flow_;
    const double seconds_;
    State state_ = State::kNew;
    bool has_run_ = false;
    absl::Time since_;
    absl::Time charged_to_;  // while it runs
    absl::Duration had_;     // before charged_to_
  };
  using TurnPtr = std::shared_ptr<Turn>;

  explicit TurnSlots(const Options& options) : options_(options) {}

  // A new turn waits. Errors: kResourceExhausted, saying whose limit it is and
  // when to try again; the turn is as it was then.
  absl::Status Enter(const TurnPtr& turn, absl::Time now);
  // A waiting turn is over. False, and nothing changes: it was not waiting.
  bool Withdraw(const TurnPtr& turn);
  // A running turn waits anew, before what waits in its flow. False, and
  // nothing changes: it was not running, or too many are paused.
  bool Pause(const TurnPtr& turn, absl::Time now);
  // A paused turn runs beyond the slots, since it is about to end. False, and
  // nothing changes: it was not paused.
  bool Resume(const TurnPtr& turn, absl::Time now);
  // A running or paused turn is over. False, and nothing changes: it was
  // neither.
  bool Leave(const TurnPtr& turn, absl::Time now);
  // The next that may run, running now; null: none. One that was paused goes on
  // where it was.
  TurnPtr Next(absl::Time now);
  // Charges all that run for their time up to now.
  void Charge(absl::Time now);

  // How long `turn`, which runs, may go on before it makes way. For the next in
  // line: as long as that is thought to take, within kShortSlice and kSlice.
  // For a brief turn beyond the slots: kShortSlice. Infinite: nothing waits.
  absl::Duration Slice(const Turn& turn) const;

  size_t waiting() const { return line_.size(); }
  size_t running() const { return running_.size(); }
  void ForEachRunning(absl::FunctionRef<void(const TurnPtr&)> look) const;
  // In no particular order.
  void ForEachInLine(absl::FunctionRef<void(const TurnPtr&)> look) const;

 private:
  absl::Status Full(const Turn& turn) const;
  void Run(const TurnPtr& turn, double thought, absl::Time now);
  void Stop(const TurnPtr& turn, absl::Time now);
  void Charge(Turn& turn, absl::Time now);

  const Options options_;
  FairLine<TurnPtr> line_;
  absl::flat_hash_set<TurnPtr> running_;
  int paused_ = 0;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_QUEUE_TURN_SLOTS_H_
