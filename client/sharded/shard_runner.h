// ShardRunner: runs tasks on places, and runs those that are lost with a place
// again elsewhere.
#ifndef HAWSER_CLIENT_SHARDED_SHARD_RUNNER_H_
#define HAWSER_CLIENT_SHARDED_SHARD_RUNNER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/sharded/places/shard_place.h"
#include "client/sharded/task_machine.h"
#include "client/sharded/values/afterwards.h"
#include "client/sharded/values/mover.h"
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

// Its lock guards every value and task. What happens is decided under it, by
// the TaskMachine; places and users are called after it (Afterwards), with no
// lock and no pass held. No thread waits here but callers of Execute, for room
// at a place. Thread-safe. Owned together by the client, which closes it, and
// by buffers, executables and what is under way.
class ShardRunner : public std::enable_shared_from_this<ShardRunner> {
 public:
  ShardRunner(std::vector<std::shared_ptr<runtime::Client>> clients,
              const ShardedPolicy& policy);
  // Ends what is under way with kCancelled, and what comes later with
  // kFailedPrecondition. May be called where a user is told something.
  void Close();
  const ShardedPolicy& policy() const { return policy_; }
  bool open() const { return static_cast<bool>(gate_->Enter()); }
  // Empty: closed. For callers that may destroy a place.
  std::vector<std::shared_ptr<ShardPlace>> places() const;

  // Reports that work started in `life` of `place` found the place gone.
  void Lost(int place, uint64_t life, const absl::Status& why);

  // Starts the tasks of one execution. The values that they take and give are
  // set; each task comes after those whose values it takes. May wait for room
  // at a place. False: closed.
  bool Run(const std::vector<ShardedTaskPtr>& tasks);
  Future<Literal> Fetch(const ShardedValuePtr& value,
                        const runtime::CallOptions& call);
  // Brings it here in the background, unless it is large; the tasks that led to
  // it are not needed then.
  void Checkpoint(const ShardedValuePtr& value);
  // It is the same as `frozen`, which every place has, and whose value is
  // `here`: the tasks that led to it are not needed any more.
  void Root(const ShardedValuePtr& value, const DatasetPart& frozen,
            const Literal& here);
  // Counts the users that have it.
  void Hold(const ShardedValuePtr& value);
  void LetGo(const ShardedValuePtr& value);
  // Returns where its pieces are, for a plan that takes it as an argument.
  ArgumentLayout LayoutOf(const ShardedValue& value) const;
  // The places where it was computed, as far as they are known.
  std::string WhereIs(const ShardedValue& value) const;
  ShardedStats stats() const;

 private:
  using Event = absl::FunctionRef<void(TaskMachine&, Afterwards&)>;

  // kMay: on the thread of a caller of Execute.
  enum class Waiting { kNo, kMay };

  // Takes the lock, calls `event`, decides what is started next, releases the
  // lock and does what is due. False: closed. No pass is held while others are
  // called, as a user who is told something may close the client.
  bool On(Event event, Waiting waiting = Waiting::kNo);
  void Do(Afterwards& later, Waiting waiting);
  // Sets its source, unless that is known already.
  void ComesFrom(const ShardedValuePtr& value, ShardedValue::Source source);
  // Tells the machine once it is back.
  void AwaitReturn(int place);

  // What an attempt takes is there, or an error.
  void OnTaken(const StartedTask& started,
               const absl::StatusOr<std::vector<runtime::Argument>>& takes,
               Waiting waiting);
  // May block.
  void Queue(const ShardedTaskPtr& task, int attempt, const ShardPlace& place,
             std::vector<runtime::Argument> arguments);

  const ShardedPolicy policy_;
  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  std::vector<std::shared_ptr<ShardPlace>> places_;
  Mover mover_;
  mutable Mutex mu_;
  TaskMachine machine_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_SHARDED_SHARD_RUNNER_H_
