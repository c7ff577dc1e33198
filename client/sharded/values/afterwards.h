// Afterwards: what was decided under the lock on the values, to be done after
// it.
#ifndef HAWSER_CLIENT_SHARDED_VALUES_AFTERWARDS_H_
#define HAWSER_CLIENT_SHARDED_VALUES_AFTERWARDS_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "client/sharded/values/sharded_value.h"
#include "core/base/threads/future.h"
#include "core/base/values/literal.h"
#include "core/runtime/client.h"

namespace hawser {

// An attempt of a task, which waits for what it takes.
struct StartedTask {
  ShardedTaskPtr task;
  int attempt = 0;
  int place = kHere;
  std::vector<Future<runtime::Argument>> takes;
};

// What a user is given.
struct Gift {
  std::function<void(const absl::StatusOr<Literal>&)> give;
  absl::StatusOr<Literal> value;
};

// Done in this order, without a lock. It may complete futures at once, and so
// call the runner again.
struct Afterwards {
  std::vector<std::function<void()>> moves;  // by the Mover
  std::vector<StartedTask> starts;
  std::vector<int> lost_places;  // to wait for
  std::vector<Gift> gifts;
  std::vector<Future<runtime::Argument>> garbage;  // dropped last
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_SHARDED_VALUES_AFTERWARDS_H_
