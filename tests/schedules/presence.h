// Presence: what is certain about a dataset that several threads put, freeze
// and delete, whatever became of their requests.
#ifndef HAWSER_TESTS_SCHEDULES_PRESENCE_H_
#define HAWSER_TESTS_SCHEDULES_PRESENCE_H_

#include <cstdint>

#include "core/base/mutex.h"

namespace hawser {

// Changes that overlap may come about in any order, so nothing is certain until
// the last of them has ended, but for what none of them touches: puts alone
// never take a dataset away. Thread-safe.
class Presence {
 public:
  // What was known when a request began, to be asked after it has ended.
  class View {
   public:
    // Certainly there, or gone, all the while.
    bool WasThere() const { return there_ && presence_->removals() == seen_; }
    bool WasGone() const { return gone_ && presence_->additions() == seen_; }

   private:
    friend class Presence;
    const Presence* presence_ = nullptr;
    bool there_ = false;
    bool gone_ = false;
    int64_t seen_ = 0;  // removals, or additions, that had begun
  };
  View Look() const;

  // Around a request that makes the dataset be there; the view is of all but
  // this change. One that may still come about later (kPerhapsLater) leaves a
  // dataset that is never certainly gone again.
  View BeginAddition();
  enum class Added : uint8_t { kCertainly, kPerhaps, kPerhapsLater };
  void EndAddition(Added added);
  // Around one that deletes it, in the same way.
  View BeginRemoval();
  void EndRemoval(bool certain);

 private:
  enum class State : uint8_t { kUnknown, kThere, kGone };
  int64_t removals() const;
  int64_t additions() const;
  View LookLocked() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void EndChange() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  mutable Mutex mu_;
  State state_ ABSL_GUARDED_BY(mu_) = State::kGone;
  bool may_come_back_ ABSL_GUARDED_BY(mu_) = false;
  int64_t removals_ ABSL_GUARDED_BY(mu_) = 0;   // begun
  int64_t additions_ ABSL_GUARDED_BY(mu_) = 0;  // begun
  // Of the changes that overlap now.
  int running_ ABSL_GUARDED_BY(mu_) = 0;
  bool adds_ ABSL_GUARDED_BY(mu_) = false;
  bool removes_ ABSL_GUARDED_BY(mu_) = false;
  bool certain_ ABSL_GUARDED_BY(mu_) = false;  // one of them, at least
};

}  // namespace hawser
#endif  // HAWSER_TESTS_SCHEDULES_PRESENCE_H_
