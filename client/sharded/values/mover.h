// Mover: brings boxes of values to places, through this process.
#ifndef HAWSER_CLIENT_SHARDED_VALUES_MOVER_H_
#define HAWSER_CLIENT_SHARDED_VALUES_MOVER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/sharded/places/shard_place.h"
#include "client/sharded/places/sharded_program.h"
#include "client/sharded/values/afterwards.h"
#include "client/sharded/values/copies.h"
#include "client/sharded/values/sharded_value.h"
#include "core/base/mutex.h"
#include "core/base/threads/future.h"
#include "core/base/threads/gate.h"
#include "core/base/values/literal.h"
#include "core/ops/part/box.h"
#include "core/runtime/client.h"

namespace hawser {

// The bytes that were moved through this process.
struct MovedBytes {
  int64_t fetched = 0;
  int64_t sent = 0;
};

// All bytes between places go through here: a piece is fetched once, however
// many places it goes to. A value in pieces is joined where it is needed, from
// pieces that are there and pieces that come. Bring is
// called under the lock on the values.
class Mover {
 public:
  using Argument = runtime::Argument;
  struct Hooks {
    // Takes the lock on the values; does nothing once the owner is gone.
    std::function<void(absl::FunctionRef<void(Afterwards&)>)> locked;
    // Reports that work started in `life` of `place` found the place gone. Not
    // called under the lock.
    std::function<void(int place, uint64_t life, const absl::Status&)> lost;
    // Keeps the mover and what it stands on.
    std::function<std::shared_ptr<void>()> owner;
  };
  // `places` are there while the gate is open, and on their own threads.
  Mover(const std::vector<std::shared_ptr<ShardPlace>>* places,
        std::shared_ptr<Gate> gate, Hooks hooks)
      : places_(*places),
        copies_(places),
        gate_(std::move(gate)),
        hooks_(std::move(hooks)) {}

  // Brings the box to a place: a copy that is there, or a value that comes
  // along with the execution. The value has a source, or its pieces have
  // copies. An error is the first one; a place that is gone was told of before,
  // and kUnavailable also says that a copy failed meanwhile.
  Future<Argument> Bring(const ShardedValuePtr& value, const Box& box,
                         int place, Afterwards& later);
  MovedBytes moved() const;

 private:
  using ArgumentPromise = std::shared_ptr<Promise<Argument>>;
  using Arguments = std::vector<Argument>;

  void BringHere(const ShardedValuePtr& value, const Box& box,
                 const ArgumentPromise& promise, Afterwards& later);
  // Joins pieces that have copies.
  void JoinHere(const ShardedValuePtr& value, const Box& box,
                const ArgumentPromise& promise, Afterwards& later);
  // Returns true if it stays there; false if it comes along with the execution,
  // as something small does that was not taken there before.
  bool BringThere(const ShardedValuePtr& value, const Box& box, int place,
                  const ArgumentPromise& promise, Afterwards& later);
  // Fetches a copy of a piece at a place.
  void FetchCopy(const ShardedValue::Copy& copy, const Box& box,
                 const ArgumentPromise& promise);
  // `is_made`: it holds the box, else what the copy is of. A name of a dataset
  // may be known only in the session that has used it: then the box is made
  // there.
  void FetchBuffer(const ShardedValue::Copy& copy,
                   const runtime::BufferPtr& buffer, const Box& box,
                   bool is_made, const ArgumentPromise& promise);
  void FetchMade(const ShardedValue::Copy& copy,
                 const runtime::BufferPtr& buffer, const Box& box,
                 const ArgumentPromise& promise);
  void Join(const ShardedValuePtr& value, const Box& box, int place,
            const std::vector<int>& cover, const ArgumentPromise& promise,
            Afterwards& later);
  // The first place that may have the value's dataset, or kHere.
  int PlaceOfDataset(const ShardedValue& value) const;
  // Opens the value's dataset at a place; kUnavailable: the place lacks it,
  // which is noted.
  void OpenDataset(const ShardedValuePtr& value, const Box& box, int place,
                   const ArgumentPromise& promise, Afterwards& later);
  // Checks a value that a place gave. Errors: its own; kInternal, the shape is
  // another.
  absl::StatusOr<Literal> Given(int place, absl::StatusOr<Literal> value,
                                const Shape& wanted) const;
  // Called on the place's thread, once what it takes is there.
  void OnPlace(
      int place, Future<Arguments> takes, const ArgumentPromise& promise,
      Afterwards& later,
      std::function<absl::StatusOr<Argument>(ShardPlace&, Arguments)> work);
  // Makes a value that is here an argument of an execution there.
  absl::StatusOr<Argument> Send(ShardPlace& place, const Literal& value);
  void CountSent(const Literal& value);
  // Joins pieces that are at a place to the box.
  absl::StatusOr<Argument> MakeBox(ShardPlace& place, DType dtype,
                                   const std::vector<Box>& pieces,
                                   const Box& box, const Arguments& arguments);
  // Completes the promise; a place that is gone is told of first.
  void Finish(const ArgumentPromise& promise, int place, uint64_t life,
              absl::StatusOr<Argument> result);

  const std::vector<std::shared_ptr<ShardPlace>>& places_;
  const Copies copies_;
  const std::shared_ptr<Gate> gate_;
  const Hooks hooks_;
  ShardedProgram program_{{}};
  mutable Mutex mu_;  // taken after the lock on the values
  std::map<std::string, std::shared_ptr<const Module>> modules_
      ABSL_GUARDED_BY(mu_);  // by text
  MovedBytes moved_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_SHARDED_VALUES_MOVER_H_
