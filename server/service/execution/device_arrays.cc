#include "server/service/execution/device_arrays.h"

#include <utility>
#include <vector>

#include "core/base/status.h"

namespace hawser::server {
namespace {

// Rows that are read again sooner than their slots are worth keeping.
constexpr int64_t kSmallRows = 64 << 10;
// So many slots may be unused before they are dropped: each costs little, but
// not nothing.
constexpr size_t kFewSlots = 64;

}  // namespace

DeviceArrays::DeviceArrays(std::shared_ptr<runtime::Client> device,
                           DatasetStore* store, ThreadPool* workers,
                           int64_t keep_bytes)
    : device_(std::move(device)),
      store_(store),
      workers_(workers),
      keep_bytes_(keep_bytes) {}

void DeviceArrays::Keep(const Part& part, const runtime::BufferPtr& buffer) {
  Slot& slot = slots_[part];
  if (slot.kept) {
    order_.splice(order_.begin(), order_, slot.place);
    return;
  }
  const int64_t bytes = buffer->shape().byte_size();
  if (bytes > keep_bytes_ || (!part.all && bytes < kSmallRows)) return;
  slot.kept = true;
  slot.hold = buffer;
  slot.place = order_.insert(order_.begin(), part);
  kept_bytes_ += bytes;
  while (kept_bytes_ > keep_bytes_) {
    LetGo(slots_[order_.back()]);
    order_.pop_back();
  }
}

void DeviceArrays::Prune() {
  if (slots_.size() <= 2 * order_.size() + kFewSlots) return;
  absl::erase_if(slots_, [](const auto& item) {
    const Slot& s = item.second;
    return !s.kept && !s.loading.valid() && s.buffer.expired();
  });
}

Value DeviceArrays::Get(std::shared_ptr<const StoredArray> array,
                        const std::optional<RowRange>& rows) {
  Part part{.array = array->id};
  if (rows.has_value()) {
    const auto found = FindRows(array->shape, *rows);
    if (!found.ok()) return Value{.now = found.status()};
    part.all = false;
    part.begin = rows->begin;
    part.count = rows->count;
  }
  std::shared_ptr<Promise<runtime::BufferPtr>> promise;
  {
    MutexLock lock(&mu_);
    ++shared_lookups_;
    Slot& slot = slots_[part];
    slot.stored = array;
    if (runtime::BufferPtr buffer = slot.buffer.lock()) {
      Keep(part, buffer);
      return Value{.now = std::move(buffer)};
    }
    if (slot.loading.valid()) return Value{.later = slot.loading};
    promise = std::make_shared<Promise<runtime::BufferPtr>>();
    slot.loading = promise->future();
  }
  workers_->Schedule([this, array = std::move(array), part, promise] {
    Load(array, part, promise);
  });
  return Value{.later = promise->future()};
}

void DeviceArrays::Load(
    const std::shared_ptr<const StoredArray>& array, const Part& part,
    const std::shared_ptr<Promise<runtime::BufferPtr>>& promise) {
  absl::StatusOr<runtime::BufferPtr> buffer = nullptr;
  absl::StatusOr<Literal> value =
      part.all ? store_->Load(*array)
               : store_->LoadRows(*array, {part.begin, part.count});
  buffer = value.ok() ? device_->Upload(*value, {}) : value.status();
  {
    MutexLock lock(&mu_);
    Slot& slot = slots_[part];
    slot.loading = {};
    if (buffer.ok()) {
      slot.buffer = *buffer;
      Keep(part, *buffer);
    }
    Prune();
  }
  promise->Set(std::move(buffer));
}

runtime::BufferPtr DeviceArrays::LetGo(Slot& slot) {
  kept_bytes_ -= slot.hold->shape().byte_size();
  slot.kept = false;
  return std::move(slot.hold);
}

void DeviceArrays::Sweep() {
  std::vector<runtime::BufferPtr> gone;  // die after the lock
  MutexLock lock(&mu_);
  for (auto it = order_.begin(); it != order_.end();) {
    Slot& slot = slots_[*it];
    if (slot.stored.expired()) {
      gone.push_back(LetGo(slot));
      it = order_.erase(it);
    } else {
      ++it;
    }
  }
}

void DeviceArrays::LetGoAll() {
  std::vector<runtime::BufferPtr> gone;  // die after the lock
  MutexLock lock(&mu_);
  for (const Part& part : order_) gone.push_back(LetGo(slots_[part]));
  order_.clear();
}

int64_t DeviceArrays::kept_bytes() const {
  MutexLock lock(&mu_);
  return kept_bytes_;
}

int64_t DeviceArrays::kept() const {
  MutexLock lock(&mu_);
  return static_cast<int64_t>(order_.size());
}

int64_t DeviceArrays::shared_lookups() const {
  MutexLock lock(&mu_);
  return shared_lookups_;
}

}  // namespace hawser::server
