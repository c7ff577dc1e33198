// HostAllocator: memory for values, charged to a holder, large ones in huge
// pages; blocks are kept for the next value of their size, since the first
// touch of fresh memory costs more than most ops (0.4-0.7 GB/s measured, in
// pages of 4 KiB).
#ifndef HAWSER_KERNELS_CPU_HOST_ALLOCATOR_H_
#define HAWSER_KERNELS_CPU_HOST_ALLOCATOR_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "core/base/memory_account.h"
#include "core/base/mutex.h"
#include "core/base/threads/cancel.h"
#include "core/base/values/literal.h"
#include "core/base/values/shape.h"

namespace hawser::cpu {

// Thread-safe. A value keeps its allocator alive and is charged until its last
// Literal is gone, wherever that is. Kept blocks are charged as spare, and go
// when something else wants the memory.
class HostAllocator : public std::enable_shared_from_this<HostAllocator> {
 public:
  static std::shared_ptr<HostAllocator> Make(
      std::shared_ptr<MemoryAccount> account);
  // An allocator with an account of its own, of `limit` bytes; 0: three
  // quarters of this machine's memory.
  static std::shared_ptr<HostAllocator> Make(int64_t limit);
  ~HostAllocator();
  HostAllocator(const HostAllocator&) = delete;
  HostAllocator& operator=(const HostAllocator&) = delete;

  // Contents undefined, 64-byte aligned; charged to `holder`, or where that is
  // null to the allocator itself. Errors: kResourceExhausted naming the shape
  // and what each holder has.
  absl::StatusOr<Literal> Allocate(const Shape& shape,
                                   const MemoryHolderPtr& holder = nullptr);
  // `value`, or a copy of it where its elements would be misaligned: adopted
  // memory may stand at any address, kernels read through typed pointers.
  // Errors: kResourceExhausted, and what `cancel` says meanwhile.
  absl::StatusOr<Literal> Aligned(Literal value, const CancelToken& cancel = {},
                                  const MemoryHolderPtr& holder = nullptr);

  // Bytes of live values, by their shapes.
  int64_t live_bytes() const { return live_.load(); }
  // Gives all kept blocks back to the system.
  void LetGo();

 private:
  explicit HostAllocator(std::shared_ptr<MemoryAccount> account);
  // A block and what it is charged to.
  struct Block {
    Block(std::shared_ptr<HostAllocator> allocator, char* memory, int64_t size,
          int64_t bytes, MemoryCharge charge);
    ~Block();
    const std::shared_ptr<HostAllocator> allocator;
    char* const memory;
    const int64_t size;
    const int64_t bytes;  // of the value
    MemoryCharge charge;
  };
  char* Take(int64_t size);
  void Free(char* block, int64_t size, MemoryCharge charge);

  const std::shared_ptr<MemoryAccount> account_;
  const MemoryHolderPtr own_;
  std::atomic<int64_t> live_{0};
  struct Spare {
    char* memory;
    MemoryCharge charge;
  };
  mutable Mutex mu_;
  absl::flat_hash_map<int64_t, std::vector<Spare>> kept_ ABSL_GUARDED_BY(mu_);
  // Bytes of kept blocks like one of that size.
  int64_t& KeptLike(int64_t size) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  int64_t kept_bytes_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t small_kept_bytes_ ABSL_GUARDED_BY(mu_) = 0;
};

// Bytes of this machine's memory, 0 if it does not say.
int64_t MachineMemoryBytes();

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_HOST_ALLOCATOR_H_
