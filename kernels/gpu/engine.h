// Engine: a device and what a GpuClient, its buffers and its executables share
// of it. Buffers and executables may outlive the client.
#ifndef HAWSER_KERNELS_GPU_ENGINE_H_
#define HAWSER_KERNELS_GPU_ENGINE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/literal.h"
#include "core/base/mutex.h"
#include "core/base/thread_pool.h"
#include "core/runtime/client.h"
#include "kernels/gpu/device_api.h"
#include "kernels/gpu/device_memory.h"
#include "kernels/gpu/events.h"
#include "kernels/gpu/lane.h"
#include "kernels/gpu/pinned.h"

namespace hawser::gpu {

// Evaluators for what no kernel does, by numerics. Null: there is none.
struct HostEvaluators {
  std::shared_ptr<runtime::HostEvaluator> fast;
  std::shared_ptr<runtime::HostEvaluator> strict;
};

// Thread-safe.
class Engine : public std::enable_shared_from_this<Engine> {
 public:
  static absl::StatusOr<std::shared_ptr<Engine>> Make(
      std::shared_ptr<Device> device, runtime::Client* client,
      HostEvaluators host);
  ~Engine();

  Device& device() const { return *device_; }
  const std::shared_ptr<Device>& shared_device() const { return device_; }
  // Null: there is none.
  runtime::HostEvaluator* host(runtime::Numerics numerics) const {
    const bool strict = numerics == runtime::Numerics::kStrict;
    return (strict ? host_.strict : host_.fast).get();
  }
  // "emu", "cuda".
  const std::string& platform() const { return device_->facts().platform; }

  // ---- memory ---------------------------------------------------------------
  // On a lane that the caller holds. Where there is too little, what can be
  // had again (arenas, arrays of datasets) goes first. Errors:
  // kResourceExhausted with bytes asked for and free.
  absl::StatusOr<std::shared_ptr<DeviceMemory>> Allocate(
      const std::shared_ptr<Lane>& lane, int64_t bytes);
  // The lane's arena, likewise.
  absl::StatusOr<DeviceAddress> Arena(const std::shared_ptr<Lane>& lane,
                                      int64_t bytes);
  // Called, on any thread, when memory is short: drop what can be had again.
  void OnShortMemory(std::function<void()> drop);
  // Gives back what is kept for reuse.
  void TrimMemory();

  // ---- lanes ----------------------------------------------------------------
  // What never waits for the host runs here, in the order it is queued.
  const std::shared_ptr<Lane>& main_lane() const { return main_; }
  // For one run that waits for the device; its alone until it is returned.
  absl::StatusOr<std::shared_ptr<Lane>> TakeLane();
  void ReturnLane(std::shared_ptr<Lane> lane);

  // ---- transfers ------------------------------------------------------------
  // Puts a value on the device. Small ones are queued before this returns,
  // the future is ready; larger ones go by a thread.
  Future<DeviceValue> Upload(const Literal& value);
  // The bytes at `value`, of `shape`; likewise.
  Future<Literal> Fetch(const DeviceValue& value, const Shape& shape);
  // Completes once it is there.
  Future<bool> Ready(const DeviceValue& value);
  // Blocks until they are there. Of memory that work on the lane, which the
  // caller holds, has written.
  absl::StatusOr<Literal> FetchOn(Lane* lane, DeviceAddress from,
                                  const Shape& shape);
  absl::Status UploadOn(Lane* lane, DeviceAddress to, const Literal& value);

  // ---- life of the client ---------------------------------------------------
  runtime::Client* client() const { return client_.load(); }
  // Counts one more execution in progress; false when the client is gone.
  bool Begin();
  void End();
  // From here on Begin fails.
  void Close();
  // Waits for what is in progress, then ends the threads. What is fetched
  // later is fetched by whoever asks.
  void Drain();
  bool IsOwnThread() const;

  ThreadPool& blocking_runs() { return blocking_runs_; }
  ThreadPool& queueing() { return queueing_; }
  std::atomic<int64_t> live_buffers{0};

 private:
  Engine(std::shared_ptr<Device> device, runtime::Client* client,
         HostEvaluators host);
  template <typename Try>
  auto WithTrim(Lane* held, Try attempt) -> decltype(attempt());
  void Trim(Lane* held);
  absl::Status RecordUse(Lane* lane, EventPtr* event);
  void RunTransfer(std::function<void()> task);
  absl::StatusOr<DeviceValue> UploadSmall(const Literal& value);
  absl::StatusOr<DeviceValue> UploadLarge(const Literal& value);
  absl::StatusOr<Literal> FetchNow(const DeviceValue& value,
                                   const Shape& shape);

  const std::shared_ptr<Device> device_;
  const HostEvaluators host_;
  const std::shared_ptr<EventPool> events_;
  PinnedPool small_chunks_;
  PinnedPool large_chunks_;
  std::shared_ptr<Lane> main_, uploads_;

  Mutex mu_;
  CondVar idle_;
  int64_t running_ ABSL_GUARDED_BY(mu_) = 0;
  bool drained_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::shared_ptr<Lane>> lanes_ ABSL_GUARDED_BY(mu_);  // all
  std::vector<std::shared_ptr<Lane>> idle_lanes_ ABSL_GUARDED_BY(mu_);
  std::function<void()> drop_ ABSL_GUARDED_BY(mu_);

  std::atomic<runtime::Client*> client_;  // nullptr once it is gone
  ThreadPool blocking_runs_;
  ThreadPool queueing_;
  ThreadPool transfers_;
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_ENGINE_H_
