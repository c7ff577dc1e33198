#include "kernels/cpu/host_allocator.h"

#include <unistd.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/values/large_memory.h"

namespace hawser::cpu {
namespace {

constexpr int64_t kAlignment = 64;
// Bytes copied between two looks at a token.
constexpr size_t kCopied = size_t{1} << 20;
// The C library has no cache for aligned blocks and returns large ones to the
// system, so that every new value would start with page faults.
constexpr int64_t kMostKept = int64_t{1} << 30;
// Small blocks that are kept are charged to no holder: to charge them would
// take as long as to allocate them.
constexpr int64_t kSmallBlock = 4096;
constexpr int64_t kMostSmallKept = int64_t{1} << 20;

// Sizes of kept blocks: four steps between powers of two, so that values of
// nearly one size share blocks.
int64_t BlockSize(int64_t bytes) {
  int64_t step = kAlignment;
  while (step * 8 < bytes) step *= 2;
  return (std::max<int64_t>(bytes, 1) + step - 1) / step * step;
}

}  // namespace

int64_t MachineMemoryBytes() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES);
  const int64_t page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? pages * page : 0;
}

std::shared_ptr<HostAllocator> HostAllocator::Make(int64_t limit) {
  if (limit == 0) limit = MachineMemoryBytes() / 4 * 3;
  if (limit == 0) limit = std::numeric_limits<int64_t>::max();
  return Make(MemoryAccount::Make(limit));
}

std::shared_ptr<HostAllocator> HostAllocator::Make(
    std::shared_ptr<MemoryAccount> account) {
  std::shared_ptr<HostAllocator> made(new HostAllocator(std::move(account)));
  made->account_->OnPressure(made, [at = made.get()](int64_t) { at->LetGo(); });
  return made;
}

HostAllocator::HostAllocator(std::shared_ptr<MemoryAccount> account)
    : account_(std::move(account)), own_(account_->Own("cpu")) {}

HostAllocator::~HostAllocator() { LetGo(); }

HostAllocator::Block::Block(std::shared_ptr<HostAllocator> allocator,
                            char* memory, int64_t size, int64_t bytes,
                            MemoryCharge charge)
    : allocator(std::move(allocator)),
      memory(memory),
      size(size),
      bytes(bytes),
      charge(std::move(charge)) {
  this->allocator->live_.fetch_add(bytes, std::memory_order_relaxed);
}

HostAllocator::Block::~Block() {
  allocator->live_.fetch_sub(bytes, std::memory_order_relaxed);
  allocator->Free(memory, size, std::move(charge));
}

absl::StatusOr<Literal> HostAllocator::Allocate(const Shape& shape,
                                                const MemoryHolderPtr& holder) {
  const int64_t bytes = shape.byte_size();
  const int64_t size = BlockSize(bytes);
  MemoryHolder& payer = holder == nullptr ? *own_ : *holder;
  auto charge = payer.Take(MemoryUse::kValue, bytes == 0 ? 0 : size);
  if (!charge.ok()) {
    return Annotate(charge.status(),
                    absl::StrCat("no memory for ", shape.ToString()));
  }
  char* memory = Take(size);
  if (memory == nullptr) {
    return ResourceExhausted("no memory for ", shape.ToString(),
                             ": the system "
                             "has no ",
                             bytes, " bytes more");
  }
  auto block = std::make_shared<Block>(shared_from_this(), memory, size, bytes,
                                       *std::move(charge));
  return Literal::AdoptWritable(shape, std::shared_ptr<char>(block, memory));
}

absl::StatusOr<Literal> HostAllocator::Aligned(Literal value,
                                               const CancelToken& cancel,
                                               const MemoryHolderPtr& holder) {
  const auto bytes = value.bytes();
  const auto alignment =
      std::min<uintptr_t>(ByteWidth(value.shape().dtype()), alignof(double));
  if (reinterpret_cast<uintptr_t>(bytes.data()) % alignment == 0) {
    return value;
  }
  HAWSER_ASSIGN_OR_RETURN(Literal copy, Allocate(value.shape(), holder));
  char* to = copy.mutable_bytes().data();
  for (size_t at = 0; at < bytes.size(); at += kCopied) {
    HAWSER_RETURN_IF_ERROR(cancel.Check());
    const auto part = bytes.subspan(at, kCopied);
    std::copy(part.begin(), part.end(), to + at);
  }
  return copy;
}

int64_t& HostAllocator::KeptLike(int64_t size) {
  return size <= kSmallBlock ? small_kept_bytes_ : kept_bytes_;
}

char* HostAllocator::Take(int64_t size) {
  {
    MutexLock lock(&mu_);
    auto kept = kept_.find(size);
    if (kept != kept_.end() && !kept->second.empty()) {
      char* block = kept->second.back().memory;
      kept->second.pop_back();
      KeptLike(size) -= size;
      return block;
    }
  }
  if (char* block = NewMemory(size)) return block;
  LetGo();  // blocks of other sizes may be what is in the way
  return NewMemory(size);
}

void HostAllocator::Free(char* block, int64_t size, MemoryCharge charge) {
  charge.Reset();
  MemoryCharge spare;
  if (size > kSmallBlock) {
    spare = own_->TryTake(MemoryUse::kSpare, size);
    if (spare.bytes() == 0) return DeleteMemory(block, size);
  }
  const int64_t most = size <= kSmallBlock
                           ? kMostSmallKept
                           : std::min(kMostKept, account_->limit() / 4);
  {
    MutexLock lock(&mu_);
    if (KeptLike(size) + size <= most) {
      kept_[size].push_back({block, std::move(spare)});
      KeptLike(size) += size;
      return;
    }
  }
  DeleteMemory(block, size);
}

void HostAllocator::LetGo() {
  MutexLock lock(&mu_);
  for (auto& [size, blocks] : kept_) {
    for (Spare& spare : blocks) DeleteMemory(spare.memory, size);
  }
  kept_.clear();
  kept_bytes_ = small_kept_bytes_ = 0;
}

}  // namespace hawser::cpu
