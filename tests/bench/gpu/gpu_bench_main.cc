// gpu_bench: the GPU engine's workloads, or the exported programs that it is
// given, timed in this process: a JSON object a line. See README.md.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "client/cli/command/command_line.h"
#include "core/base/status.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/emu/emu_device.h"
#include "tests/bench/gpu/gpu_bench.h"

namespace hawser::bench {
namespace {

// Not ABSL_FLAG: the bundle has other programs with flags of these names.
constexpr cli::Flag kFlags[] = {
    {"--device", "", "NAME", "cuda (the default), or emu: this machine"},
    {"--shrink", "", "N", "every size is divided by it"},
    {"--only", "", "TEXT", "workloads whose names contain this"},
    {"--seconds", "", "N", "what begins later is passed over; 120"},
};

// `otherwise` where the flag is not given.
absl::StatusOr<int64_t> CountOf(const cli::CommandLine& line,
                                absl::string_view flag, int64_t otherwise) {
  if (!line.Has(flag)) return otherwise;
  int64_t value = 0;
  if (!absl::SimpleAtoi(line.Get(flag), &value) || value < 1) {
    return InvalidArgument(flag, "=", line.Get(flag), " is no positive number");
  }
  return value;
}

absl::StatusOr<std::unique_ptr<gpu::Device>> MakeDevice(
    const std::string& name) {
  if (name == "cuda" || name.empty()) return cuda::MakeCudaDevice(0);
  if (name == "emu") return emu::MakeEmuDevice({});
  return InvalidArgument("--device=", name, " is neither cuda nor emu");
}

absl::Status Run(const std::vector<std::string>& words) {
  HAWSER_ASSIGN_OR_RETURN(const auto line,
                          cli::CommandLine::Parse(kFlags, words));
  GpuBenchOptions options;
  for (const std::string& word : line.words()) {
    if (!absl::EndsWith(word, ".mlir")) {
      return InvalidArgument("'", word, "' is no flag, and no .mlir file");
    }
    options.programs.push_back(word);
  }
  HAWSER_ASSIGN_OR_RETURN(options.shrink, CountOf(line, "--shrink", 1));
  HAWSER_ASSIGN_OR_RETURN(const int64_t seconds,
                          CountOf(line, "--seconds", 120));
  options.limit = absl::Seconds(seconds);
  options.only = line.Get("--only");
  HAWSER_ASSIGN_OR_RETURN(auto device, MakeDevice(line.Get("--device")));
  int timed = 0, skipped = 0, failed = 0;
  HAWSER_RETURN_IF_ERROR(
      RunGpuBench(std::move(device), options, [&](const GpuBenchLine& found) {
        std::puts(ToJson(found).c_str());
        std::fflush(stdout);
        ++(!found.skipped.empty() ? skipped
           : found.status.ok()    ? timed
                                  : failed);
      }));
  const std::string text =
      absl::StrCat(timed, " timed, ", skipped, " skipped, ", failed, " failed");
  if (failed > 0) return absl::InternalError(text);
  std::fprintf(stderr, "%s\n", text.c_str());
  return absl::OkStatus();
}

}  // namespace
}  // namespace hawser::bench

int main(int argc, char** argv) {
  const absl::Status status = hawser::bench::Run({argv + 1, argv + argc});
  if (status.ok()) return 0;
  std::fprintf(stderr, "gpu_bench: %s\n", status.ToString().c_str());
  return 1;
}
