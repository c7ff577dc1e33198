#include "tests/kernels/cuda/fake_runtime.h"

#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace {

using Work = std::vector<std::function<void()>>;

std::recursive_mutex& Lock() {
  static auto* const lock = new std::recursive_mutex;
  return *lock;
}

thread_local cudaError_t last_error = cudaSuccess;

}  // namespace

struct CUstream_st {
  bool captures = false;
  Work work;
};
struct CUevent_st {};
struct CUgraph_st { Work work; };
struct CUgraphExec_st { Work work; };
struct CUlib_st {};
struct CUkern_st {
  std::string name;
};
struct CUmemPoolHandle_st {};

namespace hawser::testing {

FakeRuntime& FakeRuntime::Get() {
  static auto* const runtime = new FakeRuntime;
  return *runtime;
}

int FakeRuntime::LiveObjects() const {
  int all = 0;
  for (const auto& [kind, count] : live) all += count;
  return all;
}

namespace {

// The result of a call of `name`, which last_error keeps.
cudaError_t Answer(const char* name) {
  FakeRuntime& r = FakeRuntime::Get();
  cudaError_t error = r.lost;
  if (++r.calls == r.fail_at) {
    error = r.fail_with;
    if (r.fails_for_ever) r.lost = r.fail_with;
  }
  const auto planned = r.next.find(name);
  if (planned != r.next.end()) {
    error = planned->second;
    r.next.erase(planned);
  }
  if (error != cudaSuccess) last_error = error;
  return error;
}

cudaError_t Return(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

// Does the work, or adds it to the graph that the stream captures.
cudaError_t Do(cudaStream_t stream, std::function<void()> work) {
  if (stream->captures) {
    stream->work.push_back(std::move(work));
  } else {
    work();
  }
  return cudaSuccess;
}

template <typename T>
void Make(const char* kind, T** object) {
  ++FakeRuntime::Get().live[kind];
  *object = new T;
}
// Destroys an object, also when the device is lost.
template <typename T>
cudaError_t Destroy(const char* kind, T* object) {
  std::lock_guard lock(Lock());
  --FakeRuntime::Get().live[kind];
  delete object;
  return cudaSuccess;
}

}  // namespace
}  // namespace hawser::testing

#define FAKE_CALL()                    \
  std::lock_guard lock(Lock());        \
  FakeRuntime& r = FakeRuntime::Get(); \
  (void)r;                             \
  if (const cudaError_t e = Answer(__func__); e != cudaSuccess) return e

#define FAKE_NOTHING(name, ...)      \
  cudaError_t name(__VA_ARGS__) {    \
    FAKE_CALL();                     \
    return cudaSuccess;              \
  }

using hawser::testing::Answer;
using hawser::testing::Destroy;
using hawser::testing::Do;
using hawser::testing::FakeRuntime;
using hawser::testing::Make;
using hawser::testing::Return;

extern "C" {

// ---- the device -----------------------------------------------------------

cudaError_t cudaGetDeviceCount(int* count) {
  FAKE_CALL();
  *count = r.devices;
  return cudaSuccess;
}
FAKE_NOTHING(cudaSetDevice, int)
FAKE_NOTHING(cudaDeviceSynchronize)
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  return std::exchange(last_error, cudaSuccess);
}
const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaErrorIllegalAddress ? "cudaErrorIllegalAddress"
                                          : "cudaErrorFake";
}
const char* cudaGetErrorString(cudaError_t) { return "a planned error"; }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* p, int) {
  FAKE_CALL();
  *p = {};
  std::strcpy(p->name, "fake GPU");
  p->major = 9;
  p->totalGlobalMem = r.total_bytes;
  p->l2CacheSize = 50 << 20;
  p->multiProcessorCount = 132;
  p->maxThreadsPerBlock = 1024;
  p->maxGridSize[0] = 2147483647;
  p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->sharedMemPerBlock = 48 << 10;
  p->sharedMemPerBlockOptin = 227 << 10;
  p->memoryBusWidth = 6144;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  FAKE_CALL();
  *value = 3201000;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  FAKE_CALL();
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}

// ---- memory ---------------------------------------------------------------

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps*) {
  FAKE_CALL();
  Make("pool", pool);
  return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return Destroy("pool", pool);
}
FAKE_NOTHING(cudaMemPoolSetAttribute, cudaMemPool_t, cudaMemPoolAttr, void*)
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr,
                                    void* value) {
  FAKE_CALL();
  *static_cast<uint64_t*>(value) = r.live_bytes;
  return cudaSuccess;
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, size_t) {
  FAKE_CALL();
  ++r.trims;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  FAKE_CALL();
  *total_bytes = r.total_bytes;
  *free_bytes = r.total_bytes - r.live_bytes;
  return cudaSuccess;
}
// The block's size stands in the 256 bytes in front of it.
cudaError_t cudaMallocFromPoolAsync(void** memory, size_t size, cudaMemPool_t,
                                    cudaStream_t) {
  FAKE_CALL();
  if (size > r.total_bytes - r.live_bytes) {
    return Return(cudaErrorMemoryAllocation);
  }
  const size_t rounded = (size + 255) / 256 * 256;
  auto* block = static_cast<char*>(std::aligned_alloc(256, rounded + 256));
  std::memcpy(block, &size, sizeof(size));
  *memory = block + 256;
  r.live_bytes += size;
  ++r.live["memory"];
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  std::lock_guard lock(Lock());
  FakeRuntime& r = FakeRuntime::Get();
  char* block = static_cast<char*>(memory) - 256;
  size_t size = 0;
  std::memcpy(&size, block, sizeof(size));
  r.live_bytes -= size;
  --r.live["memory"];
  std::free(block);
  return cudaSuccess;
}
cudaError_t cudaFreeAsync(void* memory, cudaStream_t) {
  FAKE_CALL();
  return cudaFree(memory);
}
cudaError_t cudaHostAlloc(void** memory, size_t size, unsigned) {
  FAKE_CALL();
  *memory = std::malloc(size);
  ++r.live["pinned"];
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* memory) {
  std::lock_guard lock(Lock());
  --FakeRuntime::Get().live["pinned"];
  std::free(memory);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t size,
                            cudaMemcpyKind, cudaStream_t stream) {
  FAKE_CALL();
  return Do(stream, [=] { std::memcpy(to, from, size); });
}
cudaError_t cudaMemsetAsync(void* to, int value, size_t size,
                            cudaStream_t stream) {
  FAKE_CALL();
  return Do(stream, [=] { std::memset(to, value, size); });
}

// ---- streams and events ---------------------------------------------------

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  FAKE_CALL();
  Make("stream", stream);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return Destroy("stream", stream);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  FAKE_CALL();
  return stream->captures ? Return(cudaErrorStreamCaptureUnsupported)
                          : cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  FAKE_CALL();
  if (r.hangs) return Return(cudaErrorNotReady);
  return stream->captures ? Return(cudaErrorStreamCaptureUnsupported)
                          : cudaSuccess;
}
FAKE_NOTHING(cudaStreamWaitEvent, cudaStream_t, cudaEvent_t, unsigned)
cudaError_t cudaStreamAddCallback(cudaStream_t stream,
                                  cudaStreamCallback_t callback, void* data,
                                  unsigned) {
  cudaError_t status = cudaSuccess;
  {
    FAKE_CALL();
    // A planned fatal error that only the callback is passed.
    const auto planned = r.next.find("callback");
    if (planned != r.next.end()) status = r.lost = planned->second;
  }
  std::thread([=] { callback(stream, status, data); }).join();
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  FAKE_CALL();
  Make("event", event);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return Destroy("event", event);
}
FAKE_NOTHING(cudaEventRecord, cudaEvent_t, cudaStream_t)
cudaError_t cudaEventQuery(cudaEvent_t) {
  FAKE_CALL();
  return r.hangs ? Return(cudaErrorNotReady) : cudaSuccess;
}
FAKE_NOTHING(cudaEventSynchronize, cudaEvent_t)
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t,
                                 cudaEvent_t) {
  FAKE_CALL();
  *milliseconds = 1.5f;
  return cudaSuccess;
}

// ---- kernels --------------------------------------------------------------

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void*,
                                cudaJitOption*, void**, unsigned,
                                cudaLibraryOption*, void**, unsigned) {
  FAKE_CALL();
  Make("library", library);
  return cudaSuccess;
}
cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  return Destroy("library", library);
}
// Kernels are neither destroyed nor counted.
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t,
                                 const char* name) {
  FAKE_CALL();
  if (std::strncmp(name, "no_", 3) == 0) return Return(cudaErrorSymbolNotFound);
  static auto* const kernels = new std::map<std::string, CUkern_st>;
  *kernel = &(*kernels)[name];
  (*kernel)->name = name;
  return cudaSuccess;
}
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes,
                                  const void*) {
  FAKE_CALL();
  *attributes = {};
  attributes->maxThreadsPerBlock = 256;
  attributes->sharedSizeBytes = 1024;
  return cudaSuccess;
}
cudaError_t cudaFuncGetParamInfo(const void*, size_t index, size_t*,
                                 size_t* size) {
  FAKE_CALL();
  if (index >= r.parameters.size()) return Return(cudaErrorInvalidValue);
  *size = r.parameters[index];
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute,
                                 int value) {
  FAKE_CALL();
  r.shared_limits[static_cast<const CUkern_st*>(kernel)->name] = value;
  return cudaSuccess;
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config,
                                const void* kernel, void** arguments) {
  FAKE_CALL();
  hawser::testing::FakeLaunch launch{
      static_cast<const CUkern_st*>(kernel)->name, config->gridDim,
      config->blockDim, config->dynamicSmemBytes, {}};
  for (size_t i = 0; i < r.parameters.size(); ++i) {
    uint64_t value = 0;
    std::memcpy(&value, arguments[i], r.parameters[i]);
    launch.arguments.push_back(value);
  }
  return Do(config->stream, [launch] {
    FakeRuntime::Get().launches.push_back(launch);
  });
}

// ---- graphs ---------------------------------------------------------------

cudaError_t cudaStreamBeginCapture(cudaStream_t stream,
                                   cudaStreamCaptureMode) {
  FAKE_CALL();
  stream->captures = true;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  // The capture ends even when the call fails.
  Work work;
  {
    std::lock_guard lock(Lock());
    stream->captures = false;
    work = std::exchange(stream->work, {});
  }
  FAKE_CALL();
  Make("graph", graph);
  (*graph)->work = std::move(work);
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return Destroy("graph", graph);
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph,
                                 unsigned long long) {
  FAKE_CALL();
  Make("exec", exec);
  (*exec)->work = graph->work;
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return Destroy("exec", exec);
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo*) {
  FAKE_CALL();
  exec->work = graph->work;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t) {
  FAKE_CALL();
  for (const auto& step : exec->work) step();
  return cudaSuccess;
}

}  // extern "C"
