#include "client/sdk/client/dataset.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/sdk/graph/node.h"
#include "client/sdk/graph/run/deadline.h"
#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/runtime/datasets.h"

namespace hawser {

struct Dataset::State {
  Client client;
  DatasetInfo info;
  Mutex mu;
  absl::flat_hash_map<std::string, runtime::BufferPtr> arrays
      ABSL_GUARDED_BY(mu);
};

Dataset::Dataset(Client client, DatasetInfo info)
    : state_(std::make_shared<State>()) {
  state_->client = std::move(client);
  state_->info = std::move(info);
}

const DatasetInfo& Dataset::info() const {
  static const auto& none = *new DatasetInfo;
  return state_ == nullptr ? none : state_->info;
}

const Client& Dataset::client() const {
  static const auto& none = *new Client;
  return state_ == nullptr ? none : state_->client;
}

absl::Status Dataset::NoArray(absl::string_view name) const {
  return NotFound(
      "dataset ", state_ == nullptr ? "(none)" : token(), " has no array \"",
      name, "\", it has: ",
      absl::StrJoin(info().arrays, ", ", [](std::string* out, const auto& a) {
        absl::StrAppend(out, "\"", a.name, "\"");
      }));
}

absl::Status Dataset::FetchBytes(absl::string_view name,
                                 const std::optional<RowRange>& rows,
                                 DType dtype, absl::Span<char> into,
                                 const CallOptions& call) const {
  const DatasetInfo::Array* array = info().Find(name);
  if (array == nullptr) return NoArray(name);
  if (dtype != DType::kInvalid && dtype != array->shape.dtype()) {
    return InvalidArgument(DescribeArray(token(), name), " is ",
                           array->shape.ToString(), ", the memory is for ",
                           DTypeName(dtype));
  }
  const runtime::CallOptions limits = call.FromNow();
  return sdk::NameDeadline(
      client().runtime()->datasets().FetchInto(
          {token(), std::string(name), rows}, into, limits),
      "FetchInto", client(), call, limits.cancel);
}

Tensor Dataset::Rows(absl::string_view name, int64_t begin,
                     int64_t count) const {
  if (info().Find(name) == nullptr) {
    return sdk::MakeFailed(NoArray(name), {});
  }
  auto buffer = client().runtime()->datasets().Open(
      {token(), std::string(name), RowRange{begin, count}}, {});
  if (!buffer.ok()) return sdk::MakeFailed(buffer.status(), {});
  Shapes shapes = {(*buffer)->shape()};
  return sdk::MakeTensor(std::move(shapes),
                         sdk::Ready{.client = client(),
                                    .buffers = {*std::move(buffer)},
                                    .of_dataset = true},
                         {});
}

Tensor Dataset::operator[](absl::string_view name) const {
  const auto* array = info().Find(name);
  if (array == nullptr) return sdk::MakeFailed(NoArray(name), {});
  MutexLock lock(&state_->mu);
  auto at = state_->arrays.find(name);
  if (at == state_->arrays.end()) {
    auto buffer = state_->client.runtime()->datasets().Open(
        {token(), std::string(name)}, {});
    if (!buffer.ok()) return sdk::MakeFailed(buffer.status(), {});
    at = state_->arrays.emplace(std::string(name), *std::move(buffer)).first;
  }
  // A tensor of its own, so that donating it leaves the dataset alone.
  return sdk::MakeTensor({array->shape},
                         sdk::Ready{.client = state_->client,
                                    .buffers = {at->second},
                                    .of_dataset = true},
                         {});
}

}  // namespace hawser
