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
#include "core/runtime/datasets.h"

namespace hawser {

// Behaves like a remote client: a value of an earlier life is kUnavailable, a
// poisoned argument poisons the results, a donated buffer is refused.
class ScriptedClient : public runtime::Client, private runtime::Datasets {
 public:
  struct Counts {
    int compiles = 0, executions = 0, uploads = 0, puts = 0, pings = 0;
    int fetches = 0;
    int64_t sent_bytes = 0;  // of datasets
    std::vector<std::string> deleted;  // tokens it was asked to delete
  };

  ScriptedClient();
  ~ScriptedClient() override;

  // ---- the script -----------------------------------------------------------
  void GoAway();
  // After so many more executions were queued.
  void GoAwayAfter(int executions);
  // With nothing of what it had, but for datasets if it keeps them.
  void ComeBack();
  // Whether datasets are on a disk.
  void KeepDatasets(bool keep);
  // Execute succeeds while it is away; its results carry the error.
  void PoisonWhenAway();
  // What the next Execute or Call returns, or the error its results carry.
  void FailNext(const absl::Status& why);
  void PoisonNext(const absl::Status& why);
  // Compile of modules of this name.
  void Refuse(const std::string& module, const absl::Status& why);
  void RefuseDatasets(const absl::Status& why);
  // Once, at the beginning of the next Put.
  void BeforeNextPut(std::function<void()> call);
  // Fetches and calls are kept without an answer, until told to.
  void Hold();
  void AnswerHeld(const absl::Status& with);
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
  runtime::Datasets& datasets() override { return *this; }

  struct State;

 private:
  absl::StatusOr<DatasetInfo> Put(const DatasetSource& source,
                                  const runtime::CallOptions& call) override;
  absl::StatusOr<runtime::BufferPtr> Open(
      const DatasetPart& part, const runtime::CallOptions& call) override;
  absl::StatusOr<DatasetInfo> Freeze(
      absl::Span<const runtime::NamedArgument> arrays,
      const runtime::CallOptions& call) override;
  absl::StatusOr<DatasetAnswer> Answer(
      const DatasetVerb& verb, const runtime::CallOptions& call) override;

  const std::shared_ptr<State> state_;
};

}  // namespace hawser
#endif  // HAWSER_TESTS_CLIENT_FALLBACK_SCRIPTED_CLIENT_H_
