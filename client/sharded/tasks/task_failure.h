// TaskFailure: which event a failed attempt of a task is.
#ifndef HAWSER_CLIENT_SHARDED_TASKS_TASK_FAILURE_H_
#define HAWSER_CLIENT_SHARDED_TASKS_TASK_FAILURE_H_

#include "absl/status/status.h"
#include "client/sharded/tasks/task_table.h"

namespace hawser {

// What is known of a task when an attempt fails, or its place or what it takes
// is lost.
struct TaskFailure {
  absl::Status why;
  // True if its place said so; false if what it takes did not come.
  bool at_place = false;
  bool expired = false;  // its call
  // True if that was only the attempt's end, and the call has more time.
  bool late = false;
  // True if its place did not know a dataset that it takes, and another may.
  bool lacks_dataset = false;
  // True if a task that gives what it takes has not ended: that one may have
  // failed first, which is not known yet.
  bool takes_unfinished = false;
  bool comes_here = false;
  bool fits_elsewhere = false;  // another place has not refused it
  bool tries_left = false;
  bool was_done = false;
};

// True if the place is gone, or as good as gone.
bool IsPlaceGone(const TaskFailure& failure);
// True if the place gives it up, and another may be able to.
bool IsUnfit(const absl::Status& why);

// Returns kRetry, kUnfit, kFail or kFailAgain.
TaskEvent EventOf(const TaskFailure& failure);
// Likewise for what can only fail: kFail, or kFailAgain.
TaskEvent FailEvent(bool was_done, const absl::Status& why);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SHARDED_TASKS_TASK_FAILURE_H_
