// Dispatch: decides which task goes to which place, and when.
#ifndef HAWSER_CLIENT_SHARDED_PLACES_DISPATCH_H_
#define HAWSER_CLIENT_SHARDED_PLACES_DISPATCH_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "absl/time/time.h"

namespace hawser {

// A task whose arguments are all somewhere.
struct ReadyTask {
  int64_t number = 0;
  // The place it belongs to: it is queued there at once, after the tasks that
  // are there. -1: it is free, and goes to one of the places that have room for
  // it.
  int home = -1;
  double work = 1;  // in any unit that is one for all tasks
  std::vector<int64_t> bytes_there;  // of what it takes, by place
  std::vector<bool> unfit;           // empty: no place; else by place
};

// Depends only on what it is told: no client, thread or clock. A place has at
// most two free tasks, one that runs and one queued behind it, or one before
// its speed is known. Free tasks go where most of their bytes are; if several
// places have equally many, where they end first. A place that would end a task
// after the others have done all that is left gets none. Not thread-safe.
class Dispatch {
 public:
  explicit Dispatch(int places) : places_(places) {}

  // Tasks under way at a place that closes are not there any more.
  void SetOpen(int place, bool open);
  bool is_open(int place) const { return places_[place].open; }
  bool any_open() const;

  void Add(ReadyTask task);
  // Removes a task that has not been started; true: it was there.
  bool Remove(int64_t number);

  struct Start {
    int64_t task;
    int place;
    friend bool operator==(const Start&, const Start&) = default;
  };
  // Returns the next one to start, which is under way from then on.
  std::optional<Start> Next(absl::Time now);
  // Done: a task under way is done, which tells the place's speed. Dropped: it
  // will not be done there.
  void Done(int64_t task, int place, absl::Time now);
  void Dropped(int64_t task, int place);

  int under_way(int place) const {
    return static_cast<int>(places_[place].tasks.size());
  }
  // Work a second, as measured; 0: not known yet.
  double speed(int place) const { return places_[place].speed; }

 private:
  struct UnderWay {
    int64_t task;
    double work;
    absl::Time start;  // queued, or when the one before it was done
  };
  struct Place {
    bool open = true;
    std::deque<UnderWay> tasks;
    double speed = 0;
  };
  std::optional<int> Choose(const ReadyTask& task) const;
  bool Fits(const ReadyTask& task, int place) const;
  // Returns in how many seconds the place would have done `work` after what it
  // has.
  double SecondsUntilDone(int place, double work) const;
  // True if the others would have done all that is ready by then.
  bool OthersAreFaster(int place, double seconds) const;

  std::vector<Place> places_;
  std::map<int64_t, ReadyTask> ready_;  // by number
  double ready_work_ = 0;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_SHARDED_PLACES_DISPATCH_H_
