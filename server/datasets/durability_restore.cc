// A store finds this on its disk when the process starts, before the writer is
// there.
#include <algorithm>
#include <utility>

#include "core/base/log.h"
#include "core/base/status.h"
#include "server/datasets/durability.h"

namespace hawser::server {

void Durability::Restore(ChunkFiles::Contents contents) {
  state_.AssertHeld();
  Catalog& catalog = state_.catalog;
  // Datasets whose files could not be read need their chunks at another start.
  const absl::Time end =
      contents.datasets_unread ? absl::InfiniteFuture() : state_.UploadEnd();
  for (const ChunkHeader& header : contents.chunks) {
    std::shared_ptr<Chunk> chunk =
        catalog.table.Of(header.digest, header.bytes);
    chunk->written = chunk->on_disk = true;
    use_.held += header.bytes;
    catalog.Of(header.tenant).chunks.Hold(kBeforeTheStart, chunk, end);
  }
  for (auto& dataset : contents.datasets) {
    const std::string token = TokenOf(dataset.record.manifest);
    const absl::Status restored = RestoreDataset(std::move(dataset), end);
    if (restored.ok()) continue;
    HAWSER_LOG(kWarning) << "dataset " << token
                         << " is left out: " << restored.message();
  }
  for (auto& [name, tenant] : catalog.tenants) {
    catalog.table.Release(tenant.chunks.ReleaseNamed());
  }
  for (NamesRecord& record : contents.names) RestoreNames(std::move(record));
  for (auto& [name, tenant] : catalog.tenants) tenant.Charge();
}

absl::Status Durability::RestoreDataset(ChunkFiles::Contents::Dataset restored,
                                        absl::Time end) {
  state_.AssertHeld();
  Catalog& catalog = state_.catalog;
  Catalog::Tenant& tenant = catalog.Of(restored.record.tenant);
  for (const ArrayManifest& array : restored.record.manifest.arrays) {
    for (int64_t i = 0; i < array.num_chunks(); ++i) {
      std::shared_ptr<Chunk> chunk =
          catalog.table.Of(array.chunks[i], array.chunk_size(i));
      if (chunk->size != array.chunk_size(i)) {
        return DataLoss("chunk ", chunk->digest.ToHex(), " has ", chunk->size,
                        " bytes");
      }
      if (chunk->lost() && chunk->references == 0) {
        state_.disk.files->NoteMissing(chunk->digest);
      }
      tenant.chunks.Hold(kBeforeTheStart, chunk, end);
    }
  }
  const absl::Time now = state_.options.now();
  std::shared_ptr<StoredDataset> dataset =
      catalog.MakeDataset(tenant, std::move(restored.record.manifest), now);
  dataset->on_disk = true;
  dataset->info.last_used = std::min(restored.last_used, now);
  dataset->marked = dataset->info.last_used;
  tenant.datasets.by_id[DatasetId(dataset->manifest)] = std::move(dataset);
  return absl::OkStatus();
}

void Durability::RestoreNames(NamesRecord record) {
  state_.AssertHeld();
  TenantDatasets& own = state_.catalog.Of(record.tenant).datasets;
  own.names_saved = true;
  for (auto& [name, id] : record.tags) {
    const auto at = own.by_id.find(id);
    if (at != own.by_id.end()) at->second->info.tags.push_back(name);
    own.tag_bytes += IndexBytes(name);
    own.tags.emplace(std::move(name), id);
  }
  for (const auto& [id, until] : record.pins) {
    const auto at = own.by_id.find(id);
    if (at != own.by_id.end()) at->second->info.pinned_until = until;
  }
}

}  // namespace hawser::server
