// WorkloadRun: a workload on a client, ready to be run and timed.
#ifndef HAWSER_TESTS_BENCH_GPU_WORKLOAD_RUN_H_
#define HAWSER_TESTS_BENCH_GPU_WORKLOAD_RUN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/values/literal.h"
#include "core/ir/module.h"
#include "core/runtime/client.h"
#include "tests/bench/gpu/workloads.h"

namespace hawser::bench {

// Random values of `input`, made where `client` computes.
absl::StatusOr<runtime::BufferPtr> MakeRandom(const Input& input, uint32_t seed,
                                              runtime::Client* client);

class WorkloadRun {
 public:
  // Makes the arguments; they are there when this returns.
  static absl::StatusOr<WorkloadRun> Make(const Workload& workload,
                                          runtime::Client* client);
  // Puts the arguments there; so many results are the first arguments of the
  // next run.
  static absl::StatusOr<WorkloadRun> Make(absl::Span<const Literal> arguments,
                                          int carried, runtime::Client* client);

  // Before it is run. `module` takes the arguments.
  absl::Status Compile(std::shared_ptr<const Module> module,
                       runtime::Numerics numerics);

  // Queues so many runs, one behind the other, each result dropped or carried
  // on at once, and waits for the last: how long that took. Errors: the first
  // of the last run's results.
  absl::StatusOr<absl::Duration> Time(int runs);

  // Of the last run.
  const std::vector<runtime::BufferPtr>& results() const { return results_; }
  absl::StatusOr<std::vector<Literal>> FetchResults(size_t most) const;
  // Errors: kDataLoss naming the first of them that is not finite.
  absl::Status CheckFinite() const;

 private:
  WorkloadRun(runtime::Client* client, int carried);

  runtime::Client* client_ = nullptr;
  std::shared_ptr<runtime::Executable> executable_;
  std::vector<runtime::Argument> arguments_;
  runtime::ExecuteOptions options_;  // donates what is carried
  std::vector<runtime::BufferPtr> results_;
};

// How long Measure may take, and how finely.
struct MeasureOptions {
  absl::Duration group = absl::Milliseconds(40);
  int groups = 9;
  int single_runs = 300;  // of a latency, in place of groups
  absl::Duration limit = absl::Seconds(4);
};

struct Measured {
  absl::Duration run;  // median over the groups
  int runs = 0;        // in a group
};

// Times `run` in groups of runs, after a few that do not count.
absl::StatusOr<Measured> Measure(bool is_latency, const MeasureOptions& options,
                                 WorkloadRun* run);

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_GPU_WORKLOAD_RUN_H_
