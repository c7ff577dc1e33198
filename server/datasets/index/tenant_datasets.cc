#include "server/datasets/index/tenant_datasets.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "core/base/status.h"

namespace hawser::server {
namespace {

// Datasets in one page of a listing: with a few arrays each about 100 KiB.
constexpr size_t kPage = 1000;
constexpr size_t kMaxTags = 10000;  // of a tenant

// A dataset with its place in the tables, without arrays.
constexpr int64_t kDatasetBytes = 800;
// For an array: what the table of arrays has of it, and its entry there.
constexpr int64_t kArrayBytes = 240;
constexpr int64_t kOfAllocation = 16;
// A tag with its places, without its letters.
constexpr int64_t kTagBytes = 160;

// Returns the bytes that a text has outside of its object.
int64_t HeapBytes(size_t size) {
  constexpr size_t kInside = 15;
  return size <= kInside ? 0 : static_cast<int64_t>(size) + kOfAllocation;
}

absl::Status UnknownDataset(absl::string_view token) {
  return NotFound("dataset ", token, " is not known on this server");
}

}  // namespace

int64_t IndexBytes(const DatasetManifest& manifest) {
  constexpr auto kOfArray =
      static_cast<int64_t>(sizeof(ArrayManifest) + sizeof(DatasetInfo::Array) +
                           sizeof(std::shared_ptr<const StoredArray>));
  constexpr auto kOfChunk =
      static_cast<int64_t>(sizeof(Digest) + sizeof(std::shared_ptr<Chunk>));
  int64_t bytes = kDatasetBytes;
  for (const ArrayManifest& array : manifest.arrays) {
    bytes += kOfArray + kArrayBytes + 2 * HeapBytes(array.name.size()) +
             2 * kOfAllocation +
             static_cast<int64_t>(array.chunks.size()) * kOfChunk;
  }
  return bytes;
}

int64_t IndexBytes(const std::string& tag) {
  return kTagBytes + 2 * HeapBytes(tag.size());
}

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

absl::Status TenantDatasets::Check(const NameChange& change,
                                   const DatasetTags& names) const {
  if (change.pinned != nullptr) {
    if (by_id.contains(DatasetId(change.pinned->manifest))) {
      return absl::OkStatus();
    }
    return UnknownDataset(change.pinned->info.token);
  }
  const DatasetTag& tag = change.tag;
  HAWSER_RETURN_IF_ERROR(CheckTag(tag.name));
  const auto at = names.find(tag.name);
  HAWSER_RETURN_IF_ERROR(
      CheckExpected(tag, at == names.end() ? "" : TokenOf(at->second)));
  if (tag.token.empty()) return absl::OkStatus();
  HAWSER_ASSIGN_OR_RETURN(const Digest id, ParseToken(tag.token));
  if (!by_id.contains(id)) return UnknownDataset(tag.token);
  if (at == names.end() && names.size() >= kMaxTags) {
    return ResourceExhausted("this tenant has ", kMaxTags,
                             " tags, the most there may be; take some away "
                             "(hawser tag --delete)");
  }
  return absl::OkStatus();
}

absl::Status TenantDatasets::Make(const NameChange& change) {
  if (change.pinned != nullptr) {
    const auto at = by_id.find(DatasetId(change.pinned->manifest));
    if (at == by_id.end()) return UnknownDataset(change.pinned->info.token);
    at->second->info.pinned_until = change.until;
    return absl::OkStatus();
  }
  const DatasetTag& tag = change.tag;
  const auto at = tags.find(tag.name);
  if (at != tags.end()) {
    const auto before = by_id.find(at->second);
    if (before != by_id.end()) {
      auto& names = before->second->info.tags;
      names.erase(std::remove(names.begin(), names.end(), tag.name),
                  names.end());
    }
    tags.erase(at);
    tag_bytes -= IndexBytes(tag.name);
  }
  if (tag.token.empty()) return absl::OkStatus();
  const Digest id = *ParseToken(tag.token);  // Check has looked at it
  tags[tag.name] = id;
  tag_bytes += IndexBytes(tag.name);
  const auto next = by_id.find(id);
  if (next == by_id.end()) return absl::OkStatus();  // deleted since
  auto& names = next->second->info.tags;
  names.insert(std::upper_bound(names.begin(), names.end(), tag.name),
               tag.name);
  return absl::OkStatus();
}

bool TenantDatasets::Decide(absl::Time now, DatasetTags* names,
                            DatasetPins* pins) {
  *names = tags;
  for (const auto& [id, dataset] : by_id) {
    if (dataset->info.pinned_until > now) {
      pins->emplace(id, dataset->info.pinned_until);
    }
  }
  bool any = false;
  for (NameChange& change : deciding) {
    change.decided = Check(change, *names);
    if (!change.decided.ok()) continue;
    any = true;
    if (change.pinned != nullptr) {
      const Digest id = DatasetId(change.pinned->manifest);
      pins->erase(id);
      if (change.until > now) pins->emplace(id, change.until);
    } else if (change.tag.token.empty()) {
      names->erase(change.tag.name);
    } else {
      (*names)[change.tag.name] = *ParseToken(change.tag.token);
    }
  }
  return any;
}

void TenantDatasets::NoteRemoving(const StoredDataset& dataset, bool begins) {
  removing += begins ? 1 : -1;
  removing_bytes += (begins ? 1 : -1) * IndexBytes(dataset.manifest);
}

std::vector<std::string> TenantDatasets::TagsOf(const Digest& id) const {
  std::vector<std::string> out;
  for (const auto& [tag, named] : tags) {
    if (named == id) out.push_back(tag);
  }
  return out;
}

}  // namespace hawser::server
