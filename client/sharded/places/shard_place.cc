#include "client/sharded/places/shard_place.h"

#include <memory>

#include "client/sharded/places/probe.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/status.h"

namespace hawser {
namespace {

constexpr absl::Duration kPingTimeout = absl::Seconds(2);

}  // namespace

ShardPlace::ShardPlace(std::shared_ptr<runtime::Client> client,
                       const ShardedPolicy& policy)
    : client_(std::move(client)),
      name_(client_->name()),
      breaker_({.probe_first = policy.probe_first,
                .probe_longest = policy.probe_longest,
                .probe = [this] { return Probe(); },
                .settled = nullptr,
                .on_open =
                    [this](const absl::Status& why) {
                      HAWSER_LOG(kWarning)
                          << name_ << " is left: " << why.ToString();
                    },
                .on_close =
                    [this] { HAWSER_LOG(kInfo) << name_ << " is back"; }}) {}

ShardPlace::~ShardPlace() {
  probing_.Cancel();
  breaker_.Abandon();
}

absl::Status ShardPlace::Probe() {
  return client_->Ping({.cancel = probing_.Until(SteadyNow() + kPingTimeout)});
}

Future<PlaceFigures> ShardPlace::Figures() {
  auto promise = std::make_shared<Promise<PlaceFigures>>();
  {
    MutexLock lock(&mu_);
    const bool failed = figures_.has_value() && figures_->ready() &&
                        !figures_->Await().ok();
    if (figures_.has_value() && !failed) return *figures_;
    figures_ = promise->future();
  }
  const Future<PlaceFigures> figures = promise->future();
  Soon([this, promise] { promise->Set(MeasurePlace(*client_)); });
  return figures;
}

}  // namespace hawser
