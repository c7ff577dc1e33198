// ClientState: what a CpuClient shares with its buffers and executables, which
// may outlive it.
#ifndef HAWSER_KERNELS_CPU_CLIENT_CLIENT_STATE_H_
#define HAWSER_KERNELS_CPU_CLIENT_CLIENT_STATE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "core/base/threads/gate.h"
#include "core/base/threads/thread_pool.h"
#include "core/runtime/client.h"
#include "kernels/cpu/host_allocator.h"

namespace hawser::cpu {

struct ClientState {
  ClientState(runtime::Client* owner, int threads, int extra_runs,
              std::shared_ptr<HostAllocator> allocator, double inline_cost)
      : client(owner),
        inline_cost(inline_cost),
        allocator(std::move(allocator)),
        pool(threads, extra_runs) {}

  // Waits for the executions in progress, then ends the pool's threads.
  void Drain() {
    gate.Close();
    pool.Stop();
  }

  std::atomic<runtime::Client*> client;  // nullptr once it is gone
  const double inline_cost;
  const std::shared_ptr<HostAllocator> allocator;
  std::atomic<int64_t> live_buffers{0};
  Gate gate;  // executions in progress are inside
  ThreadPool pool;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_CLIENT_CLIENT_STATE_H_
