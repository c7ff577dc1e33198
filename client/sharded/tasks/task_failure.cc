#include "client/sharded/tasks/task_failure.h"

namespace hawser {

bool IsUnfit(const absl::Status& why) {
  return absl::IsResourceExhausted(why) || absl::IsUnimplemented(why);
}

bool IsPlaceGone(const TaskFailure& failure) {
  return failure.at_place && !failure.expired &&
         (absl::IsUnavailable(failure.why) || failure.late);
}

TaskEvent FailEvent(bool was_done, const absl::Status& why) {
  return was_done && absl::IsUnavailable(why) ? TaskEvent::kFailAgain
                                              : TaskEvent::kFail;
}

TaskEvent EventOf(const TaskFailure& failure) {
  const auto event = [&] {
    if (failure.expired) return TaskEvent::kFail;
    if (absl::IsUnavailable(failure.why) || IsPlaceGone(failure) ||
        failure.lacks_dataset) {
      return TaskEvent::kRetry;
    }
    // What did not come is known to have failed by itself once all makers have
    // ended; a place that says so has taken what it takes.
    const bool waits =
        failure.takes_unfinished && (!failure.at_place || IsUnfit(failure.why));
    if (waits) return TaskEvent::kRetry;
    if (!IsUnfit(failure.why) || failure.comes_here ||
        !failure.fits_elsewhere) {
      return TaskEvent::kFail;
    }
    return TaskEvent::kUnfit;
  }();
  const bool again = event == TaskEvent::kRetry || event == TaskEvent::kUnfit;
  if (again && failure.tries_left) return event;
  return FailEvent(failure.was_done, failure.why);
}

}  // namespace hawser
