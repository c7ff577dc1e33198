// Copies: which copies of a value are of use, and dropping those that are not.
#ifndef HAWSER_CLIENT_SHARDED_VALUES_COPIES_H_
#define HAWSER_CLIENT_SHARDED_VALUES_COPIES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "client/sharded/places/shard_place.h"
#include "client/sharded/values/afterwards.h"
#include "client/sharded/values/sharded_value.h"
#include "core/ops/part/box.h"

namespace hawser {

// The error of a copy that went with its place, or was dropped.
absl::Status CopyLost();

// A copy lives as long as its place is in the life that it was made in. All is
// called under the lock on the values.
class Copies {
 public:
  explicit Copies(const std::vector<std::shared_ptr<ShardPlace>>* places)
      : places_(*places) {}

  // True if the copy is of this life of its place, and has no error so far.
  bool Live(const ShardedValue::Copy& copy) const;
  // Returns a live copy that holds the box, at `place` if that is a place.
  // Null: none.
  const ShardedValue::Copy* FindCopy(const ShardedValue& value, const Box& box,
                                     int place) const;
  const ShardedValue::Copy* FindCopy(const ShardedValue& value,
                                     const Box& box) const;
  // Returns how much of what a task takes is at each place already. If the task
  // has a home, bytes that all such tasks take do not count, nor bytes that are
  // elsewhere too.
  std::vector<int64_t> BytesThere(const ShardedTask& task) const;

  // Called when the place of a task does not know a dataset that it takes: it
  // is brought from another place. False: it takes none.
  static bool LackTaken(const ShardedTask& task, Afterwards& later);
  // Drops the copies that a task gave where it was last: they are of no use.
  static void DropGiven(const ShardedTask& task, Afterwards& later);
  // Drops copies that are of no use; fetches from them that are under way end
  // with CopyLost.
  static void Drop(ShardedValue& value,
                   absl::FunctionRef<bool(const ShardedValue::Copy&)> which,
                   Afterwards& later);
  // Drops the copies of a value that is not needed.
  static void Trim(ShardedValue& value, Afterwards& later);

 private:
  const std::vector<std::shared_ptr<ShardPlace>>& places_;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_SHARDED_VALUES_COPIES_H_
