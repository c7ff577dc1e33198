#include "server/datasets/dataset_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "core/base/status.h"
#include "server/datasets/chunk_receiver.h"

namespace hawser::server {
namespace {

// Datasets in one page of a listing: with a few arrays each about 100 KiB.
constexpr size_t kPage = 1000;

}  // namespace

DatasetStore::DatasetStore(DatasetStoreOptions options)
    : options_(std::move(options)),
      memory_(options_.memory == nullptr ? nullptr
                                         : options_.memory->Own("datasets")),
      let_go_of_chunks_(options_.memory,
                        [this](int64_t bytes) { LetGo(bytes); }) {}

absl::StatusOr<std::unique_ptr<DatasetStore>> DatasetStore::Open(
    DatasetStoreOptions options) {
  std::unique_ptr<DatasetStore> store(new DatasetStore(std::move(options)));
  HAWSER_RETURN_IF_ERROR(
      store->memory_.Prepare(store->options_.prepared_bytes));
  if (!store->options_.data_dir.empty()) {
    HAWSER_RETURN_IF_ERROR(store->Restore());
  }
  return store;
}

DatasetStore::~DatasetStore() {
  Stop(absl::InfinitePast());
  // Its callbacks use everything else, the pointer to it included.
  if (writer_ != nullptr) writer_->Join();
}

absl::StatusOr<std::vector<uint32_t>> DatasetStore::FindMissing(
    absl::string_view tenant, uint64_t upload,
    absl::Span<const Digest> digests) {
  std::vector<uint32_t> missing;
  MutexLock lock(&mu_);
  Tenant& own = tenants_[tenant];
  own.Hear(upload, UploadEnd());
  std::vector<std::shared_ptr<Chunk>> found;
  int64_t more = 0;
  for (size_t i = 0; i < digests.size(); ++i) {
    auto at = own.chunks.find(digests[i]);
    if (at == own.chunks.end() || at->second.chunk->lost()) {
      missing.push_back(static_cast<uint32_t>(i));
    } else {
      found.push_back(at->second.chunk);
      if (!own.Holds(upload, digests[i])) ++more;
    }
  }
  HAWSER_RETURN_IF_ERROR(
      own.AdmitHolds(more, options_.tenant_upload_chunks));
  for (const auto& chunk : found) own.Hold(upload, chunk, UploadEnd());
  return missing;
}

std::shared_ptr<const StoredArray> DatasetStore::ArrayOf(
    Tenant& tenant, const ArrayManifest& manifest) {
  const Digest id = ArrayId(manifest);
  ++shared_lookups_;
  std::weak_ptr<const StoredArray>& known = arrays_[id];
  if (auto array = known.lock()) return array;
  auto array = std::make_shared<StoredArray>();
  array->id = id;
  array->shape = manifest.shape;
  for (const Digest& digest : manifest.chunks) {
    array->chunks.push_back(tenant.chunks.at(digest).chunk);
  }
  known = array;
  return array;
}

void DatasetStore::Name(Tenant& tenant, StoredDataset* dataset) {
  dataset->info = InfoOf(dataset->manifest);
  MarkUsed(*dataset);
  const Digest id = DatasetId(dataset->manifest);
  for (const auto& [tag, named] : tenant.tags) {
    if (named == id) dataset->info.tags.push_back(tag);
  }
  for (const ArrayManifest& array : dataset->manifest.arrays) {
    dataset->arrays.push_back(ArrayOf(tenant, array));
    for (const Digest& chunk : array.chunks) tenant.Name(chunk);
  }
}

void DatasetStore::Unname(Tenant& tenant, StoredDataset* dataset) {
  dataset->arrays.clear();
  for (const ArrayManifest& array : dataset->manifest.arrays) {
    const auto known = arrays_.find(ArrayId(array));
    if (known != arrays_.end() && known->second.expired()) arrays_.erase(known);
    for (const Digest& digest : array.chunks) {
      if (tenant.Unname(digest)) Forget(tenant, digest);
    }
  }
  Collect();
}

absl::Status DatasetStore::CheckChunks(const Tenant& tenant,
                                       const DatasetManifest& manifest) const {
  for (const ArrayManifest& array : manifest.arrays) {
    for (int64_t i = 0; i < array.num_chunks(); ++i) {
      auto at = tenant.chunks.find(array.chunks[i]);
      if (at == tenant.chunks.end() || at->second.chunk->lost()) {
        return FailedPrecondition("chunk ", i, " of array \"", array.name,
                                  "\" (", array.chunks[i].ToHex(),
                                  ") has not been uploaded");
      }
      const int64_t size = at->second.chunk->size;
      if (size != array.chunk_size(i)) {
        return InvalidArgument(
            "chunk ", i, " of array \"", array.name, "\" has ", size,
            " bytes, ", array.shape.ToString(), " needs ", array.chunk_size(i));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status DatasetStore::CommitLocked(const std::string& name,
                                        uint64_t upload,
                                        DatasetManifest manifest,
                                        bool wait_durable, Durable& done,
                                        DatasetInfo* info) {
  Tenant& tenant = tenants_[name];
  tenant.Hear(upload, UploadEnd());
  HAWSER_RETURN_IF_ERROR(CheckChunks(tenant, manifest));
  const Digest id = DatasetId(manifest);
  if (!tenant.datasets.contains(id)) {
    HAWSER_RETURN_IF_ERROR(AdmitDataset(name));
    // What made room for it may have taken chunks of it.
    HAWSER_RETURN_IF_ERROR(CheckChunks(tenant, manifest));
  }
  std::shared_ptr<StoredDataset>& dataset = tenant.datasets[id];
  if (dataset == nullptr) {
    dataset = std::make_shared<StoredDataset>();
    dataset->manifest = std::move(manifest);
    Name(tenant, dataset.get());
  }
  EndUpload(tenant, upload);
  MarkUsed(*dataset);
  *info = dataset->Info();
  if (files_ == nullptr || info->durable) return absl::OkStatus();
  if (!WriteDataset(name, dataset)) {
    return Unavailable("the server is stopping");
  }
  if (wait_durable) dataset->waiting.push_back(std::exchange(done, nullptr));
  return absl::OkStatus();
}

void DatasetStore::Commit(absl::string_view tenant, uint64_t upload,
                          DatasetManifest manifest, bool wait_durable,
                          Durable done) {
  absl::Status status = CheckManifest(manifest);
  DatasetInfo info;
  if (status.ok()) {
    MutexLock lock(&mu_);
    status = CommitLocked(std::string(tenant), upload, std::move(manifest),
                          wait_durable, done, &info);
  }
  if (done == nullptr) return;  // it waits
  if (status.ok()) {
    done(std::move(info));
  } else {
    done(status);
  }
}

absl::StatusOr<std::shared_ptr<StoredDataset>> DatasetStore::FindDataset(
    absl::string_view tenant, absl::string_view token) {
  const auto own = tenants_.find(tenant);
  const Tenant* known = own == tenants_.end() ? nullptr : &own->second;
  Digest id;
  if (IsTag(token)) {
    HAWSER_RETURN_IF_ERROR(CheckTag(token));
    if (known == nullptr || !known->tags.contains(token)) {
      return NotFound("tag ", token, " is not known on this server");
    }
    id = known->tags.find(token)->second;
  } else {
    HAWSER_ASSIGN_OR_RETURN(id, ParseToken(token));
  }
  if (known != nullptr) {
    const auto at = known->datasets.find(id);
    if (at != known->datasets.end()) return at->second;
  }
  return NotFound("dataset ", TokenOf(id), " is not known on this server");
}

absl::StatusOr<DatasetInfo> DatasetStore::Stat(absl::string_view tenant,
                                               absl::string_view token) {
  MutexLock lock(&mu_);
  HAWSER_ASSIGN_OR_RETURN(auto dataset, FindDataset(tenant, token));
  return dataset->Info();
}

absl::StatusOr<DatasetManifest> DatasetStore::Manifest(
    absl::string_view tenant, absl::string_view token) {
  std::shared_ptr<StoredDataset> dataset;
  {
    MutexLock lock(&mu_);
    HAWSER_ASSIGN_OR_RETURN(dataset, FindDataset(tenant, token));
  }
  return dataset->manifest;  // never changes
}

absl::StatusOr<std::shared_ptr<const StoredArray>> DatasetStore::Find(
    absl::string_view tenant, absl::string_view token,
    absl::string_view array) {
  MutexLock lock(&mu_);
  HAWSER_ASSIGN_OR_RETURN(auto dataset, FindDataset(tenant, token));
  MarkUsed(*dataset);
  const auto& manifests = dataset->manifest.arrays;
  for (size_t i = 0; i < manifests.size(); ++i) {
    if (manifests[i].name == array) return dataset->arrays[i];
  }
  constexpr size_t kMaxName = 255;
  return NotFound(
      "dataset ", token, " has no array \"", array.substr(0, kMaxName),
      "\"; it has ",
      absl::StrJoin(manifests, ", ", [](std::string* out, const auto& m) {
        absl::StrAppend(out, "\"", m.name, "\"");
      }));
}

DatasetPage DatasetStore::List(absl::string_view tenant,
                               const DatasetQuery& query) {
  const size_t limit = std::min<size_t>(
      query.limit > 0 ? static_cast<size_t>(query.limit) : kPage, kPage);
  DatasetPage page;
  MutexLock lock(&mu_);
  auto own = tenants_.find(tenant);
  if (own == tenants_.end()) return page;
  std::vector<const StoredDataset*> found;
  for (const auto& [id, dataset] : own->second.datasets) {
    const std::string& token = dataset->info.token;
    if (token > query.after && absl::StartsWith(token, query.prefix)) {
      found.push_back(dataset.get());
    }
  }
  page.more = found.size() > limit;
  const size_t count = std::min(limit, found.size());
  std::partial_sort(found.begin(), found.begin() + count, found.end(),
                    [](const StoredDataset* a, const StoredDataset* b) {
                      return a->info.token < b->info.token;
                    });
  for (size_t i = 0; i < count; ++i) page.datasets.push_back(found[i]->Info());
  return page;
}

void DatasetStore::Delete(absl::string_view tenant, absl::string_view token,
                          std::function<void(const absl::Status&)> done) {
  absl::Status status;
  {
    MutexLock lock(&mu_);
    const auto dataset = FindDataset(tenant, token);
    status = dataset.status();
    if (dataset.ok() && !Remove(std::string(tenant), *dataset, done)) {
      status = Unavailable("the server is stopping");
    }
  }
  if (done != nullptr) done(status);
}

DatasetStore::Statistics DatasetStore::statistics() const {
  Statistics out;
  MutexLock lock(&mu_);
  out.chunks = static_cast<int64_t>(chunks_.size());
  for (const auto& [name, tenant] : tenants_) {
    out.datasets += static_cast<int64_t>(tenant.datasets.size());
  }
  out.resident_bytes = memory_.resident();
  out.disk_bytes = disk_bytes_;
  out.evicted_datasets = evicted_datasets_;
  out.evicted_bytes = evicted_bytes_;
  out.verified_bytes = verified_bytes_;
  out.bad_files = files_ == nullptr ? 0 : files_->bad_files();
  out.received_bytes = received_bytes_;
  out.shared_lookups = shared_lookups_;
  return out;
}

}  // namespace hawser::server
