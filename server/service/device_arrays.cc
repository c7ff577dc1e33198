#include "server/service/device_arrays.h"

#include <utility>
#include <vector>

#include "core/base/status.h"

namespace hawser::server {

DeviceArrays::DeviceArrays(std::shared_ptr<runtime::Client> device,
                           DatasetStore* store, WorkerPool* workers,
                           int64_t keep_bytes)
    : device_(std::move(device)),
      store_(store),
      workers_(workers),
      keep_bytes_(keep_bytes) {}

void DeviceArrays::Keep(const Digest& id, const runtime::BufferPtr& buffer) {
  Slot& slot = slots_[id];
  if (slot.kept) {
    order_.splice(order_.begin(), order_, slot.place);
    return;
  }
  const int64_t bytes = buffer->shape().byte_size();
  if (bytes > keep_bytes_) return;
  slot.kept = true;
  slot.hold = buffer;
  slot.place = order_.insert(order_.begin(), id);
  kept_bytes_ += bytes;
  while (kept_bytes_ > keep_bytes_) {
    Slot& oldest = slots_[order_.back()];
    order_.pop_back();
    kept_bytes_ -= oldest.hold->shape().byte_size();
    oldest.kept = false;
    oldest.hold = nullptr;
  }
  // Slots of arrays nobody uses any more cost little, but not nothing.
  absl::erase_if(slots_, [](const auto& item) {
    const Slot& s = item.second;
    return !s.kept && !s.loading.valid() && s.buffer.expired();
  });
}

Value DeviceArrays::Get(absl::string_view tenant, absl::string_view token,
                        absl::string_view array) {
  auto stored = store_->Find(tenant, token, array);
  if (!stored.ok()) return Value{.now = stored.status()};
  std::shared_ptr<Promise<runtime::BufferPtr>> promise;
  {
    MutexLock lock(&mu_);
    ++shared_lookups_;
    Slot& slot = slots_[(*stored)->id];
    if (runtime::BufferPtr buffer = slot.buffer.lock()) {
      Keep((*stored)->id, buffer);
      return Value{.now = std::move(buffer)};
    }
    if (slot.loading.valid()) return Value{.later = slot.loading};
    promise = std::make_shared<Promise<runtime::BufferPtr>>();
    slot.loading = promise->future();
  }
  workers_->Run(
      [this, stored = *std::move(stored), promise] { Load(stored, promise); });
  return Value{.later = promise->future()};
}

void DeviceArrays::Load(
    const std::shared_ptr<const StoredArray>& array,
    const std::shared_ptr<Promise<runtime::BufferPtr>>& promise) {
  absl::StatusOr<runtime::BufferPtr> buffer = nullptr;
  absl::StatusOr<Literal> value = store_->Load(*array);
  buffer = value.ok() ? device_->Upload(*value, {}) : value.status();
  {
    MutexLock lock(&mu_);
    Slot& slot = slots_[array->id];
    slot.loading = {};
    if (buffer.ok()) {
      slot.buffer = *buffer;
      Keep(array->id, *buffer);
    }
  }
  promise->Set(std::move(buffer));
}

int64_t DeviceArrays::kept_bytes() const {
  MutexLock lock(&mu_);
  return kept_bytes_;
}

int64_t DeviceArrays::shared_lookups() const {
  MutexLock lock(&mu_);
  return shared_lookups_;
}

}  // namespace hawser::server
