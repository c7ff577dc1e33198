#include "server/datasets/index/tenant_datasets.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "core/base/status.h"

namespace hawser::server {
namespace {

// Datasets in one page of a listing: with a few arrays each about 100 KiB.
constexpr size_t kPage = 1000;
constexpr size_t kMaxTags = 10000;  // of a tenant

absl::Status UnknownDataset(absl::string_view token) {
  return NotFound("dataset ", token, " is not known on this server");
}

}  // namespace

absl::StatusOr<std::shared_ptr<StoredDataset>> TenantDatasets::Find(
    absl::string_view token) const {
  Digest id;
  if (IsTag(token)) {
    HAWSER_RETURN_IF_ERROR(CheckTag(token));
    const auto tag = tags.find(token);
    if (tag == tags.end()) {
      return NotFound("tag ", token, " is not known on this server");
    }
    id = tag->second;
  } else {
    HAWSER_ASSIGN_OR_RETURN(id, ParseToken(token));
  }
  const auto at = by_id.find(id);
  if (at == by_id.end()) return UnknownDataset(TokenOf(id));
  return at->second;
}

DatasetPage TenantDatasets::List(const DatasetQuery& query) const {
  const size_t limit = std::min<size_t>(
      query.limit > 0 ? static_cast<size_t>(query.limit) : kPage, kPage);
  std::vector<const StoredDataset*> found;
  for (const auto& [id, dataset] : by_id) {
    const std::string& token = dataset->info.token;
    if (token > query.after && absl::StartsWith(token, query.prefix)) {
      found.push_back(dataset.get());
    }
  }
  DatasetPage page;
  page.more = found.size() > limit;
  const size_t count = std::min(limit, found.size());
  std::partial_sort(found.begin(), found.begin() + count, found.end(),
                    [](const StoredDataset* a, const StoredDataset* b) {
                      return a->info.token < b->info.token;
                    });
  for (size_t i = 0; i < count; ++i) page.datasets.push_back(found[i]->Info());
  return page;
}

int64_t TenantDatasets::pinned_bytes(absl::Time now) const {
  int64_t bytes = 0;
  for (const auto& [id, dataset] : by_id) {
    if (dataset->info.pinned_until > now) bytes += dataset->info.bytes;
  }
  return bytes;
}

absl::Status TenantDatasets::SetTag(const DatasetTag& tag) {
  HAWSER_RETURN_IF_ERROR(CheckTag(tag.name));
  const auto at = tags.find(tag.name);
  const std::string now = at == tags.end() ? "" : TokenOf(at->second);
  HAWSER_RETURN_IF_ERROR(CheckExpected(tag, now));
  std::shared_ptr<StoredDataset> next;
  if (!tag.token.empty()) {
    const auto id = ParseToken(tag.token);
    HAWSER_RETURN_IF_ERROR(id);
    const auto found = by_id.find(*id);
    if (found == by_id.end()) return UnknownDataset(tag.token);
    next = found->second;
    if (at == tags.end() && tags.size() >= kMaxTags) {
      return ResourceExhausted("there are ", kMaxTags, " tags already");
    }
  }
  if (at != tags.end()) {
    const auto before = by_id.find(at->second);
    if (before != by_id.end()) {
      auto& names = before->second->info.tags;
      names.erase(std::remove(names.begin(), names.end(), tag.name),
                  names.end());
    }
    tags.erase(at);
  }
  if (next == nullptr) return absl::OkStatus();
  tags[tag.name] = DatasetId(next->manifest);
  auto& names = next->info.tags;
  names.insert(std::upper_bound(names.begin(), names.end(), tag.name),
               tag.name);
  return absl::OkStatus();
}

std::vector<std::string> TenantDatasets::TagsOf(const Digest& id) const {
  std::vector<std::string> out;
  for (const auto& [tag, named] : tags) {
    if (named == id) out.push_back(tag);
  }
  return out;
}

}  // namespace hawser::server
