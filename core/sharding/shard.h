// Shard: one function as tasks, each the same function over slices of its
// arguments.
#ifndef HAWSER_CORE_SHARDING_SHARD_H_
#define HAWSER_CORE_SHARDING_SHARD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "core/sharding/notes.h"
#include "core/sharding/part/part_module.h"
#include "core/sharding/shard_spec.h"

namespace hawser {

struct ShardTask {
  // The slices that it takes. A number below the count of parameters is a
  // parameter; the others are values between tasks.
  std::vector<Piece> takes;
  std::vector<int64_t> offsets;  // after them, as many s64[]: PartModule
  std::shared_ptr<const Module> module;  // equal tasks share one
  // The same for the results: the piece that each result of the module is.
  std::vector<Piece> gives;
};

// Axes that are cut alike.
struct ShardAxis {
  struct In {
    int value;  // of the parameters or results
    int axis;
    friend bool operator==(const In&, const In&) = default;
  };
  int64_t size = 0;
  std::vector<int64_t> sizes;  // of its parts
  std::vector<In> parameters, results;
};

struct Sharding {
  Signature whole;
  std::vector<Shape> between;   // values between tasks
  std::vector<ShardAxis> axes;  // those that are cut
  std::vector<ShardNote> notes;
  // The tasks in an order that can be run. Together they give the results, each
  // element once. If a task takes a value that lies between tasks, earlier ones
  // give pieces that cover it, each wholly inside or wholly outside of it.
  std::vector<ShardTask> tasks;
};

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

// The axes that are cut, the notes, and the first `tasks` tasks, for people.
std::string Explain(const Sharding& sharding, int tasks = 8);

}  // namespace hawser
#endif  // HAWSER_CORE_SHARDING_SHARD_H_
