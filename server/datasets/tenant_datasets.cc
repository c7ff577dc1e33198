#include "server/datasets/tenant_datasets.h"

#include <utility>

#include "core/base/status.h"

namespace hawser::server {

void TenantDatasets::Stay(KnownChunk& known) {
  if (std::exchange(known.leaving, false)) leaving -= known.chunk->size;
}

void TenantDatasets::Hold(uint64_t upload, const std::shared_ptr<Chunk>& chunk,
                          absl::Time expires) {
  const auto [known, is_new] = chunks.emplace(chunk->digest, KnownChunk{chunk});
  if (is_new) {
    ++chunk->references;
    bytes += chunk->size;
    unnamed += chunk->size;
  }
  Stay(known->second);
  Upload& own = uploads[upload];
  own.expires = expires;
  if (!own.chunks.insert(chunk->digest).second) return;
  ++known->second.held;
  ++holds;
}

void TenantDatasets::Hear(uint64_t upload, absl::Time expires) {
  const auto at = uploads.find(upload);
  if (at != uploads.end()) at->second.expires = expires;
}

bool TenantDatasets::Holds(uint64_t upload, const Digest& digest) const {
  const auto at = uploads.find(upload);
  return at != uploads.end() && at->second.chunks.contains(digest);
}

absl::Status TenantDatasets::AdmitHolds(int64_t more, int64_t most) const {
  if (more == 0 || holds + more <= most) return absl::OkStatus();
  return ResourceExhausted("this tenant's ", uploads.size(), " uploads hold ",
                           holds, " chunks, the most is ", most,
                           "; each ends with its Commit, or when nothing was "
                           "heard of it for a while");
}

std::vector<Digest> TenantDatasets::EndUpload(uint64_t upload) {
  std::vector<Digest> nobodys;
  const auto at = uploads.find(upload);
  if (at == uploads.end()) return nobodys;
  holds -= static_cast<int64_t>(at->second.chunks.size());
  for (const Digest& digest : at->second.chunks) {
    KnownChunk& known = chunks.at(digest);
    if (--known.held == 0 && known.named == 0) nobodys.push_back(digest);
  }
  uploads.erase(at);
  return nobodys;
}

std::vector<Digest> TenantDatasets::ReleaseNamed() {
  std::vector<Digest> others;
  const auto at = uploads.find(kBeforeTheStart);
  if (at == uploads.end()) return others;
  holds -= static_cast<int64_t>(
      absl::erase_if(at->second.chunks, [&](const Digest& digest) {
        KnownChunk& known = chunks.at(digest);
        if (known.named == 0 && known.chunk->references == 1) return false;
        --known.held;
        if (known.named == 0) others.push_back(digest);
        return true;
      }));
  if (at->second.chunks.empty()) uploads.erase(at);
  return others;
}

void TenantDatasets::Name(const Digest& digest) {
  KnownChunk& known = chunks.at(digest);
  Stay(known);
  if (known.named++ == 0) unnamed -= known.chunk->size;
}

bool TenantDatasets::Unname(const Digest& digest) {
  KnownChunk& known = chunks.at(digest);
  if (--known.named > 0) return false;
  unnamed += known.chunk->size;
  return known.held == 0;
}

void TenantDatasets::Leave(const DatasetShare& share) {
  for (const Digest& digest : share.chunks) chunks.at(digest).leaving = true;
  leaving += share.tenant;
}

void TenantDatasets::StopLeaving(const DatasetShare& share) {
  for (const Digest& digest : share.chunks) Stay(chunks.at(digest));
}

}  // namespace hawser::server
