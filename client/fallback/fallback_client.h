// FallbackClient: one Client made of two. Work goes to the primary (a server);
// when that is gone the secondary (this machine) computes the same answer, and
// says so.
#ifndef HAWSER_CLIENT_FALLBACK_FALLBACK_CLIENT_H_
#define HAWSER_CLIENT_FALLBACK_FALLBACK_CLIENT_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "client/fallback/attempt.h"
#include "client/fallback/breaker.h"
#include "client/fallback/policy.h"
#include "client/fallback/recipe.h"
#include "core/base/alarm.h"
#include "core/base/cancel.h"
#include "core/base/gate.h"
#include "core/base/mutex.h"
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
  // Keeps `source` (a shared value, or a mapped file) as the dataset's recipe.
  absl::StatusOr<DatasetInfo> PutDataset(
      const DatasetSource& source, const runtime::CallOptions& call) override;
  absl::StatusOr<DatasetInfo> StatDataset(
      absl::string_view token, const runtime::CallOptions& call) override;
  absl::StatusOr<runtime::BufferPtr> DatasetArray(
      absl::string_view token, absl::string_view array,
      const runtime::CallOptions& call) override;
  absl::StatusOr<runtime::BufferPtr> DatasetRows(
      absl::string_view token, absl::string_view array, const RowRange& rows,
      const runtime::CallOptions& call) override;
  // Straight from the primary where it can give it.
  absl::Status FetchDataset(absl::string_view token, absl::string_view array,
                            const std::optional<RowRange>& rows,
                            absl::Span<char> into,
                            const runtime::CallOptions& call) override;
  // While the primary is away: what is known here.
  absl::StatusOr<DatasetPage> ListDatasets(
      const DatasetQuery& query, const runtime::CallOptions& call) override;
  // While the primary is away: here at once, there when it is back. Errors:
  // those of the link for a token that is not known here then.
  absl::Status DeleteDataset(absl::string_view token,
                             const runtime::CallOptions& call) override;
  // A dataset that was made on the primary is a recipe's root: values up to the
  // policy's checkpoint_bytes come over in the background, to be its source;
  // others are kDataLoss while the primary is away.
  // Pins and tags are kept by the primary; while it is away, kUnavailable.
  absl::StatusOr<DatasetInfo> PinDataset(
      absl::string_view token, absl::Duration ttl,
      const runtime::CallOptions& call) override;
  absl::Status TagDataset(const DatasetTag& tag,
                          const runtime::CallOptions& call) override;
  absl::StatusOr<DatasetUsage> QueryUsage(
      const runtime::CallOptions& call) override;
  absl::StatusOr<DatasetInfo> FreezeDataset(
      absl::Span<const runtime::NamedArgument> arrays,
      const runtime::CallOptions& call) override;

  FallbackStats stats() const;

 private:
  friend class FallbackBuffer;
  friend class FallbackExecutable;

  static absl::Status Gone();

  // A try at the primary on behalf of `call`, unless the breaker is open.
  Attempt Begin(const runtime::CallOptions& call) const;
  // The same for large values: the policy's timeout is meant for steps.
  Attempt BeginTransfer(const runtime::CallOptions& call) const;
  // `status` of something the primary did in `attempt`: opens the breaker if
  // the link is gone; returns whether the secondary takes over.
  bool GiveUp(const absl::Status& status, const Attempt& attempt);
  // Why something is not on the primary in `epoch`.
  absl::Status Missing(uint64_t epoch) const;
  void Announce(const absl::Status& why);
  absl::Status Probe();
  // Whether the last probe has seen all changes to datasets.
  bool Settled();

  // fallback_datasets.cc: the part at `where`, put there first if only its
  // source is known.
  absl::StatusOr<runtime::BufferPtr> FindDataset(
      runtime::Client& where, const DatasetPart& part,
      const runtime::CallOptions& call);
  // The source of a dataset that is to be put again, until DonePutting; none:
  // it is not known or being deleted.
  std::optional<DatasetSource> BeginPutting(const std::string& token);
  void DonePutting(const std::string& token);
  // Until EndDeleting no call puts it again; waits for calls that do, within the
  // token of `call`. Errors: what that says when it expires.
  absl::Status BeginDeleting(const std::string& token,
                             const runtime::CallOptions& call);
  void EndDeleting(const std::string& token);
  absl::Status DeleteEverywhere(const std::string& token,
                                const runtime::CallOptions& call);
  absl::StatusOr<runtime::BufferPtr> DatasetOnSecondary(
      const DatasetPart& part);
  absl::StatusOr<runtime::BufferPtr> OpenDataset(
      DatasetPart part, const runtime::CallOptions& call);
  // `found`, or kDataLoss for a dataset that was made and is not found.
  absl::Status NotThere(absl::string_view token, const absl::Status& found);
  void KeepSource(const std::string& token, DatasetSource source);
  void KeepSourceLocked(const std::string& token, DatasetSource source)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // After a change that `attempt` could make here only: makes it on the primary
  // too if that is back, since its probe may not have seen the change.
  void CatchUp(
      const Attempt& attempt, const runtime::CallOptions& call,
      absl::FunctionRef<absl::Status(const runtime::CallOptions&)> change);
  // What only the primary knows.
  template <typename T>
  absl::StatusOr<T> AskPrimary(
      const runtime::CallOptions& call,
      absl::FunctionRef<absl::StatusOr<T>(const runtime::CallOptions&)> ask);

  // fallback_freeze.cc
  using NamedArguments = std::vector<runtime::NamedArgument>;
  absl::StatusOr<NamedArguments> FreezableOnPrimary(
      absl::Span<const runtime::NamedArgument> arrays, const Attempt& attempt,
      const runtime::CallOptions& call);
  absl::StatusOr<NamedArguments> FreezableOnSecondary(
      absl::Span<const runtime::NamedArgument> arrays);
  void RememberFrozen(const std::string& token);
  // Fetches the values of a frozen dataset, to be its source.
  void FetchSource(const std::string& token, const NamedArguments& arrays);

  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  const std::shared_ptr<runtime::Client> primary_;
  const std::shared_ptr<runtime::Client> secondary_;
  const FallbackPolicy policy_;
  const CancelToken probing_ = CancelToken::WithFlag();
  RecipeBook recipes_;
  std::atomic<int64_t> switches_{0};
  std::atomic<int64_t> secondary_runs_{0};
  mutable Mutex mu_;
  // Host sources by token, to put again on whoever needs them.
  std::map<std::string, DatasetSource, std::less<>> sources_
      ABSL_GUARDED_BY(mu_);
  // Tokens of datasets that were made of values, not put.
  std::set<std::string, std::less<>> frozen_ ABSL_GUARDED_BY(mu_);
  // Here, and still to be deleted on the primary.
  std::set<std::string, std::less<>> deleted_ ABSL_GUARDED_BY(mu_);
  // Tokens, once for each call that puts one again, and that deletes one.
  std::multiset<std::string> putting_ ABSL_GUARDED_BY(mu_);
  std::multiset<std::string> deleting_ ABSL_GUARDED_BY(mu_);
  CondVar put_again_;  // putting_ has one less
  // Of sources_ and deleted_: all there were, and those that a probe has seen.
  int64_t changes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t probed_ ABSL_GUARDED_BY(mu_) = 0;
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
