#include "server/datasets/durability.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/log.h"
#include "core/base/status.h"

namespace hawser::server {
namespace {

// Between two attempts to write what the disk refused.
constexpr absl::Duration kRetry = absl::Seconds(30);
// The memory that a write of a chunk or record that waits takes besides its
// bytes.
constexpr int64_t kTaskBytes = 400;
// The age that the file's word may have on when a dataset was used last.
constexpr absl::Duration kMarkUse = absl::Minutes(1);

}  // namespace

std::shared_ptr<const MemoryCharge> Durability::ChargeTask(
    const std::string& tenant) {
  state_.AssertHeld();
  const MemoryHolderPtr& payer = state_.catalog.Of(tenant).payer;
  if (payer == nullptr) return nullptr;
  return std::make_shared<const MemoryCharge>(
      payer->TakeAnyway(MemoryUse::kIndex, kTaskBytes));
}

const DiskUse& Durability::use() const {
  state_.AssertHeld();
  return use_;
}

void Durability::WriteChunk(const std::string& tenant,
                            const std::shared_ptr<Chunk>& chunk) {
  state_.AssertHeld();
  if (!state_.disk.exists() || chunk->on_disk || chunk->writing ||
      chunk->data == nullptr) {
    return;
  }
  // The bytes stay alive here, also when the chunk's place changes or no
  // tenant knows it any more.
  auto file = std::make_shared<absl::StatusOr<std::unique_ptr<NewFile>>>();
  auto prepare = [this, file, data = chunk->data,
                  header = ChunkHeader{chunk->digest, chunk->size, tenant}] {
    *file = state_.disk.files->WriteChunk(
        header, {data.get(), static_cast<size_t>(header.bytes)});
  };
  auto write = [this, weak = std::weak_ptr(chunk), file] {
    absl::Status status = file->ok() ? (**file)->Keep() : file->status();
    MutexLock lock(&state_.mu);
    const std::shared_ptr<Chunk> chunk = weak.lock();
    if (chunk == nullptr) return status;
    chunk->written = status.ok();
    chunk->write_error = status;
    return status;
  };
  auto done = [this, weak = std::weak_ptr(chunk), bytes = chunk->size,
               charge = ChargeTask(tenant)](const absl::Status& status) {
    FinishChunk(weak, bytes, status);
  };
  chunk->writing = state_.disk.writer->Add(
      {std::move(write), std::move(done), std::move(prepare)});
  if (!chunk->writing) return;
  use_.held += chunk->size;
  use_.writing += chunk->size;
}

void Durability::FinishChunk(const std::weak_ptr<Chunk>& weak, int64_t bytes,
                             const absl::Status& status) {
  MutexLock lock(&state_.mu);
  use_.last_write = status;
  use_.writing -= bytes;
  const std::shared_ptr<Chunk> chunk = weak.lock();
  if (chunk == nullptr) return;
  if (!status.ok()) use_.held -= bytes;
  chunk->writing = false;
  chunk->written = chunk->on_disk = chunk->verified = status.ok();
  chunk->write_error = status;
  state_.catalog.table.Touch(*chunk);
}

bool Durability::WriteDataset(const std::string& tenant,
                              const std::shared_ptr<StoredDataset>& dataset) {
  state_.AssertHeld();
  for (const auto& array : dataset->arrays) {
    for (const auto& chunk : array->chunks) WriteChunk(tenant, chunk);
  }
  // The writer keeps the order, so the chunks are on disk before this.
  const bool added = state_.disk.writer->Add(
      {[this, tenant, dataset] { return WriteRecord(tenant, *dataset); },
       [this, dataset, charge = ChargeTask(tenant)](
           const absl::Status& status) { FinishDataset(dataset, status); }});
  if (added) ++dataset->writes;
  return added;
}

absl::Status Durability::WriteRecord(const std::string& tenant,
                                     const StoredDataset& dataset) {
  {
    // A dataset that a full disk refused must not be found after a restart.
    MutexLock lock(&state_.mu);
    HAWSER_RETURN_IF_ERROR(dataset.WhyNotWritten());
  }
  return state_.disk.files->WriteDataset({tenant, dataset.manifest});
}

void Durability::FinishDataset(const std::shared_ptr<StoredDataset>& dataset,
                               absl::Status status) {
  std::vector<StoredDataset::Durable> waiting;
  DatasetInfo info;
  {
    MutexLock lock(&state_.mu);
    --dataset->writes;
    dataset->tried_at = state_.options.now();
    dataset->on_disk = dataset->on_disk || status.ok();
    info = dataset->Info();
    if (status.ok()) status = dataset->WhyNotWritten();
    if (dataset->writes == 0) waiting.swap(dataset->waiting);
  }
  if (!status.ok()) {
    HAWSER_LOG(kWarning) << "dataset " << info.token
                         << " is not durable: " << status.message();
    status = Annotate(status, absl::StrCat("dataset ", info.token,
                                           " is here but not durable"));
  }
  for (auto& done : waiting) {
    if (status.ok()) {
      done(info);
    } else {
      done(status);
    }
  }
}

bool Durability::RemoveDataset(const std::string& tenant,
                               const std::shared_ptr<StoredDataset>& dataset,
                               Done& done) {
  state_.AssertHeld();
  Catalog::Tenant& own = state_.catalog.Of(tenant);
  const Digest id = DatasetId(dataset->manifest);
  if (!state_.disk.exists()) {
    own.datasets.by_id.erase(id);
    state_.catalog.Unname(own, *dataset);
    own.Charge();
    Collect();
    return true;
  }
  if (dataset->removing) {
    if (done != nullptr) {
      dataset->removals.push_back(std::exchange(done, nullptr));
    }
    return true;
  }
  const DatasetShare share = own.chunks.ShareOf(dataset->manifest);
  // The record goes first and for good, so that a crash in between leaves
  // chunks without a dataset and not the other way round.
  const bool added = state_.disk.writer->Add(
      {[this, tenant, dataset] {
         return state_.disk.files->RemoveDataset({tenant, dataset->manifest});
       },
       [this, tenant, dataset, share, done](const absl::Status& removed) {
         FinishRemoval(tenant, dataset, share, done, removed);
       }});
  if (!added) return false;
  own.chunks.Leave(share);
  use_.evicting += share.store;
  dataset->removing = true;
  own.datasets.NoteRemoving(*dataset, true);
  done = nullptr;
  return true;
}

void Durability::FinishRemoval(const std::string& tenant,
                               const std::shared_ptr<StoredDataset>& dataset,
                               const DatasetShare& share, const Done& done,
                               const absl::Status& removed) {
  std::vector<Done> late;
  {
    MutexLock lock(&state_.mu);
    Catalog::Tenant& own = state_.catalog.Of(tenant);
    own.chunks.StopLeaving(share);
    use_.evicting -= share.store;
    dataset->removing = false;
    late.swap(dataset->removals);
    const auto at = own.datasets.by_id.find(DatasetId(dataset->manifest));
    const bool there = at != own.datasets.by_id.end() && at->second == dataset;
    if (there) own.datasets.NoteRemoving(*dataset, false);
    if (removed.ok() || !there) {  // else it was put again meanwhile
      if (there) own.datasets.by_id.erase(at);
      state_.catalog.Unname(own, *dataset);
      own.Charge();
      Collect();
    } else if (!absl::IsUnavailable(removed)) {
      // The record may be gone all the same, or come back after a crash.
      dataset->on_disk = false;
      WriteDataset(tenant, dataset);
    }
  }
  const absl::Status told = Annotate(
      removed,
      absl::StrCat("dataset ", dataset->info.token, " was not deleted"));
  if (done != nullptr) done(told);
  for (const Done& second : late) {
    second(told.ok() ? NotFound("dataset ", dataset->info.token,
                                " is not known on this server")
                     : told);
  }
}

void Durability::Collect() {
  state_.AssertHeld();
  for (const std::shared_ptr<Chunk>& chunk : state_.catalog.table.Collect()) {
    if (chunk->on_disk || chunk->writing) RemoveFile(*chunk);
  }
}

void Durability::RemoveFile(const Chunk& chunk) {
  state_.AssertHeld();
  const int64_t bytes = chunk.size;
  use_.removing += bytes;
  // The removal comes after a write that is queued, before that of the same
  // chunk put again; else it comes at once, since others were let in for the
  // room it leaves.
  state_.disk.writer->Add({.write =
                               [this, digest = chunk.digest] {
                                 state_.disk.files->RemoveChunk(digest);
                                 return absl::OkStatus();
                               },
                           .done =
                               [this, bytes](const absl::Status&) {
                                 MutexLock lock(&state_.mu);
                                 use_.removing -= bytes;
                                 use_.held -= bytes;
                               },
                           .removes = true},
                          /*first=*/!chunk.writing);
}

void Durability::TakeOffDisk(Chunk& chunk) {
  state_.AssertHeld();
  chunk.written = chunk.on_disk = chunk.verified = false;
  use_.held -= chunk.size;
  state_.catalog.table.Unplace(chunk);
}

void Durability::FileIsBad(Chunk& chunk) {
  if (!chunk.on_disk) return;
  state_.disk.files->NoteMissing(chunk.digest);
  TakeOffDisk(chunk);
}

std::optional<absl::Status> Durability::ChangeNames(const std::string& tenant,
                                                    NameChange change) {
  state_.AssertHeld();
  Catalog::Tenant& entry = state_.catalog.Of(tenant);
  TenantDatasets& own = entry.datasets;
  if (!own.saving) {
    const absl::Status possible = own.Check(change, own.tags);
    if (!possible.ok()) return possible;
    if (!state_.disk.exists()) {
      const absl::Status made = own.Make(change);
      entry.Charge();
      return made;
    }
  }
  if (!SaveNames(tenant)) return Unavailable("the server is stopping");
  if (change.pinned != nullptr) ++change.pinned->pinning;
  own.changes.push_back(std::move(change));
  return std::nullopt;
}

void Durability::RewriteNames(const std::string& tenant) {
  state_.AssertHeld();
  state_.catalog.Of(tenant).datasets.names_stale = true;
  SaveNames(tenant);
}

bool Durability::SaveNames(const std::string& tenant) {
  state_.AssertHeld();
  TenantDatasets& own = state_.catalog.Of(tenant).datasets;
  if (own.saving) return true;  // it takes all along, or has one follow
  own.saving =
      state_.disk.writer->Add({[this, tenant] { return WriteNames(tenant); },
                               [this, tenant](const absl::Status& saved) {
                                 FinishNames(tenant, saved);
                               }});
  return own.saving;
}

absl::Status Durability::WriteNames(const std::string& tenant) {
  NamesRecord record{tenant, {}, {}};
  {
    MutexLock lock(&state_.mu);
    TenantDatasets& own = state_.catalog.Of(tenant).datasets;
    own.deciding.swap(own.changes);
    own.names_tried = state_.options.now();
    DatasetTags tags;
    DatasetPins pins;
    if (!own.Decide(own.names_tried, &tags, &pins) && !own.names_stale) {
      return absl::OkStatus();
    }
    record.tags.assign(tags.begin(), tags.end());
    record.pins.assign(pins.begin(), pins.end());
  }
  HAWSER_RETURN_IF_ERROR(state_.disk.files->WriteNames(record));
  MutexLock lock(&state_.mu);
  state_.catalog.Of(tenant).datasets.names_saved = true;
  return absl::OkStatus();
}

void Durability::FinishNames(const std::string& tenant,
                             const absl::Status& saved) {
  std::vector<NameChange> decided;
  {
    MutexLock lock(&state_.mu);
    Catalog::Tenant& entry = state_.catalog.Of(tenant);
    TenantDatasets& own = entry.datasets;
    own.saving = false;
    decided.swap(own.deciding);
    // A write that never began has none: the server is stopping.
    const bool stopping = absl::IsUnavailable(saved);
    for (NameChange& change : decided) {
      if (change.pinned != nullptr) --change.pinned->pinning;
      if (saved.ok()) {
        if (change.decided.ok()) change.decided = own.Make(change);
        continue;
      }
      // The changes that it was decided after are not made either.
      change.decided = own.Check(change, own.tags);
      if (!change.decided.ok()) continue;
      change.decided = Annotate(saved, "tags and pins are as they were");
    }
    entry.Charge();
    // The file may have changed all the same, for a restart to find.
    const bool was_stale = std::exchange(own.names_stale, !saved.ok());
    if (!stopping && (!own.changes.empty() || (!saved.ok() && !was_stale))) {
      SaveNames(tenant);
    }
    if (!own.saving) {  // the server is stopping
      for (NameChange& change : own.changes) {
        change.decided = Unavailable("the server is stopping");
        if (change.pinned != nullptr) --change.pinned->pinning;
        decided.push_back(std::move(change));
      }
      own.changes.clear();
    }
  }
  if (!saved.ok()) {
    HAWSER_LOG(kWarning) << "tags and pins of a tenant are as they were: "
                         << saved.message();
  }
  for (const NameChange& change : decided) change.done(change.decided);
}

void Durability::Refresh(absl::Time now) {
  state_.AssertHeld();
  if (!state_.disk.exists()) return;
  for (auto& [name, tenant] : state_.catalog.tenants) {
    TenantDatasets& own = tenant.datasets;
    if (own.names_stale && now - own.names_tried >= kRetry) SaveNames(name);
    for (auto& [id, dataset] : own.by_id) {
      NoteUse(name, dataset);
      if (now - dataset->tried_at < kRetry || !dataset->NeedsWrite()) continue;
      WriteDataset(name, dataset);
    }
  }
}

void Durability::NoteUse(const std::string& tenant,
                         const std::shared_ptr<StoredDataset>& dataset) {
  if (dataset->info.last_used - dataset->marked < kMarkUse ||
      !dataset->on_disk || dataset->removing) {
    return;
  }
  dataset->marked = dataset->info.last_used;
  state_.disk.writer->Add(
      {[this, tenant, dataset, used = dataset->marked] {
         state_.disk.files->MarkUsed({tenant, dataset->manifest}, used);
         return absl::OkStatus();
       },
       [](const absl::Status&) {}});
}

}  // namespace hawser::server
