// Catalog: which tenant has which datasets, and of which chunks.
#ifndef HAWSER_SERVER_DATASETS_INDEX_CATALOG_H_
#define HAWSER_SERVER_DATASETS_INDEX_CATALOG_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/digest.h"
#include "core/base/memory_account.h"
#include "server/datasets/index/chunk_table.h"
#include "server/datasets/index/tenant_chunks.h"
#include "server/datasets/index/tenant_datasets.h"

namespace hawser::server {

// A dataset that may be evicted.
struct Candidate {
  std::string tenant;
  std::shared_ptr<StoredDataset> dataset;
};

// A chunk has as many references as tenants that know it. The chunks of a
// tenant's datasets are known to it, and their arrays are those of the table.
// A tenant is answered from its own entries alone. Guarded by the store's lock.
struct Catalog {
  struct Tenant {
    TenantChunks chunks;
    TenantDatasets datasets;
    MemoryHolderPtr payer;  // the tenant; null: nothing is charged
    MemoryTally memory;     // for what both take

    // Makes the charge follow what is known.
    void Charge() {
      memory.SetAnyway(chunks.index_bytes() + datasets.index_bytes());
    }
  };

  // The bytes of all that is known are charged to `account`; null: to nothing.
  explicit Catalog(std::shared_ptr<MemoryAccount> account = nullptr)
      : account(std::move(account)) {}

  // Returns the entry of a tenant; if there is none, it is made.
  Tenant& Of(absl::string_view name);

  // Errors: as TenantDatasets::Find.
  absl::StatusOr<std::shared_ptr<StoredDataset>> Find(
      absl::string_view tenant, absl::string_view token) const;
  int64_t num_datasets() const;

  // Makes a dataset used at `now`, of a manifest whose chunks the tenant knows.
  std::shared_ptr<StoredDataset> MakeDataset(Tenant& tenant,
                                             DatasetManifest manifest,
                                             absl::Time now);
  // The other way, for one that is in `by_id` no longer: lets go of its arrays
  // and chunks.
  void Unname(Tenant& tenant, StoredDataset& dataset);

  // The datasets that may go, of `only` where it is given, the least recently
  // used first: neither pinned at `now`, about to be pinned, used within the
  // lease nor being removed, and, where `durable` is asked for, on disk.
  std::vector<Candidate> Evictable(const std::string* only, absl::Time now,
                                   absl::Duration lease, bool durable) const;

  const std::shared_ptr<MemoryAccount> account;
  ChunkTable table;
  absl::flat_hash_map<std::string, Tenant> tenants;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_DATASETS_INDEX_CATALOG_H_
