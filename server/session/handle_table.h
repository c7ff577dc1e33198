// HandleTable: the values that the handles of one session stand for.
#ifndef HAWSER_SERVER_SESSION_HANDLE_TABLE_H_
#define HAWSER_SERVER_SESSION_HANDLE_TABLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/memory_account.h"
#include "core/base/mutex.h"
#include "core/base/threads/cancel.h"
#include "core/base/threads/future.h"
#include "core/base/values/shape.h"
#include "core/runtime/client.h"

namespace hawser::server {

// Held by each handle and step that wants results of one execution; stops the
// execution when the last of them lets go. An execution that has ended is not
// affected.
class Wanted {
 public:
  explicit Wanted(CancelToken work) : work_(std::move(work)) {}
  ~Wanted() { work_.Cancel(); }
  Wanted(const Wanted&) = delete;
  Wanted& operator=(const Wanted&) = delete;

 private:
  const CancelToken work_;
};
using WantedPtr = std::shared_ptr<const Wanted>;

// The value that a handle stands for. A copy keeps the buffer alive.
struct Value {
  // The buffer, or the first cause why there is none. Meaningless while `later`
  // is valid.
  absl::StatusOr<runtime::BufferPtr> now = runtime::BufferPtr();
  // Valid: the buffer itself is still to come (a streamed upload, a dataset
  // being read, or a step that waits for one of these).
  Future<runtime::BufferPtr> later;
  // Valid: the execution that makes the value had not ended when it got its
  // handle. Completes with true, or with the first cause in its final words.
  Future<bool> outcome;
  // Set for such an execution: keeps it wanted as long as the value lives.
  WantedPtr wanted;
};

// Handles are made by the client and never used twice. Thread-safe: requests
// come one at a time, but executions end and side streams fill on any thread.
class HandleTable {
 public:
  struct Limits {
    int64_t handles = int64_t{1} << 20;
    int64_t bytes = int64_t{1} << 62;
  };
  // The table itself is charged to `memory`; null: to nothing. The values in it
  // are charged by what makes them.
  explicit HandleTable(const Limits& limits, MemoryHolderPtr memory = nullptr)
      : limits_(limits), state_(std::move(memory), MemoryUse::kSession) {}
  ~HandleTable();

  // Checks that `count` handles from `first` on may be made. Errors:
  // kInvalidArgument naming the one that is 0 or in use, kResourceExhausted.
  absl::Status CheckNames(uint64_t first, size_t count);
  // Checks that values of these shapes may be kept. Errors: kResourceExhausted
  // saying what holds the space.
  absl::Status CheckRoom(absl::Span<const Shape> shapes) const;

  // These follow a CheckNames of the same request. In a closed table they do
  // nothing.
  void Insert(uint64_t handle, Value value, int64_t bytes);
  // The buffer comes later: by an Upload, or by the Fill of the execution
  // whose outcome this is.
  void DeclareUpload(uint64_t handle, const Shape& shape);
  void DeclareResult(uint64_t handle, const Shape& shape, Future<bool> outcome,
                     WantedPtr wanted = nullptr);

  // Gives a declared handle its buffer or the reason why it has none.
  void Fill(uint64_t handle, Value value);
  // The execution behind `handle` failed: `why` takes the place of what was
  // there or to come.
  void Poison(uint64_t handle, const absl::Status& why);

  // Errors: kNotFound.
  absl::StatusOr<Value> Find(uint64_t handle);
  // Unknown handles are fine: donated ones are released again.
  void Release(absl::Span<const uint64_t> handles);

  // ---- arrays of datasets that the session has used, by a name of its own:
  // kept also when the dataset is deleted. Null: not used yet.
  std::shared_ptr<const void> FindUsed(absl::string_view name) const;
  // The last few thousand names stay.
  void KeepUsed(std::string name, std::shared_ptr<const void> used);

  // ---- side streams
  // The caller alone fills `handle` until FinishUpload. Returns its shape, or
  // nothing for a repeat: the value is there already.
  // Errors: kNotFound, kInvalidArgument (not declared as streamed),
  // kUnavailable (another upload fills it).
  absl::StatusOr<std::optional<Shape>> BeginUpload(uint64_t handle);
  // The value, or not OK to let another attempt begin.
  void FinishUpload(uint64_t handle, absl::StatusOr<runtime::BufferPtr> buffer);

  // Frees everything, now and for ever; what is still to come fails with
  // `why`.
  void Close(const absl::Status& why);

  int64_t num_handles() const;
  int64_t bytes() const;

 private:
  // The state of a declared handle, until Fill.
  struct Pending {
    Promise<runtime::BufferPtr> promise;
    Shape shape;
    bool streamed = false;
    bool uploading = false;
    bool awaited = false;  // a step waits for it, so it outlives its release
    bool released = false;
  };
  struct Entry {
    Value value;
    int64_t bytes = 0;
    bool uploaded = false;  // by a side stream, so a repeat of that is fine
    std::unique_ptr<Pending> pending;
  };
  using Entries = absl::flat_hash_map<uint64_t, Entry>;
  using UsedThings =
      absl::flat_hash_map<std::string, std::shared_ptr<const void>>;

  void Declare(uint64_t handle, const Shape& shape, bool streamed, Value value);
  absl::Status WhatHolds(absl::string_view limit) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns what an entry is charged as, besides the bytes of its value.
  static int64_t StateOf(const Entry& entry);
  // Returns the charge of the table with `more` values.
  int64_t State(size_t more) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SetValue(Entry& entry, Value value) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Takes the entry out; the caller destroys it outside the lock.
  Entry Remove(Entries::iterator at) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const Limits limits_;
  mutable Mutex mu_;
  Entries entries_ ABSL_GUARDED_BY(mu_);
  int64_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t state_bytes_ ABSL_GUARDED_BY(mu_) = 0;  // StateOf all entries
  MemoryTally state_ ABSL_GUARDED_BY(mu_);
  UsedThings used_ ABSL_GUARDED_BY(mu_);
  bool closed_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SESSION_HANDLE_TABLE_H_
