#include "server/service/queue/turn_slots.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser::server {
namespace {

// Each turn that is paused keeps a thread of the device's waiting.
constexpr int kMostPaused = 64;
// An estimate counts for at most this until the work is measured.
constexpr double kMostThought = 1;  // seconds

// Returns what an estimate counts for; it may be any number.
double Thought(double seconds) {
  return seconds >= 0 && seconds < kMostThought ? seconds : kMostThought;
}

}  // namespace

absl::Status TurnSlots::Full(const Turn& turn) const {
  double seconds = 0;
  ForEachInLine([&](const TurnPtr& other) { seconds += other->seconds(); });
  std::string when = "how long they take is not known";
  if (std::isfinite(seconds)) {
    const double ms = std::ceil(seconds / options_.running * 1e3);
    when = absl::StrCat("try again in ", std::max(1.0, ms), " ms");
  }
  if (waiting() >= options_.waiting) {
    return ResourceExhausted("the device has ", waiting(),
                             " executions waiting, the most there may be; ",
                             when);
  }
  return ResourceExhausted(
      "tenant ", turn.tenant_, " has ", line_.waiting(turn.tenant_),
      " executions waiting, the most one tenant may; ", when);
}

absl::Status TurnSlots::Enter(const TurnPtr& turn, absl::Time now) {
  if (waiting() >= options_.waiting ||
      line_.waiting(turn->tenant_) >= options_.waiting_of_tenant) {
    return Full(*turn);
  }
  turn->state_ = State::kWaiting;
  turn->since_ = now;
  line_.Push(turn->tenant_, turn->flow_, turn, /*first=*/false);
  return absl::OkStatus();
}

bool TurnSlots::Withdraw(const TurnPtr& turn) {
  if (turn->state_ != State::kWaiting) return false;
  line_.Erase(turn->tenant_, turn->flow_, turn);
  turn->state_ = State::kOver;
  return true;
}

bool TurnSlots::Pause(const TurnPtr& turn, absl::Time now) {
  if (turn->state_ != State::kRunning || paused_ >= kMostPaused) return false;
  Stop(turn, now);
  ++paused_;
  turn->state_ = State::kPaused;
  turn->since_ = now;
  line_.Push(turn->tenant_, turn->flow_, turn, /*first=*/true);
  return true;
}

bool TurnSlots::Resume(const TurnPtr& turn, absl::Time now) {
  if (turn->state_ != State::kPaused) return false;
  line_.Erase(turn->tenant_, turn->flow_, turn);
  --paused_;
  Run(turn, /*thought=*/0, now);
  return true;
}

bool TurnSlots::Leave(const TurnPtr& turn, absl::Time now) {
  if (turn->state_ == State::kRunning) {
    Stop(turn, now);
  } else if (turn->state_ == State::kPaused) {
    line_.Erase(turn->tenant_, turn->flow_, turn);
    --paused_;
  } else {
    return false;
  }
  turn->state_ = State::kOver;
  return true;
}

TurnSlots::TurnPtr TurnSlots::Next(absl::Time now) {
  const int running = static_cast<int>(running_.size());
  if (waiting() == 0 && running == 0) line_.Clear();
  if (waiting() == 0 || running > options_.running) return nullptr;
  Charge(now);
  TurnPtr turn;
  const bool beyond = running == options_.running;
  const auto may = [beyond](const TurnPtr& first, int of_tenant, int of_flow) {
    return !beyond || of_tenant == 0 || (of_flow == 0 && first->is_brief());
  };
  if (!line_.Pop(may, &turn)) return nullptr;
  if (turn->state_ == State::kPaused) --paused_;
  // The estimate counts at once, so that two of one flow do not both start for
  // having had nothing yet.
  Run(turn, turn->has_run_ ? 0 : Thought(turn->seconds_), now);
  line_.Prune();
  return turn;
}

absl::Duration TurnSlots::Slice(const Turn& turn) const {
  const int running = static_cast<int>(running_.size());
  if (running > options_.running && !turn.is_brief()) return kShortSlice;
  const TurnPtr* const next = line_.Front();
  if (next == nullptr) return absl::InfiniteDuration();
  return std::clamp(absl::Seconds(Thought((*next)->seconds_)), kShortSlice,
                    kSlice);
}

void TurnSlots::Run(const TurnPtr& turn, double thought, absl::Time now) {
  turn->state_ = State::kRunning;
  turn->has_run_ = true;
  turn->since_ = now;
  turn->charged_to_ = now + absl::Seconds(thought);
  turn->had_ += absl::Seconds(thought);
  line_.Charge(turn->tenant_, turn->flow_, thought);
  line_.AddRunning(turn->tenant_, turn->flow_, 1);
  running_.insert(turn);
}

void TurnSlots::Stop(const TurnPtr& turn, absl::Time now) {
  const absl::Duration ran = now - turn->charged_to_;
  turn->had_ += ran;
  // Negative where it took less than estimated.
  line_.Charge(turn->tenant_, turn->flow_, absl::ToDoubleSeconds(ran));
  line_.AddRunning(turn->tenant_, turn->flow_, -1);
  running_.erase(turn);
}

void TurnSlots::Charge(Turn& turn, absl::Time now) {
  const absl::Duration ran = now - turn.charged_to_;
  if (ran <= absl::ZeroDuration()) return;  // less than estimated
  turn.charged_to_ = now;
  turn.had_ += ran;
  line_.Charge(turn.tenant_, turn.flow_, absl::ToDoubleSeconds(ran));
}

void TurnSlots::Charge(absl::Time now) {
  for (const TurnPtr& turn : running_) Charge(*turn, now);
}

void TurnSlots::ForEachRunning(
    absl::FunctionRef<void(const TurnPtr&)> look) const {
  for (const TurnPtr& turn : running_) look(turn);
}

void TurnSlots::ForEachInLine(
    absl::FunctionRef<void(const TurnPtr&)> look) const {
  line_.ForEach(look);
}

}  // namespace hawser::server
