#include "server/datasets/tenant_datasets.h"

#include <utility>

#include "core/base/status.h"

namespace hawser::server {

void TenantDatasets::Hold(uint64_t upload, const std::shared_ptr<Chunk>& chunk,
                          absl::Time expires) {
  const auto [known, is_new] = chunks.emplace(chunk->digest, KnownChunk{chunk});
  if (is_new) {
    ++chunk->references;
    bytes += chunk->size;
  }
  Upload& own = uploads[upload];
  own.expires = expires;
  if (!own.chunks.insert(chunk->digest).second) return;
  ++known->second.held;
  ++holds;
}

absl::Status TenantDatasets::AdmitHolds(size_t more, int64_t most) const {
  if (holds + static_cast<int64_t>(more) <= most) return absl::OkStatus();
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

void TenantDatasets::ReleaseNamed() {
  const auto at = uploads.find(kBeforeTheStart);
  if (at == uploads.end()) return;
  holds -= static_cast<int64_t>(
      absl::erase_if(at->second.chunks, [this](const Digest& digest) {
        KnownChunk& known = chunks.at(digest);
        if (known.named > 0) --known.held;
        return known.named > 0;
      }));
  if (at->second.chunks.empty()) uploads.erase(at);
}

}  // namespace hawser::server
