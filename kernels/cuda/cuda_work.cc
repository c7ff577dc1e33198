// Kernels and matrix products of the CUDA device.
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/strip.h"
#include "kernels/cuda/cuda_device_impl.h"
#include "kernels/dialect/dialect.h"

namespace hawser::cuda {

absl::Status CudaDevice::Record(StreamState& stream, Step step,
                                absl::Status status) {
  if (stream.capture != nullptr) {
    if (status.ok()) stream.capture->steps.push_back(step);
    stream.capture->status.Update(status);
  }
  return status;
}

// ---- kernels --------------------------------------------------------------

absl::StatusOr<gpu::KernelBinary> CudaDevice::Compile(
    absl::string_view name, absl::string_view text,
    const gpu::CompileOptions& options) {
  HAWSER_RETURN_IF_ERROR(compiler_.nvrtc);
  HAWSER_ASSIGN_OR_RETURN(gpu::KernelBinary binary,
                          (*compiler_.nvrtc)
                              ->Compile(name, dialect::DeviceSource(name, text),
                                        facts_.target, options));
  binary.bytes = absl::StrCat(compiler_.id, "\n", binary.bytes);
  return binary;
}

absl::StatusOr<gpu::KernelModule> CudaDevice::LoadModule(
    absl::string_view bytes) {
  HAWSER_RETURN_IF_ERROR(Enter());
  if (!absl::ConsumePrefix(&bytes, compiler_.id) ||
      !absl::ConsumePrefix(&bytes, "\n")) {
    return InvalidArgument("kernels that ", compiler_.id, " did not compile");
  }
  const std::string code(bytes);  // PTX must end with a NUL
  cudaLibrary_t library = nullptr;
  HAWSER_RETURN_IF_ERROR(
      health_->Check(cudaLibraryLoadData(&library, code.c_str(), nullptr,
                                         nullptr, 0, nullptr, nullptr, 0),
                     "cudaLibraryLoadData"));
  auto module = std::make_shared<LoadedModule>();
  module->library.reset(library);
  return gpu::KernelModule{modules_.Add(std::move(module))};
}

absl::Status CudaDevice::UnloadModule(gpu::KernelModule module) {
  HAWSER_RETURN_IF_ERROR(Enter());
  HAWSER_ASSIGN_OR_RETURN(const auto loaded, modules_.Take(module.value));
  MutexLock lock(&loaded->mu);
  for (const auto& [name, kernel] : loaded->kernels) {
    kernels_.Take(kernel).status().IgnoreError();
  }
  return absl::OkStatus();
}

absl::StatusOr<KernelInfo> CudaDevice::Inspect(cudaKernel_t kernel,
                                               absl::string_view name) const {
  KernelInfo info{.name = std::string(name)};
  cudaFuncAttributes attributes = {};
  HAWSER_RETURN_IF_ERROR(
      health_->Check(cudaFuncGetAttributes(&attributes, kernel),
                     "cudaFuncGetAttributes", name));
  info.max_threads = attributes.maxThreadsPerBlock;
  info.static_shared_bytes = static_cast<int64_t>(attributes.sharedSizeBytes);
  std::vector<int64_t> parameters;
  size_t offset = 0, bytes = 0;
  cudaError_t error;
  while ((error = cudaFuncGetParamInfo(kernel, parameters.size(), &offset,
                                       &bytes)) == cudaSuccess) {
    parameters.push_back(static_cast<int64_t>(bytes));
  }
  cudaGetLastError();
  // This code ends the list; a driver that cannot answer returns another.
  if (error == cudaErrorInvalidValue) info.parameters = std::move(parameters);
  return info;
}

absl::StatusOr<gpu::Kernel> CudaDevice::FindKernel(gpu::KernelModule module,
                                                   absl::string_view name) {
  HAWSER_RETURN_IF_ERROR(Enter());
  HAWSER_ASSIGN_OR_RETURN(const auto loaded, modules_.Find(module.value));
  MutexLock lock(&loaded->mu);
  const auto found = loaded->kernels.find(std::string(name));
  if (found != loaded->kernels.end()) return gpu::Kernel{found->second};
  cudaKernel_t kernel = nullptr;
  const cudaError_t error = cudaLibraryGetKernel(&kernel, loaded->library.get(),
                                                 std::string(name).c_str());
  if (error == cudaErrorSymbolNotFound) {
    cudaGetLastError();
    return NotFound("no kernel ", name, " in module ", module.value);
  }
  HAWSER_RETURN_IF_ERROR(health_->Check(error, "cudaLibraryGetKernel", name));
  HAWSER_ASSIGN_OR_RETURN(KernelInfo info, Inspect(kernel, name));
  // Shared memory of more than 48 KiB must be requested, once for all launches.
  const int64_t most =
      facts_.max_shared_bytes_per_block - info.static_shared_bytes;
  HAWSER_RETURN_IF_ERROR(health_->Check(
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           static_cast<int>(most)),
      "cudaFuncSetAttribute", name));
  const uint64_t handle = kernels_.Add(std::make_shared<const LoadedKernel>(
      LoadedKernel{std::move(info), kernel}));
  loaded->kernels.emplace(name, handle);
  return gpu::Kernel{handle};
}

absl::Status CudaDevice::Launch(
    gpu::Stream stream, gpu::Kernel kernel, const gpu::LaunchShape& shape,
    absl::Span<const gpu::KernelArgument> arguments) {
  HAWSER_ASSIGN_OR_RETURN(const StreamPtr s, On(stream));
  const Step step{Step::Kind::kLaunch, kernel.value};
  auto found = kernels_.Find(kernel.value);
  if (!found.ok()) return Record(*s, step, found.status());
  const std::shared_ptr<const LoadedKernel> k = *std::move(found);
  const absl::Status check = CheckLaunch(k->info, shape, arguments, facts_);
  if (!check.ok()) return Record(*s, step, check);
  const gpu::Extent3& grid = shape.grid;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return absl::OkStatus();
  absl::InlinedVector<void*, 16> values;
  for (const gpu::KernelArgument& argument : arguments) {
    values.push_back(const_cast<void*>(argument.value()));
  }
  cudaLaunchConfig_t config = {};
  config.gridDim = {grid.x, grid.y, grid.z};
  config.blockDim = {shape.threads, 1, 1};
  config.dynamicSmemBytes = static_cast<size_t>(shape.dynamic_shared_bytes);
  config.stream = s->stream.get();
  RecentKernels& recent =
      s->capture != nullptr ? s->capture->recent : s->recent;
  const cudaError_t error =
      cudaLaunchKernelExC(&config, k->kernel, values.data());
  if (error != cudaSuccess) {
    const std::string call = absl::StrCat("launching ", k->info.name);
    return Record(*s, step, Check(error, call, recent));
  }
  recent.Add(k);
  return Record(*s, step, absl::OkStatus());
}

// ---- calls of libraries ---------------------------------------------------

absl::StatusOr<gpu::CallPlan> CudaDevice::PlanCall(
    const gpu::LibraryCall& call) {
  HAWSER_RETURN_IF_ERROR(Enter());
  HAWSER_ASSIGN_OR_RETURN(std::shared_ptr<const PlannedCall> plan,
                          libraries_.Plan(call));
  return gpu::CallPlan{plans_.Add(std::move(plan))};
}

absl::Status CudaDevice::DestroyCall(gpu::CallPlan plan) {
  // The library frees memory of the current device.
  Enter().IgnoreError();
  return plans_.Take(plan.value).status();
}

int64_t CudaDevice::WorkspaceBytes(gpu::CallPlan plan) const {
  const auto found = plans_.Find(plan.value);
  return found.ok() ? (*found)->workspace_bytes() : 0;
}

absl::Status CudaDevice::RunCall(gpu::Stream stream, gpu::CallPlan plan,
                                 const gpu::CallOperands& operands) {
  HAWSER_ASSIGN_OR_RETURN(const StreamPtr s, On(stream));
  const Step step{Step::Kind::kCall, plan.value};
  const auto found = plans_.Find(plan.value);
  if (!found.ok()) return Record(*s, step, found.status());
  if ((*found)->may_block() && s->capture != nullptr) {
    return Record(*s, step,
                  FailedPrecondition("a call that may block, on a stream that "
                                     "captures a graph"));
  }
  return Record(*s, step, (*found)->Run(s->stream.get(), operands));
}

}  // namespace hawser::cuda
