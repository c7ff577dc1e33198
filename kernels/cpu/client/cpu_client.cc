#include "kernels/cpu/client/cpu_client.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/threads/cpu_threads.h"
#include "core/ops/registry.h"
#include "core/runtime/drain.h"
#include "kernels/cpu/client/client_state.h"
#include "kernels/cpu/client/cpu_buffer.h"
#include "kernels/cpu/client/cpu_executable.h"
#include "kernels/cpu/lanes/lanes.h"
#include "kernels/cpu/lanes/sleef.h"
#include "kernels/cpu/libraries/libraries.h"

namespace hawser::cpu {
namespace {

using runtime::BufferPtr;
using runtime::CallOptions;

int ThreadsOf(const CpuClientOptions& options) {
  return options.threads > 0 ? options.threads : CpuThreads();
}

// The name that the kernel has for this processor, or "cpu".
std::string ProcessorName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    return std::string(absl::StripAsciiWhitespace(line.substr(colon + 1)));
  }
  return "cpu";
}

// Elementary functions depend on the set of instructions and on SLEEF, products
// on their libraries.
std::string EngineId() {
  const Libraries products = Libraries::OfProcess();
  std::string id = absl::StrCat("cpu, ", IsaName(ProcessIsa()));
  absl::StrAppend(
      &id, ", ",
      products.blas == nullptr ? "own products" : products.blas->name);
  if (products.convolutions != nullptr)
    absl::StrAppend(&id, ", ", products.convolutions->name());
  absl::StrAppend(&id, Sleef::OfProcess().is_there() ? ", SLEEF 3" : "");
  return id;
}

}  // namespace

CpuClient::CpuClient(const CpuClientOptions& options)
    : HostDatasetClient(ThreadsOf(options)),
      options_(options),
      state_(std::make_shared<ClientState>(
          this, options.threads,
          options.memory == nullptr ? HostAllocator::Make(options.memory_limit)
                                    : HostAllocator::Make(options.memory),
          options.inline_cost)) {}

CpuClient::~CpuClient() {
  state_->client = nullptr;
  runtime::DrainClient(state_->pool.IsOwnThread(),
                       [state = state_] { state->Drain(); });
}

absl::StatusOr<runtime::Capabilities> CpuClient::capabilities() {
  runtime::Capabilities out;
  out.opset = kOpset;
  out.dtypes = kAnyDType;
  out.limits = options_.limits;
  out.platform = "cpu";
  const int cores = CpuThreads();
  out.device = absl::StrCat(
      ProcessorName(), ", ", cores, cores == 1 ? " core, " : " cores, ",
      IsaName(ProcessIsa()), Sleef::OfProcess().is_there() ? "" : ", no SLEEF");
  out.engine_id = EngineId();
  out.memory_bytes = MachineMemoryBytes();
  return out;
}

absl::StatusOr<std::shared_ptr<runtime::Executable>> CpuClient::Compile(
    std::shared_ptr<const Module> module,
    const runtime::CompileOptions& options, const CallOptions& call) {
  if (module == nullptr) return InvalidArgument("no module to compile");
  HAWSER_RETURN_IF_ERROR(call.cancel.Check());
  HAWSER_RETURN_IF_ERROR(Verify(*module, options_.limits));
  HAWSER_ASSIGN_OR_RETURN(PlannedProgram program,
                          PlannedProgram::Make(*module, options.numerics));
  const double cost = program.cost();
  return std::make_shared<CpuExecutable>(
      state_, std::move(module), std::move(program), cost, options.numerics);
}

absl::StatusOr<BufferPtr> CpuClient::Upload(const Literal& value,
                                            const CallOptions& call) {
  if (!value.valid()) return InvalidArgument("no value to upload");
  HAWSER_RETURN_IF_ERROR(call.cancel.Check());
  HAWSER_RETURN_IF_ERROR(CheckBytes(value.shape(), value.bytes()));
  HAWSER_ASSIGN_OR_RETURN(
      Literal aligned,
      state_->allocator->Aligned(value, call.cancel, call.memory));
  return std::make_shared<CpuBuffer>(state_, value.shape(),
                                     Future<Literal>(std::move(aligned)));
}

absl::StatusOr<Literal> CpuClient::Keep(const Literal& value) {
  return state_->allocator->Aligned(value);
}

BufferPtr CpuClient::MakeBuffer(Literal value) {
  const Shape shape = value.shape();
  return std::make_shared<CpuBuffer>(state_, shape,
                                     Future<Literal>(std::move(value)));
}

int64_t CpuClient::live_buffers() const { return state_->live_buffers.load(); }
void CpuClient::LetGo() { state_->allocator->LetGo(); }
int64_t CpuClient::live_bytes() const {
  return state_->allocator->live_bytes();
}

std::shared_ptr<CpuClient> MakeCpuClient(const CpuClientOptions& options) {
  return std::make_shared<CpuClient>(options);
}

}  // namespace hawser::cpu
