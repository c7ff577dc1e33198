#include "server/session/handle_table.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/base/status.h"

namespace hawser::server {
namespace {

// Measured, with a tenth more for what the allocator loses: an entry with its
// place in the table; the promise of one whose value is still to come; a buffer
// with its bytes' block and what it is charged to. tests/server/service/held
// compares them with what a server takes.
constexpr int64_t kEntryBytes = 256;
constexpr int64_t kPendingBytes = 288;
constexpr int64_t kBufferBytes = 640;
// A name of an array that was used. A program that uses more datasets than this
// at a time has them looked up again.
constexpr int64_t kUsedBytes = 256;
constexpr size_t kUsedKept = 4096;

absl::Status Unknown(uint64_t handle) {
  return NotFound("handle ", handle, " is not known in this session");
}

absl::Status Over() { return Unavailable("the session is over"); }

}  // namespace

HandleTable::~HandleTable() { Close(Over()); }

absl::Status HandleTable::WhatHolds(absl::string_view limit) const {
  uint64_t largest = 0;
  int64_t most = -1;
  for (const auto& [handle, entry] : entries_) {
    if (entry.bytes > most) {
      most = entry.bytes;
      largest = handle;
    }
  }
  const std::string top = most < 0
                              ? ""
                              : absl::StrCat(", the largest handle ", largest,
                                             " with ", most, " bytes");
  return ResourceExhausted("the session's limit of ", limit, ": it holds ",
                           entries_.size(), " values of ", bytes_, " bytes",
                           top);
}

int64_t HandleTable::StateOf(const Entry& entry) {
  int64_t bytes = kEntryBytes;
  if (entry.pending != nullptr) bytes += kPendingBytes;
  const auto& now = entry.value.now;
  if (!now.ok())
    return bytes + static_cast<int64_t>(now.status().message().size());
  return *now == nullptr ? bytes : bytes + kBufferBytes;
}

int64_t HandleTable::State(size_t more) const {
  return state_bytes_ +
         static_cast<int64_t>(more) * (kEntryBytes + kBufferBytes) +
         static_cast<int64_t>(used_.size()) * kUsedBytes;
}

void HandleTable::SetValue(Entry& entry, Value value) {
  state_bytes_ -= StateOf(entry);
  if (!value.now.ok()) {
    bytes_ -= entry.bytes;
    entry.bytes = 0;
  }
  entry.value = std::move(value);
  state_bytes_ += StateOf(entry);
}

absl::Status HandleTable::CheckNames(uint64_t first, size_t count) {
  if (count == 0) return absl::OkStatus();
  if (first == 0) return InvalidArgument("handle 0 is not a handle");
  if (count > std::numeric_limits<uint64_t>::max() - first) {
    return InvalidArgument("handles ", first, " and up do not fit in 64 bits");
  }
  MutexLock lock(&mu_);
  if (closed_) return Over();
  for (size_t i = 0; i < count; ++i) {
    if (!entries_.contains(first + i)) continue;
    return InvalidArgument("handle ", first + i,
                           " is in use; a handle is made once");
  }
  if (static_cast<int64_t>(entries_.size() + count) > limits_.handles) {
    return WhatHolds(absl::StrCat(limits_.handles, " handles"));
  }
  if (!state_.Set(State(count))) {
    return WhatHolds(absl::StrCat("memory for ", count, " handles more"));
  }
  return absl::OkStatus();
}

absl::Status HandleTable::CheckRoom(absl::Span<const Shape> shapes) const {
  int64_t wanted = 0;
  for (const Shape& shape : shapes) {
    const int64_t room = std::numeric_limits<int64_t>::max() - wanted;
    wanted += std::min(room, shape.byte_size());
  }
  MutexLock lock(&mu_);
  if (wanted <= limits_.bytes - bytes_) return absl::OkStatus();
  return WhatHolds(
      absl::StrCat(limits_.bytes, " bytes does not leave ", wanted, " more"));
}

void HandleTable::Insert(uint64_t handle, Value value, int64_t bytes) {
  MutexLock lock(&mu_);
  if (closed_) return;
  Entry& entry = entries_[handle];
  state_bytes_ += StateOf(entry);
  entry.bytes = bytes;
  bytes_ += bytes;
  SetValue(entry, std::move(value));
}

void HandleTable::Declare(uint64_t handle, const Shape& shape, bool streamed,
                          Value value) {
  MutexLock lock(&mu_);
  if (closed_) return;
  Entry& entry = entries_[handle];
  entry.bytes = shape.byte_size();
  bytes_ += entry.bytes;
  entry.pending = std::make_unique<Pending>();
  entry.pending->shape = shape;
  entry.pending->streamed = streamed;
  entry.value = std::move(value);
  entry.value.later = entry.pending->promise.future();
  state_bytes_ += StateOf(entry);
}

void HandleTable::DeclareUpload(uint64_t handle, const Shape& shape) {
  Declare(handle, shape, true, {});
}

void HandleTable::DeclareResult(uint64_t handle, const Shape& shape,
                                Future<bool> outcome, WantedPtr wanted) {
  Declare(handle, shape, false,
          {.outcome = std::move(outcome), .wanted = std::move(wanted)});
}

HandleTable::Entry HandleTable::Remove(Entries::iterator at) {
  bytes_ -= at->second.bytes;
  state_bytes_ -= StateOf(at->second);
  Entry out = std::move(at->second);
  entries_.erase(at);
  state_.SetAnyway(State(0));
  return out;
}

void HandleTable::Fill(uint64_t handle, Value value) {
  std::unique_ptr<Pending> pending;
  {
    MutexLock lock(&mu_);
    auto at = entries_.find(handle);
    if (at == entries_.end() || at->second.pending == nullptr) return;
    Entry& entry = at->second;
    state_bytes_ -= kPendingBytes;
    pending = std::move(entry.pending);
    entry.uploaded = pending->streamed && value.now.ok();
    SetValue(entry, value);
    if (pending->released) {
      Remove(at);
    } else {
      state_.SetAnyway(State(0));
    }
  }
  pending->promise.Set(std::move(value.now));
}

void HandleTable::Poison(uint64_t handle, const absl::Status& why) {
  Value old;
  {
    MutexLock lock(&mu_);
    auto at = entries_.find(handle);
    if (at == entries_.end()) return;
    if (at->second.pending == nullptr) {
      old = std::move(at->second.value);
      SetValue(at->second, Value{.now = why});
      return;
    }
  }
  Fill(handle, Value{.now = why});
}

absl::StatusOr<Value> HandleTable::Find(uint64_t handle) {
  MutexLock lock(&mu_);
  auto at = entries_.find(handle);
  if (at == entries_.end()) return closed_ ? Over() : Unknown(handle);
  Entry& entry = at->second;
  if (entry.pending != nullptr) {
    if (entry.pending->released) return Unknown(handle);
    entry.pending->awaited = true;
  }
  return entry.value;
}

void HandleTable::Release(absl::Span<const uint64_t> handles) {
  if (handles.empty()) return;
  std::vector<Entry> gone;
  MutexLock lock(&mu_);
  for (uint64_t handle : handles) {
    auto at = entries_.find(handle);
    if (at == entries_.end()) continue;
    Pending* pending = at->second.pending.get();
    if (pending != nullptr && pending->awaited) {
      pending->released = true;
    } else {
      gone.push_back(Remove(at));
    }
  }
}

absl::StatusOr<std::optional<Shape>> HandleTable::BeginUpload(uint64_t handle) {
  MutexLock lock(&mu_);
  auto at = entries_.find(handle);
  if (at == entries_.end()) return closed_ ? Over() : Unknown(handle);
  if (at->second.uploaded) return std::nullopt;
  Pending* pending = at->second.pending.get();
  if (pending == nullptr || !pending->streamed) {
    return InvalidArgument("handle ", handle,
                           " is not declared as a streamed upload");
  }
  if (pending->uploading) {
    return Unavailable("another upload is filling handle ", handle);
  }
  pending->uploading = true;
  return std::optional<Shape>(pending->shape);
}

void HandleTable::FinishUpload(uint64_t handle,
                               absl::StatusOr<runtime::BufferPtr> buffer) {
  if (buffer.ok()) {
    Fill(handle, Value{.now = std::move(buffer)});
    return;
  }
  MutexLock lock(&mu_);
  auto at = entries_.find(handle);
  if (at == entries_.end() || at->second.pending == nullptr) return;
  at->second.pending->uploading = false;
}

std::shared_ptr<const void> HandleTable::FindUsed(
    absl::string_view name) const {
  MutexLock lock(&mu_);
  const auto at = used_.find(name);
  return at == used_.end() ? nullptr : at->second;
}

void HandleTable::KeepUsed(std::string name, std::shared_ptr<const void> used) {
  UsedThings forgotten;  // dies after the lock
  MutexLock lock(&mu_);
  if (closed_) return;
  if (used_.size() >= kUsedKept) forgotten.swap(used_);
  used_.insert_or_assign(std::move(name), std::move(used));
}

void HandleTable::Close(const absl::Status& why) {
  UsedThings used;
  Entries entries;
  {
    MutexLock lock(&mu_);
    closed_ = true;
    entries.swap(entries_);
    used.swap(used_);
    bytes_ = 0;
    state_bytes_ = 0;
    state_.SetAnyway(0);
  }
  for (auto& [handle, entry] : entries) {
    if (entry.pending != nullptr) entry.pending->promise.Set(why);
  }
}

int64_t HandleTable::num_handles() const {
  MutexLock lock(&mu_);
  return static_cast<int64_t>(entries_.size());
}

int64_t HandleTable::bytes() const {
  MutexLock lock(&mu_);
  return bytes_;
}

}  // namespace hawser::server
