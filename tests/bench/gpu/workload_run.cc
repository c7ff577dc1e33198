#include "tests/bench/gpu/workload_run.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/status.h"
#include "core/base/values/dtype.h"
#include "core/base/values/literal.h"

namespace hawser::bench {
namespace {

using runtime::BufferPtr;

// A device that hangs ends the workload, not the bench.
constexpr absl::Duration kPatience = absl::Minutes(1);
// Until graphs are captured and clocks are up.
constexpr int kWarmUpRuns = 4;
constexpr double kMaxRuns = 500;

absl::Status AwaitAll(const std::vector<BufferPtr>& values) {
  for (const BufferPtr& value : values) {
    HAWSER_RETURN_IF_ERROR(
        value->Ready({}).Await(absl::Now() + kPatience).status());
  }
  return absl::OkStatus();
}

absl::StatusOr<BufferPtr> RunOnce(absl::StatusOr<Module> module,
                                  absl::Span<const runtime::Argument> arguments,
                                  runtime::Client* client) {
  HAWSER_RETURN_IF_ERROR(module);
  HAWSER_ASSIGN_OR_RETURN(
      const auto executable,
      client->Compile(std::make_shared<const Module>(*std::move(module)), {},
                      {}));
  HAWSER_ASSIGN_OR_RETURN(auto results, executable->Execute(arguments, {}));
  HAWSER_RETURN_IF_ERROR(AwaitAll(results));
  return results[0];
}

}  // namespace

absl::StatusOr<BufferPtr> MakeRandom(const Input& input, uint32_t seed,
                                     runtime::Client* client) {
  return RunOnce(
      RandomModule(input.shape),
      {Literal::Scalar(seed), Literal::Scalar(static_cast<float>(input.scale))},
      client);
}

WorkloadRun::WorkloadRun(runtime::Client* client, int carried)
    : client_(client) {
  options_.donated.resize(carried);
  std::iota(options_.donated.begin(), options_.donated.end(), 0);
}

absl::StatusOr<WorkloadRun> WorkloadRun::Make(const Workload& workload,
                                              runtime::Client* client) {
  WorkloadRun run(client, workload.carried);
  for (const Input& input : workload.inputs) {
    const auto seed = static_cast<uint32_t>(run.arguments_.size() + 1);
    HAWSER_ASSIGN_OR_RETURN(BufferPtr made, MakeRandom(input, seed, client));
    run.arguments_.emplace_back(std::move(made));
  }
  return run;
}

absl::StatusOr<WorkloadRun> WorkloadRun::Make(
    absl::Span<const Literal> arguments, int carried, runtime::Client* client) {
  WorkloadRun run(client, carried);
  std::vector<BufferPtr> uploaded;
  for (const Literal& argument : arguments) {
    HAWSER_ASSIGN_OR_RETURN(BufferPtr made, client->Upload(argument, {}));
    uploaded.push_back(made);
    run.arguments_.emplace_back(std::move(made));
  }
  HAWSER_RETURN_IF_ERROR(AwaitAll(uploaded));
  return run;
}

absl::Status WorkloadRun::Compile(std::shared_ptr<const Module> module,
                                  runtime::Numerics numerics) {
  HAWSER_ASSIGN_OR_RETURN(
      executable_,
      client_->Compile(std::move(module), {.numerics = numerics}, {}));
  return absl::OkStatus();
}

absl::StatusOr<absl::Duration> WorkloadRun::Time(int runs) {
  const absl::Time start = absl::Now();
  for (int k = 0; k < runs; ++k) {
    results_.clear();
    HAWSER_ASSIGN_OR_RETURN(results_,
                            executable_->Execute(arguments_, options_));
    for (const int i : options_.donated) arguments_[i] = results_[i];
  }
  HAWSER_RETURN_IF_ERROR(AwaitAll(results_));
  return absl::Now() - start;
}

absl::StatusOr<std::vector<Literal>> WorkloadRun::FetchResults(
    size_t most) const {
  std::vector<Literal> values;
  for (size_t r = 0; r < std::min(most, results_.size()); ++r) {
    HAWSER_ASSIGN_OR_RETURN(
        Literal value, results_[r]->Fetch({}).Await(absl::Now() + kPatience));
    values.push_back(std::move(value));
  }
  return values;
}

absl::Status WorkloadRun::CheckFinite() const {
  for (size_t r = 0; r < results_.size(); ++r) {
    HAWSER_ASSIGN_OR_RETURN(
        const BufferPtr is_finite,
        RunOnce(FiniteModule(results_[r]->shape()), {results_[r]}, client_));
    HAWSER_ASSIGN_OR_RETURN(const Literal value, is_finite->Fetch({}).Await(
                                                     absl::Now() + kPatience));
    if (!value.data<bool>()[0]) {
      return absl::DataLossError(
          absl::StrCat("result ", r, " has elements that are not finite"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Measured> Measure(bool is_latency, const MeasureOptions& options,
                                 WorkloadRun* run) {
  const absl::Time end = absl::Now() + options.limit;
  Measured measured;
  HAWSER_ASSIGN_OR_RETURN(absl::Duration warm, run->Time(kWarmUpRuns));
  warm = std::max(warm / kWarmUpRuns, absl::Nanoseconds(1));
  measured.runs =
      is_latency ? 1
                 : static_cast<int>(std::clamp(
                       absl::FDivDuration(options.group, warm), 1.0, kMaxRuns));
  const int groups = is_latency ? options.single_runs : options.groups;
  std::vector<absl::Duration> times;
  for (int g = 0; g < groups && (g == 0 || absl::Now() < end); ++g) {
    HAWSER_ASSIGN_OR_RETURN(const absl::Duration time,
                            run->Time(measured.runs));
    times.push_back(time / measured.runs);
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2,
                   times.end());
  measured.run = times[times.size() / 2];
  return measured;
}

}  // namespace hawser::bench
