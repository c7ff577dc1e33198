#include "client/sharded/sharded_client.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/sharded/sharded_buffer.h"
#include "client/sharded/sharded_executable.h"
#include "core/base/status.h"

namespace hawser {
namespace {

std::string NameOf(
    absl::Span<const std::shared_ptr<runtime::Client>> places) {
  return absl::StrCat(
      "sharded(",
      absl::StrJoin(places, ", ",
                    [](std::string* out, const auto& place) {
                      out->append(place->name());
                    }),
      ")");
}

// Returns the capabilities that both have.
runtime::Capabilities Both(runtime::Capabilities a,
                           const runtime::Capabilities& b) {
  a.opset = std::min(a.opset, b.opset);
  DTypeSet dtypes;
  for (const DType dtype : AllDTypes()) {
    if (a.dtypes.Has(dtype) && b.dtypes.Has(dtype)) {
      dtypes = dtypes | DTypeSet::Of(dtype);
    }
  }
  a.dtypes = dtypes;
  a.limits.instructions = std::min(a.limits.instructions, b.limits.instructions);
  a.memory_bytes = a.memory_bytes == 0 || b.memory_bytes == 0
                       ? 0
                       : a.memory_bytes + b.memory_bytes;
  if (a.platform != b.platform) absl::StrAppend(&a.platform, "+", b.platform);
  absl::StrAppend(&a.device, "; ", b.device);
  if (a.engine_id != b.engine_id) {
    absl::StrAppend(&a.engine_id, "; ", b.engine_id);
  }
  if (a.ops.empty()) {
    a.ops = b.ops;
  } else if (!b.ops.empty()) {
    const std::set<std::string> theirs(b.ops.begin(), b.ops.end());
    std::erase_if(a.ops, [&](const std::string& op) {
      return !theirs.contains(op);
    });
  }
  return a;
}

}  // namespace

ShardedClient::ShardedClient(
    std::vector<std::shared_ptr<runtime::Client>> places,
    const ShardedPolicy& policy)
    : runner_(std::make_shared<ShardRunner>(places, policy)),
      name_(NameOf(places)),
      datasets_(this, runner_.get()) {}

absl::StatusOr<runtime::Capabilities> ShardedClient::capabilities() {
  absl::StatusOr<runtime::Capabilities> all =
      Unavailable("no place of ", name_, " is there");
  absl::Status first;
  const auto places = runner_->places();
  for (size_t p = 0; p < places.size(); ++p) {
    const uint64_t life = places[p]->life();
    auto own = places[p]->client().capabilities();
    if (absl::IsUnavailable(own.status())) {
      runner_->Lost(static_cast<int>(p), life, own.status());
    }
    if (!own.ok()) {
      first.Update(own.status());
    } else {
      all = all.ok() ? Both(*all, *own) : std::move(own);
    }
  }
  if (!all.ok() && !first.ok()) return first;
  if (all.ok()) all->places = static_cast<int>(runner_->places().size());
  return all;
}

void ShardedClient::StartMeasuring() {
  if (runner_->places().size() < 2) return;
  for (const auto& place : runner_->places()) place->Figures();
}

absl::Status ShardedClient::Ping(const runtime::CallOptions& call) {
  absl::Status status;
  for (const auto& place : runner_->places()) {
    const absl::Status said = place->client().Ping(call);
    if (said.ok()) return said;
    status.Update(said);
  }
  return status;
}

absl::StatusOr<std::shared_ptr<runtime::Executable>> ShardedClient::Compile(
    std::shared_ptr<const Module> module,
    const runtime::CompileOptions& options, const runtime::CallOptions&) {
  if (module == nullptr || module->empty()) {
    return InvalidArgument("there is no module to compile");
  }
  return std::make_shared<ShardedExecutable>(this, runner_, std::move(module),
                                             options);
}

absl::StatusOr<runtime::BufferPtr> ShardedClient::Upload(
    const Literal& value, const runtime::CallOptions&) {
  if (!value.valid()) return InvalidArgument("there is no value to upload");
  auto held = std::make_shared<ShardedValue>(value.shape());
  held->source = value;
  return std::make_shared<ShardedBuffer>(this, runner_, std::move(held));
}

absl::StatusOr<std::shared_ptr<ShardedClient>> MakeShardedClient(
    std::vector<std::shared_ptr<runtime::Client>> places,
    const ShardedPolicy& policy) {
  if (places.empty()) return InvalidArgument("a sharded client needs a place");
  return std::make_shared<ShardedClient>(std::move(places), policy);
}

}  // namespace hawser
