#include "kernels/cuda/cuda_device.h"

#include <algorithm>
#include <utility>

#include "kernels/cuda/compile/target.h"
#include "kernels/cuda/cuda_device_impl.h"
#include "kernels/dialect/dialect.h"

namespace hawser::cuda {
namespace {

// The text of a version as CUDA numbers it: 13020 is 13.2.
std::string Version(int number) {
  return absl::StrCat(number / 1000, ".", number % 1000 / 10);
}

std::string DriverAndRuntime() {
  int driver = 0, runtime = 0;
  if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
  cudaRuntimeGetVersion(&runtime);
  return absl::StrCat(driver == 0 ? "no driver" : "driver ",
                      driver == 0 ? "" : Version(driver), ", runtime ",
                      Version(runtime));
}

template <typename T>
std::string VersionOf(const absl::StatusOr<std::unique_ptr<T>>& library,
                      absl::string_view name) {
  if (library.ok()) return (*library)->version();
  return absl::StrCat("no ", name);
}

}  // namespace

absl::StatusOr<int> CudaDeviceCount() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) return count;
  cudaGetLastError();
  const absl::Status status = ToStatus(
      error == cudaSuccess ? cudaErrorNoDevice : error, "cudaGetDeviceCount");
  return Unavailable("no CUDA device: ", status.message(), "; ",
                     DriverAndRuntime());
}

absl::StatusOr<std::unique_ptr<gpu::Device>> MakeCudaDevice(
    int ordinal, const CudaOptions& options) {
  HAWSER_ASSIGN_OR_RETURN(const int count, CudaDeviceCount());
  if (ordinal < 0 || ordinal >= count) {
    return Unavailable("no CUDA device ", ordinal, ": there are ", count);
  }
  return CudaDevice::Make(ordinal, options);
}

CudaDevice::CudaDevice(int ordinal, const CudaOptions& options)
    : ordinal_(ordinal),
      health_(std::make_shared<DeviceHealth>()),
      notices_(std::make_shared<Notices>()),
      watchdog_(options.patience),
      compiler_{.nvrtc = Nvrtc::Open(options.libraries)},
      libraries_(options.libraries, health_.get()) {}

absl::StatusOr<std::unique_ptr<CudaDevice>> CudaDevice::Make(
    int ordinal, const CudaOptions& options) {
  // Opened libraries use the current device.
  HAWSER_RETURN_IF_ERROR(ToStatus(cudaSetDevice(ordinal), "cudaSetDevice"));
  auto device = std::unique_ptr<CudaDevice>(new CudaDevice(ordinal, options));
  HAWSER_RETURN_IF_ERROR(device->ReadFacts());
  device->ChooseCompiler();
  HAWSER_ASSIGN_OR_RETURN(device->memory_,
                          DeviceMemory::Create(device->health_.get(), ordinal,
                                               options.memory_limit));
  if (options.memory_limit > 0) {
    device->facts_.memory_bytes =
        std::min(device->facts_.memory_bytes, options.memory_limit);
  }
  return device;
}

CudaDevice::~CudaDevice() {
  cudaSetDevice(ordinal_);
  // On a lost device the call might never return.
  if (health_->status().ok()) cudaDeviceSynchronize();
  notices_->FireAll(Unavailable("the device is gone"));
  execs_.Clear();
  graphs_.Clear();
  plans_.Clear();
  kernels_.Clear();
  modules_.Clear();
  events_.Clear();
  streams_.Clear();
}

absl::Status CudaDevice::ReadFacts() {
  cudaDeviceProp p = {};
  HAWSER_RETURN_IF_ERROR(health_->Check(cudaGetDeviceProperties(&p, ordinal_),
                                        "cudaGetDeviceProperties"));
  int clock_khz = 0;
  HAWSER_RETURN_IF_ERROR(health_->Check(
      cudaDeviceGetAttribute(&clock_khz, cudaDevAttrMemoryClockRate, ordinal_),
      "cudaDeviceGetAttribute"));
  gpu::DeviceFacts& f = facts_;
  f.platform = "cuda";
  f.name = p.name;
  compiler_.capability = p.major * 10 + p.minor;
  f.target = absl::StrCat("sm_", compiler_.capability);
  f.versions = absl::StrCat(DriverAndRuntime(), ", ",
                            VersionOf(compiler_.nvrtc, "nvrtc"), ", ",
                            libraries_.version());
  f.ordinal = ordinal_;
  f.memory_bytes = static_cast<int64_t>(p.totalGlobalMem);
  f.cache_bytes = p.l2CacheSize;
  f.multiprocessors = p.multiProcessorCount;
  f.max_threads_per_block = p.maxThreadsPerBlock;
  for (int i = 0; i < 3; ++i) f.max_grid[i] = p.maxGridSize[i];
  f.shared_bytes_per_block = static_cast<int64_t>(p.sharedMemPerBlock);
  f.max_shared_bytes_per_block = static_cast<int64_t>(p.sharedMemPerBlockOptin);
  // Memory transfers twice in each clock cycle.
  f.bytes_per_second = 2e3 * clock_khz * p.memoryBusWidth / 8;
  return absl::OkStatus();
}

void CudaDevice::ChooseCompiler() {
  if (compiler_.nvrtc.ok()) {
    absl::StatusOr<std::string> target =
        ChooseTarget(compiler_.capability, (*compiler_.nvrtc)->architectures());
    if (target.ok()) {
      facts_.target = *std::move(target);
    } else {
      compiler_.nvrtc = target.status();
    }
  }
  compiler_.id = absl::StrCat(VersionOf(compiler_.nvrtc, "nvrtc"), " for ",
                              facts_.target, ", ", Nvrtc::flags(), ", prelude ",
                              dialect::PreludeDigest());
}

absl::Status CudaDevice::Enter() const {
  HAWSER_RETURN_IF_ERROR(health_->status());
  const cudaError_t error = cudaSetDevice(ordinal_);
  // A fault of earlier work may be returned here. The next call is returned the
  // same and names the kernels it may come from.
  if (IsFatal(error)) return absl::OkStatus();
  return health_->Check(error, "cudaSetDevice");
}

// ---- memory and copies ----------------------------------------------------

absl::StatusOr<gpu::DeviceAddress> CudaDevice::Allocate(gpu::Stream stream,
                                                        int64_t bytes) {
  HAWSER_ASSIGN_OR_RETURN(const StreamPtr s,
                          OutsideCapture(stream, "Allocate"));
  return memory_->Allocate(s->stream.get(), bytes);
}

absl::Status CudaDevice::Free(gpu::Stream stream, gpu::DeviceAddress address) {
  if (!address) return absl::OkStatus();
  HAWSER_ASSIGN_OR_RETURN(const StreamPtr s, OutsideCapture(stream, "Free"));
  return memory_->Free(s->stream.get(), address);
}

gpu::MemoryUse CudaDevice::memory() const {
  Enter().IgnoreError();  // a lost device still has counts
  return memory_->use();
}

absl::Status CudaDevice::TrimMemory() {
  HAWSER_RETURN_IF_ERROR(Enter());
  return memory_->Trim();
}

absl::StatusOr<void*> CudaDevice::AllocatePinned(int64_t bytes) {
  HAWSER_RETURN_IF_ERROR(Enter());
  return memory_->AllocatePinned(bytes);
}

absl::Status CudaDevice::FreePinned(void* memory) {
  HAWSER_RETURN_IF_ERROR(Enter());
  return memory_->FreePinned(memory);
}

absl::Status CudaDevice::Copy(gpu::Stream stream, void* to, const void* from,
                              int64_t bytes, cudaMemcpyKind kind) {
  HAWSER_ASSIGN_OR_RETURN(const StreamPtr s, On(stream));
  const Step step{Step::Kind::kCopy, static_cast<uint64_t>(kind)};
  if (bytes < 0) {
    return Record(*s, step, InvalidArgument("a copy of ", bytes, " bytes"));
  }
  if (bytes == 0) return absl::OkStatus();
  return Record(*s, step,
                Check(cudaMemcpyAsync(to, from, static_cast<size_t>(bytes),
                                      kind, s->stream.get()),
                      "cudaMemcpyAsync", s->recent));
}

absl::Status CudaDevice::CopyToDevice(gpu::Stream stream, gpu::DeviceAddress to,
                                      const void* from, int64_t bytes) {
  return Copy(stream, reinterpret_cast<void*>(to.value), from, bytes,
              cudaMemcpyHostToDevice);
}

absl::Status CudaDevice::CopyToHost(gpu::Stream stream, void* to,
                                    gpu::DeviceAddress from, int64_t bytes) {
  return Copy(stream, to, reinterpret_cast<const void*>(from.value), bytes,
              cudaMemcpyDeviceToHost);
}

absl::Status CudaDevice::CopyOnDevice(gpu::Stream stream, gpu::DeviceAddress to,
                                      gpu::DeviceAddress from, int64_t bytes) {
  return Copy(stream, reinterpret_cast<void*>(to.value),
              reinterpret_cast<const void*>(from.value), bytes,
              cudaMemcpyDeviceToDevice);
}

absl::Status CudaDevice::Fill(gpu::Stream stream, gpu::DeviceAddress to,
                              uint8_t value, int64_t bytes) {
  HAWSER_ASSIGN_OR_RETURN(const StreamPtr s, On(stream));
  const Step step{Step::Kind::kFill};
  if (bytes < 0) {
    return Record(*s, step, InvalidArgument("a fill of ", bytes, " bytes"));
  }
  if (bytes == 0) return absl::OkStatus();
  return Record(
      *s, step,
      Check(cudaMemsetAsync(reinterpret_cast<void*>(to.value), value,
                            static_cast<size_t>(bytes), s->stream.get()),
            "cudaMemsetAsync", s->recent));
}

}  // namespace hawser::cuda
