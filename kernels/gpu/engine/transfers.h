// Transfers: moves values between a device and this machine.
#ifndef HAWSER_KERNELS_GPU_ENGINE_TRANSFERS_H_
#define HAWSER_KERNELS_GPU_ENGINE_TRANSFERS_H_

#include <functional>
#include <memory>

#include "absl/status/statusor.h"
#include "core/base/mutex.h"
#include "core/base/threads/future.h"
#include "core/base/threads/thread_pool.h"
#include "core/base/values/literal.h"
#include "kernels/gpu/engine/pinned.h"
#include "kernels/gpu/streams/device_heap.h"

namespace hawser::gpu {

// Thread-safe. Values go through chunks of pinned memory. Invariant: the last
// reference is not dropped on an own thread before Stop has returned.
class Transfers : public std::enable_shared_from_this<Transfers> {
 public:
  Transfers(std::shared_ptr<Device> device,
            std::shared_ptr<WorkStreams> work_streams,
            std::shared_ptr<DeviceHeap> heap);

  // Puts a value on the device. A small one is queued before this returns: the
  // future is ready. A larger one is queued by a thread.
  Future<DeviceValue> Upload(const Literal& value);
  // Fetches the bytes at `value`, of `shape`, on a thread.
  Future<Literal> Fetch(const DeviceValue& value, const Shape& shape);
  // Completes once the value is there.
  Future<bool> Ready(const DeviceValue& value);

  // Fetches what work on the stream, which the caller holds, has written.
  // Blocks until the value is there.
  absl::StatusOr<Literal> FetchOn(WorkStream* work_stream, DeviceAddress from,
                                  const Shape& shape);
  // Queues the upload on the stream, which the caller holds. Blocks while all
  // chunks are in use.
  absl::Status UploadOn(WorkStream* work_stream, DeviceAddress to,
                        const Literal& value);

  // Ends the threads, after what they have to do. Later transfers are done by
  // the caller itself, before the call returns. Not on an own thread.
  void Stop();
  bool IsOwnThread() const { return threads_.IsOwnThread(); }

 private:
  void Run(std::function<void()> task);
  absl::Status RecordUse(WorkStream* work_stream, EventPtr* event);
  absl::StatusOr<DeviceValue> UploadSmall(const Literal& value);
  absl::StatusOr<DeviceValue> UploadLarge(const Literal& value);
  absl::StatusOr<Literal> FetchNow(const DeviceValue& value,
                                   const Shape& shape);

  const std::shared_ptr<Device> device_;
  const std::shared_ptr<WorkStreams> work_streams_;
  const std::shared_ptr<DeviceHeap> heap_;
  PinnedPool small_chunks_;
  PinnedPool large_chunks_;
  Mutex mu_;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  ThreadPool threads_;
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_ENGINE_TRANSFERS_H_
