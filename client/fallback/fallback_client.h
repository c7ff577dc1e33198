// FallbackClient: one Client made of two. Work goes to the primary (a server);
// when that is gone the secondary (this machine) computes the same answer, and
// says so.
#ifndef HAWSER_CLIENT_FALLBACK_FALLBACK_CLIENT_H_
#define HAWSER_CLIENT_FALLBACK_FALLBACK_CLIENT_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "client/fallback/breaker.h"
#include "client/fallback/policy.h"
#include "client/fallback/recipe.h"
#include "core/base/alarm.h"
#include "core/base/gate.h"
#include "core/base/mutex.h"
#include "core/runtime/client.h"

namespace hawser {

struct FallbackStats {
  int64_t switches = 0;     // times the primary was given up
  int64_t secondary_runs = 0;  // executions and calls the secondary did
};

// Functions are pure, so a rerun is safe; values that only the primary had are
// made again from their recipes. Thread-safe. Buffers may outlive the client;
// then they say kFailedPrecondition. Not to be destroyed from a callback.
class FallbackClient : public runtime::Client {
 public:
  FallbackClient(std::shared_ptr<runtime::Client> primary,
                 std::shared_ptr<runtime::Client> secondary,
                 FallbackPolicy policy);
  ~FallbackClient() override { gate_->Close(); }

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
  // Keeps `source` (a shared value, or a mapped file) as the dataset's recipe.
  absl::StatusOr<DatasetInfo> PutDataset(
      const DatasetSource& source, const runtime::CallOptions& call) override;
  absl::StatusOr<DatasetInfo> StatDataset(
      absl::string_view token, const runtime::CallOptions& call) override;
  absl::StatusOr<runtime::BufferPtr> DatasetArray(
      absl::string_view token, absl::string_view array,
      const runtime::CallOptions& call) override;

  FallbackStats stats() const;

 private:
  friend class FallbackBuffer;
  friend class FallbackExecutable;

  // The primary's deadline for one attempt under `call`.
  absl::Time AttemptDeadline(const runtime::CallOptions& call) const;
  // `status` of something begun in `epoch`: opens the breaker if the link is
  // gone; returns whether the secondary takes over.
  bool GiveUp(const absl::Status& status, uint64_t epoch,
              const runtime::CallOptions& call);
  absl::Status Probe();
  absl::StatusOr<runtime::BufferPtr> DatasetOnSecondary(
      absl::string_view token, absl::string_view array);

  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  const std::shared_ptr<runtime::Client> primary_;
  const std::shared_ptr<runtime::Client> secondary_;
  const FallbackPolicy policy_;
  RecipeBook recipes_;
  std::atomic<int64_t> switches_{0};
  std::atomic<int64_t> secondary_runs_{0};
  mutable Mutex mu_;
  // Host sources by token, to put again on whoever needs them.
  std::map<std::string, DatasetSource, std::less<>> sources_
      ABSL_GUARDED_BY(mu_);
  Alarm timeouts_;  // never blocks
  Alarm worker_;    // follows recipes; may compile
  Breaker breaker_;  // last: its thread uses the rest
};

std::shared_ptr<FallbackClient> MakeFallbackClient(
    std::shared_ptr<runtime::Client> primary,
    std::shared_ptr<runtime::Client> secondary, FallbackPolicy policy = {});

}  // namespace hawser
#endif  // HAWSER_CLIENT_FALLBACK_FALLBACK_CLIENT_H_
