// The part of DatasetStore that makes things outlive the process.
#include <algorithm>
#include <utility>

#include "core/base/log.h"
#include "core/base/status.h"
#include "server/datasets/chunk_receiver.h"
#include "server/datasets/dataset_store.h"

namespace hawser::server {
namespace {

// Between two attempts to write what the disk refused.
constexpr absl::Duration kRetry = absl::Seconds(30);
// How old the file's word may be on when a dataset was used last.
constexpr absl::Duration kMarkUse = absl::Minutes(1);

}  // namespace

bool StoredDataset::IsDurable() const {
  if (!on_disk) return false;
  for (const auto& array : arrays) {
    for (const auto& chunk : array->chunks) {
      if (!chunk->on_disk) return false;
    }
  }
  return true;
}

absl::Status StoredDataset::WhyNotWritten() const {
  for (const auto& array : arrays) {
    for (const auto& chunk : array->chunks) {
      if (chunk->written) continue;
      if (!chunk->write_error.ok()) return chunk->write_error;
      return DataLoss("chunk ", chunk->digest.ToHex(),
                      " was damaged; put the dataset again");
    }
  }
  return absl::OkStatus();
}

bool StoredDataset::NeedsWrite() const {
  if (writes > 0) return false;
  if (!on_disk) return true;
  for (const auto& array : arrays) {
    for (const auto& chunk : array->chunks) {
      if (!chunk->on_disk && !chunk->writing && !chunk->lost()) return true;
    }
  }
  return false;
}

DatasetInfo StoredDataset::Info() const {
  DatasetInfo out = info;
  out.durable = IsDurable();
  return out;
}

void DatasetStore::WriteChunk(const std::string& tenant,
                              const std::shared_ptr<Chunk>& chunk) {
  if (files_ == nullptr || chunk->on_disk || chunk->writing ||
      chunk->data == nullptr) {
    return;
  }
  // The bytes stay alive here, also when the chunk's place changes or nobody
  // wants it any more.
  auto file = std::make_shared<absl::StatusOr<std::unique_ptr<NewFile>>>();
  auto prepare = [this, file, data = chunk->data,
                  header = ChunkHeader{chunk->digest, chunk->size, tenant}] {
    *file = files_->WriteChunk(header,
                               {data.get(), static_cast<size_t>(header.bytes)});
  };
  auto write = [this, weak = std::weak_ptr(chunk), file] {
    absl::Status status = file->ok() ? (**file)->Keep() : file->status();
    MutexLock lock(&mu_);
    const std::shared_ptr<Chunk> chunk = weak.lock();
    if (chunk == nullptr) return status;
    chunk->written = status.ok();
    chunk->write_error = status;
    return status;
  };
  auto done = [this, weak = std::weak_ptr(chunk),
               bytes = chunk->size](const absl::Status& status) {
    MutexLock lock(&mu_);
    last_write_error_ = status;
    writing_bytes_ -= bytes;
    const std::shared_ptr<Chunk> chunk = weak.lock();
    if (chunk == nullptr) return;
    if (!status.ok()) disk_bytes_ -= bytes;
    chunk->writing = false;
    chunk->written = chunk->on_disk = chunk->verified = status.ok();
    chunk->write_error = status;
    Touch(*chunk);
  };
  chunk->writing =
      writer_->Add({std::move(write), std::move(done), std::move(prepare)});
  if (!chunk->writing) return;
  disk_bytes_ += chunk->size;
  writing_bytes_ += chunk->size;
}

bool DatasetStore::WriteDataset(const std::string& tenant,
                                const std::shared_ptr<StoredDataset>& dataset) {
  for (const auto& array : dataset->arrays) {
    for (const auto& chunk : array->chunks) WriteChunk(tenant, chunk);
  }
  // The writer keeps the order, so the chunks are on disk before this.
  const bool added = writer_->Add(
      {[this, tenant, dataset] { return WriteRecord(tenant, *dataset); },
       [this, dataset](const absl::Status& status) {
         FinishDataset(dataset, status);
       }});
  if (added) ++dataset->writes;
  return added;
}

absl::Status DatasetStore::WriteRecord(const std::string& tenant,
                                       const StoredDataset& dataset) {
  {
    MutexLock lock(&mu_);
    HAWSER_RETURN_IF_ERROR(dataset.WhyNotWritten());
  }
  return files_->WriteDataset({tenant, dataset.manifest});
}

void DatasetStore::FinishDataset(const std::shared_ptr<StoredDataset>& dataset,
                                 absl::Status status) {
  std::vector<Durable> waiting;
  DatasetInfo info;
  {
    MutexLock lock(&mu_);
    --dataset->writes;
    dataset->tried_at = options_.now();
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
  for (Durable& done : waiting) {
    if (status.ok()) {
      done(info);
    } else {
      done(status);
    }
  }
}

void DatasetStore::Sweep() {
  const absl::Time now = options_.now();
  MutexLock lock(&mu_);
  for (auto& [name, tenant] : tenants_) {
    for (auto it = tenant.uploads.begin(); it != tenant.uploads.end();) {
      const auto at = it++;  // erase keeps the others
      if (at->second.expires <= now) EndUpload(tenant, at->first);
    }
    if (files_ == nullptr) continue;
    for (auto& [id, dataset] : tenant.datasets) {
      NoteUse(name, dataset);
      if (now - dataset->tried_at < kRetry || !dataset->NeedsWrite()) continue;
      WriteDataset(name, dataset);
    }
  }
  Collect();
  Scrub(now);
  absl::erase_if(arrays_, [](const auto& a) { return a.second.expired(); });
}

void DatasetStore::Stop(absl::Time deadline) {
  const int left = writer_ == nullptr ? 0 : writer_->Stop(deadline);
  if (left > 0) {
    HAWSER_LOG(kWarning) << left << " files were not written before the stop";
  }
  std::deque<WaitingUpload> waiting;
  {
    MutexLock lock(&mu_);
    waiting.swap(waiting_);
  }
  for (WaitingUpload& upload : waiting) {
    upload.ready(Unavailable("the server is stopping"));
  }
}

void DatasetStore::NoteUse(const std::string& tenant,
                           const std::shared_ptr<StoredDataset>& dataset) {
  if (dataset->info.last_used - dataset->marked < kMarkUse ||
      !dataset->on_disk) {
    return;
  }
  dataset->marked = dataset->info.last_used;
  writer_->Add({[this, tenant, dataset, used = dataset->marked] {
                  files_->MarkUsed({tenant, dataset->manifest}, used);
                  return absl::OkStatus();
                },
                [](const absl::Status&) {}});
}

absl::Status DatasetStore::RestoreDataset(DatasetRecord record,
                                          absl::Time last_used) {
  MutexLock lock(&mu_);
  Tenant& tenant = tenants_[record.tenant];
  for (const ArrayManifest& array : record.manifest.arrays) {
    for (int64_t i = 0; i < array.num_chunks(); ++i) {
      std::shared_ptr<Chunk> chunk =
          ChunkOf(array.chunks[i], array.chunk_size(i));
      if (chunk->size != array.chunk_size(i)) {
        return DataLoss("chunk ", chunk->digest.ToHex(), " has ", chunk->size,
                        " bytes");
      }
      if (chunk->lost() && chunk->references == 0) {
        files_->NoteMissing(chunk->digest);
      }
      tenant.Hold(kBeforeTheStart, chunk, UploadEnd());
    }
  }
  auto dataset = std::make_shared<StoredDataset>();
  dataset->manifest = std::move(record.manifest);
  dataset->on_disk = true;
  Name(tenant, dataset.get());
  dataset->info.last_used = std::min(last_used, dataset->info.last_used);
  dataset->marked = dataset->info.last_used;
  tenant.datasets[DatasetId(dataset->manifest)] = std::move(dataset);
  return absl::OkStatus();
}

absl::Status DatasetStore::Restore() {
  HAWSER_ASSIGN_OR_RETURN(files_, ChunkFiles::Open(options_.data_dir));
  HAWSER_ASSIGN_OR_RETURN(ChunkFiles::Contents contents, files_->Scan());
  for (const ChunkHeader& header : contents.chunks) {
    MutexLock lock(&mu_);
    std::shared_ptr<Chunk> chunk = ChunkOf(header.digest, header.bytes);
    chunk->written = chunk->on_disk = true;
    disk_bytes_ += header.bytes;
    tenants_[header.tenant].Hold(kBeforeTheStart, chunk, UploadEnd());
  }
  for (auto& [record, last_used] : contents.datasets) {
    const std::string token = TokenOf(record.manifest);
    const absl::Status restored = RestoreDataset(std::move(record), last_used);
    if (restored.ok()) continue;
    HAWSER_LOG(kWarning) << "dataset " << token
                         << " is left out: " << restored.message();
  }
  {
    MutexLock lock(&mu_);
    for (auto& [name, tenant] : tenants_) {
      for (const Digest& digest : tenant.ReleaseNamed()) Forget(tenant, digest);
    }
  }
  for (NamesRecord& record : contents.names) RestoreNames(std::move(record));
  writer_ =
      std::make_unique<DiskWriter>([this] { return files_->SyncFolders(); },
                                   [this] { ServeWaitingUploads(); });
  return absl::OkStatus();
}

}  // namespace hawser::server
