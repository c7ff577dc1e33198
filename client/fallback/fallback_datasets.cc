// The datasets of a FallbackClient: what was put from here can be put again.
#include <utility>

#include "client/fallback/fallback_buffer.h"
#include "client/fallback/fallback_client.h"
#include "core/base/status.h"

namespace hawser {

absl::StatusOr<DatasetInfo> FallbackClient::PutDataset(
    const DatasetSource& source, const runtime::CallOptions& call) {
  const Attempt attempt = BeginTransfer(call);
  absl::StatusOr<DatasetInfo> info = Missing(attempt.epoch);
  if (!Breaker::IsOpen(attempt.epoch)) {
    info = primary_->PutDataset(source, Bounded(call, attempt));
    if (!info.ok() && !GiveUp(info.status(), attempt)) return info;
  }
  if (!info.ok()) info = secondary_->PutDataset(source, WithoutAttempt(call));
  if (info.ok() && policy_.keep_dataset_sources) {
    MutexLock lock(&mu_);
    sources_.emplace(info->token, source);
  }
  return info;
}

absl::StatusOr<DatasetInfo> FallbackClient::StatDataset(
    absl::string_view token, const runtime::CallOptions& call) {
  const Attempt attempt = Begin(call);
  if (!Breaker::IsOpen(attempt.epoch)) {
    auto info = primary_->StatDataset(token, Bounded(call, attempt));
    if (info.ok() || !GiveUp(info.status(), attempt)) return info;
  }
  {
    // What was put from here is known without asking anybody.
    MutexLock lock(&mu_);
    auto at = sources_.find(token);
    if (at != sources_.end()) {
      DatasetInfo info;
      info.token = at->first;
      for (const auto& array : at->second.arrays) {
        info.arrays.push_back({array.name, array.value.shape()});
        info.bytes += array.value.shape().byte_size();
      }
      return info;
    }
  }
  return secondary_->StatDataset(token, WithoutAttempt(call));
}

absl::StatusOr<runtime::BufferPtr> FallbackClient::FindDataset(
    runtime::Client& where, const std::string& token, const std::string& array,
    const runtime::CallOptions& call) {
  auto found = where.DatasetArray(token, array, call);
  if (!absl::IsNotFound(found.status())) return found;
  DatasetSource source;
  {
    MutexLock lock(&mu_);
    auto at = sources_.find(token);
    if (at == sources_.end()) return found;
    source = at->second;
  }
  HAWSER_RETURN_IF_ERROR(where.PutDataset(source, call));
  return where.DatasetArray(token, array, call);
}

absl::StatusOr<runtime::BufferPtr> FallbackClient::DatasetOnSecondary(
    const std::string& token, const std::string& array) {
  auto found = FindDataset(*secondary_, token, array, {});
  // A dataset that is here has all its arrays.
  if (!absl::IsNotFound(found.status()) ||
      secondary_->StatDataset(token, {}).ok()) {
    return found;
  }
  return Unavailable(primary_->name(), " is away and this end does not have ",
                     token, ": ", found.status().message());
}

absl::StatusOr<runtime::BufferPtr> FallbackClient::DatasetArray(
    absl::string_view token, absl::string_view array,
    const runtime::CallOptions& call) {
  const std::string of(token), name(array);
  const Attempt attempt = Begin(call);
  runtime::BufferPtr primary, found;
  if (!Breaker::IsOpen(attempt.epoch)) {
    auto there = FindDataset(*primary_, of, name, Bounded(call, attempt));
    if (there.ok()) {
      found = primary = *std::move(there);
    } else if (!GiveUp(there.status(), attempt)) {
      return there;
    }
  }
  if (found == nullptr) {
    HAWSER_ASSIGN_OR_RETURN(found, DatasetOnSecondary(of, name));
  }
  auto buffer = std::make_shared<FallbackBuffer>(
      this, std::move(primary), attempt,
      recipes_.OfDataset(found->shape(), of, name));
  buffer->SetDataset(of, name);
  return buffer;
}

}  // namespace hawser
