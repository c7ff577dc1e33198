#include "server/datasets/index/tenant_chunks.h"

#include <utility>

#include "core/base/status.h"

namespace hawser::server {
namespace {

// An upload by itself.
constexpr int64_t kUploadBytes = 160;

}  // namespace

int64_t TenantChunks::index_bytes() const {
  return static_cast<int64_t>(chunks_.size()) *
             (kChunkIndexBytes - kHoldBytes) +
         static_cast<int64_t>(uploads_.size()) * kUploadBytes +
         holds_ * kHoldBytes;
}

int64_t TenantChunks::lost_bytes() const {
  int64_t bytes = 0;
  for (const auto& [digest, known] : chunks_) {
    if (known.chunk->lost()) bytes += known.chunk->size;
  }
  return bytes;
}

void TenantChunks::Stay(Known& known) {
  if (std::exchange(known.leaving, false)) leaving_ -= known.chunk->size;
}

void TenantChunks::Forget(const Digest& digest, Forgotten& out) {
  const auto at = chunks_.find(digest);
  bytes_ -= at->second.chunk->size;
  unnamed_ -= at->second.chunk->size;
  out.push_back(std::move(at->second.chunk));
  chunks_.erase(at);
}

void TenantChunks::Hear(uint64_t upload, absl::Time expires) {
  const auto at = uploads_.find(upload);
  if (at != uploads_.end()) at->second.expires = expires;
}

void TenantChunks::Hold(uint64_t upload, const std::shared_ptr<Chunk>& chunk,
                        absl::Time expires) {
  const auto [known, is_new] = chunks_.emplace(chunk->digest, Known{chunk});
  if (is_new) {
    ++chunk->references;
    bytes_ += chunk->size;
    unnamed_ += chunk->size;
  }
  Stay(known->second);
  Upload& own = uploads_[upload];
  own.expires = expires;
  if (!own.chunks.insert(chunk->digest).second) return;
  ++known->second.held;
  ++holds_;
}

bool TenantChunks::Holds(uint64_t upload, const Digest& digest) const {
  const auto at = uploads_.find(upload);
  return at != uploads_.end() && at->second.chunks.contains(digest);
}

absl::Status TenantChunks::AdmitHolds(int64_t more, int64_t most) const {
  if (more == 0 || holds_ + more <= most) return absl::OkStatus();
  return ResourceExhausted("this tenant's ", uploads_.size(), " uploads hold ",
                           holds_, " chunks, the most is ", most,
                           "; each ends with its Commit, or when nothing was "
                           "heard of it for a while");
}

absl::StatusOr<std::vector<uint32_t>> TenantChunks::HoldKnown(
    uint64_t upload, absl::Span<const Digest> digests, absl::Time expires,
    int64_t most) {
  std::vector<uint32_t> missing;
  std::vector<std::shared_ptr<Chunk>> found;
  int64_t more = 0;
  for (size_t i = 0; i < digests.size(); ++i) {
    const auto at = chunks_.find(digests[i]);
    if (at == chunks_.end() || at->second.chunk->lost()) {
      missing.push_back(static_cast<uint32_t>(i));
    } else {
      found.push_back(at->second.chunk);
      if (!Holds(upload, digests[i])) ++more;
    }
  }
  HAWSER_RETURN_IF_ERROR(AdmitHolds(more, most));
  for (const auto& chunk : found) Hold(upload, chunk, expires);
  return missing;
}

TenantChunks::Forgotten TenantChunks::EndUpload(uint64_t upload) {
  Forgotten out;
  const auto at = uploads_.find(upload);
  if (at == uploads_.end()) return out;
  holds_ -= static_cast<int64_t>(at->second.chunks.size());
  for (const Digest& digest : at->second.chunks) {
    Known& known = chunks_.at(digest);
    if (--known.held == 0 && known.named == 0) Forget(digest, out);
  }
  uploads_.erase(at);
  return out;
}

TenantChunks::Forgotten TenantChunks::EndUploads(absl::Time now) {
  std::vector<uint64_t> over;
  for (const auto& [number, upload] : uploads_) {
    if (upload.expires <= now) over.push_back(number);
  }
  Forgotten out;
  for (const uint64_t number : over) {
    for (auto& chunk : EndUpload(number)) out.push_back(std::move(chunk));
  }
  return out;
}

TenantChunks::Forgotten TenantChunks::ReleaseNamed() {
  Forgotten out;
  const auto at = uploads_.find(kBeforeTheStart);
  if (at == uploads_.end()) return out;
  holds_ -= static_cast<int64_t>(
      absl::erase_if(at->second.chunks, [&](const Digest& digest) {
        Known& known = chunks_.at(digest);
        if (known.named == 0 && known.chunk->references == 1) return false;
        --known.held;
        if (known.named == 0) Forget(digest, out);
        return true;
      }));
  if (at->second.chunks.empty()) uploads_.erase(at);
  return out;
}

absl::Status TenantChunks::Check(const DatasetManifest& manifest) const {
  for (const ArrayManifest& array : manifest.arrays) {
    for (int64_t i = 0; i < array.num_chunks(); ++i) {
      const auto at = chunks_.find(array.chunks[i]);
      if (at == chunks_.end() || at->second.chunk->lost()) {
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

void TenantChunks::Name(const DatasetManifest& manifest) {
  for (const ArrayManifest& array : manifest.arrays) {
    for (const Digest& digest : array.chunks) {
      Known& known = chunks_.at(digest);
      Stay(known);
      if (known.named++ == 0) unnamed_ -= known.chunk->size;
    }
  }
}

TenantChunks::Forgotten TenantChunks::Unname(const DatasetManifest& manifest) {
  Forgotten out;
  for (const ArrayManifest& array : manifest.arrays) {
    for (const Digest& digest : array.chunks) {
      Known& known = chunks_.at(digest);
      if (--known.named > 0) continue;
      unnamed_ += known.chunk->size;
      if (known.held == 0) Forget(digest, out);
    }
  }
  return out;
}

DatasetShare TenantChunks::ShareOf(const DatasetManifest& manifest) const {
  absl::flat_hash_map<Digest, int64_t> named;  // how often, here
  for (const ArrayManifest& array : manifest.arrays) {
    for (const Digest& chunk : array.chunks) ++named[chunk];
  }
  DatasetShare share;
  for (const auto& [digest, times] : named) {
    const Known& known = chunks_.at(digest);
    if (known.named > times || known.held > 0) continue;
    share.chunks.push_back(digest);
    share.tenant += known.chunk->size;
    if (known.chunk->references == 1) share.store += known.chunk->size;
  }
  return share;
}

void TenantChunks::Leave(const DatasetShare& share) {
  for (const Digest& digest : share.chunks) chunks_.at(digest).leaving = true;
  leaving_ += share.tenant;
}

void TenantChunks::StopLeaving(const DatasetShare& share) {
  for (const Digest& digest : share.chunks) Stay(chunks_.at(digest));
}

}  // namespace hawser::server
