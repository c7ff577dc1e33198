#include "server/device.h"

#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "kernels/cpu/cpu_client.h"
#include "kernels/cpu/evaluator.h"
#include "kernels/cuda/cuda_device.h"
#include "kernels/emu/emu_device.h"
#include "kernels/gpu/gpu_client.h"

namespace hawser::server {
namespace {

// Executions of up to some 200 us run on the thread that took the request: in a
// virtual machine the way to another one and back takes 60 us, and so much
// longer do others on that thread wait at most.
constexpr double kInlineCost = 1 << 19;

absl::StatusOr<ComputeDevice> MakeCpu(const ComputeOptions& options) {
  const std::shared_ptr<cpu::CpuClient> client =
      cpu::MakeCpuClient(
          {.memory = options.memory, .inline_cost = kInlineCost});
  return ComputeDevice{client,
                       [at = client.get()] { return at->live_buffers(); },
                       [at = client.get()] { at->LetGo(); }};
}

std::shared_ptr<runtime::HostEvaluator> HostFor(runtime::Numerics numerics) {
  cpu::CpuEvaluator::Options options;
  options.numerics = numerics;
  return std::make_shared<cpu::CpuEvaluator>(options);
}

// The engine on a device, once that has compiled something: without its
// compiler it would fail at the first request.
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

absl::StatusOr<ComputeDevice> MakeCuda(const ComputeOptions& options) {
  HAWSER_ASSIGN_OR_RETURN(std::unique_ptr<gpu::Device> device,
                          cuda::MakeCudaDevice(0));
  return MakeGpu(std::move(device), options);
}

absl::StatusOr<ComputeDevice> MakeEmu(const ComputeOptions& options) {
  return MakeGpu(emu::MakeEmuDevice({}), options);
}

struct DeviceRow {
  absl::string_view name;
  bool is_automatic;
  absl::StatusOr<ComputeDevice> (*make)(const ComputeOptions& options);
};

// In the order in which --device=auto tries them.
constexpr DeviceRow kDevices[] = {
    {"cuda", true, MakeCuda},
    {"cpu", true, MakeCpu},
    {"emu", false, MakeEmu},
};

absl::StatusOr<ComputeDevice> MakeFirst(const ComputeOptions& options) {
  absl::Status last;
  for (const DeviceRow& row : kDevices) {
    if (!row.is_automatic) continue;
    absl::StatusOr<ComputeDevice> device = row.make(options);
    if (device.ok()) {
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
  for (const DeviceRow& row : kDevices) names.push_back(row.name);
  return absl::StrJoin(names, ", ");
}

absl::StatusOr<ComputeDevice> MakeComputeDevice(const ComputeOptions& options) {
  if (options.device == "auto") return MakeFirst(options);
  for (const DeviceRow& row : kDevices) {
    if (row.name != options.device) continue;
    absl::StatusOr<ComputeDevice> device = row.make(options);
    if (device.ok()) return device;
    return Annotate(device.status(), row.name);
  }
  return InvalidArgument("--device=", options.device, " is none of ",
                         DeviceNames());
}

}  // namespace hawser::server
