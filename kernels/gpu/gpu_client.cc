#include "kernels/gpu/gpu_client.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ops/registry.h"
#include "core/runtime/drain.h"
#include "kernels/gpu/compile/compiled.h"
#include "kernels/gpu/gpu_buffer.h"
#include "kernels/gpu/gpu_executable.h"
#include "kernels/gpu/uploaded_arrays.h"

namespace hawser::gpu {

using runtime::BufferPtr;
using runtime::CallOptions;

namespace {

constexpr int kHashThreads = 4;

}  // namespace

GpuClient::GpuClient(std::shared_ptr<Device> device,
                     const GpuClientOptions& options)
    : HostDatasetClient(kHashThreads),
      options_(options),
      kernels_(std::move(device), options.kernels),
      arrays_(std::make_shared<UploadedArrays>()) {}

absl::StatusOr<std::shared_ptr<GpuClient>> GpuClient::Make(
    std::shared_ptr<Device> device, const GpuClientOptions& options) {
  std::shared_ptr<GpuClient> client(new GpuClient(device, options));
  HAWSER_ASSIGN_OR_RETURN(
      client->engine_,
      Engine::Make(std::move(device), client.get(), options.host));
  client->engine_->heap().OnShortMemory(
      [arrays = client->arrays_] { arrays->DropUnused(); });
  return client;
}

GpuClient::~GpuClient() {
  if (engine_ == nullptr) return;
  engine_->DropClient();
  arrays_->Clear();
  runtime::DrainClient(engine_->IsOwnThread(),
                       [engine = engine_] { engine->Drain(); });
}

absl::StatusOr<runtime::Capabilities> GpuClient::capabilities() {
  const DeviceFacts& facts = engine_->device().facts();
  runtime::Capabilities out;
  out.opset = kOpset;
  out.dtypes = kAnyDType;
  out.limits = options_.limits;
  out.platform = facts.platform;
  out.device = facts.name;
  out.engine_id = absl::StrCat(facts.platform, ", ", facts.target, ", ",
                               facts.name, ", ", facts.versions);
  out.memory_bytes = facts.memory_bytes;
  return out;
}

absl::Status GpuClient::Ping(const CallOptions& call) {
  HAWSER_RETURN_IF_ERROR(call.cancel.Check());
  return engine_->device().Health();
}

absl::StatusOr<std::shared_ptr<runtime::Executable>> GpuClient::Compile(
    std::shared_ptr<const Module> module,
    const runtime::CompileOptions& options, const CallOptions& call) {
  if (module == nullptr) return InvalidArgument("no module to compile");
  HAWSER_RETURN_IF_ERROR(call.cancel.Check());
  HAWSER_RETURN_IF_ERROR(Verify(*module, options_.limits));
  HAWSER_RETURN_IF_ERROR(engine_->device().Health());
  HAWSER_ASSIGN_OR_RETURN(
      Compiled compiled, CompileModule(*module, options.numerics, engine_.get(),
                                       &kernels_, call.cancel));
  return std::make_shared<GpuExecutable>(engine_, std::move(module),
                                         std::move(compiled), options.numerics,
                                         options_.graphs);
}

absl::StatusOr<BufferPtr> GpuClient::Upload(const Literal& value,
                                            const CallOptions& call) {
  if (!value.valid()) return InvalidArgument("no value to upload");
  HAWSER_RETURN_IF_ERROR(call.cancel.Check());
  HAWSER_RETURN_IF_ERROR(CheckBytes(value.shape(), value.bytes()));
  Future<DeviceValue> there = engine_->transfers().Upload(value);
  if (there.ready()) HAWSER_RETURN_IF_ERROR(there.Await().status());
  return std::make_shared<GpuBuffer>(engine_, value.shape(), std::move(there));
}

BufferPtr GpuClient::MakeBuffer(Literal value) {
  return std::make_shared<GpuBuffer>(engine_, std::move(value));
}

BufferPtr GpuClient::ArrayBuffer(const std::string& token,
                                 absl::string_view array, Literal value) {
  return arrays_->Get(engine_, token, array, value);
}

void GpuClient::OnDeleted(const std::string& token) { arrays_->Drop(token); }

int64_t GpuClient::live_buffers() const {
  return engine_->live_buffers.load() - arrays_->kept();
}

}  // namespace hawser::gpu
