#include "kernels/gpu/engine.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser::gpu {
namespace {

// Runs that wait for the device occupy a thread each, as long as they take.
constexpr int kBlockingRuns = 4;
constexpr int kTransfers = 4;
// Scalars and small vectors are copied by the caller itself.
constexpr int64_t kSmallChunk = 4 << 10;
constexpr int kSmallChunks = 1024, kSmallPerSlab = 256;
// Two halves, so that one is copied while the other is read or written.
constexpr int64_t kLargeChunk = int64_t{4} << 20;
constexpr int kLargeChunks = 16;

}  // namespace

Engine::Engine(std::shared_ptr<Device> device, runtime::Client* client,
               HostEvaluators host)
    : device_(std::move(device)),
      host_(std::move(host)),
      events_(std::make_shared<EventPool>(device_)),
      small_chunks_(device_, kSmallChunk, kSmallChunks, kSmallPerSlab),
      large_chunks_(device_, kLargeChunk, kLargeChunks, 1),
      client_(client),
      blocking_runs_(kBlockingRuns),
      queueing_(1),
      transfers_(kTransfers) {}

Engine::~Engine() = default;

absl::StatusOr<std::shared_ptr<Engine>> Engine::Make(
    std::shared_ptr<Device> device, runtime::Client* client,
    HostEvaluators host) {
  std::shared_ptr<Engine> engine(
      new Engine(std::move(device), client, std::move(host)));
  for (std::shared_ptr<Lane>* lane : {&engine->main_, &engine->uploads_}) {
    HAWSER_ASSIGN_OR_RETURN(*lane,
                            Lane::Make(engine->device_, engine->events_,
                                       lane == &engine->uploads_ ? 1 : 0));
    MutexLock lock(&engine->mu_);
    engine->lanes_.push_back(*lane);
  }
  return engine;
}

// ---- memory -----------------------------------------------------------------

template <typename Try>
auto Engine::WithTrim(Lane* held, Try attempt) -> decltype(attempt()) {
  auto got = attempt();
  if (!absl::IsResourceExhausted(got.status())) return got;
  Trim(held);
  return attempt();
}

absl::StatusOr<std::shared_ptr<DeviceMemory>> Engine::Allocate(
    const std::shared_ptr<Lane>& lane, int64_t bytes) {
  HAWSER_ASSIGN_OR_RETURN(const DeviceAddress address,
                          WithTrim(lane.get(), [&] {
                            return device_->Allocate(lane->stream(), bytes);
                          }));
  return std::make_shared<DeviceMemory>(lane, address, bytes);
}

absl::StatusOr<DeviceAddress> Engine::Arena(const std::shared_ptr<Lane>& lane,
                                            int64_t bytes) {
  return WithTrim(lane.get(), [&] { return lane->Arena(bytes); });
}

void Engine::OnShortMemory(std::function<void()> drop) {
  MutexLock lock(&mu_);
  drop_ = std::move(drop);
}

void Engine::TrimMemory() { Trim(nullptr); }

void Engine::Trim(Lane* held) {
  std::function<void()> drop;
  std::vector<std::shared_ptr<Lane>> lanes;
  {
    MutexLock lock(&mu_);
    drop = drop_;
    lanes = lanes_;
  }
  if (drop) drop();
  for (const std::shared_ptr<Lane>& lane : lanes) {
    if (lane.get() != held && !lane->TryHold()) continue;
    lane->DropArena();
    lane->Sweep();
    device_->AwaitStream(lane->stream()).IgnoreError();
    if (lane.get() != held) lane->Release();
  }
  device_->TrimMemory().IgnoreError();
}

// ---- lanes ------------------------------------------------------------------

absl::StatusOr<std::shared_ptr<Lane>> Engine::TakeLane() {
  {
    MutexLock lock(&mu_);
    if (!idle_lanes_.empty()) {
      std::shared_ptr<Lane> lane = std::move(idle_lanes_.back());
      idle_lanes_.pop_back();
      return lane;
    }
  }
  HAWSER_ASSIGN_OR_RETURN(std::shared_ptr<Lane> lane,
                          Lane::Make(device_, events_, 0));
  MutexLock lock(&mu_);
  lanes_.push_back(lane);
  return lane;
}

void Engine::ReturnLane(std::shared_ptr<Lane> lane) {
  MutexLock lock(&mu_);
  idle_lanes_.push_back(std::move(lane));
}

// ---- life of the client -----------------------------------------------------

bool Engine::Begin() {
  MutexLock lock(&mu_);
  if (client_.load() == nullptr) return false;
  ++running_;
  return true;
}

void Engine::End() {
  MutexLock lock(&mu_);
  if (--running_ == 0) idle_.SignalAll();
}

void Engine::Close() {
  MutexLock lock(&mu_);
  client_ = nullptr;
  drop_ = nullptr;
}

void Engine::Drain() {
  {
    MutexLock lock(&mu_);
    idle_.Wait(&mu_, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return running_ == 0;
    });
    drained_ = true;
  }
  blocking_runs_.Stop();
  queueing_.Stop();
  transfers_.Stop();
}

bool Engine::IsOwnThread() const {
  return blocking_runs_.IsOwnThread() || queueing_.IsOwnThread() ||
         transfers_.IsOwnThread();
}

}  // namespace hawser::gpu
