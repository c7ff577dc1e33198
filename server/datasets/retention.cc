// The part of DatasetStore that decides what stays: leases, quotas, eviction.
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "server/datasets/chunk_receiver.h"
#include "server/datasets/dataset_store.h"

namespace hawser::server {
void DatasetStore::MarkUsed(StoredDataset& dataset) {
  dataset.info.last_used = options_.now();
}

bool DatasetStore::MayGo(const StoredDataset& dataset) const {
  const absl::Time now = options_.now();
  return now >= dataset.info.pinned_until &&
         now >= dataset.info.last_used + options_.lease &&
         (files_ == nullptr || (dataset.writes == 0 && dataset.IsDurable()));
}

DatasetShare DatasetStore::ShareOf(const Tenant& tenant,
                                   const StoredDataset& dataset) const {
  absl::flat_hash_map<Digest, int64_t> named;  // how often, here
  for (const ArrayManifest& array : dataset.manifest.arrays) {
    for (const Digest& chunk : array.chunks) ++named[chunk];
  }
  DatasetShare share;
  for (const auto& [digest, times] : named) {
    const KnownChunk& known = tenant.chunks.at(digest);
    if (known.named > times || known.held > 0) continue;
    share.chunks.push_back(digest);
    share.tenant += known.chunk->size;
    if (known.chunk->references == 1) share.store += known.chunk->size;
  }
  return share;
}

bool DatasetStore::Remove(const std::string& name,
                          const std::shared_ptr<StoredDataset>& dataset,
                          std::function<void(const absl::Status&)>& done) {
  Tenant& tenant = tenants_[name];
  const Digest id = DatasetId(dataset->manifest);
  if (files_ == nullptr) {
    tenant.datasets.erase(id);
    Unname(tenant, dataset.get());
    return true;
  }
  const DatasetShare share = ShareOf(tenant, *dataset);
  // The record goes first and for good, so that a crash in between leaves
  // chunks without a dataset and not the other way round.
  const bool added = writer_->Add(
      {.write =
           [this, name, dataset] {
             return files_->RemoveDataset({name, dataset->manifest});
           },
       .done =
           [this, name, dataset, share, done](const absl::Status& removed) {
             {
               MutexLock lock(&mu_);
               Tenant& tenant = tenants_[name];
               tenant.StopLeaving(share);
               evicting_bytes_ -= share.store;
               // Else the record may still be there and need its chunks.
               if (removed.ok() || absl::IsUnavailable(removed)) {
                 Unname(tenant, dataset.get());
               }
             }
             if (done == nullptr) return;
             done(Annotate(removed,
                           absl::StrCat("dataset ", dataset->info.token,
                                        " may be back after a restart")));
           }});
  if (!added) return false;
  tenant.Leave(share);
  evicting_bytes_ += share.store;
  tenant.datasets.erase(id);
  done = nullptr;
  return true;
}

std::vector<Candidate> DatasetStore::Evictable(
    const std::string* only) const {
  std::vector<Candidate> out;
  for (const auto& [name, tenant] : tenants_) {
    if (only != nullptr && name != *only) continue;
    for (const auto& [id, dataset] : tenant.datasets) {
      if (MayGo(*dataset)) out.push_back({name, dataset});
    }
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) {
    return a.dataset->info.last_used < b.dataset->info.last_used;
  });
  return out;
}

bool DatasetStore::EvictOne(const Candidate& candidate,
                            const DatasetShare& share) {
  std::function<void(const absl::Status&)> nobody_waits;
  if (!Remove(candidate.tenant, candidate.dataset, nobody_waits)) return false;
  ++evicted_datasets_;
  evicted_bytes_ += share.store;
  HAWSER_LOG(kInfo) << "dataset " << candidate.dataset->info.token
                    << " is evicted with " << share.store
                    << " bytes; it was last used "
                    << absl::FormatTime(candidate.dataset->info.last_used);
  return true;
}

int64_t DatasetStore::Evict(int64_t bytes, const std::string* only) {
  int64_t leaving = 0;
  for (const Candidate& candidate : Evictable(only)) {
    if (leaving >= bytes) break;
    const DatasetShare share =
        ShareOf(tenants_[candidate.tenant], *candidate.dataset);
    const int64_t gain = only != nullptr ? share.tenant : share.store;
    // One whose chunks all stay for others would be lost for nothing.
    if (gain == 0) continue;
    if (!EvictOne(candidate, share)) break;
    leaving += gain;
  }
  return leaving;
}

absl::Status DatasetStore::AdmitToTenant(const std::string& tenant,
                                         int64_t bytes) {
  if (options_.tenant_bytes == 0) return absl::OkStatus();
  const Tenant& own = tenants_[tenant];
  const int64_t over = own.bytes - own.leaving + bytes - options_.tenant_bytes;
  if (over <= 0 || Evict(over, &tenant) >= over) return absl::OkStatus();
  return ResourceExhausted("this tenant's quota of ", options_.tenant_bytes,
                           " bytes: it keeps ", own.bytes, ", in ",
                           own.datasets.size(), " ", kWhatStays);
}

absl::Status DatasetStore::AdmitToDisk(int64_t bytes) {
  if (files_ == nullptr) return absl::OkStatus();
  const int64_t leaving = removing_bytes_ + evicting_bytes_;
  int64_t over = 0;
  std::string limit;
  if (options_.disk_bytes > 0) {
    over = disk_bytes_ - leaving + bytes - options_.disk_bytes;
    limit = absl::StrCat("limit of ", options_.disk_bytes, " bytes");
  }
  if (options_.disk_reserve > 0) {
    HAWSER_ASSIGN_OR_RETURN(const int64_t free, files_->FreeBytes());
    const int64_t below =
        options_.disk_reserve + bytes - (free + leaving - writing_bytes_);
    if (below > over) {
      over = below;
      limit = absl::StrCat("reserve of ", options_.disk_reserve,
                           " bytes, of which ", free, " are left");
    }
  }
  if (over > 0) {
    const int64_t before = removing_bytes_;
    Collect();  // what was in use when it was deleted
    over -= removing_bytes_ - before;
  }
  if (over <= 0 || Evict(over, nullptr) >= over) return absl::OkStatus();
  return ResourceExhausted("the datasets' disk ", limit, ": ", disk_bytes_,
                           " bytes are held by ", kWhatStays);
}

absl::Status DatasetStore::Admit(const std::string& tenant, int64_t bytes) {
  HAWSER_RETURN_IF_ERROR(AdmitToTenant(tenant, bytes));
  HAWSER_RETURN_IF_ERROR(AdmitToDisk(bytes));
  if (files_ != nullptr) return absl::OkStatus();
  // Memory is all there is. What Reserve finds held after this is in use.
  const auto over = [&] {
    return memory_.resident() + bytes - options_.memory_bytes;
  };
  if (over() > 0) Collect();  // what was in use when it was deleted
  if (over() > 0) Evict(over(), nullptr);
  return absl::OkStatus();
}

absl::Status DatasetStore::AdmitDataset(const std::string& tenant) {
  const int64_t most = options_.tenant_datasets;
  Tenant& own = tenants_[tenant];
  if (most == 0 || static_cast<int64_t>(own.datasets.size()) < most) {
    return absl::OkStatus();
  }
  const std::vector<Candidate> candidates = Evictable(&tenant);
  if (!candidates.empty()) {
    const Candidate& oldest = candidates.front();
    if (EvictOne(oldest, ShareOf(own, *oldest.dataset)))
      return absl::OkStatus();
  }
  return ResourceExhausted("this tenant's quota of ", most,
                           " datasets; it keeps ", own.datasets.size(), " ",
                           kWhatStays);
}

}  // namespace hawser::server
