#include "server/service/executor.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "core/base/random.h"
#include "core/base/status.h"
#include "core/ir/module.h"
#include "core/wire/codec.h"

namespace hawser::server {
namespace {

// A CPU has use for one on each core. A GPU computes one thing at a time, and
// a second one is to follow without a gap.
int RunningAtOnce(int wanted, const runtime::Capabilities& device) {
  if (wanted > 0) return wanted;
  constexpr int kFewest = 2;
  if (device.platform != "cpu") return kFewest;
  return std::max(static_cast<int>(std::thread::hardware_concurrency()),
                  kFewest);
}

}  // namespace

Executor::Executor(std::shared_ptr<runtime::Client> device,
                   runtime::Capabilities capabilities, DatasetStore* datasets,
                   ExecutorOptions options)
    : device(std::move(device)),
      datasets(datasets),
      capabilities(std::move(capabilities)),
      queue(std::make_shared<DeviceQueue>(
          RunningAtOnce(options.running, this->capabilities), options.waiting)),
      instance_id(RandomNumber()),
      version(std::move(options.version)),
      sessions(std::move(options.sessions)),
      executables(options.executables),
      arrays(this->device, datasets, &workers, options.device_arrays_bytes),
      turns(1),
      workers(options.workers) {}

absl::StatusOr<std::unique_ptr<Executor>> Executor::Create(
    std::shared_ptr<runtime::Client> device, DatasetStore* datasets,
    ExecutorOptions options) {
  HAWSER_ASSIGN_OR_RETURN(runtime::Capabilities capabilities,
                          device->capabilities());
  return std::unique_ptr<Executor>(new Executor(std::move(device),
                                                std::move(capabilities),
                                                datasets, std::move(options)));
}

Executor::~Executor() {
  sessions.EndAll(Unavailable("the server is stopping"));
  turns.Stop();
}

absl::StatusOr<Executor::ExecutablePtr> Executor::FindExecutable(
    absl::string_view tenant, const Digest& fingerprint) {
  if (ExecutablePtr known = executables.Find(tenant, fingerprint)) {
    return known;
  }
  return NotFound("fingerprint ", fingerprint.ToHex(),
                  " is not known; send the module");
}

absl::StatusOr<Executor::ExecutablePtr> Executor::CompileModule(
    absl::string_view tenant, const Digest& fingerprint,
    absl::string_view module, const v1::CompileOptionsProto& options,
    const runtime::CallOptions& call) {
  HAWSER_ASSIGN_OR_RETURN(const runtime::CompileOptions compile,
                          FromProto(options));
  if (static_cast<int64_t>(module.size()) > capabilities.limits.bytes) {
    return ResourceExhausted("the module has ", module.size(),
                             " bytes, the most is ", capabilities.limits.bytes);
  }
  if (Fingerprint(module, compile) != fingerprint) {
    return InvalidArgument("fingerprint ", fingerprint.ToHex(),
                           " is not that of the module and options sent (",
                           Fingerprint(module, compile).ToHex(), ")");
  }
  if (ExecutablePtr known = executables.Join(tenant, fingerprint)) {
    return known;
  }
  HAWSER_ASSIGN_OR_RETURN(Module decoded,
                          DecodeModule(module, capabilities.limits));
  HAWSER_ASSIGN_OR_RETURN(
      ExecutablePtr executable,
      device->Compile(std::make_shared<const Module>(std::move(decoded)),
                      compile, call));
  return executables.Add(tenant, fingerprint, std::move(executable));
}

}  // namespace hawser::server
