#include "server/datasets/retention.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/log.h"
#include "core/base/status.h"

namespace hawser::server {
namespace {

// The most that the names and digests of a dataset take, in the mean.
constexpr int64_t kIndexBytesOfDataset = 4096;
constexpr absl::string_view kMakeRoom =
    "delete some (hawser rm), or unpin some, which lets the oldest go";

}  // namespace

void Retention::MakeRoom(int64_t bytes) {
  state_.AssertHeld();
  const auto over = [&] {
    return state_.memory.resident() > state_.options.memory_bytes - bytes;
  };
  if (over()) durability_.Collect();  // what was in use when it was deleted
  while (over()) {
    Chunk* const chunk = state_.catalog.table.TakeOldest();
    if (chunk == nullptr) return;
    // Frees memory unless an array in use holds it; then the next one may.
    chunk->data = nullptr;
  }
}

std::vector<std::shared_ptr<const char>> Retention::LetGo(int64_t bytes) {
  state_.AssertHeld();
  std::vector<std::shared_ptr<const char>> gone;
  while (bytes > 0) {
    Chunk* const chunk = state_.catalog.table.TakeOldest();
    if (chunk == nullptr) break;
    bytes -= chunk->size;
    gone.push_back(std::exchange(chunk->data, nullptr));
  }
  return gone;
}

std::vector<Candidate> Retention::Evictable(const std::string* only) const {
  state_.AssertHeld();
  return state_.catalog.Evictable(only, state_.options.now(),
                                  state_.options.lease, state_.disk.exists());
}

bool Retention::EvictOne(const Candidate& candidate,
                         const DatasetShare& share) {
  state_.AssertHeld();
  Durability::Done none;
  if (!durability_.RemoveDataset(candidate.tenant, candidate.dataset, none)) {
    return false;
  }
  ++state_.counts.evicted_datasets;
  state_.counts.evicted_bytes += share.store;
  HAWSER_LOG(kInfo) << "dataset " << candidate.dataset->info.token
                    << " is evicted with " << share.store
                    << " bytes; it was last used "
                    << absl::FormatTime(candidate.dataset->info.last_used);
  return true;
}

int64_t Retention::Evict(int64_t bytes, const std::string* only) {
  state_.AssertHeld();
  int64_t leaving = 0;
  for (const Candidate& candidate : Evictable(only)) {
    if (leaving >= bytes) break;
    const DatasetShare share = state_.catalog.Of(candidate.tenant)
                                   .chunks.ShareOf(candidate.dataset->manifest);
    const int64_t gain = only != nullptr ? share.tenant : share.store;
    // One whose chunks all stay for others would be lost for nothing.
    if (gain == 0) continue;
    if (!EvictOne(candidate, share)) break;
    leaving += gain;
  }
  return leaving;
}

absl::Status Retention::AdmitToTenant(const std::string& tenant,
                                      int64_t bytes) {
  state_.AssertHeld();
  const int64_t most = state_.options.tenant_bytes;
  if (most == 0) return absl::OkStatus();
  const Catalog::Tenant& own = state_.catalog.Of(tenant);
  const int64_t over = own.chunks.bytes() - own.chunks.leaving() + bytes - most;
  if (over <= 0 || Evict(over, &tenant) >= over) return absl::OkStatus();
  return ResourceExhausted(
      "tenant ", tenant, "'s quota of ", most,
      " bytes (--tenant_bytes): it keeps ", own.chunks.bytes(), ", in ",
      own.datasets.by_id.size(), " ", kWhatStays, "; ", kMakeRoom);
}

absl::Status Retention::AdmitToDisk(int64_t bytes) {
  state_.AssertHeld();
  if (!state_.disk.exists()) return absl::OkStatus();
  const DatasetStoreOptions& options = state_.options;
  const DiskUse& use = durability_.use();
  const int64_t leaving = use.removing + use.evicting;
  int64_t over = 0;
  std::string limit;
  if (options.disk_bytes > 0) {
    over = use.held - leaving + bytes - options.disk_bytes;
    limit = absl::StrCat("limit of ", options.disk_bytes, " bytes");
  }
  if (options.disk_reserve > 0) {
    HAWSER_ASSIGN_OR_RETURN(const int64_t free, state_.disk.files->FreeBytes());
    const int64_t below =
        options.disk_reserve + bytes - (free + leaving - use.writing);
    if (below > over) {
      over = below;
      limit = absl::StrCat("reserve of ", options.disk_reserve,
                           " bytes, of which ", free, " are left");
    }
  }
  if (over > 0) {
    const int64_t before = use.removing;
    durability_.Collect();  // what was in use when it was deleted
    over -= use.removing - before;
  }
  if (over <= 0 || Evict(over, nullptr) >= over) return absl::OkStatus();
  return ResourceExhausted("the datasets' disk ", limit, ": ", use.held,
                           " bytes are held by ", kWhatStays);
}

absl::Status Retention::Admit(const std::string& tenant, int64_t bytes) {
  HAWSER_RETURN_IF_ERROR(AdmitToTenant(tenant, bytes));
  HAWSER_RETURN_IF_ERROR(AdmitToDisk(bytes));
  if (state_.disk.exists()) return absl::OkStatus();
  // Memory is all there is. Chunks that Uploads finds held after this are in
  // use.
  const auto over = [&] {
    return state_.memory.resident() + bytes - state_.options.memory_bytes;
  };
  if (over() > 0) durability_.Collect();  // in use when it was deleted
  if (over() > 0) Evict(over(), nullptr);
  return absl::OkStatus();
}

int64_t Retention::MostIndexBytes() const {
  const DatasetStoreOptions& options = state_.options;
  int64_t most = std::numeric_limits<int64_t>::max();
  if (options.tenant_datasets > 0 &&
      options.tenant_datasets < most / kIndexBytesOfDataset) {
    most = options.tenant_datasets * kIndexBytesOfDataset;
  }
  // Values need room beside them, and so do other tenants.
  if (options.memory == nullptr) return most;
  return std::min(most, options.memory->limit() / 4);
}

absl::Status Retention::AdmitDataset(const std::string& tenant,
                                     int64_t index_bytes) {
  state_.AssertHeld();
  const int64_t most = state_.options.tenant_datasets;
  const int64_t most_bytes = MostIndexBytes();
  const TenantDatasets& own = state_.catalog.Of(tenant).datasets;
  const auto count = [&] {
    return static_cast<int64_t>(own.by_id.size()) - own.removing;
  };
  const auto too_many = [&] { return most > 0 && count() >= most; };
  const auto too_large = [&] {
    return own.manifest_bytes - own.removing_bytes > most_bytes - index_bytes;
  };
  if (!too_many() && !too_large()) return absl::OkStatus();
  if (index_bytes <= most_bytes) {
    for (const Candidate& oldest : Evictable(&tenant)) {
      const DatasetShare share =
          state_.catalog.Of(tenant).chunks.ShareOf(oldest.dataset->manifest);
      if (!EvictOne(oldest, share)) break;
      if (!too_many() && !too_large()) return absl::OkStatus();
    }
  }
  if (too_many()) {
    return ResourceExhausted("tenant ", tenant, "'s quota of ", most,
                             " datasets (--tenant_datasets): it keeps ",
                             count(), " ", kWhatStays, "; ", kMakeRoom);
  }
  return ResourceExhausted(
      "tenant ", tenant, "'s quota of ", most_bytes,
      " bytes of memory for names and digests of datasets (",
      kIndexBytesOfDataset,
      " for each of --tenant_datasets, at most a quarter "
      "of what there is for clients): it has ",
      count(), " datasets of ", own.manifest_bytes - own.removing_bytes,
      " bytes, and ", index_bytes, " are to come; ", kMakeRoom,
      ", or put fewer arrays, with shorter names");
}

}  // namespace hawser::server
