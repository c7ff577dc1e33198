// ShardedValue: a tensor in pieces over places. ShardedTask: makes pieces.
#ifndef HAWSER_CLIENT_SHARDED_VALUES_SHARDED_VALUE_H_
#define HAWSER_CLIENT_SHARDED_VALUES_SHARDED_VALUE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/sharded/places/sharded_program.h"
#include "client/sharded/tasks/task_table.h"
#include "core/base/threads/future.h"
#include "core/base/values/literal.h"
#include "core/ops/part/box.h"
#include "core/runtime/client.h"
#include "core/runtime/dataset.h"
#include "core/sharding/shard.h"

namespace hawser {

// This process, where places are numbered.
inline constexpr int kHere = -1;
// The home of a task that goes where most of what it takes is, at once; it is
// free when that is nowhere.
inline constexpr int kWhereMostIs = -2;

struct ShardedExecution;
struct ShardedTask;
using ShardedTaskPtr = std::shared_ptr<ShardedTask>;

// The lock of the ShardRunner guards all that is not const. A value keeps its
// source, or the tasks that give its boxes, as long as it lives, so that copies
// that were lost with a place are made again. The copies are kept while a user
// or a task to come needs it: a value that is only needed to make others again
// holds no memory of a place.
struct ShardedValue {
  explicit ShardedValue(Shape of) : shape(std::move(of)) {}

  // A copy of a box of it at a place. It is there when `what` is, unless that
  // is an error.
  struct Copy {
    Box box;
    int place = kHere;
    uint64_t life = 0;  // of the place: in a later one it is lost
    Future<runtime::Argument> what;
    // True if it came along with an execution and is not there any more: if it
    // is taken there once more, it is sent to stay.
    bool came_along = false;
    // Fetches of this copy to here, maybe done already.
    using Fetches = std::vector<std::weak_ptr<Promise<runtime::Argument>>>;
    std::shared_ptr<Fetches> fetches = std::make_shared<Fetches>();
  };
  struct Given {
    Box box;
    ShardedTaskPtr by;  // null: not needed, or not known any more
    int result = 0;     // of the task
  };

  const Shape shape;
  // The value or dataset it comes from; an OK status if tasks give it, another
  // one if it is lost with its places, for that reason.
  using Source = std::variant<absl::Status, Literal, DatasetPart>;
  Source source;
  std::vector<Given> given;
  std::vector<Copy> copies;
  std::set<int> lacking;  // places that do not know its dataset
  std::shared_ptr<const ShardedExecution> execution;  // that gives it
  int holders = 0;                                    // buffers of users
  int uses = 0;  // tasks that take it and are not done

  const Literal* host() const { return std::get_if<Literal>(&source); }
  // True if its source is there whatever becomes of its copies.
  bool known() const { return !std::holds_alternative<absl::Status>(source); }
  bool needed() const { return holders + uses > 0; }
  int steps() const;  // tasks back to its sources, at most
  // Returns when the first of these was begun; infinite where there is none.
  absl::Time since() const;
};
using ShardedValuePtr = std::shared_ptr<ShardedValue>;

// Returns the numbers of boxes of `given` that together hold `box`: that box
// itself, else those within it, else all that it meets.
std::vector<int> CoverOf(const std::vector<ShardedValue::Given>& given,
                         const Box& box);

// One execution of a function, as far as its tasks share it. Guarded likewise.
struct ShardedExecution {
  std::set<std::string> ran;  // places, in words
  int unfinished = 0;         // tasks that were never done
  // The values that its tasks take, once each: in use until all were done, so
  // that a task of an execution that has not ended is done again at no other's
  // cost.
  std::vector<ShardedValuePtr> takes;
};

// A task of one execution, or a value that is to come here. Guarded as values
// are, but for what is const.
struct ShardedTask {
  int64_t number = 0;
  // Set for a task at a place; null for one that brings a value here.
  std::shared_ptr<const Sharding> sharding;
  std::shared_ptr<ShardedProgram> program;
  const ShardTask* what = nullptr;                           // of the sharding
  std::function<void(const absl::StatusOr<Literal>&)> give;  // here

  std::vector<ShardedValuePtr> takes;  // one for each of what->takes
  std::vector<std::weak_ptr<ShardedValue>> gives;  // likewise
  std::shared_ptr<ShardedExecution> execution;     // likewise
  int steps = 1;  // from the sources to its results, at most
  // It says when the first of these was begun, and once the chain was cut when
  // that was done.
  absl::Time since = absl::InfiniteFuture();
  bool cut = false;  // the chain took long, and would again
  // The place that it belongs to, as ReadyTask says; or kWhereMostIs.
  int home = kHere;
  double work = 1;

  TaskState state = TaskState::kIdle;
  bool counted = false;  // as ended: done or failed, once at least
  bool was_done = false;
  int attempt = 0;  // what comes of an earlier one does not count
  int failures = 0;
  int place = kHere;
  uint64_t life = 0;
  absl::Status error;         // kFailed
  std::vector<bool> unfit;    // by place, once one could not do it
  runtime::CallOptions call;  // until it was done once
  // Tasks that wait for this one, by number.
  std::map<int64_t, std::weak_ptr<ShardedTask>> waiters;

  // Returns the tasks that give what it takes, by position.
  std::vector<ShardedTaskPtr> Makers() const;
  // True if one of them is not made, or made again: it may have failed of that.
  bool takes_unfinished() const;
  // Returns the error of the first of them that failed, else `why`.
  absl::Status FirstCause(const absl::Status& why) const;
  bool ended() const {
    return state == TaskState::kDone || state == TaskState::kFailed;
  }
  bool comes_here() const { return what == nullptr; }
  // True if that is an argument, and not given by a task of its execution.
  bool TakesArgument(size_t take) const {
    return what->takes[take].value <
           static_cast<int>(sharding->whole.parameters.size());
  }
  Box BoxOf(size_t take) const {
    return what == nullptr ? WholeBox(takes[take]->shape)
                           : what->takes[take].box;
  }
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_SHARDED_VALUES_SHARDED_VALUE_H_
