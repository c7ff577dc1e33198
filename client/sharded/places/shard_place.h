// ShardPlace: one of the clients that a sharded client computes on.
#ifndef HAWSER_CLIENT_SHARDED_PLACES_SHARD_PLACE_H_
#define HAWSER_CLIENT_SHARDED_PLACES_SHARD_PLACE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/fallback/breaker.h"
#include "core/base/mutex.h"
#include "core/base/threads/alarm.h"
#include "core/base/threads/cancel.h"
#include "core/base/threads/future.h"
#include "core/runtime/client.h"
#include "core/sharding/choice/choose.h"

namespace hawser {

// Says when a place is asked whether it is back, and what is remembered to make
// lost values again.
struct ShardedPolicy {
  absl::Duration probe_first = absl::Milliseconds(100);
  absl::Duration probe_longest = absl::Milliseconds(1600);
  // A value that so many executions in a row led to is fetched in the
  // background, if it is at most so large; then it needs none of them. One that
  // could not be is not made again beyond max_steps.
  int checkpoint_steps = 16;
  // So is one whose chain began so long ago: its replay takes about as long.
  absl::Duration max_replay = absl::Seconds(10);
  int64_t checkpoint_bytes = int64_t{64} << 20;
  int max_steps = 1024;
  // The figures that each place is taken to have. Unset: they are measured,
  // before work is cut by cost that is worth that.
  std::optional<PlaceFigures> figures = std::nullopt;
};

// Thread-safe. Work that may block is done on the place's own thread, so that a
// slow place keeps none of the others.
class ShardPlace {
 public:
  ShardPlace(std::shared_ptr<runtime::Client> client,
             const ShardedPolicy& policy);
  ~ShardPlace();

  runtime::Client& client() const { return *client_; }
  const std::string& name() const { return name_; }

  // Values at a place are lost to it in a later life.
  uint64_t life() const { return breaker_.epoch(); }
  bool open() const { return !Breaker::IsOpen(breaker_.epoch()); }
  // Reports that work started in `life` found the place gone.
  void Lose(uint64_t life, const absl::Status& why) {
    breaker_.Trip(life, why);
  }
  // Ready once it is open, or with an error when it is closed for good.
  Future<bool> Back() const { return breaker_.Closed(); }

  // Does what MeasurePlace does, on the place's thread, unless that was done
  // already.
  Future<PlaceFigures> Figures();

  void Soon(std::function<void()> work) { worker_.Soon(std::move(work)); }

 private:
  absl::Status Probe();

  const std::shared_ptr<runtime::Client> client_;
  const std::string name_;
  const CancelToken probing_ = CancelToken::WithFlag();
  Mutex mu_;
  std::optional<Future<PlaceFigures>> figures_ ABSL_GUARDED_BY(mu_);
  Alarm worker_;
  Breaker breaker_;  // last: its thread uses the rest
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_SHARDED_PLACES_SHARD_PLACE_H_
