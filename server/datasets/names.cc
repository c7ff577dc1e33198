// The part of DatasetStore that tenants name and keep datasets by: pins, tags.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "server/datasets/chunk_receiver.h"
#include "server/datasets/dataset_store.h"

namespace hawser::server {
namespace {

constexpr size_t kMaxTags = 10000;  // of a tenant

}  // namespace

bool DatasetStore::SaveNames(const std::string& name, NamesSaved done) {
  auto& saving = tenants_[name].saving;
  saving.push_back(std::move(done));
  if (saving.size() > 1) return true;  // a queued write takes it along
  auto waiting = std::make_shared<std::vector<NamesSaved>>();
  const bool added = writer_->Add(
      {[this, name, waiting] {
         return files_->WriteNames(NamesOf(name, waiting.get()));
       },
       [this, name, waiting](const absl::Status& status) {
         {
           MutexLock lock(&mu_);
           Tenant& tenant = tenants_[name];
           if (status.ok()) tenant.names_saved = true;
           if (waiting->empty()) waiting->swap(tenant.saving);  // not begun
         }
         for (const auto& done : *waiting) {
           done(Annotate(status, "done, but forgotten after a restart"));
         }
       }});
  if (!added) saving.clear();
  return added;
}

NamesRecord DatasetStore::NamesOf(const std::string& name,
                                  std::vector<NamesSaved>* waiting) {
  MutexLock lock(&mu_);
  Tenant& tenant = tenants_[name];
  waiting->swap(tenant.saving);
  NamesRecord record{name, {tenant.tags.begin(), tenant.tags.end()}, {}};
  const absl::Time now = options_.now();
  for (const auto& [id, dataset] : tenant.datasets) {
    if (dataset->info.pinned_until <= now) continue;
    record.pins.emplace_back(id, dataset->info.pinned_until);
  }
  return record;
}

void DatasetStore::Pin(absl::string_view tenant, absl::string_view token,
                       absl::Duration ttl, Durable done) {
  absl::StatusOr<DatasetInfo> result;
  {
    MutexLock lock(&mu_);
    auto dataset = FindDataset(tenant, token);
    if (dataset.ok()) {
      (*dataset)->info.pinned_until = ttl > absl::ZeroDuration()
                                          ? options_.now() + ttl
                                          : absl::InfinitePast();
      result = (*dataset)->Info();
    } else {
      result = dataset.status();
    }
    if (result.ok() && files_ != nullptr) {
      const bool added = SaveNames(
          std::string(tenant), [done, result](const absl::Status& saved) {
            done(saved.ok() ? result : absl::StatusOr<DatasetInfo>(saved));
          });
      if (added) return;
      result = Unavailable("the server is stopping");
    }
  }
  done(std::move(result));
}

absl::Status DatasetStore::SetTag(Tenant& tenant, const DatasetTag& tag) {
  HAWSER_RETURN_IF_ERROR(CheckTag(tag.name));
  const auto at = tenant.tags.find(tag.name);
  const std::string now = at == tenant.tags.end() ? "" : TokenOf(at->second);
  HAWSER_RETURN_IF_ERROR(CheckExpected(tag, now));
  std::shared_ptr<StoredDataset> next;
  if (!tag.token.empty()) {
    const auto id = ParseToken(tag.token);
    HAWSER_RETURN_IF_ERROR(id);
    const auto found = tenant.datasets.find(*id);
    if (found == tenant.datasets.end()) {
      return NotFound("dataset ", tag.token, " is not known on this server");
    }
    next = found->second;
    if (at == tenant.tags.end() && tenant.tags.size() >= kMaxTags) {
      return ResourceExhausted("there are ", kMaxTags, " tags already");
    }
  }
  if (at != tenant.tags.end()) {
    const auto before = tenant.datasets.find(at->second);
    if (before != tenant.datasets.end()) {
      auto& tags = before->second->info.tags;
      tags.erase(std::remove(tags.begin(), tags.end(), tag.name), tags.end());
    }
    tenant.tags.erase(at);
  }
  if (next == nullptr) return absl::OkStatus();
  tenant.tags[tag.name] = DatasetId(next->manifest);
  auto& tags = next->info.tags;
  tags.insert(std::upper_bound(tags.begin(), tags.end(), tag.name), tag.name);
  return absl::OkStatus();
}

void DatasetStore::Tag(absl::string_view tenant, const DatasetTag& tag,
                       std::function<void(const absl::Status&)> done) {
  absl::Status status;
  {
    MutexLock lock(&mu_);
    const std::string name(tenant);
    status = SetTag(tenants_[name], tag);
    if (status.ok() && files_ != nullptr) {
      if (SaveNames(name, done)) return;
      status = Unavailable("the server is stopping");
    }
  }
  done(status);
}

DatasetUsage DatasetStore::Usage(absl::string_view tenant) {
  DatasetUsage usage;
  usage.max_datasets = options_.tenant_datasets;
  usage.max_bytes = options_.tenant_bytes;
  usage.bad_files = files_ == nullptr ? 0 : files_->bad_files();
  if (options_.memory != nullptr) {
    const MemoryHolderPtr holder = options_.memory->Tenant(tenant);
    usage.memory_held = holder->held();
    usage.memory_limit = holder->limit();
    usage.all_memory_held = options_.memory->held();
    usage.all_memory_limit = options_.memory->limit();
  }
  MutexLock lock(&mu_);
  const auto at = tenants_.find(tenant);
  if (at == tenants_.end()) return usage;
  const Tenant& own = at->second;
  usage.datasets = static_cast<int64_t>(own.datasets.size());
  usage.bytes = own.bytes;
  usage.upload_bytes = own.unnamed;
  const absl::Time now = options_.now();
  for (const auto& [id, dataset] : own.datasets) {
    if (dataset->info.pinned_until <= now) continue;
    usage.pinned_bytes += dataset->info.bytes;
  }
  if (usage.bad_files == 0) return usage;
  for (const auto& [digest, known] : own.chunks) {
    if (known.chunk->lost()) usage.lost_bytes += known.chunk->size;
  }
  return usage;
}

void DatasetStore::RestoreNames(NamesRecord record) {
  MutexLock lock(&mu_);
  Tenant& tenant = tenants_[record.tenant];
  tenant.names_saved = true;
  for (auto& [name, id] : record.tags) {
    const auto at = tenant.datasets.find(id);
    if (at != tenant.datasets.end()) at->second->info.tags.push_back(name);
    tenant.tags.emplace(std::move(name), id);
  }
  for (const auto& [id, until] : record.pins) {
    const auto at = tenant.datasets.find(id);
    if (at != tenant.datasets.end()) at->second->info.pinned_until = until;
  }
}

}  // namespace hawser::server
