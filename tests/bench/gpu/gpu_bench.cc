#include "tests/bench/gpu/gpu_bench.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/status.h"
#include "kernels/gpu/gpu_client.h"
#include "nlohmann/json.hpp"
#include "tests/bench/gpu/ceilings.h"
#include "tests/bench/gpu/programs/exported_program.h"
#include "tests/bench/gpu/workloads.h"

namespace hawser::bench {
namespace {

struct ProductRow {
  int row;
  const char* name;
  DType dtype;
  int size;  // in 4096
  gpu::GemmPrecision precision;
};
// By the names of the workloads that they bound.
constexpr ProductRow kProducts[] = {
    {5, "gemm_bf16_4096", DType::kBF16, 1, gpu::GemmPrecision::kFull},
    {5, "gemm_bf16_8192", DType::kBF16, 2, gpu::GemmPrecision::kFull},
    {6, "gemm_tf32_8192", DType::kF32, 2, gpu::GemmPrecision::kTf32},
    {6, "gemm_f32_8192", DType::kF32, 2, gpu::GemmPrecision::kFull},
};
constexpr size_t kSummaries = 8;  // results of a program that are compared
constexpr size_t kSpent = 12;     // pieces of its time that are listed
constexpr int64_t kCopyBytes = int64_t{1} << 30;

// Adds up what has one name, "12 of NAME"; the `kSpent` longest of these.
std::vector<TimedWork> LongestOf(const std::vector<TimedWork>& times) {
  std::map<std::string, std::pair<int, double>> sums;
  for (const TimedWork& work : times) {
    ++sums[work.name].first;
    sums[work.name].second += work.us;
  }
  std::vector<TimedWork> longest;
  for (const auto& [name, sum] : sums) {
    longest.push_back({absl::StrCat(sum.first, " of ", name), sum.second});
  }
  std::sort(longest.begin(), longest.end(),
            [](const auto& a, const auto& b) { return a.us > b.us; });
  longest.resize(std::min(longest.size(), kSpent));
  return longest;
}

class GpuBench {
 public:
  using Print = std::function<void(const GpuBenchLine&)>;

  GpuBench(std::shared_ptr<CountingDevice> device,
           std::shared_ptr<gpu::GpuClient> client,
           const GpuBenchOptions& options, const Print& print)
      : device_(std::move(device)),
        client_(std::move(client)),
        options_(options),
        end_(absl::Now() + options.limit),
        print_(print) {}

  void Run() {
    for (const std::string& path : options_.programs) RunProgram(path);
    if (!options_.programs.empty()) return;
    RunCopy();
    for (const ProductRow& row : kProducts) RunProduct(row);
    for (const Workload& workload : Workloads(options_.shrink)) {
      RunWorkload(workload);
    }
  }

 private:
  // Fills `line` in by `measure` where its name is asked for and time is left.
  void Finish(GpuBenchLine line,
              const std::function<absl::Status(GpuBenchLine*)>& measure) {
    if (!absl::StrContains(line.name, options_.only)) return;
    if (absl::Now() < end_) {
      line.status = measure(&line);
    } else {
      line.skipped = "no time left";
    }
    print_(line);
  }

  void RunCopy() {
    const int64_t bytes =
        std::max<int64_t>(kCopyBytes / options_.shrink / options_.shrink, 256);
    Finish({.name = "copy", .who = "copy", .bytes = 2 * bytes},
           [&](GpuBenchLine* line) -> absl::Status {
             HAWSER_ASSIGN_OR_RETURN(line->measured.run,
                                     TimeCopy(device_.get(), bytes));
             return absl::OkStatus();
           });
  }

  void RunProduct(const ProductRow& row) {
    const int64_t size = row.size * Shrunk(4096, options_.shrink);
    Finish({.row = row.row,
            .name = row.name,
            .who = "library",
            .bytes = 3 * size * size * ByteWidth(row.dtype),
            .flops = 2 * size * size * size},
           [&](GpuBenchLine* line) -> absl::Status {
             HAWSER_ASSIGN_OR_RETURN(
                 line->measured.run,
                 TimeProduct(device_.get(), client_.get(), row.dtype, size,
                             row.precision));
             return absl::OkStatus();
           });
  }

  void RunWorkload(const Workload& workload) {
    Finish({.row = workload.row, .name = workload.name, .who = "hawser"},
           [&](GpuBenchLine* line) { return Fill(workload, line); });
  }

  absl::Status Fill(const Workload& workload, GpuBenchLine* line) {
    HAWSER_ASSIGN_OR_RETURN(Module traced, ModuleOf(workload));
    const auto module = std::make_shared<const Module>(std::move(traced));
    HAWSER_ASSIGN_OR_RETURN(WorkloadRun run,
                            WorkloadRun::Make(workload, client_.get()));
    HAWSER_RETURN_IF_ERROR(RunFirst(module, workload.numerics, &run, line));
    HAWSER_ASSIGN_OR_RETURN(
        line->measured, Measure(workload.is_latency, options_.measure, &run));
    return run.CheckFinite();
  }

  void RunProgram(const std::string& path) {
    Finish(
        {.name = std::filesystem::path(path).stem().string(), .who = "hawser"},
        [&](GpuBenchLine* line) { return FillProgram(path, line); });
  }

  absl::Status FillProgram(const std::string& path, GpuBenchLine* line) {
    HAWSER_ASSIGN_OR_RETURN(const ExportedProgram program,
                            ReadExportedProgram(path));
    HAWSER_ASSIGN_OR_RETURN(
        WorkloadRun run,
        WorkloadRun::Make(program.arguments, program.carried, client_.get()));
    HAWSER_RETURN_IF_ERROR(
        RunFirst(program.module, program.numerics, &run, line));
    HAWSER_ASSIGN_OR_RETURN(const std::vector<Literal> results,
                            run.FetchResults(kSummaries));
    for (const Literal& result : results) {
      line->values.push_back(SummaryOf(result));
    }
    device_->StartTiming();
    HAWSER_RETURN_IF_ERROR(run.Time(1));
    HAWSER_ASSIGN_OR_RETURN(const std::vector<TimedWork> times,
                            device_->TakeTimes());
    line->spent = LongestOf(times);
    HAWSER_ASSIGN_OR_RETURN(line->measured,
                            Measure(false, options_.measure, &run));
    return absl::OkStatus();
  }

  absl::Status RunFirst(const std::shared_ptr<const Module>& module,
                        runtime::Numerics numerics, WorkloadRun* run,
                        GpuBenchLine* line) {
    line->bytes = IdealBytes(*module);
    line->flops = ProductFlops(*module);
    const int64_t kernels = client_->kernel_counts().compiled;
    const absl::Time start = absl::Now();
    HAWSER_RETURN_IF_ERROR(run->Compile(module, numerics));
    line->compile = absl::Now() - start;
    line->kernels = client_->kernel_counts().compiled - kernels;
    device_->TakeCounts();
    HAWSER_ASSIGN_OR_RETURN(line->first_run, run->Time(1));
    line->counts = device_->TakeCounts();
    return absl::OkStatus();
  }

  const std::shared_ptr<CountingDevice> device_;
  const std::shared_ptr<gpu::GpuClient> client_;
  const GpuBenchOptions& options_;
  const absl::Time end_;
  const Print& print_;
};

}  // namespace

std::string ToJson(const GpuBenchLine& line) {
  using Json = nlohmann::ordered_json;
  Json json = Json::object({{"row", line.row},
                            {"name", line.name},
                            {"who", line.who},
                            {"bytes", line.bytes},
                            {"flops", line.flops}});
  if (!line.skipped.empty()) {
    json["skipped"] = line.skipped;
  } else if (!line.status.ok()) {
    json["error"] = line.status.ToString();
  } else {
    json["us"] = absl::ToDoubleMicroseconds(line.measured.run);
    if (line.who == "hawser") {
      json["runs"] = line.measured.runs;
      json["first_us"] = absl::ToDoubleMicroseconds(line.first_run);
      json["compile_ms"] = absl::ToDoubleMilliseconds(line.compile);
      json["detail"] = {{"kernels", line.kernels},
                        {"launches", line.counts.launches},
                        {"products", line.counts.products},
                        {"copies", line.counts.copies}};
    }
    for (const TimedWork& work : line.spent) {
      json["spent"].push_back({work.name, work.us});
    }
    for (const std::string& value : line.values) {
      json["values"].push_back(Json::parse(value));
    }
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

absl::Status RunGpuBench(
    std::unique_ptr<gpu::Device> device, const GpuBenchOptions& options,
    const std::function<void(const GpuBenchLine&)>& print) {
  const auto counted = std::make_shared<CountingDevice>(std::move(device));
  HAWSER_ASSIGN_OR_RETURN(const std::shared_ptr<gpu::GpuClient> client,
                          gpu::GpuClient::Make(counted, {}));
  GpuBench(counted, client, options, print).Run();
  return absl::OkStatus();
}

}  // namespace hawser::bench
