#include "client/fallback/known/known_datasets.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser {
namespace {

// Tokens that are remembered to be on the primary.
constexpr size_t kMostThere = 1 << 14;

DatasetInfo InfoOfSource(const std::string& token,
                         const DatasetSource& source) {
  DatasetInfo info;
  info.token = token;
  for (const auto& array : source.arrays) {
    info.arrays.push_back({array.name, array.shape()});
    info.bytes += array.shape().byte_size();
  }
  return info;
}

}  // namespace

void KnownDatasets::Keep(const std::string& token, DatasetSource source) {
  MutexLock lock(&mu_);
  KeepLocked(token, std::move(source));
}

void KnownDatasets::KeepLocked(const std::string& token, DatasetSource source) {
  ++changes_;
  deleted_.erase(token);
  if (keeps_sources_) sources_.emplace(token, std::move(source));
}

std::optional<DatasetInfo> KnownDatasets::InfoOf(
    const std::string& token) const {
  MutexLock lock(&mu_);
  const auto at = sources_.find(token);
  if (at == sources_.end()) return std::nullopt;
  return InfoOfSource(at->first, at->second);
}

std::vector<DatasetInfo> KnownDatasets::Infos() const {
  std::vector<DatasetInfo> all;
  MutexLock lock(&mu_);
  for (const auto& [token, source] : sources_) {
    all.push_back(InfoOfSource(token, source));
  }
  return all;
}

bool KnownDatasets::BeginFetching(const std::string& token) {
  MutexLock lock(&mu_);
  return !sources_.contains(token) && fetching_.insert(token).second;
}

void KnownDatasets::EndFetching(const std::string& token,
                                std::optional<DatasetSource> source) {
  MutexLock lock(&mu_);
  if (fetching_.erase(token) == 0 || !source.has_value()) return;
  KeepLocked(token, *std::move(source));
}

void KnownDatasets::KeepFrozen(const std::string& token, bool durable) {
  MutexLock lock(&mu_);
  frozen_[token] = durable;
  deleted_.erase(token);
}

std::optional<bool> KnownDatasets::Frozen(absl::string_view token) const {
  MutexLock lock(&mu_);
  const auto at = frozen_.find(token);
  if (at == frozen_.end()) return std::nullopt;
  return at->second;
}

void KnownDatasets::SeenThere(absl::string_view token) {
  MutexLock lock(&mu_);
  if (there_.contains(token)) return;
  if (there_.size() >= kMostThere) there_.clear();
  there_.emplace(token);
}

bool KnownDatasets::WasThere(absl::string_view token) const {
  MutexLock lock(&mu_);
  return there_.contains(token) || frozen_.contains(token);
}

void KnownDatasets::SetAlone(const std::string& token) {
  MutexLock lock(&mu_);
  alone_.insert(token);
}

void KnownDatasets::NotAlone(const std::string& token) {
  MutexLock lock(&mu_);
  alone_.erase(token);
}

KnownDatasets::Tokens KnownDatasets::TakeAlone() {
  MutexLock lock(&mu_);
  return std::exchange(alone_, {});
}

bool KnownDatasets::QueueTag(const DatasetTag& tag) {
  if (tag.expected.has_value() || tag.token.empty()) return false;
  MutexLock lock(&mu_);
  if (!sources_.contains(tag.token) && !frozen_.contains(tag.token)) {
    return false;
  }
  tags_[tag.name] = tag.token;
  ++changes_;
  return true;
}

std::string KnownDatasets::QueuedTag(absl::string_view name) const {
  MutexLock lock(&mu_);
  const auto at = tags_.find(name);
  return at == tags_.end() ? "" : at->second;
}

KnownDatasets::Tags KnownDatasets::QueuedTags() const {
  MutexLock lock(&mu_);
  return tags_;
}

void KnownDatasets::UnqueueTag(const std::string& name,
                               const std::string& token) {
  MutexLock lock(&mu_);
  const auto at = tags_.find(name);
  if (at != tags_.end() && at->second == token) tags_.erase(at);
}

std::optional<DatasetSource> KnownDatasets::BeginPutting(
    const std::string& token) {
  MutexLock lock(&mu_);
  const auto at = sources_.find(token);
  if (at == sources_.end() || deleting_.contains(token)) return std::nullopt;
  putting_.insert(token);
  return at->second;
}

void KnownDatasets::DonePutting(const std::string& token) {
  MutexLock lock(&mu_);
  putting_.erase(putting_.find(token));
  put_again_.SignalAll();
}

absl::Status KnownDatasets::BeginDeleting(const std::string& token,
                                          const CancelToken& cancel) {
  const CancelToken::Registration expiry =
      cancel.OnExpiry([this](const absl::Status&) {
        MutexLock lock(&mu_);
        put_again_.SignalAll();
      });
  MutexLock lock(&mu_);
  deleting_.insert(token);
  put_again_.Wait(&mu_, [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    return !putting_.contains(token) || !cancel.Check().ok();
  });
  if (!putting_.contains(token)) return absl::OkStatus();
  deleting_.erase(deleting_.find(token));
  return Annotate(cancel.Check(),
                  absl::StrCat("dataset ", token,
                               " is being put again, which has not ended"));
}

void KnownDatasets::EndDeleting(const std::string& token) {
  MutexLock lock(&mu_);
  deleting_.erase(deleting_.find(token));
}

bool KnownDatasets::Forget(const std::string& token, bool was_here, bool away) {
  MutexLock lock(&mu_);
  ++changes_;
  bool here = was_here;
  if (sources_.erase(token) > 0) here = true;
  fetching_.erase(token);
  if (frozen_.erase(token) > 0) here = true;
  if (here && away) deleted_.insert(token);
  if (here || !away) there_.erase(token);
  return here;
}

void KnownDatasets::DeleteLater(const std::string& token) {
  MutexLock lock(&mu_);
  ++changes_;
  if (!sources_.contains(token)) deleted_.insert(token);
}

void KnownDatasets::DeletedThere(const std::string& token) {
  MutexLock lock(&mu_);
  deleted_.erase(token);
}

KnownDatasets::Missing KnownDatasets::TakeMissing() {
  MutexLock lock(&mu_);
  restored_ = changes_;
  return {sources_, std::exchange(deleted_, {})};
}

void KnownDatasets::DeleteLater(const Tokens& tokens) {
  MutexLock lock(&mu_);
  for (const std::string& token : tokens) {
    if (!sources_.contains(token)) deleted_.insert(token);
  }
}

bool KnownDatasets::settled() const {
  MutexLock lock(&mu_);
  return restored_ == changes_;
}

}  // namespace hawser
