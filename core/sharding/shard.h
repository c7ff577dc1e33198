// Shard: one function as tasks, each the same function over slices of its
// arguments.
#ifndef HAWSER_CORE_SHARDING_SHARD_H_
#define HAWSER_CORE_SHARDING_SHARD_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "core/sharding/notes.h"
#include "core/sharding/shard_spec.h"
#include "core/sharding/sharding.h"

namespace hawser {

// Cuts the entry of `module` where `spec` says. A value that cannot be cut is
// computed whole where it is needed, and noted. Errors: as CheckShardSpec;
// kInvalidArgument for more tasks than the spec allows, for a contraction that
// it refuses, and under `strict` for the first note.
absl::StatusOr<Sharding> Shard(const Module& module, const ShardSpec& spec);

// The traffic between tasks.
struct Exchange {
  int stages = 0;     // tasks on the longest way from arguments to results
  std::vector<int> stage_of;  // of each task, from 0
  int64_t bytes = 0;  // taken of values between tasks
};
Exchange ExchangeOf(const Sharding& sharding);

}  // namespace hawser
#endif  // HAWSER_CORE_SHARDING_SHARD_H_
