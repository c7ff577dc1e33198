#include "server/device.h"

#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "core/base/threads/thread_pool.h"
#include "kernels/cpu/client/cpu_client.h"
#include "kernels/cpu/evaluator.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/emu/emu_device.h"
#include "kernels/gpu/gpu_client.h"

namespace hawser::server {
namespace {

// Executions of up to about 200 us run on the thread that took the request: in
// a virtual machine a switch to another thread and back takes 60 us, and other
// requests of that thread wait no longer than this.
constexpr double kInlineCost = 200e3;

// Device `ordinal` of its kind, as `options` say.
struct DeviceChoice {
  const ComputeOptions& options;
  int ordinal = 0;
};

absl::StatusOr<ComputeDevice> MakeCpu(const DeviceChoice& choice) {
  const std::shared_ptr<cpu::CpuClient> client =
      cpu::MakeCpuClient(
          {.memory = choice.options.memory, .inline_cost = kInlineCost});
  return ComputeDevice{client,
                       [at = client.get()] { return at->live_buffers(); },
                       [at = client.get()] { at->LetGo(); }};
}

std::shared_ptr<runtime::HostEvaluator> HostFor(runtime::Numerics numerics) {
  cpu::CpuEvaluator::Options options;
  options.pool = &ThreadPool::OfProcess();
  options.numerics = numerics;
  return std::make_shared<cpu::CpuEvaluator>(options);
}

// An engine that has compiled something: one without its compiler would fail at
// the first request.
absl::StatusOr<ComputeDevice> MakeGpu(std::unique_ptr<gpu::Device> device,
                                      const ComputeOptions& options) {
  HAWSER_RETURN_IF_ERROR(
      device->Compile("probe", "HK_GLOBAL probe(float* x) {}", {}));
  HAWSER_ASSIGN_OR_RETURN(
      const std::shared_ptr<gpu::GpuClient> client,
      gpu::GpuClient::Make(std::move(device),
                           {.kernels = {.folder = options.kernel_cache},
                            .host = {HostFor(runtime::Numerics::kFast),
                                     HostFor(runtime::Numerics::kStrict)}}));
  return ComputeDevice{client,
                       [at = client.get()] { return at->live_buffers(); }};
}

absl::StatusOr<ComputeDevice> MakeCuda(const DeviceChoice& choice) {
  HAWSER_ASSIGN_OR_RETURN(
      std::unique_ptr<gpu::Device> device,
      cuda::MakeCudaDevice(choice.ordinal,
                           {.memory_limit = choice.options.device_memory,
                            .patience = choice.options.device_patience}));
  return MakeGpu(std::move(device), choice.options);
}

absl::StatusOr<ComputeDevice> MakeEmu(const DeviceChoice& choice) {
  emu::EmuOptions options;
  if (choice.options.device_memory > 0) {
    options.memory_bytes = choice.options.device_memory;
  }
  // Tests of what a fault does to a server use this.
  const char* const fault = std::getenv("HAWSER_EMU_FAULT_AT_STEP");
  if (fault != nullptr && !absl::SimpleAtoi(fault, &options.fault_at_step)) {
    return InvalidArgument("HAWSER_EMU_FAULT_AT_STEP=", fault, " is no number");
  }
  return MakeGpu(emu::MakeEmuDevice(options), choice.options);
}

struct DeviceRow {
  absl::string_view name;
  bool is_automatic;
  bool is_gpu;
  bool has_ordinals;
  absl::StatusOr<ComputeDevice> (*make)(const DeviceChoice& choice);
};

// In the order in which --device=auto tries them.
constexpr DeviceRow kDevices[] = {
    {"cuda", true, true, true, MakeCuda},
    {"cpu", true, false, false, MakeCpu},
    {"emu", false, true, false, MakeEmu},
};

// "cuda:1" is row cuda, 1; nullopt for an unknown row, or one without a number.
std::optional<std::pair<const DeviceRow*, int>> FindDevice(
    absl::string_view name) {
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(name, absl::MaxSplits(':', 1));
  const bool has_ordinal = absl::StrContains(name, ':');
  for (const DeviceRow& row : kDevices) {
    if (row.name != parts.first || (has_ordinal && !row.has_ordinals)) continue;
    uint32_t ordinal = 0;
    if (has_ordinal &&
        (!absl::SimpleAtoi(parts.second, &ordinal) || ordinal > 1000 ||
         !absl::ascii_isdigit(parts.second[0]))) {
      continue;
    }
    return std::make_pair(&row, static_cast<int>(ordinal));
  }
  return std::nullopt;
}

absl::StatusOr<ComputeDevice> MakeFirst(const ComputeOptions& options) {
  absl::Status last;
  for (const DeviceRow& row : kDevices) {
    if (!row.is_automatic) continue;
    absl::StatusOr<ComputeDevice> device = row.make({options});
    if (device.ok()) {
      if (options.device_memory > 0 && !row.is_gpu) {
        HAWSER_LOG(kWarning) << "--device_memory is not of " << row.name;
      }
      HAWSER_LOG(kInfo) << "computing on " << row.name;
      return device;
    }
    HAWSER_LOG(kInfo) << "no device " << row.name << ": "
                      << device.status().message();
    last = Annotate(device.status(), row.name);
  }
  return last;
}

}  // namespace

std::string DeviceNames() {
  std::vector<absl::string_view> names = {"auto"};
  for (const DeviceRow& row : kDevices) {
    names.push_back(row.name);
    if (row.has_ordinals) names.push_back("cuda:N");
  }
  return absl::StrJoin(names, ", ");
}

absl::StatusOr<ComputeDevice> MakeComputeDevice(const ComputeOptions& options) {
  if (options.device == "auto") return MakeFirst(options);
  const auto found = FindDevice(options.device);
  if (!found) {
    return InvalidArgument("--device=", options.device, " is none of ",
                           DeviceNames());
  }
  const auto& [row, ordinal] = *found;
  if (options.device_memory > 0 && !row->is_gpu) {
    return InvalidArgument("--device_memory is of a GPU, not of ", row->name);
  }
  absl::StatusOr<ComputeDevice> device = row->make({options, ordinal});
  if (device.ok()) return device;
  return Annotate(device.status(), options.device);
}

}  // namespace hawser::server
