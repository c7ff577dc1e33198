#include "server/datasets/index/catalog.h"

#include <algorithm>
#include <utility>

namespace hawser::server {

absl::StatusOr<std::shared_ptr<StoredDataset>> Catalog::Find(
    absl::string_view tenant, absl::string_view token) const {
  const auto own = tenants.find(tenant);
  if (own != tenants.end()) return own->second.datasets.Find(token);
  return TenantDatasets().Find(token);
}

Catalog::Tenant& Catalog::Of(absl::string_view name) {
  const auto at = tenants.find(name);
  if (at != tenants.end()) return at->second;
  Tenant& tenant = tenants[name];
  if (account != nullptr) {
    tenant.payer = account->Tenant(name);
    tenant.memory = MemoryTally(tenant.payer, MemoryUse::kIndex);
  }
  return tenant;
}

int64_t Catalog::num_datasets() const {
  int64_t out = 0;
  for (const auto& [name, tenant] : tenants) {
    out += static_cast<int64_t>(tenant.datasets.by_id.size());
  }
  return out;
}

std::shared_ptr<StoredDataset> Catalog::MakeDataset(Tenant& tenant,
                                                    DatasetManifest manifest,
                                                    absl::Time now) {
  auto dataset = std::make_shared<StoredDataset>();
  dataset->info = InfoOf(manifest);
  dataset->info.last_used = now;
  dataset->info.tags = tenant.datasets.TagsOf(DatasetId(manifest));
  for (const ArrayManifest& array : manifest.arrays) {
    dataset->arrays.push_back(table.ArrayOf(array));
  }
  tenant.chunks.Name(manifest);
  tenant.datasets.manifest_bytes += IndexBytes(manifest);
  dataset->manifest = std::move(manifest);
  return dataset;
}

void Catalog::Unname(Tenant& tenant, StoredDataset& dataset) {
  dataset.arrays.clear();
  for (const ArrayManifest& array : dataset.manifest.arrays) {
    table.DropArray(ArrayId(array));
  }
  tenant.datasets.manifest_bytes -= IndexBytes(dataset.manifest);
  table.Release(tenant.chunks.Unname(dataset.manifest));
}

std::vector<Candidate> Catalog::Evictable(const std::string* only,
                                          absl::Time now, absl::Duration lease,
                                          bool durable) const {
  std::vector<Candidate> out;
  for (const auto& [name, tenant] : tenants) {
    if (only != nullptr && name != *only) continue;
    for (const auto& [id, dataset] : tenant.datasets.by_id) {
      if (dataset->removing || dataset->pinning > 0 ||
          now < dataset->info.pinned_until ||
          now < dataset->info.last_used + lease ||
          (durable && (dataset->writes > 0 || !dataset->IsDurable()))) {
        continue;
      }
      out.push_back({name, dataset});
    }
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return a.dataset->info.last_used < b.dataset->info.last_used;
  });
  return out;
}

}  // namespace hawser::server
