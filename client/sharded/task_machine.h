// TaskMachine: what a ShardRunner decides about tasks, under its lock.
#ifndef HAWSER_CLIENT_SHARDED_TASK_MACHINE_H_
#define HAWSER_CLIENT_SHARDED_TASK_MACHINE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "client/sharded/places/dispatch.h"
#include "client/sharded/places/shard_place.h"
#include "client/sharded/tasks/task_failure.h"
#include "client/sharded/tasks/task_table.h"
#include "client/sharded/values/afterwards.h"
#include "client/sharded/values/copies.h"
#include "client/sharded/values/mover.h"
#include "client/sharded/values/sharded_value.h"
#include "core/base/values/literal.h"
#include "core/runtime/client.h"

namespace hawser {

// Runs tasks through the states of TaskTable. An event is handled with its row:
// the task is in the new state, then the row's effects are carried out in their
// order. Effects that concern other tasks are events too, which are handled
// before a call returns; what concerns places and users is left in
// `Afterwards`. A task that is asked for ends, done or failed, as long as each
// attempt that was started is reported on. Not thread-safe.
class TaskMachine {
 public:
  struct Counts {
    int64_t done = 0;         // tasks, at places
    int64_t again = 0;        // of those, what had been done before
    int64_t places_left = 0;  // how often a place was found gone
  };

  // What they point to outlives the machine.
  TaskMachine(const ShardedPolicy* policy,
              const std::vector<std::shared_ptr<ShardPlace>>* places,
              Mover* mover);

  // Numbers the tasks and asks for them. Each comes after those whose values it
  // takes.
  void Want(const std::vector<ShardedTaskPtr>& tasks, Afterwards& later);
  // Sends what is ready to the places that have room. Called after the others,
  // before the lock is released.
  void StartWhatCan(Afterwards& later);

  // Reports on an attempt; nothing happens if it is not the task's last one.
  void OnQueued(const ShardedTaskPtr& task, int attempt,
                const std::vector<runtime::BufferPtr>& results,
                Afterwards& later);
  void OnFinished(const ShardedTaskPtr& task, int attempt, Afterwards& later);
  void OnArrived(const ShardedTaskPtr& task, int attempt, const Literal& value,
                 Afterwards& later);
  // `at_place`: its place failed, not what it takes.
  void OnFailed(const ShardedTaskPtr& task, int attempt, bool at_place,
                const absl::Status& why, Afterwards& later);

  // Work started in `life` of `place` found the place gone.
  void Lose(int place, uint64_t life, const absl::Status& why,
            Afterwards& later);
  // A place is back, unless it is gone once more.
  void OnBack(int place);

  // Returns the tasks that have not ended, and forgets them.
  std::vector<ShardedTaskPtr> TakeUnfinished();
  const Counts& counts() const { return counts_; }

 private:
  static constexpr int kAnyAttempt = -1;
  // An event of a task, with what belongs to it.
  struct Happening {
    ShardedTaskPtr task;
    TaskEvent event;
    int attempt = kAnyAttempt;
    int place = kHere;                                         // kPlaced
    absl::Status why = absl::OkStatus();                       // kFail...
    std::vector<ShardedTaskPtr> missing = {};                  // kInputMissing
    const std::vector<runtime::BufferPtr>* results = nullptr;  // kQueuedThere
    const Literal* value = nullptr;                            // kArrived
  };
  using Effect = void (TaskMachine::*)(const Happening&, Afterwards&);
  static Effect EffectOf(TaskEffect effect);

  // Handles it, and all that follows from it for other tasks.
  void Handle(Happening first, Afterwards& later);
  void HandlePosted(Afterwards& later);
  void HandleOne(const Happening& one, Afterwards& later);
  void Post(Happening one) { posted_.push_back(std::move(one)); }

  // The effects, in the order of TaskEffect.
  void Begin(const Happening& one, Afterwards& later);
  void CountRepeat(const Happening& one, Afterwards& later);
  void Look(const Happening& one, Afterwards& later);
  void LookAfterMakers(const Happening& one, Afterwards& later);
  void WaitForMakers(const Happening& one, Afterwards& later);
  void JoinDispatch(const Happening& one, Afterwards& later);
  void LeaveDispatch(const Happening& one, Afterwards& later);
  void Bring(const Happening& one, Afterwards& later);
  void LeavePlace(const Happening& one, Afterwards& later);
  void MarkUnfit(const Happening& one, Afterwards& later);
  void CountFailure(const Happening& one, Afterwards& later);
  void EndAttempt(const Happening& one, Afterwards& later);
  void Publish(const Happening& one, Afterwards& later);
  void DropResults(const Happening& one, Afterwards& later);
  void CountDone(const Happening& one, Afterwards& later);
  void ForgetChain(const Happening& one, Afterwards& later);
  void GiveValue(const Happening& one, Afterwards& later);
  void GiveError(const Happening& one, Afterwards& later);
  void End(const Happening& one, Afterwards& later);
  void TellWaiters(const Happening& one, Afterwards& later);
  void FailWaiters(const Happening& one, Afterwards& later);

  // What a task takes: OK and the tasks to do first, or why it cannot be had.
  absl::Status FindMissing(const ShardedTask& task,
                           std::vector<ShardedTaskPtr>* missing) const;
  // Where it belongs: where most of its bytes are, or kHere.
  int HomeOf(const ShardedTask& task, const std::vector<int64_t>& bytes) const;
  // True if a place is there that has not refused it.
  bool HasPlace(const ShardedTask& task) const;
  bool HasTriesLeft(const ShardedTask& task) const;
  TaskFailure FailureOf(const ShardedTask& task, bool at_place,
                        const absl::Status& why) const;
  // The error of a task that fails so.
  absl::Status ErrorOf(const ShardedTask& task,
                       const TaskFailure& failure) const;

  const ShardedPolicy& policy_;
  const std::vector<std::shared_ptr<ShardPlace>>& places_;
  const Copies copies_;
  Mover& mover_;
  Dispatch dispatch_;
  std::map<int64_t, ShardedTaskPtr> unfinished_;  // by number
  std::deque<Happening> posted_;
  int64_t next_number_ = 0;
  absl::Status no_place_;  // what a task fails with that has none
  Counts counts_;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_SHARDED_TASK_MACHINE_H_
