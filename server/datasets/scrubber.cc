// The part of DatasetStore that reads back what is on disk: damage is found
// while what it hit can still be written again, or put again.
#include <algorithm>
#include <utility>

#include "core/base/log.h"
#include "core/base/status.h"
#include "server/datasets/chunk_receiver.h"
#include "server/datasets/dataset_store.h"

namespace hawser::server {
namespace {

// What the file of a dataset or of names counts as: about one page.
constexpr int64_t kRecordBytes = 4096;

}  // namespace

void DatasetStore::Scrub(absl::Time now) {
  if (files_ == nullptr || options_.scrub_bytes_per_second == 0) return;
  const double rate = static_cast<double>(options_.scrub_bytes_per_second);
  const double seconds = absl::ToDoubleSeconds(now - scrubbed_at_);
  scrubbed_at_ = now;
  // What was not used for long is not made up for at once.
  scrub_credit_ = std::min(scrub_credit_ + std::max(seconds, 0.0) * rate,
                           2 * rate + kChunkBytes);
  if (!writer_->idle()) return;  // writing goes first
  if (to_scrub_.empty()) ListUnverified();
  while (scrub_credit_ >= kChunkBytes && !to_scrub_.empty()) {
    const Unverified file = std::move(to_scrub_.back());
    to_scrub_.pop_back();
    scrub_credit_ -= static_cast<double>(ScrubFile(file));
  }
}

void DatasetStore::ListUnverified() {
  for (const auto& [digest, chunk] : chunks_) {
    if (chunk->on_disk) to_scrub_.push_back({Unverified::kChunk, digest});
  }
  for (const auto& [name, tenant] : tenants_) {
    for (const auto& [id, dataset] : tenant.datasets) {
      if (!dataset->on_disk) continue;
      to_scrub_.push_back({Unverified::kDataset, id, name});
    }
    to_scrub_.push_back({Unverified::kNames, Digest(), name});
  }
}

int64_t DatasetStore::ScrubFile(const Unverified& file) {
  switch (file.kind) {
    case Unverified::kChunk:
      return ScrubChunk(file.id);
    case Unverified::kDataset:
      return ScrubDataset(file.tenant, file.id);
    case Unverified::kNames:
      return ScrubNames(file.tenant);
  }
  return 0;
}

int64_t DatasetStore::ScrubChunk(const Digest& digest) {
  const auto at = chunks_.find(digest);
  if (at == chunks_.end() || !at->second->on_disk) return 0;
  const int64_t bytes = at->second->size;
  // Sound bytes of a file that a restart would refuse; they are written again.
  auto saved = std::make_shared<std::shared_ptr<const char>>();
  writer_->Add({[this, digest, bytes, saved]() -> absl::Status {
                  HAWSER_ASSIGN_OR_RETURN(
                      std::shared_ptr<char> data,
                      files_->ReadChunk(digest, bytes, &memory_));
                  const absl::Status header = files_->VerifyHeader(digest);
                  if (absl::IsDataLoss(header)) *saved = std::move(data);
                  return header;
                },
                [this, weak = std::weak_ptr(at->second), bytes,
                 saved](const absl::Status& read) {
                  MutexLock lock(&mu_);
                  verified_bytes_ += bytes;
                  const std::shared_ptr<Chunk> chunk = weak.lock();
                  if (chunk == nullptr) return;
                  if (read.ok()) chunk->verified = true;
                  if (!absl::IsDataLoss(read)) return;
                  FileIsBad(*chunk);
                  if (chunk->data == nullptr) chunk->data = *saved;
                }});
  return bytes;
}

int64_t DatasetStore::ScrubDataset(const std::string& name, const Digest& id) {
  const auto& datasets = tenants_[name].datasets;
  const auto at = datasets.find(id);
  if (at == datasets.end() || !at->second->on_disk) return 0;
  const std::shared_ptr<StoredDataset> dataset = at->second;
  writer_->Add({[this, name, dataset] {
                  return files_->VerifyDataset({name, dataset->manifest});
                },
                [this, name, id, dataset](const absl::Status& verified) {
                  MutexLock lock(&mu_);
                  verified_bytes_ += kRecordBytes;
                  if (!absl::IsDataLoss(verified)) return;
                  const auto& datasets = tenants_[name].datasets;
                  const auto now = datasets.find(id);
                  // Else it was deleted meanwhile.
                  if (now == datasets.end() || now->second != dataset) return;
                  dataset->on_disk = false;
                  WriteDataset(name, dataset);
                }});
  return kRecordBytes;
}

int64_t DatasetStore::ScrubNames(const std::string& name) {
  // A tenant that has said nothing has no such file.
  if (!tenants_[name].names_saved) return 0;
  writer_->Add({[this, name] { return files_->VerifyNames(name); },
                [this, name](const absl::Status& verified) {
                  MutexLock lock(&mu_);
                  verified_bytes_ += kRecordBytes;
                  if (!absl::IsDataLoss(verified)) return;
                  SaveNames(name, [](const absl::Status& saved) {
                    if (saved.ok()) return;
                    HAWSER_LOG(kWarning) << "pins and tags: " << saved;
                  });
                }});
  return kRecordBytes;
}

void DatasetStore::FileIsBad(Chunk& chunk) {
  if (!chunk.on_disk) return;
  files_->NoteMissing(chunk.digest);
  TakeOffDisk(chunk);
}

void DatasetStore::TakeOffDisk(Chunk& chunk) {
  chunk.written = chunk.on_disk = chunk.verified = false;
  disk_bytes_ -= chunk.size;
  // What is in memory is written again.
  if (chunk.placed) evictable_.erase(chunk.place);
  chunk.placed = false;
}

}  // namespace hawser::server
