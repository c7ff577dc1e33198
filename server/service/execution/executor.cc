#include "server/service/execution/executor.h"

#include <algorithm>
#include <utility>

#include "core/base/log.h"
#include "core/base/random.h"
#include "core/base/status.h"
#include "core/base/threads/cpu_threads.h"
#include "core/ir/module.h"
#include "core/wire/codec.h"

namespace hawser::server {
namespace {

// Executions at a time. A CPU has use for one on each core. A GPU computes one
// at a time, and a second one is to follow without a gap.
int RunningAtOnce(int wanted, const runtime::Capabilities& device) {
  if (wanted > 0) return wanted;
  constexpr int kFewest = 2;
  if (device.platform != "cpu") return kFewest;
  return std::max(CpuThreads(), kFewest);
}

// Returns the part of `all` that one tenant may have.
template <typename T>
T PartOf(T all, const ExecutorOptions& options) {
  return options.several_tenants ? std::max<T>(all / 4, 1) : all;
}

SessionTableOptions SessionOptions(const ExecutorOptions& options) {
  SessionTableOptions sessions = options.sessions;
  sessions.tenant_sessions = PartOf(sessions.sessions, options);
  sessions.memory = options.memory;
  return sessions;
}

// The limit of one execution when tenants share the device.
constexpr absl::Duration kRunLimit = absl::Minutes(30);
// A wait for the device that the log tells of.
constexpr absl::Duration kLongWait = absl::Minutes(1);
// Nothing began, paused or ended for so long though something waited.
constexpr absl::Duration kStuck = absl::Minutes(2);
// The memory of a compiled module (tests/server/service/held measures it): by
// itself, by its bytes, most of which are constants that have a copy, and by
// instruction, whether it joins a kernel of others or is a step of its own.
constexpr int64_t kExecutableBytes = 10 << 10;
constexpr double kExecutableByte = 2.75;
constexpr int64_t kJoinedBytes = 400;
constexpr int64_t kStepBytes = 2800;

int64_t ProgramBytes(const Module& module) {
  int64_t bytes = 0;
  for (const Computation& computation : module.computations()) {
    for (const Instruction& instruction : computation.instructions()) {
      const bool joins = (instruction.op->traits &
                          (kElementwise | kDataMovement | kNullary)) != 0;
      bytes += joins ? kJoinedBytes : kStepBytes;
    }
  }
  return bytes;
}

}  // namespace

Executor::Executor(std::shared_ptr<runtime::Client> device,
                   runtime::Capabilities capabilities, DatasetStore* datasets,
                   ExecutorOptions options)
    : device(std::move(device)),
      datasets(datasets),
      capabilities(std::move(capabilities)),
      queue(std::make_shared<DeviceQueue>(DeviceQueue::Options{
          .running = RunningAtOnce(options.running, this->capabilities),
          .waiting = options.waiting,
          .waiting_of_tenant = PartOf(options.waiting, options)})),
      instance_id(RandomNumber()),
      version(std::move(options.version)),
      run_limit(options.run_limit),
      memory(options.memory),
      sessions(SessionOptions(options)),
      executables(options.executables),
      arrays(this->device, datasets, &workers, options.device_arrays_bytes),
      turns(1),
      workers(options.workers),
      let_go_(memory, [this](int64_t bytes) {
        executables.LetGo();
        arrays.LetGoAll();
      }) {}

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
  Shutdown();
  turns.Stop();
}

void Executor::Sweep() {
  sessions.Sweep();
  absl::Duration limit = run_limit;
  if (limit == absl::ZeroDuration()) {
    limit = sessions.tenants() > 1 ? kRunLimit : absl::InfiniteDuration();
  }
  queue->EndLongerThan(limit);
  WatchLine();
  arrays.Sweep();
}

void Executor::WatchLine() {
  const DeviceQueue::Line line = queue->Look("");
  stuck_ = line.oldest > kStuck && line.quiet > kStuck;
  if (line.oldest < kLongWait) {
    long_wait_said_ = absl::ZeroDuration();
    return;
  }
  // At a minute, two, four, ...
  if (line.oldest < 2 * long_wait_said_) return;
  long_wait_said_ = line.oldest;
  HAWSER_LOG(kWarning) << line.waiting
                       << " executions wait for the device, the oldest for "
                       << absl::FormatDuration(
                              absl::Trunc(line.oldest, absl::Seconds(1)))
                       << "; " << queue->WhatRuns();
}

void Executor::Shutdown() {
  sessions.EndAll(Unavailable("the server is stopping"));
}

absl::StatusOr<Executor::ExecutablePtr> Executor::Make(
    absl::string_view tenant, absl::string_view module,
    const runtime::CompileOptions& options, const runtime::CallOptions& call) {
  struct Held {
    MemoryCharge bytes, program;
    ExecutablePtr executable;
  };
  auto held = std::make_shared<Held>();
  MemoryHolderPtr payer;
  if (memory != nullptr) {
    payer = memory->Tenant(tenant);
    const double bytes = kExecutableByte * static_cast<double>(module.size());
    HAWSER_ASSIGN_OR_RETURN(
        held->bytes,
        payer->Take(MemoryUse::kExecutable,
                    kExecutableBytes + static_cast<int64_t>(bytes)));
  }
  HAWSER_ASSIGN_OR_RETURN(Module decoded,
                          DecodeModule(module, capabilities.limits));
  if (payer != nullptr) {
    HAWSER_ASSIGN_OR_RETURN(held->program, payer->Take(MemoryUse::kExecutable,
                                                       ProgramBytes(decoded)));
  }
  HAWSER_ASSIGN_OR_RETURN(
      held->executable,
      device->Compile(std::make_shared<const Module>(std::move(decoded)),
                      options, call));
  return ExecutablePtr(held, held->executable.get());
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
  HAWSER_ASSIGN_OR_RETURN(ExecutablePtr executable,
                          Make(tenant, module, compile, call));
  return executables.Add(tenant, fingerprint, std::move(executable));
}

}  // namespace hawser::server
