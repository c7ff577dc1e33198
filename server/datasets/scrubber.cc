#include "server/datasets/scrubber.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/base/log.h"
#include "core/base/status.h"

namespace hawser::server {
namespace {

// The file of a dataset or of names counts as so many bytes: about one page.
constexpr int64_t kRecordBytes = 4096;

}  // namespace

void Scrubber::Scrub(absl::Time now) {
  state_.AssertHeld();
  const int64_t bytes_per_second = state_.options.scrub_bytes_per_second;
  if (!state_.disk.exists() || bytes_per_second == 0) return;
  const double rate = static_cast<double>(bytes_per_second);
  const double seconds = absl::ToDoubleSeconds(now - scrubbed_at_);
  scrubbed_at_ = now;
  // Credit that was not used for long is not made up for at once.
  credit_ =
      std::min(credit_ + std::max(seconds, 0.0) * rate, 2 * rate + kChunkBytes);
  if (!state_.disk.idle()) return;  // writing goes first
  if (to_scrub_.empty()) ListFiles();
  while (credit_ >= kChunkBytes && !to_scrub_.empty()) {
    const File file = std::move(to_scrub_.back());
    to_scrub_.pop_back();
    credit_ -= static_cast<double>(ScrubFile(file));
  }
}

void Scrubber::ListFiles() {
  state_.AssertHeld();
  for (const auto& [digest, chunk] : state_.catalog.table.chunks()) {
    if (chunk->on_disk) to_scrub_.push_back({File::kChunk, digest});
  }
  for (const auto& [name, tenant] : state_.catalog.tenants) {
    for (const auto& [id, dataset] : tenant.datasets.by_id) {
      if (!dataset->on_disk) continue;
      to_scrub_.push_back({File::kDataset, id, name});
    }
    to_scrub_.push_back({File::kNames, Digest(), name});
  }
}

int64_t Scrubber::ScrubFile(const File& file) {
  switch (file.kind) {
    case File::kChunk:
      return ScrubChunk(file.id);
    case File::kDataset:
      return ScrubDataset(file.tenant, file.id);
    case File::kNames:
      return ScrubNames(file.tenant);
  }
  return 0;
}

int64_t Scrubber::ScrubChunk(const Digest& digest) {
  state_.AssertHeld();
  const auto& chunks = state_.catalog.table.chunks();
  const auto at = chunks.find(digest);
  if (at == chunks.end() || !at->second->on_disk) return 0;
  const int64_t bytes = at->second->size;
  // Sound bytes of a file that a restart would refuse; they are written again.
  auto saved = std::make_shared<std::shared_ptr<const char>>();
  state_.disk.writer->Add(
      {[this, digest, bytes, saved]() -> absl::Status {
         HAWSER_ASSIGN_OR_RETURN(
             std::shared_ptr<char> data,
             state_.disk.files->ReadChunk(digest, bytes, &state_.memory));
         const absl::Status header = state_.disk.files->VerifyHeader(digest);
         if (absl::IsDataLoss(header)) *saved = std::move(data);
         return header;
       },
       [this, weak = std::weak_ptr(at->second), bytes,
        saved](const absl::Status& read) {
         MutexLock lock(&state_.mu);
         state_.counts.verified_bytes += bytes;
         const std::shared_ptr<Chunk> chunk = weak.lock();
         if (chunk == nullptr) return;
         if (read.ok()) chunk->verified = true;
         if (!absl::IsDataLoss(read)) return;
         durability_.FileIsBad(*chunk);
         if (chunk->data == nullptr) chunk->data = *saved;
       }});
  return bytes;
}

int64_t Scrubber::ScrubRecord(std::function<absl::Status()> verify,
                              std::function<void()> if_bad) {
  state_.disk.writer->Add(
      {std::move(verify),
       [this, if_bad = std::move(if_bad)](const absl::Status& verified) {
         MutexLock lock(&state_.mu);
         state_.counts.verified_bytes += kRecordBytes;
         if (absl::IsDataLoss(verified)) if_bad();
       }});
  return kRecordBytes;
}

int64_t Scrubber::ScrubDataset(const std::string& tenant, const Digest& id) {
  state_.AssertHeld();
  const auto& datasets = state_.catalog.Of(tenant).datasets.by_id;
  const auto at = datasets.find(id);
  if (at == datasets.end() || !at->second->on_disk) return 0;
  return ScrubRecord(
      [this, tenant, dataset = at->second] {
        return state_.disk.files->VerifyDataset({tenant, dataset->manifest});
      },
      [this, tenant, id, dataset = at->second] {
        state_.AssertHeld();
        const auto& datasets = state_.catalog.Of(tenant).datasets.by_id;
        const auto now = datasets.find(id);
        // If it is not the same one any more, it was deleted meanwhile.
        if (now == datasets.end() || now->second != dataset ||
            dataset->removing) {
          return;
        }
        dataset->on_disk = false;
        durability_.WriteDataset(tenant, dataset);
      });
}

int64_t Scrubber::ScrubNames(const std::string& tenant) {
  state_.AssertHeld();
  // A tenant that has said nothing has no such file.
  if (!state_.catalog.Of(tenant).datasets.names_saved) return 0;
  return ScrubRecord(
      [this, tenant] { return state_.disk.files->VerifyNames(tenant); },
      [this, tenant] {
        state_.AssertHeld();
        durability_.RewriteNames(tenant);
      });
}

}  // namespace hawser::server
