#include "server/datasets/dataset_store.h"

#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_join.h"
#include "core/base/log.h"
#include "core/base/status.h"

namespace hawser::server {

DatasetStore::DatasetStore(DatasetStoreOptions options)
    : state_(std::move(options)),
      let_go_of_chunks_(state_.options.memory,
                        [this](int64_t bytes) { LetGo(bytes); }) {}

absl::StatusOr<std::unique_ptr<DatasetStore>> DatasetStore::Open(
    DatasetStoreOptions options) {
  std::unique_ptr<DatasetStore> store(new DatasetStore(std::move(options)));
  StoreState& state = store->state_;
  HAWSER_RETURN_IF_ERROR(state.memory.Prepare(state.options.prepared_bytes));
  if (!state.options.data_dir.empty()) {
    HAWSER_RETURN_IF_ERROR(store->OpenDisk());
  }
  return store;
}

absl::Status DatasetStore::OpenDisk() {
  Disk& disk = state_.disk;
  HAWSER_ASSIGN_OR_RETURN(disk.files,
                          ChunkFiles::Open(state_.options.data_dir));
  HAWSER_ASSIGN_OR_RETURN(ChunkFiles::Contents contents, disk.files->Scan());
  {
    MutexLock lock(&state_.mu);
    durability_.Restore(std::move(contents));
  }
  disk.writer = std::make_unique<DiskWriter>(
      [this] { return state_.disk.files->SyncFolders(); },
      [this] { uploads_.ServeWaiting(); });
  return absl::OkStatus();
}

DatasetStore::~DatasetStore() {
  Stop(absl::InfinitePast());
  // Its callbacks use everything else, the pointer to it included.
  if (state_.disk.writer != nullptr) state_.disk.writer->Join();
}

void DatasetStore::LetGo(int64_t bytes) {
  std::vector<std::shared_ptr<const char>> gone;  // dies after the lock
  MutexLock lock(&state_.mu);
  gone = retention_.LetGo(bytes);
}

absl::StatusOr<std::vector<uint32_t>> DatasetStore::FindMissing(
    absl::string_view tenant, uint64_t upload,
    absl::Span<const Digest> digests) {
  HAWSER_ASSIGN_OR_RETURN(
      const MemoryCharge reserved,
      state_.Reserve(tenant, static_cast<int64_t>(digests.size()) *
                                 TenantChunks::kHoldBytes));
  MutexLock lock(&state_.mu);
  Catalog::Tenant& own = state_.catalog.Of(tenant);
  own.chunks.Hear(upload, state_.UploadEnd());
  auto missing = own.chunks.HoldKnown(upload, digests, state_.UploadEnd(),
                                      state_.options.tenant_upload_chunks);
  own.Charge();
  return missing;
}

void DatasetStore::BeginChunk(absl::string_view tenant, uint64_t upload,
                              const Digest& digest, uint64_t bytes,
                              ReceiverReady ready) {
  if (bytes == 0 || bytes > kChunkBytes) {
    ready(InvalidArgument("chunk ", digest.ToHex(), " claims ", bytes,
                          " bytes, a chunk has 1 to ", kChunkBytes));
    return;
  }
  uploads_.Begin(
      {std::string(tenant), upload, digest, static_cast<int64_t>(bytes)},
      std::move(ready));
}

absl::StatusOr<DatasetInfo> DatasetStore::CommitLocked(
    const std::string& tenant, uint64_t upload, DatasetManifest manifest,
    bool wait_durable, Durable& done) {
  Catalog& catalog = state_.catalog;
  Catalog::Tenant& own = catalog.Of(tenant);
  own.chunks.Hear(upload, state_.UploadEnd());
  HAWSER_RETURN_IF_ERROR(own.chunks.Check(manifest));
  const Digest id = DatasetId(manifest);
  const auto known = own.datasets.by_id.find(id);
  if (known == own.datasets.by_id.end() || known->second->removing) {
    HAWSER_RETURN_IF_ERROR(
        retention_.AdmitDataset(tenant, IndexBytes(manifest)));
    // Making room for it may have taken chunks of it.
    HAWSER_RETURN_IF_ERROR(own.chunks.Check(manifest));
  }
  std::shared_ptr<StoredDataset>& dataset = own.datasets.by_id[id];
  if (dataset == nullptr || dataset->removing) {
    // The writer removes the record of the one before and then writes this.
    if (dataset != nullptr) own.datasets.NoteRemoving(*dataset, false);
    dataset =
        catalog.MakeDataset(own, std::move(manifest), state_.options.now());
  }
  catalog.table.Release(own.chunks.EndUpload(upload));
  own.Charge();
  dataset->info.last_used = state_.options.now();
  DatasetInfo info = dataset->Info();
  if (!state_.disk.exists() || info.durable) return info;
  if (!durability_.WriteDataset(tenant, dataset)) {
    return Unavailable("the server is stopping");
  }
  if (wait_durable) dataset->waiting.push_back(std::exchange(done, nullptr));
  return info;
}

void DatasetStore::Commit(absl::string_view tenant, uint64_t upload,
                          DatasetManifest manifest, bool wait_durable,
                          Durable done) {
  absl::StatusOr<DatasetInfo> result;
  absl::Status possible = CheckManifest(manifest);
  MemoryCharge reserved;
  if (possible.ok()) {
    auto room = state_.Reserve(tenant, IndexBytes(manifest));
    possible = room.status();
    if (room.ok()) reserved = *std::move(room);
  }
  if (possible.ok()) {
    MutexLock lock(&state_.mu);
    result = CommitLocked(std::string(tenant), upload, std::move(manifest),
                          wait_durable, done);
  } else {
    result = possible;
  }
  if (done != nullptr) done(std::move(result));
}

absl::StatusOr<DatasetInfo> DatasetStore::Stat(absl::string_view tenant,
                                               absl::string_view token) {
  MutexLock lock(&state_.mu);
  HAWSER_ASSIGN_OR_RETURN(auto dataset, state_.catalog.Find(tenant, token));
  return dataset->Info();
}

absl::StatusOr<DatasetManifest> DatasetStore::Manifest(
    absl::string_view tenant, absl::string_view token) {
  std::shared_ptr<StoredDataset> dataset;
  {
    MutexLock lock(&state_.mu);
    HAWSER_ASSIGN_OR_RETURN(dataset, state_.catalog.Find(tenant, token));
  }
  return dataset->manifest;  // never changes
}

absl::StatusOr<std::shared_ptr<const StoredArray>> DatasetStore::Find(
    absl::string_view tenant, absl::string_view token,
    absl::string_view array) {
  MutexLock lock(&state_.mu);
  HAWSER_ASSIGN_OR_RETURN(auto dataset, state_.catalog.Find(tenant, token));
  dataset->info.last_used = state_.options.now();
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
  MutexLock lock(&state_.mu);
  const auto own = state_.catalog.tenants.find(tenant);
  if (own == state_.catalog.tenants.end()) return {};
  return own->second.datasets.List(query);
}

void DatasetStore::Delete(absl::string_view tenant, absl::string_view token,
                          std::function<void(const absl::Status&)> done) {
  absl::Status status;
  {
    MutexLock lock(&state_.mu);
    const auto dataset = state_.catalog.Find(tenant, token);
    status = dataset.status();
    if (dataset.ok() &&
        !durability_.RemoveDataset(std::string(tenant), *dataset, done)) {
      status = Unavailable("the server is stopping");
    }
  }
  if (done != nullptr) done(status);
}

void DatasetStore::Pin(absl::string_view tenant, absl::string_view token,
                       absl::Duration ttl, Durable done) {
  NameChange change;
  std::optional<absl::Status> now;
  {
    MutexLock lock(&state_.mu);
    const auto dataset = state_.catalog.Find(tenant, token);
    if (!dataset.ok()) {
      now = dataset.status();
    } else {
      change.pinned = *dataset;
      change.until = ttl > absl::ZeroDuration() ? state_.options.now() + ttl
                                                : absl::InfinitePast();
      change.done = [this, done, pinned = *dataset,
                     until = change.until](const absl::Status& made) {
        if (!made.ok()) return done(made);
        DatasetInfo info;
        {
          MutexLock lock(&state_.mu);
          info = pinned->Info();
        }
        info.pinned_until = until;
        done(std::move(info));
      };
      now = durability_.ChangeNames(std::string(tenant), change);
    }
  }
  if (!now.has_value()) return;
  change.done == nullptr ? done(*now) : change.done(*now);
}

void DatasetStore::Tag(absl::string_view tenant, const DatasetTag& tag,
                       std::function<void(const absl::Status&)> done) {
  const auto reserved = state_.Reserve(tenant, IndexBytes(tag.name));
  if (!reserved.ok()) return done(reserved.status());
  std::optional<absl::Status> now;
  {
    MutexLock lock(&state_.mu);
    now = durability_.ChangeNames(std::string(tenant),
                                  {.tag = tag, .done = done});
  }
  if (now.has_value()) done(*now);
}

DatasetUsage DatasetStore::Usage(absl::string_view tenant) {
  const DatasetStoreOptions& options = state_.options;
  DatasetUsage usage;
  usage.max_datasets = options.tenant_datasets;
  usage.max_bytes = options.tenant_bytes;
  usage.bad_files = state_.disk.bad_files();
  if (options.memory != nullptr) {
    const MemoryHolderPtr holder = options.memory->Tenant(tenant);
    usage.memory_held = holder->held();
    usage.memory_limit = holder->limit();
    usage.all_memory_held = options.memory->held();
    usage.all_memory_limit = options.memory->limit();
  }
  MutexLock lock(&state_.mu);
  const auto at = state_.catalog.tenants.find(tenant);
  if (at == state_.catalog.tenants.end()) return usage;
  const TenantChunks& chunks = at->second.chunks;
  const TenantDatasets& datasets = at->second.datasets;
  usage.datasets = static_cast<int64_t>(datasets.by_id.size());
  usage.bytes = chunks.bytes();
  usage.upload_bytes = chunks.unnamed();
  usage.pinned_bytes = datasets.pinned_bytes(options.now());
  if (usage.bad_files > 0) usage.lost_bytes = chunks.lost_bytes();
  return usage;
}

struct DatasetStore::Verbs {
  DatasetStore& store;
  const absl::string_view tenant;
  std::function<void(const absl::StatusOr<DatasetAnswer>&)> done;

  // Used by verbs whose answer is a status alone.
  std::function<void(const absl::Status&)> Acknowledged() {
    return [done = std::move(done)](const absl::Status& status) {
      if (!status.ok()) return done(status);
      done(Acknowledgement());
    };
  }

  void operator()(const StatDataset& stat) {
    done(store.Stat(tenant, stat.token));
  }
  void operator()(const DatasetQuery& query) {
    done(store.List(tenant, query));
  }
  void operator()(const DeleteDataset& order) {
    store.Delete(tenant, order.token, Acknowledged());
  }
  void operator()(const PinDataset& pin) {
    store.Pin(tenant, pin.token, pin.ttl, std::move(done));
  }
  void operator()(const DatasetTag& tag) {
    store.Tag(tenant, tag, Acknowledged());
  }
  void operator()(const QueryUsage&) { done(store.Usage(tenant)); }
};

void DatasetStore::Answer(
    absl::string_view tenant, const DatasetVerb& verb,
    std::function<void(const absl::StatusOr<DatasetAnswer>&)> done) {
  std::visit(Verbs{*this, tenant, std::move(done)}, verb);
}

void DatasetStore::Sweep() {
  const absl::Time now = state_.options.now();
  MutexLock lock(&state_.mu);
  Catalog& catalog = state_.catalog;
  for (auto& [name, tenant] : catalog.tenants) {
    catalog.table.Release(tenant.chunks.EndUploads(now));
    tenant.Charge();
  }
  durability_.Refresh(now);
  durability_.Collect();
  scrubber_.Scrub(now);
  catalog.table.DropArrays();
}

void DatasetStore::Stop(absl::Time deadline) {
  const auto& writer = state_.disk.writer;
  const int left = writer == nullptr ? 0 : writer->Stop(deadline);
  if (left > 0) {
    HAWSER_LOG(kWarning) << left << " files were not written before the stop";
  }
  uploads_.Stop();
}

DatasetStore::Statistics DatasetStore::statistics() const {
  MutexLock lock(&state_.mu);
  Statistics out = state_.counts;
  const ChunkTable& table = state_.catalog.table;
  out.chunks = static_cast<int64_t>(table.chunks().size());
  out.datasets = state_.catalog.num_datasets();
  out.resident_bytes = state_.memory.resident();
  out.disk_bytes = durability_.use().held;
  out.bad_files = state_.disk.bad_files();
  out.shared_lookups = table.lookups();
  return out;
}

}  // namespace hawser::server
