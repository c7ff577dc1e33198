// The states of a task of a sharded client, and what each event does in them.
#ifndef HAWSER_CLIENT_SHARDED_TASKS_TASK_TABLE_H_
#define HAWSER_CLIENT_SHARDED_TASKS_TASK_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace hawser {

enum class TaskState : uint8_t {
  kIdle,     // not asked for
  kWaiting,  // for the tasks that give what it takes
  kReady,    // at the dispatch, for a place
  kStarted,  // what it takes is on the way to its place
  kQueued,   // there; its results may be used
  kDone,
  kFailed,
};
inline constexpr int kTaskStates = 7;

enum class TaskEvent : uint8_t {
  kWanted,         // what it gives is asked for
  kInputsChanged,  // what it takes came, failed, or was lost with a place
  kInputMissing,   // tasks that give what it takes are to be done first
  kReadyForPlace,  // all that it takes is somewhere
  kReadyHere,      // likewise; it brings a value to this process
  kPlaced,         // the dispatch has chosen a place
  kQueuedThere,    // the place has taken it
  kFinished,       // the place has done it
  kArrived,        // its value is in this process
  kPlaceLost,      // the place that it is at is gone
  kRetry,          // this attempt failed, and another may not
  kUnfit,          // this place cannot do it, and another may
  kFail,           // it cannot be done
  // It cannot be done now. It was done before, so that it may be asked for
  // once more.
  kFailAgain,
};
inline constexpr int kTaskEvents = 14;

enum class TaskEffect : uint8_t {
  kBegin,            // counts uses of what it takes, forgets earlier failures
  kCountRepeat,      // it had been done before
  kLook,             // finds out which kInput or kReady event is next
  kLookAfterMakers,  // likewise, once makers that are queued have ended
  kWaitForMakers,    // asks for the tasks that give what is missing
  kJoinDispatch,
  kLeaveDispatch,
  kBring,       // a new attempt: what it takes goes to its place
  kLeavePlace,  // the dispatch counts it no more at its place
  kMarkUnfit,   // not that place again
  kCountFailure,
  kEndAttempt,   // what is still to come of this attempt does not count
  kPublish,      // its results are copies of what it gives
  kDropResults,  // these copies are void
  kCountDone,    // tells the dispatch how long it took
  kForgetChain,  // of a value that too many executions led to
  kGiveValue,    // to the user who waits for it
  kGiveError,    // likewise
  kEnd,          // lets go of what it takes
  kTellWaiters,  // kInputsChanged for the tasks that wait for this one
  kFailWaiters,  // they fail as it did
};
inline constexpr int kTaskEffects = 21;

struct TaskRow {
  TaskState from;
  TaskEvent event;
  TaskState to;
  std::vector<TaskEffect> effects;  // in this order
};

absl::Span<const TaskRow> TaskTable();
// Returns the row of that event in that state. Null: it changes nothing.
const TaskRow* FindTaskRow(TaskState from, TaskEvent event);

// Names without the k: "Waiting".
std::string ToString(TaskState state);
std::string ToString(TaskEvent event);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SHARDED_TASKS_TASK_TABLE_H_
