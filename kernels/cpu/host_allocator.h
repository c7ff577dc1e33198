// HostAllocator: memory for values, counted and under a limit; blocks are kept
// for the next value of their size, since the first touch of fresh memory costs
// more than most ops (0.4-0.7 GB/s measured).
#ifndef HAWSER_KERNELS_CPU_HOST_ALLOCATOR_H_
#define HAWSER_KERNELS_CPU_HOST_ALLOCATOR_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "core/base/cancel.h"
#include "core/base/literal.h"
#include "core/base/mutex.h"
#include "core/base/shape.h"

namespace hawser::cpu {

// Thread-safe. A value keeps its allocator alive and is counted until its last
// Literal is gone, wherever that is.
class HostAllocator : public std::enable_shared_from_this<HostAllocator> {
 public:
  // `limit`: the most bytes of values alive at once; 0: three quarters of this
  // machine's memory.
  static std::shared_ptr<HostAllocator> Make(int64_t limit);
  ~HostAllocator();
  HostAllocator(const HostAllocator&) = delete;
  HostAllocator& operator=(const HostAllocator&) = delete;

  // Contents undefined, 64-byte aligned. Errors: kResourceExhausted naming the
  // shape, what is live and the limit.
  absl::StatusOr<Literal> Allocate(const Shape& shape);
  // `value`, or a copy of it where its elements would be misaligned: adopted
  // memory may stand at any address, kernels read through typed pointers.
  // Errors: kResourceExhausted, and what `cancel` says meanwhile.
  absl::StatusOr<Literal> Aligned(Literal value,
                                  const CancelToken& cancel = {});

  int64_t live_bytes() const { return live_.load(); }
  int64_t limit() const { return limit_; }

 private:
  explicit HostAllocator(int64_t limit) : limit_(limit) {}
  char* Take(int64_t size);
  void Free(char* block, int64_t size);
  // Gives all kept blocks back to the system.
  void Trim();

  const int64_t limit_;
  std::atomic<int64_t> live_{0};
  Mutex mu_;
  absl::flat_hash_map<int64_t, std::vector<char*>> kept_ ABSL_GUARDED_BY(mu_);
  int64_t kept_bytes_ ABSL_GUARDED_BY(mu_) = 0;
};

// Bytes of this machine's memory, 0 if it does not say.
int64_t MachineMemoryBytes();

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_HOST_ALLOCATOR_H_
