#include "kernels/gpu/engine/engine.h"

#include <utility>

#include "core/base/status.h"

namespace hawser::gpu {
namespace {

constexpr int kBlockingRuns = 4;

}  // namespace

Engine::Engine(std::shared_ptr<Device> device,
               std::shared_ptr<WorkStreams> work_streams,
               runtime::Client* client, HostEvaluators host)
    : device_(std::move(device)),
      host_(std::move(host)),
      work_streams_(std::move(work_streams)),
      heap_(std::make_shared<DeviceHeap>(device_, work_streams_)),
      transfers_(std::make_shared<Transfers>(device_, work_streams_, heap_)),
      client_(client),
      blocking_runs_(kBlockingRuns),
      queueing_(1) {}

absl::StatusOr<std::shared_ptr<Engine>> Engine::Make(
    std::shared_ptr<Device> device, runtime::Client* client,
    HostEvaluators host) {
  HAWSER_ASSIGN_OR_RETURN(std::shared_ptr<WorkStreams> work_streams,
                          WorkStreams::Make(device));
  return std::shared_ptr<Engine>(new Engine(
      std::move(device), std::move(work_streams), client, std::move(host)));
}

void Engine::DropClient() {
  client_ = nullptr;
  heap_->OnShortMemory(nullptr);
}

void Engine::Drain() {
  gate_.Close();
  blocking_runs_.Stop();
  queueing_.Stop();
  transfers_->Stop();
}

bool Engine::IsOwnThread() const {
  return blocking_runs_.IsOwnThread() || queueing_.IsOwnThread() ||
         transfers_->IsOwnThread();
}

}  // namespace hawser::gpu
