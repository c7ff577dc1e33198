// FallbackClient: one Client made of two. Work goes to the primary (a server);
// when that is gone the secondary (this machine) computes the same answer, and
// says so.
#ifndef HAWSER_CLIENT_FALLBACK_FALLBACK_CLIENT_H_
#define HAWSER_CLIENT_FALLBACK_FALLBACK_CLIENT_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/time/time.h"
#include "client/fallback/attempt.h"
#include "client/fallback/breaker.h"
#include "client/fallback/fallback_datasets.h"
#include "client/fallback/policy.h"
#include "client/recipes/place.h"
#include "client/recipes/recipe.h"
#include "core/base/mutex.h"
#include "core/base/threads/alarm.h"
#include "core/base/threads/cancel.h"
#include "core/base/threads/gate.h"
#include "core/runtime/client.h"

namespace hawser {

struct FallbackStats {
  int64_t switches = 0;        // times the link to the primary was given up
  int64_t secondary_runs = 0;  // executions and calls the secondary did
  int64_t recipe_bytes = 0;    // host bytes held for recipes now
};

// Functions are pure, so a rerun is safe; values that only the primary had are
// made again from their recipes. Thread-safe. Buffers and executables may
// outlive the client; then they say kFailedPrecondition. The destructor waits
// for calls that are inside, and ends pending fetches with kCancelled unless
// the primary still answers them. It may run in the callback of a future.
class FallbackClient : public runtime::Client {
 public:
  FallbackClient(std::shared_ptr<runtime::Client> primary,
                 std::shared_ptr<runtime::Client> secondary,
                 FallbackPolicy policy);
  ~FallbackClient() override;

  std::string name() const override;
  // The primary's, or the secondary's while the primary is away.
  absl::StatusOr<runtime::Capabilities> capabilities() override;
  absl::Status Ping(const runtime::CallOptions& call) override;
  absl::StatusOr<std::shared_ptr<runtime::Executable>> Compile(
      std::shared_ptr<const Module> module,
      const runtime::CompileOptions& options,
      const runtime::CallOptions& call) override;
  absl::StatusOr<runtime::BufferPtr> Upload(
      const Literal& value, const runtime::CallOptions& call) override;
  runtime::Datasets& datasets() override { return datasets_; }
  // Gives what is in this process alone to the policy's on_unsent. For the end
  // of a process whose clients are not destroyed.
  void GiveUnsent() { datasets_.GiveUnsent(); }

  FallbackStats stats() const;

 private:
  friend class FallbackBuffer;
  friend class FallbackDatasets;
  friend class FallbackExecutable;

  static absl::Status Gone();

  // A try at the primary on behalf of `call`, unless the breaker is open.
  Attempt Begin(const runtime::CallOptions& call) const;
  // The same for large values: the policy's timeout is meant for steps.
  Attempt BeginTransfer(const runtime::CallOptions& call) const;
  // `status` of something the primary did in `attempt`: opens the breaker if
  // the link is gone; returns whether the secondary takes over.
  bool GiveUp(const absl::Status& status, const Attempt& attempt);
  // Returns why something is not on the primary in `epoch`.
  absl::Status Missing(uint64_t epoch) const;
  void Announce(const absl::Status& why);
  absl::Status Probe();

  // The primary as a place, for what `attempt` of `call` needs there.
  Place PrimaryPlace(const Attempt& attempt, const runtime::CallOptions& call);
  // True if the primary may do what it did not do in `attempt`: it was not
  // asked, or has gone since. If false, it would only say the same again.
  bool MayDiffer(const Attempt& attempt) const;
  // For what only the primary can do, as `why` says: returns once it is there.
  // Blocks: to the caller's deadline, or for all waits of `call` together as
  // long as the policy says. Errors: those of `call`; kUnavailable by the
  // policy; both say `why`.
  absl::Status AwaitPrimary(PatientCall* call, const absl::Status& why) const;
  // The same without waiting: `then` gets the call again, on the worker, or an
  // error on any thread. Called inside the gate; `then` is not.
  void WhenPrimaryIsBack(
      PatientCall call, const absl::Status& why,
      std::function<void(const absl::StatusOr<PatientCall>&)> then);
  // Expires when `call` is to wait no longer; sets its end.
  CancelToken BeginWaiting(PatientCall* call) const;

  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  const std::shared_ptr<runtime::Client> primary_;
  const std::shared_ptr<runtime::Client> secondary_;
  const FallbackPolicy policy_;
  const CancelToken probing_ = CancelToken::WithFlag();
  RecipeBook recipes_;
  FallbackDatasets datasets_{this, policy_.keep_dataset_sources};
  std::atomic<int64_t> switches_{0};
  std::atomic<int64_t> secondary_runs_{0};
  mutable Mutex mu_;
  // The last refusal, if the policy takes refusals over.
  absl::Status refusal_ ABSL_GUARDED_BY(mu_);
  absl::Time quiet_until_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();
  Alarm worker_;     // follows recipes; may compile
  Breaker breaker_;  // last: its thread uses the rest
};

// `call` for a client that has all the time the caller has.
runtime::CallOptions WithoutAttempt(const runtime::CallOptions& call);
// `call` for something that blocks and must end with the attempt.
runtime::CallOptions Bounded(const runtime::CallOptions& call,
                             const Attempt& attempt);

std::shared_ptr<FallbackClient> MakeFallbackClient(
    std::shared_ptr<runtime::Client> primary,
    std::shared_ptr<runtime::Client> secondary, FallbackPolicy policy = {});

}  // namespace hawser
#endif  // HAWSER_CLIENT_FALLBACK_FALLBACK_CLIENT_H_
