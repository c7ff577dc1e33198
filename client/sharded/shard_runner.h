// ShardRunner: runs tasks on places, and runs those that are lost with a place
// again elsewhere.
#ifndef HAWSER_CLIENT_SHARDED_SHARD_RUNNER_H_
#define HAWSER_CLIENT_SHARDED_SHARD_RUNNER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/sharded/places/dispatch.h"
#include "client/sharded/values/mover.h"
#include "client/sharded/places/shard_place.h"
#include "client/sharded/values/sharded_value.h"
#include "core/base/mutex.h"
#include "core/base/threads/future.h"
#include "core/base/threads/gate.h"
#include "core/base/values/literal.h"
#include "core/runtime/client.h"
#include "core/sharding/choice/choose.h"

namespace hawser {

struct ShardedStats {
  int64_t tasks = 0;        // done at places
  int64_t tasks_again = 0;  // of those, what had been done before
  int64_t places_left = 0;  // how often a place was found gone
  int64_t fetched_bytes = 0;
  int64_t sent_bytes = 0;
};

// Its lock guards every value and task. Only decisions are made under it; calls
// of places come after it (Afterwards). A task is asked for (Want), waits until
// all that it takes has copies somewhere, is given a place by the Dispatch, and
// is queued there once what it takes has come. When a place is lost, tasks that
// are not done there begin again; values whose copies went with it are made
// again when they are asked for. No thread waits here. Thread-safe. Owned
// together by the client, which closes it, and by buffers, executables and what
// is under way.
class ShardRunner : public std::enable_shared_from_this<ShardRunner> {
 public:
  ShardRunner(std::vector<std::shared_ptr<runtime::Client>> clients,
              const ShardedPolicy& policy);
  // Ends what is under way with kCancelled, and what comes later with
  // kFailedPrecondition. May be called where a user is told something.
  void Close();
  // False: closed. Close waits for these passes.
  Gate::Pass Enter() const { return gate_->Enter(); }

  const ShardedPolicy& policy() const { return policy_; }
  // The places live while a pass is held.
  const std::vector<std::unique_ptr<ShardPlace>>& places() const {
    return places_;
  }

  // Reports that work started in `life` of `place` found the place gone.
  void Lost(int place, uint64_t life, const absl::Status& why);

  // Starts the tasks of one execution. The values that they take and give are
  // set; each task comes after those whose values it takes.
  void Run(const std::vector<ShardedTaskPtr>& tasks);
  Future<Literal> Fetch(const ShardedValuePtr& value,
                        const runtime::CallOptions& call);
  // Brings it here in the background, unless it is large; the tasks that led to
  // it are not needed then.
  void Checkpoint(const ShardedValuePtr& value);
  // Counts the users that have it.
  void Hold(const ShardedValuePtr& value);
  void LetGo(const ShardedValuePtr& value);
  // Returns where its pieces are, for a plan that takes it as an argument.
  ArgumentLayout LayoutOf(const ShardedValue& value) const;
  // The places where it was computed, as far as they are known.
  std::string WhereIs(const ShardedValue& value) const;
  ShardedStats stats() const;

 private:
  using Event = absl::FunctionRef<void(Afterwards&)>;

  // Takes the lock, calls `event`, decides what is started next, releases the
  // lock and does what is due. The outermost call on a thread tells users.
  // False: closed.
  bool On(Event event);
  void StartWhatCan(Afterwards& later);

  // These run the states of a task.
  void Want(const ShardedTaskPtr& task, Afterwards& later);
  void Check(const ShardedTaskPtr& task, Afterwards& later);
  absl::Status FindMissing(const ShardedTask& task,
                           std::vector<ShardedTaskPtr>* missing) const;
  void MakeReady(const ShardedTaskPtr& task, Afterwards& later);
  void Start(const ShardedTaskPtr& task, int place, Afterwards& later);
  // Called on the place's thread.
  void Queue(const ShardedTaskPtr& task, int attempt, ShardPlace& place,
             const std::vector<runtime::Argument>& takes);
  void OnQueued(const ShardedTaskPtr& task, int attempt,
                const std::vector<runtime::BufferPtr>& results,
                Afterwards& later);
  void OnDone(const ShardedTaskPtr& task, int attempt, Afterwards& later);
  // Handles a task that its place gives up: tries another place, if one is
  // left.
  void OnUnfit(const ShardedTaskPtr& task, const absl::Status& why,
               Afterwards& later);
  // The values it takes did not come, or its place did not do it.
  void OnTakesFailed(const ShardedTaskPtr& task, int attempt,
                     const absl::Status& why, Afterwards& later);
  void OnPlaceFailed(const ShardedTaskPtr& task, int attempt,
                     const absl::Status& why, Afterwards& later);
  int MostFailures(const ShardedTask& task) const;
  // True if there is a place that may be able to do it.
  bool HasPlace(const ShardedTask& task) const;
  void Again(const ShardedTaskPtr& task, const absl::Status& why,
             Afterwards& later);
  void End(const ShardedTaskPtr& task, ShardedTask::State state,
           Afterwards& later);
  // Releases the values that an execution takes, once all of its tasks have
  // ended.
  void Release(ShardedExecution& execution, Afterwards& later);
  void Fail(const ShardedTaskPtr& task, const absl::Status& why,
            Afterwards& later);
  void TellWaiters(ShardedTask& task, Afterwards& later);
  // Forgets a chain that is too long, for a value that is too large to come
  // here.
  void ForgetChain(const ShardedTask& task);

  void Lose(int place, uint64_t life, const absl::Status& why,
            Afterwards& later);
  // Copies go, where none is needed.
  void Trim(ShardedValue& value, Afterwards& later);

  const ShardedPolicy policy_;
  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  std::vector<std::unique_ptr<ShardPlace>> places_;
  Mover mover_;
  mutable Mutex mu_;
  Dispatch dispatch_;
  std::map<int64_t, ShardedTaskPtr> unfinished_;  // by number
  int64_t next_number_ = 0;
  ShardedStats stats_;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_SHARDED_SHARD_RUNNER_H_
