// ScriptedClient: a primary that computes on a CpuClient and fails on command.
#ifndef HAWSER_TESTS_CLIENT_FALLBACK_SCRIPTED_CLIENT_H_
#define HAWSER_TESTS_CLIENT_FALLBACK_SCRIPTED_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "core/base/mutex.h"
#include "core/runtime/client.h"

namespace hawser {

// Behaves like a remote client: a value of an earlier life is kUnavailable, a
// poisoned argument poisons the results, a donated buffer is refused.
class ScriptedClient : public runtime::Client {
 public:
  struct Counts {
    int compiles = 0, executions = 0, uploads = 0, puts = 0, pings = 0;
    int64_t sent_bytes = 0;  // of datasets
    std::vector<std::string> deleted;  // tokens it was asked to delete
  };

  ScriptedClient();
  ~ScriptedClient() override;

  // ---- the script -----------------------------------------------------------
  void GoAway();
  // After so many more executions were queued.
  void GoAwayAfter(int executions);
  // With nothing of what it had.
  void ComeBack();
  // Execute succeeds while it is away; its results carry the error.
  void PoisonWhenAway();
  // What the next Execute or Call returns, or the error its results carry.
  void FailNext(const absl::Status& why);
  void PoisonNext(const absl::Status& why);
  // Compile of modules of this name.
  void Refuse(const std::string& module, const absl::Status& why);
  void RefuseDatasets(const absl::Status& why);
  // Once, at the beginning of the next PutDataset.
  void BeforeNextPut(std::function<void()> call);
  // Fetches and calls are kept without an answer, until told to.
  void Hold();
  void Answer(const absl::Status& with);
  int held() const;
  Counts counts() const;

  // ---- runtime::Client ------------------------------------------------------
  std::string name() const override { return "server"; }
  absl::StatusOr<runtime::Capabilities> capabilities() override;
  absl::Status Ping(const runtime::CallOptions& call) override;
  absl::StatusOr<std::shared_ptr<runtime::Executable>> Compile(
      std::shared_ptr<const Module> module,
      const runtime::CompileOptions& options,
      const runtime::CallOptions& call) override;
  absl::StatusOr<runtime::BufferPtr> Upload(
      const Literal& value, const runtime::CallOptions& call) override;
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
  absl::StatusOr<DatasetPage> ListDatasets(
      const DatasetQuery& query, const runtime::CallOptions& call) override;
  absl::Status DeleteDataset(absl::string_view token,
                             const runtime::CallOptions& call) override;
  absl::StatusOr<DatasetInfo> FreezeDataset(
      absl::Span<const runtime::NamedArgument> arrays,
      const runtime::CallOptions& call) override;

  struct State;

 private:
  const std::shared_ptr<State> state_;
};

}  // namespace hawser
#endif  // HAWSER_TESTS_CLIENT_FALLBACK_SCRIPTED_CLIENT_H_
