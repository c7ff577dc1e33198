// DeviceHeap: the memory of one device.
#ifndef HAWSER_KERNELS_GPU_STREAMS_DEVICE_HEAP_H_
#define HAWSER_KERNELS_GPU_STREAMS_DEVICE_HEAP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "core/base/mutex.h"
#include "kernels/gpu/streams/device_memory.h"
#include "kernels/gpu/streams/work_streams.h"

namespace hawser::gpu {

// Thread-safe. If a request finds too little memory, what can be had again
// (arenas of streams, arrays of datasets, the device's own pool) is given back
// and the request is made once more.
class DeviceHeap {
 public:
  DeviceHeap(std::shared_ptr<Device> device,
             std::shared_ptr<WorkStreams> work_streams)
      : device_(std::move(device)), work_streams_(std::move(work_streams)) {}

  // Allocates on a stream that the caller holds. Errors: kResourceExhausted
  // with bytes asked for and free.
  absl::StatusOr<std::shared_ptr<DeviceMemory>> Allocate(
      const std::shared_ptr<WorkStream>& work_stream, int64_t bytes);
  // The stream's arena, likewise.
  absl::StatusOr<DeviceAddress> Arena(
      const std::shared_ptr<WorkStream>& work_stream, int64_t bytes);

  // `drop` gives back memory that can be had again. It is called on any thread
  // when memory is short; null: nothing is called any more.
  void OnShortMemory(std::function<void()> drop);
  // Gives back what is kept for reuse. The caller holds `held`, or no stream.
  void Trim(WorkStream* held = nullptr);

 private:
  template <typename Try>
  auto WithTrim(WorkStream* held, Try attempt) -> decltype(attempt());

  const std::shared_ptr<Device> device_;
  const std::shared_ptr<WorkStreams> work_streams_;
  Mutex mu_;
  std::function<void()> drop_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_STREAMS_DEVICE_HEAP_H_
