// Engine: a device and what a GpuClient, its buffers and its executables share
// of it. Buffers and executables may outlive the client.
#ifndef HAWSER_KERNELS_GPU_ENGINE_ENGINE_H_
#define HAWSER_KERNELS_GPU_ENGINE_ENGINE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "core/base/threads/gate.h"
#include "core/base/threads/thread_pool.h"
#include "core/runtime/client.h"
#include "kernels/gpu/device/device_api.h"
#include "kernels/gpu/engine/transfers.h"
#include "kernels/gpu/streams/device_heap.h"
#include "kernels/gpu/streams/work_streams.h"

namespace hawser::gpu {

// The evaluators of instructions that no kernel runs, by numerics. Null: there
// is none.
struct HostEvaluators {
  std::shared_ptr<runtime::HostEvaluator> fast;
  std::shared_ptr<runtime::HostEvaluator> strict;
};

// Thread-safe. Invariant: executions that wait are inside the gate; once Drain
// has returned there is none, and the engine has no threads.
class Engine {
 public:
  static absl::StatusOr<std::shared_ptr<Engine>> Make(
      std::shared_ptr<Device> device, runtime::Client* client,
      HostEvaluators host);

  Device& device() const { return *device_; }
  const std::shared_ptr<Device>& shared_device() const { return device_; }
  // Null: there is none.
  runtime::HostEvaluator* host(runtime::Numerics numerics) const {
    const bool strict = numerics == runtime::Numerics::kStrict;
    return (strict ? host_.strict : host_.fast).get();
  }
  // "emu", "cuda".
  const std::string& platform() const { return device_->facts().platform; }

  WorkStreams& work_streams() const { return *work_streams_; }
  DeviceHeap& heap() const { return *heap_; }
  Transfers& transfers() const { return *transfers_; }
  // Each run that waits for the device occupies a thread of the first pool, as
  // long as it takes; the one thread of the second pool queues the other runs.
  ThreadPool& blocking_runs() { return blocking_runs_; }
  ThreadPool& queueing() { return queueing_; }

  // Null: the client is gone.
  runtime::Client* client() const { return client_.load(); }
  // The client's destructor calls it first.
  void DropClient();
  Gate& gate() { return gate_; }
  // Waits for what is in progress, then ends the threads. A value that is
  // fetched later is fetched by the caller itself. Not on an own thread.
  void Drain();
  bool IsOwnThread() const;

  std::atomic<int64_t> live_buffers{0};

 private:
  Engine(std::shared_ptr<Device> device,
         std::shared_ptr<WorkStreams> work_streams, runtime::Client* client,
         HostEvaluators host);

  const std::shared_ptr<Device> device_;
  const HostEvaluators host_;
  const std::shared_ptr<WorkStreams> work_streams_;
  const std::shared_ptr<DeviceHeap> heap_;
  const std::shared_ptr<Transfers> transfers_;
  std::atomic<runtime::Client*> client_;
  Gate gate_;
  ThreadPool blocking_runs_;
  ThreadPool queueing_;
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_ENGINE_ENGINE_H_
