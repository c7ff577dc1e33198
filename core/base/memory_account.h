// MemoryAccount: what a process holds, by whom and for what, under one bound.
#ifndef HAWSER_CORE_BASE_MEMORY_ACCOUNT_H_
#define HAWSER_CORE_BASE_MEMORY_ACCOUNT_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/mutex.h"

namespace hawser {

// The purposes that memory is held for.
enum class MemoryUse : uint8_t {
  kSession,     // the state of a session, its failed values too
  kRequest,     // messages and calls that wait to be carried out
  kUpload,      // values that came from outside
  kValue,       // results and intermediate values of executions
  kExecutable,  // compiled modules with their constants
  kAnswer,      // answers that are not acknowledged
  kDataset,     // chunks and arrays of datasets
  kIndex,       // what is remembered of datasets: names, digests, tags, uploads
  kSpare,       // kept for the next use; the first to go
};
inline constexpr size_t kMemoryUses = 9;
absl::string_view MemoryUseName(MemoryUse use);

class MemoryAccount;

// A charge that is given back when it dies. Movable; not thread-safe.
class MemoryCharge {
 public:
  MemoryCharge() = default;  // of nothing
  MemoryCharge(MemoryCharge&& other) noexcept { *this = std::move(other); }
  MemoryCharge& operator=(MemoryCharge&& other) noexcept;
  ~MemoryCharge() { Reset(); }

  int64_t bytes() const { return bytes_; }
  void Reset();

 private:
  friend class MemoryHolder;
  std::shared_ptr<class MemoryHolder> holder_;
  MemoryUse use_ = MemoryUse::kSession;
  int64_t bytes_ = 0;
};

// A holder of memory: a tenant, one of its sessions, or a part of the server
// itself. Memory that a session holds is also counted for its tenant and for
// the account. Thread-safe; made by MemoryAccount and lives as long as a charge
// to it does.
class MemoryHolder : public std::enable_shared_from_this<MemoryHolder> {
 public:
  // Charges `bytes`. If they do not fit, memory that can be let go is let go
  // first: the caller holds no lock that a reclaimer takes. Errors:
  // kResourceExhausted naming the bound that is reached and what this holder's
  // tenant has of it.
  absl::StatusOr<MemoryCharge> Take(MemoryUse use, int64_t bytes);
  // Charges like Take, but lets nothing go: for callers with locks. An empty
  // charge says that it does not fit.
  MemoryCharge TryTake(MemoryUse use, int64_t bytes);
  // Charges without a look at the bound, for memory that is there already.
  MemoryCharge TakeAnyway(MemoryUse use, int64_t bytes);

  // A part of this one: a session of a tenant.
  std::shared_ptr<MemoryHolder> Part(std::string name);

  const std::string& name() const { return name_; }
  // Includes what its parts hold.
  int64_t held() const { return held_.load(std::memory_order_relaxed); }
  int64_t limit() const { return limit_; }

 private:
  friend class MemoryAccount;
  friend class MemoryCharge;
  MemoryHolder(std::shared_ptr<MemoryAccount> account,
               std::shared_ptr<MemoryHolder> parent, std::string name,
               int64_t limit);

  void Add(MemoryUse use, int64_t bytes);
  // False, and nothing is charged: a bound is in the way.
  bool AddWithin(MemoryUse use, int64_t bytes);
  MemoryCharge ChargeOf(MemoryUse use, int64_t bytes);
  absl::Status Refusal(MemoryUse use, int64_t bytes) const;

  const std::shared_ptr<MemoryAccount> account_;
  const std::shared_ptr<MemoryHolder> parent_;  // null: the account's own
  const std::string name_;
  const int64_t limit_;
  std::atomic<int64_t> held_{0};
  // Counts this holder alone, without its parts.
  std::array<std::atomic<int64_t>, kMemoryUses> uses_{};
};

using MemoryHolderPtr = std::shared_ptr<MemoryHolder>;

// Thread-safe.
class MemoryAccount : public std::enable_shared_from_this<MemoryAccount> {
 public:
  // `limit` bytes in all; a tenant holds at most three quarters of them. `hint`
  // says in refusals who sets the limit: " (--memory)".
  static std::shared_ptr<MemoryAccount> Make(int64_t limit,
                                             std::string hint = "");

  // The holder of a tenant's name; the same for as long as anything holds it.
  MemoryHolderPtr Tenant(absl::string_view name);
  // A part of the server, bounded by the account alone. One per name.
  MemoryHolderPtr Own(absl::string_view name);

  int64_t limit() const { return limit_; }
  int64_t held() const { return held_.load(std::memory_order_relaxed); }
  // The most that was held at a time.
  int64_t peak() const { return peak_.load(std::memory_order_relaxed); }

  // `let_go` frees what can be had again, about `bytes` of it or all, when
  // something else does not fit. Called on the thread that wants the memory,
  // one at a time, in the order of registration, for as long as `owner` lives:
  // a call keeps it alive, and it may die when the call is over.
  using LetGo = std::function<void(int64_t bytes)>;
  void OnPressure(std::weak_ptr<void> owner, LetGo let_go);
  // Lets go of about `bytes`.
  void Reclaim(int64_t bytes);

  // The holders of memory, the largest first.
  struct Row {
    std::string name;  // "tenant a", "tenant a session 17", "datasets"
    int64_t held = 0;
    std::array<int64_t, kMemoryUses> uses{};  // of it alone
  };
  std::vector<Row> Rows() const;
  // "held 12.0MiB of 512.0MiB, peak 40.0MiB: tenant a 12.0MiB (uploads ...)".
  std::string ToString() const;

 private:
  friend class MemoryHolder;
  struct Reclaimer {
    std::weak_ptr<void> owner;
    LetGo let_go;
  };

  MemoryAccount(int64_t limit, std::string hint)
      : limit_(limit), hint_(std::move(hint)) {}
  MemoryHolderPtr Find(absl::string_view name, int64_t limit);
  MemoryHolderPtr Register(MemoryHolderPtr holder);
  void NotePeak(int64_t held);

  const int64_t limit_;
  const std::string hint_;
  std::atomic<int64_t> held_{0};
  std::atomic<int64_t> peak_{0};
  mutable Mutex mu_;
  std::vector<std::weak_ptr<MemoryHolder>> holders_ ABSL_GUARDED_BY(mu_);
  size_t sweep_at_ ABSL_GUARDED_BY(mu_) = 64;  // holders_ has dead ones
  Mutex reclaim_mu_;
  std::vector<Reclaimer> reclaimers_ ABSL_GUARDED_BY(reclaim_mu_);
};

// Registers a function with MemoryAccount::OnPressure for as long as it lives.
// Its death waits for a call in progress, and so must not come from one.
class LetGoWhileAlive {
 public:
  // `account` may be null: then nothing is registered.
  LetGoWhileAlive(const std::shared_ptr<MemoryAccount>& account,
                  MemoryAccount::LetGo let_go);
  ~LetGoWhileAlive();
  LetGoWhileAlive(const LetGoWhileAlive&) = delete;
  LetGoWhileAlive& operator=(const LetGoWhileAlive&) = delete;

 private:
  struct State {
    Mutex mu;
    MemoryAccount::LetGo let_go ABSL_GUARDED_BY(mu);
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

// A charge that follows a count which changes often: it moves in steps of about
// an eighth of it, so that most changes cost nothing. Not thread-safe.
class MemoryTally {
 public:
  static constexpr int64_t kLeastStep = 4 << 10;
  static constexpr int64_t kMostStep = 64 << 10;
  // The step in which a charge that is to cover `bytes` grows.
  static int64_t StepOf(int64_t bytes);
  MemoryTally() = default;  // charges no holder
  MemoryTally(MemoryHolderPtr holder, MemoryUse use)
      : holder_(std::move(holder)), use_(use) {}

  // Charges for `bytes`, as TryTake does. False: that does not fit; what was
  // charged stays.
  bool Set(int64_t bytes);
  // The same for what is there already, without a look at the bound.
  void SetAnyway(int64_t bytes);

 private:
  MemoryHolderPtr holder_;
  MemoryUse use_ = MemoryUse::kSession;
  MemoryCharge charge_;
};

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_MEMORY_ACCOUNT_H_
