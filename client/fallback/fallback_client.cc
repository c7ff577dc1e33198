#include "client/fallback/fallback_client.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "client/fallback/fallback_buffer.h"
#include "client/fallback/fallback_executable.h"
#include "core/base/log.h"
#include "core/base/status.h"

namespace hawser {

FallbackClient::FallbackClient(std::shared_ptr<runtime::Client> primary,
                               std::shared_ptr<runtime::Client> secondary,
                               FallbackPolicy policy)
    : primary_(std::move(primary)),
      secondary_(std::move(secondary)),
      policy_(std::move(policy)),
      recipes_(
          [this](absl::string_view token, absl::string_view array) {
            return DatasetOnSecondary(token, array);
          },
          secondary_.get(),
          {policy_.max_recipe_steps, policy_.max_recipe_bytes}),
      breaker_({.probe_first = policy_.probe_first,
                .probe_longest = policy_.probe_longest,
                .probe = [this] { return Probe(); },
                .on_open = [this](const absl::Status& why) {
                  ++switches_;
                  HAWSER_LOG(kWarning)
                      << "falling back to " << secondary_->name() << ": "
                      << primary_->name() << ": " << why.ToString();
                  if (policy_.on_fallback) policy_.on_fallback(why);
                }}) {}

std::string FallbackClient::name() const {
  return absl::StrCat("fallback(", primary_->name(), ", ", secondary_->name(),
                      ")");
}

FallbackStats FallbackClient::stats() const {
  return {switches_.load(), secondary_runs_.load()};
}

absl::Time FallbackClient::AttemptDeadline(
    const runtime::CallOptions& call) const {
  const absl::Duration attempt =
      call.attempt_timeout == absl::InfiniteDuration()
          ? policy_.attempt_timeout
          : call.attempt_timeout;
  return std::min(call.cancel.deadline(), absl::Now() + attempt);
}

bool FallbackClient::GiveUp(const absl::Status& status, uint64_t epoch,
                            const runtime::CallOptions& call) {
  if (!TriggersFallback(policy_, status, call.cancel.deadline())) return false;
  // A full or incapable primary is still there for other work.
  if (absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status)) {
    breaker_.Trip(epoch, status);
  }
  return true;
}

absl::Status FallbackClient::Probe() {
  const runtime::CallOptions call{.cancel =
                                      CancelToken(absl::Now() +
                                                  absl::Seconds(5))};
  HAWSER_RETURN_IF_ERROR(primary_->Ping(call));
  // A server that was restarted may have lost what was put; only what it lacks
  // is sent.
  std::map<std::string, DatasetSource, std::less<>> sources;
  {
    MutexLock lock(&mu_);
    sources = sources_;
  }
  for (const auto& [token, source] : sources) {
    HAWSER_RETURN_IF_ERROR(primary_->PutDataset(source, {}));
  }
  HAWSER_LOG(kInfo) << primary_->name() << " is back";
  return absl::OkStatus();
}

absl::StatusOr<runtime::Capabilities> FallbackClient::capabilities() {
  const uint64_t epoch = breaker_.epoch();
  if (!Breaker::IsOpen(epoch)) {
    auto found = primary_->capabilities();
    if (found.ok() || !GiveUp(found.status(), epoch, {})) return found;
  }
  return secondary_->capabilities();
}

absl::Status FallbackClient::Ping(const runtime::CallOptions& call) {
  const uint64_t epoch = breaker_.epoch();
  if (!Breaker::IsOpen(epoch)) {
    absl::Status status = primary_->Ping(call);
    if (status.ok() || !GiveUp(status, epoch, call)) return status;
  }
  return secondary_->Ping(call);
}

absl::StatusOr<std::shared_ptr<runtime::Executable>> FallbackClient::Compile(
    std::shared_ptr<const Module> module,
    const runtime::CompileOptions& options,
    const runtime::CallOptions& call) {
  auto executable =
      std::make_shared<FallbackExecutable>(this, std::move(module), options);
  HAWSER_RETURN_IF_ERROR(executable->Compile(call));
  return executable;
}

absl::StatusOr<runtime::BufferPtr> FallbackClient::Upload(
    const Literal& value, const runtime::CallOptions& call) {
  const uint64_t epoch = breaker_.epoch();
  runtime::BufferPtr primary;
  if (!Breaker::IsOpen(epoch)) {
    auto uploaded = primary_->Upload(value, call);
    if (uploaded.ok()) {
      primary = *std::move(uploaded);
    } else if (!GiveUp(uploaded.status(), epoch, call)) {
      return uploaded;
    }
  }
  return std::make_shared<FallbackBuffer>(this, std::move(primary), epoch,
                                          recipes_.OfHostValue(value));
}

absl::StatusOr<DatasetInfo> FallbackClient::PutDataset(
    const DatasetSource& source, const runtime::CallOptions& call) {
  const uint64_t epoch = breaker_.epoch();
  absl::StatusOr<DatasetInfo> info = Unavailable(primary_->name(), " is away");
  if (!Breaker::IsOpen(epoch)) {
    info = primary_->PutDataset(source, call);
    if (!info.ok() && !GiveUp(info.status(), epoch, call)) return info;
  }
  if (!info.ok()) info = secondary_->PutDataset(source, call);
  if (info.ok()) {
    MutexLock lock(&mu_);
    sources_.emplace(info->token, source);
  }
  return info;
}

absl::StatusOr<runtime::BufferPtr> FallbackClient::DatasetOnSecondary(
    absl::string_view token, absl::string_view array) {
  auto buffer = secondary_->DatasetArray(token, array, {});
  if (!absl::IsNotFound(buffer.status())) return buffer;
  DatasetSource source;
  {
    MutexLock lock(&mu_);
    auto at = sources_.find(token);
    if (at == sources_.end()) {
      return DataLoss("dataset ", token,
                      " was not put from here and its server is gone");
    }
    source = at->second;
  }
  HAWSER_RETURN_IF_ERROR(secondary_->PutDataset(source, {}));
  return secondary_->DatasetArray(token, array, {});
}

absl::StatusOr<DatasetInfo> FallbackClient::StatDataset(
    absl::string_view token, const runtime::CallOptions& call) {
  const uint64_t epoch = breaker_.epoch();
  if (!Breaker::IsOpen(epoch)) {
    auto info = primary_->StatDataset(token, call);
    if (info.ok() || !GiveUp(info.status(), epoch, call)) return info;
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
  return secondary_->StatDataset(token, call);
}

absl::StatusOr<runtime::BufferPtr> FallbackClient::DatasetArray(
    absl::string_view token, absl::string_view array,
    const runtime::CallOptions& call) {
  const uint64_t epoch = breaker_.epoch();
  runtime::BufferPtr primary;
  Shape shape;
  if (!Breaker::IsOpen(epoch)) {
    auto found = primary_->DatasetArray(token, array, call);
    if (found.ok()) {
      primary = *std::move(found);
      shape = primary->shape();
    } else if (!GiveUp(found.status(), epoch, call)) {
      return found.status();
    }
  }
  if (primary == nullptr) {
    HAWSER_ASSIGN_OR_RETURN(runtime::BufferPtr there,
                            DatasetOnSecondary(token, array));
    shape = there->shape();
  }
  auto buffer = std::make_shared<FallbackBuffer>(
      this, std::move(primary), epoch,
      recipes_.OfDataset(shape, std::string(token), std::string(array)));
  buffer->SetDataset(std::string(token), std::string(array));
  return buffer;
}

std::shared_ptr<FallbackClient> MakeFallbackClient(
    std::shared_ptr<runtime::Client> primary,
    std::shared_ptr<runtime::Client> secondary, FallbackPolicy policy) {
  return std::make_shared<FallbackClient>(
      std::move(primary), std::move(secondary), std::move(policy));
}

}  // namespace hawser
