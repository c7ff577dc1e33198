#include "tests/schedules/presence.h"

namespace hawser {

Presence::View Presence::LookLocked() const {
  View view;
  view.presence_ = this;
  view.there_ = state_ == State::kThere && !removes_;
  view.gone_ = state_ == State::kGone && !adds_ && !may_come_back_;
  view.seen_ = view.there_ ? removals_ : additions_;
  return view;
}

Presence::View Presence::Look() const {
  MutexLock lock(&mu_);
  return LookLocked();
}

int64_t Presence::removals() const {
  MutexLock lock(&mu_);
  return removals_;
}

int64_t Presence::additions() const {
  MutexLock lock(&mu_);
  return additions_;
}

Presence::View Presence::BeginAddition() {
  MutexLock lock(&mu_);
  ++additions_;
  const View view = LookLocked();
  ++running_;
  adds_ = true;
  return view;
}

void Presence::EndAddition(Added added) {
  MutexLock lock(&mu_);
  if (added == Added::kCertainly) certain_ = true;
  if (added == Added::kPerhapsLater) may_come_back_ = true;
  EndChange();
}

Presence::View Presence::BeginRemoval() {
  MutexLock lock(&mu_);
  ++removals_;
  const View view = LookLocked();
  ++running_;
  removes_ = true;
  return view;
}

void Presence::EndRemoval(bool certain) {
  MutexLock lock(&mu_);
  if (certain) certain_ = true;
  EndChange();
}

void Presence::EndChange() {
  if (--running_ > 0) return;
  if (adds_ && removes_) {
    state_ = State::kUnknown;
  } else {
    const State after = adds_ ? State::kThere : State::kGone;
    if (certain_) {
      state_ = after;
    } else if (state_ != after) {
      state_ = State::kUnknown;
    }
  }
  adds_ = removes_ = certain_ = false;
}

}  // namespace hawser
