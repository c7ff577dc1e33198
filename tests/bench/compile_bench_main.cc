// What it takes to get from a module to kernels for a GPU: planning and
// emitting, per instruction, from a hundred to a hundred thousand of them; and
// a training step's kernels by NVRTC, without a GPU.
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/status.h"
#include "kernels/cuda/compile/nvrtc.h"
#include "kernels/dialect/dialect.h"
#include "kernels/emu/emu_device.h"
#include "kernels/gpu/gpu_client.h"
#include "kernels/gpu/program/program.h"
#include "kernels/plan/plan.h"
#include "tests/kernels/gpu/forwarding_device.h"
#include "tests/kernels/plan/graphs.h"
#include "tests/testing/processes/temporary_folder.h"
#include "tests/testing/sample_modules.h"

namespace hawser {
namespace {

// ---- planning and emitting ------------------------------------------------

// Processor time of this thread alone: what others do to this machine is not
// ours.
double ThreadMicroseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 +
         static_cast<double>(now.tv_nsec) * 1e-3;
}

absl::Status PlanOnly(const Module& module, const plan::Target& target) {
  return plan::MakePlan(module, target).status();
}

absl::Status PlanAndEmit(const Module& module, const plan::Target& target) {
  HAWSER_ASSIGN_OR_RETURN(const plan::Plan plan,
                          plan::MakePlan(module, target));
  return gpu::MakeProgram(
             plan, {.multiprocessors = static_cast<int>(target.parallel_units)})
      .status();
}

using Work = absl::Status (*)(const Module&, const plan::Target&);

// Of the fastest of a few runs; -1 when it fails.
double MicrosecondsPerInstruction(Work work, const Module& module,
                                  const plan::Target& target) {
  double best = std::numeric_limits<double>::infinity();
  const int64_t instructions = module.num_instructions();
  const int64_t rounds = std::clamp<int64_t>(20000 / instructions, 3, 50);
  for (int64_t k = 0; k < rounds; ++k) {
    const double start = ThreadMicroseconds();
    if (!work(module, target).ok()) return -1;
    best = std::min(best, ThreadMicroseconds() - start);
  }
  return best / static_cast<double>(instructions);
}

void MeasureGrowth(const char* what, Work work, const char* graph,
                   const std::function<Module(int)>& make,
                   const plan::Target& target) {
  double smallest = 0;
  for (const int length : {100, 1000, 10000, 100000}) {
    const Module module = make(length);
    const double us = MicrosecondsPerInstruction(work, module, target);
    if (smallest == 0) smallest = us;
    std::printf(
        "%-13s %-6s %-4s %7lld instructions  %7.3f us each  "
        "ratio %.2f\n",
        what, graph, target.name.c_str(),
        static_cast<long long>(module.num_instructions()), us, us / smallest);
  }
}

// ---- NVRTC ----------------------------------------------------------------

// Compiles for an H100 and loads nothing; all else is another device's.
class CompilingDevice : public gpu::ForwardingDevice {
 public:
  CompilingDevice(std::unique_ptr<gpu::Device> device,
                  std::shared_ptr<const cuda::Nvrtc> nvrtc)
      : ForwardingDevice(std::move(device)),
        facts_(ForwardingDevice::facts()),
        nvrtc_(std::move(nvrtc)) {
    facts_.platform = "cuda";
    facts_.target = "sm_90";
    facts_.multiprocessors = 132;
  }

  const gpu::DeviceFacts& facts() const override { return facts_; }
  std::string compiler_id() const override { return nvrtc_->version(); }
  absl::StatusOr<gpu::KernelBinary> Compile(
      absl::string_view name, absl::string_view text,
      const gpu::CompileOptions& options) override {
    return nvrtc_->Compile(name, dialect::DeviceSource(name, std::string(text)),
                           facts_.target, options);
  }
  absl::StatusOr<gpu::KernelModule> LoadModule(absl::string_view) override {
    return gpu::KernelModule{++modules_};
  }
  absl::Status UnloadModule(gpu::KernelModule) override {
    return absl::OkStatus();
  }
  absl::StatusOr<gpu::Kernel> FindKernel(gpu::KernelModule,
                                         absl::string_view) override {
    return gpu::Kernel{++modules_};
  }

 private:
  gpu::DeviceFacts facts_;
  const std::shared_ptr<const cuda::Nvrtc> nvrtc_;
  std::atomic<uint64_t> modules_{0};
};

struct Compiling {
  double seconds = 0;
  gpu::KernelCache::Counts counts;
};

// By a client of its own, whose kernels are in `folder`.
absl::StatusOr<Compiling> Compile(const std::shared_ptr<const Module>& module,
                                  const std::shared_ptr<cuda::Nvrtc>& nvrtc,
                                  const std::string& folder) {
  gpu::GpuClientOptions options;
  options.kernels.folder = folder;
  HAWSER_ASSIGN_OR_RETURN(
      const auto client,
      gpu::GpuClient::Make(
          std::make_shared<CompilingDevice>(emu::MakeEmuDevice({}), nvrtc),
          options));
  Compiling compiling;
  const absl::Time start = absl::Now();
  HAWSER_RETURN_IF_ERROR(client->Compile(module, {}, {}).status());
  compiling.seconds = absl::ToDoubleSeconds(absl::Now() - start);
  compiling.counts = client->kernel_counts();
  return compiling;
}

absl::StatusOr<double> SecondsOfEmptyKernel(const cuda::Nvrtc& nvrtc) {
  const absl::Time start = absl::Now();
  HAWSER_RETURN_IF_ERROR(
      nvrtc
          .Compile("empty.cu",
                   dialect::DeviceSource("empty.cu", "HK_GLOBAL empty() {}"),
                   "sm_90", {})
          .status());
  return absl::ToDoubleSeconds(absl::Now() - start);
}

void PrintCompiling(const char* what, const Compiling& compiling,
                    double empty_seconds, double target_seconds) {
  std::printf(
      "%-22s %8.2f ms  %7.2f empty kernels  %6.3f of the target  "
      "(%lld compiled in %lld programs, %lld from disk)\n",
      what, compiling.seconds * 1e3, compiling.seconds / empty_seconds,
      compiling.seconds / target_seconds,
      static_cast<long long>(compiling.counts.compiled),
      static_cast<long long>(compiling.counts.programs),
      static_cast<long long>(compiling.counts.loaded));
}

Compiling Median(std::vector<Compiling> all) {
  std::sort(all.begin(), all.end(), [](const Compiling& a, const Compiling& b) {
    return a.seconds < b.seconds;
  });
  return all[all.size() / 2];
}

absl::Status MeasureCompiling() {
  const absl::Time start = absl::Now();
  HAWSER_ASSIGN_OR_RETURN(
      std::shared_ptr<cuda::Nvrtc> nvrtc,
      cuda::Nvrtc::Open(cuda::LibraryPlaces::FromEnvironment()));
  std::shared_ptr<const Module> step;
  for (plan::NamedGraph& graph : plan::KnownGraphs()) {
    if (graph.name != "mlp_train_step") continue;
    step = std::make_shared<const Module>(std::move(graph.module));
  }
  constexpr int kRounds = 7;
  std::vector<Compiling> cold, warm;
  Compiling first;
  for (int k = 0; k < kRounds; ++k) {
    const TemporaryFolder folder("/tmp");
    HAWSER_ASSIGN_OR_RETURN(Compiling compiling,
                            Compile(step, nvrtc, folder.path()));
    if (k == 0) {
      first = compiling;
      first.seconds = absl::ToDoubleSeconds(absl::Now() - start);
    }
    cold.push_back(compiling);
    HAWSER_ASSIGN_OR_RETURN(compiling, Compile(step, nvrtc, folder.path()));
    warm.push_back(compiling);
  }
  double empty = std::numeric_limits<double>::infinity();
  for (int k = 0; k < kRounds; ++k) {
    HAWSER_ASSIGN_OR_RETURN(const double seconds, SecondsOfEmptyKernel(*nvrtc));
    empty = std::min(empty, seconds);
  }
  std::printf("\nmlp_train_step for sm_90 by %s; an empty kernel: %.2f ms\n",
              nvrtc->version().c_str(), empty * 1e3);
  PrintCompiling("the process's first", first, empty, 1);
  PrintCompiling("cold, median", Median(cold), empty, 1);
  PrintCompiling("from disk, median", Median(warm), empty, 0.02);
  return absl::OkStatus();
}

}  // namespace
}  // namespace hawser

int main(int, char**) {
  using namespace hawser;
  for (const plan::Target& target : {plan::GpuTarget(), plan::CpuTarget()}) {
    MeasureGrowth("plan", PlanOnly, "chain", ChainModule, target);
    MeasureGrowth("plan", PlanOnly, "mixed", plan::MixedGraph, target);
  }
  MeasureGrowth("plan and emit", PlanAndEmit, "chain", ChainModule,
                plan::GpuTarget());
  MeasureGrowth("plan and emit", PlanAndEmit, "mixed", plan::MixedGraph,
                plan::GpuTarget());
  if (const absl::Status status = MeasureCompiling(); !status.ok()) {
    std::fprintf(stderr, "compile_bench: %s\n", status.ToString().c_str());
    return 1;
  }
  return 0;
}
