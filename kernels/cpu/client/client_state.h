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
  // `threads`: of a pool of its own; 0: the process's.
  ClientState(runtime::Client* owner, int threads,
              std::shared_ptr<HostAllocator> allocator, double inline_cost)
      : client(owner),
        inline_cost(inline_cost),
        allocator(std::move(allocator)),
        own_pool(threads > 0 ? std::make_unique<ThreadPool>(threads) : nullptr),
        pool(own_pool != nullptr ? *own_pool : ThreadPool::OfProcess()) {}

  // Waits for the executions in progress, then ends the threads of its own.
  void Drain() {
    gate.Close();
    if (own_pool != nullptr) own_pool->Stop();
  }

  std::atomic<runtime::Client*> client;  // nullptr once it is gone
  const double inline_cost;
  const std::shared_ptr<HostAllocator> allocator;
  std::atomic<int64_t> live_buffers{0};
  Gate gate;  // executions in progress are inside
  const std::unique_ptr<ThreadPool> own_pool;
  ThreadPool& pool;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_CLIENT_CLIENT_STATE_H_
