// RunGpuBench: every workload and every ceiling, or exported programs, one
// after the other.
#ifndef HAWSER_TESTS_BENCH_GPU_GPU_BENCH_H_
#define HAWSER_TESTS_BENCH_GPU_GPU_BENCH_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "kernels/gpu/device/device_api.h"
#include "tests/bench/gpu/counting_device.h"
#include "tests/bench/gpu/workload_run.h"

namespace hawser::bench {

struct GpuBenchOptions {
  int64_t shrink = 1;  // of all sizes
  std::string only;    // what a name must contain
  // Files of exported programs, timed in place of the workloads.
  std::vector<std::string> programs;
  MeasureOptions measure;
  // What begins later is passed over.
  absl::Duration limit = absl::InfiniteDuration();
};

// What was found of one workload, or why nothing was.
struct GpuBenchLine {
  int row = 0;  // of the design's table; 0: none
  std::string name;
  std::string who;      // "hawser", "library" (one product), "copy"
  int64_t bytes = 0;    // that must pass through memory
  int64_t flops = 0;    // of products
  std::string skipped;  // why it was not tried; "": it was
  absl::Status status;
  Measured measured;
  absl::Duration compile, first_run;
  WorkCounts counts;    // of one run
  int64_t kernels = 0;  // that were compiled for it
  // Where an exported program's second run spends its time: what takes most,
  // pieces of one name and shape added up.
  std::vector<TimedWork> spent;
  // SummaryOf the first results of an exported program's first run.
  std::vector<std::string> values;
};

// A JSON object in one line.
std::string ToJson(const GpuBenchLine& line);

// Gives each line to `print` as soon as it is there. Errors: no engine on this
// device; what befalls a workload is in its line.
absl::Status RunGpuBench(std::unique_ptr<gpu::Device> device,
                         const GpuBenchOptions& options,
                         const std::function<void(const GpuBenchLine&)>& print);

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_GPU_GPU_BENCH_H_
