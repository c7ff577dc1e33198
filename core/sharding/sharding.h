// Sharding: one function as tasks, each the same function over slices of its
// arguments. Its types alone, which users of the SDK see.
#ifndef HAWSER_CORE_SHARDING_SHARDING_H_
#define HAWSER_CORE_SHARDING_SHARDING_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/values/shape.h"
#include "core/ir/types/box.h"
#include "core/ir/types/signature.h"
#include "core/sharding/shard_spec.h"

namespace hawser {

// A cut that was wanted and came out whole.
struct ShardNote {
  AxisCut cut;
  int instruction;  // of the entry: where it ends
  std::string why;  // with its op
};

struct ShardTask {
  // The slices that it takes. A number below the count of parameters is a
  // parameter; the others are values between tasks.
  std::vector<ir::Piece> takes;
  std::vector<int64_t> offsets;  // after them, as many s64[]: PartModule
  std::shared_ptr<const ir::Module> module;  // equal tasks share one
  // The same for the results: the piece that each result of the module is.
  std::vector<ir::Piece> gives;
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
  ir::Signature whole;
  std::vector<Shape> between;   // values between tasks
  std::vector<ShardAxis> axes;  // those that are cut
  std::vector<ShardNote> notes;
  // The tasks in an order that can be run. Together they give the results, each
  // element once. If a task takes a value that lies between tasks, earlier ones
  // give pieces that cover it, each wholly inside or wholly outside of it.
  std::vector<ShardTask> tasks;
};

// The axes that are cut, the notes, and the first `tasks` tasks, for people.
std::string Explain(const Sharding& sharding, int tasks = 8);

}  // namespace hawser
#endif  // HAWSER_CORE_SHARDING_SHARDING_H_
