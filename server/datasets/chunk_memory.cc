#include "server/datasets/chunk_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "core/base/status.h"
#include "core/runtime/dataset.h"

namespace hawser::server {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kPage = 4096;
constexpr auto kAlignment = std::align_val_t(64);

// Pages aligned to a huge page: maps more than asked and gives back the rest.
char* MapPages(size_t size) {
  void* mapped = mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* begin = static_cast<char*>(mapped);
  const size_t past = reinterpret_cast<uintptr_t>(begin) % kHugePage;
  const size_t front = past == 0 ? 0 : kHugePage - past;
  if (front > 0) munmap(begin, front);
  if (front < kHugePage) munmap(begin + front + size, kHugePage - front);
  // A kernel without huge pages refuses, and small ones do.
  (void)madvise(begin + front, size, MADV_HUGEPAGE);
  return begin + front;
}

// Of a chunk, and of what is prepared for one.
constexpr size_t kBlock = kChunkBytes;
static_assert(kBlock % kHugePage == 0);

}  // namespace

ChunkMemory::State::~State() {
  for (char* block : blocks) munmap(block, kBlock);
}

char* ChunkMemory::Take(State& state) {
  MutexLock lock(&state.mu);
  if (state.blocks.empty()) return nullptr;
  char* block = state.blocks.back();
  state.blocks.pop_back();
  return block;
}

void ChunkMemory::Give(State& state, char* block) {
  {
    MutexLock lock(&state.mu);
    if (state.blocks.size() < state.most_blocks) {
      state.blocks.push_back(block);
      return;
    }
  }
  munmap(block, kBlock);
}

absl::Status ChunkMemory::Prepare(int64_t bytes) {
  const size_t blocks = (bytes + kBlock - 1) / kBlock;
  {
    MutexLock lock(&state_->mu);
    state_->most_blocks = blocks;
  }
  for (size_t i = 0; i < blocks; ++i) {
    char* block = MapPages(kBlock);
    if (block == nullptr) {
      return ResourceExhausted("no memory to prepare ", bytes, " bytes");
    }
    std::memset(block, 0, kBlock);
    Give(*state_, block);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<char>> ChunkMemory::Allocate(int64_t bytes) {
  enum class From { kHeap, kPages, kBlocks };
  const size_t asked = static_cast<size_t>(bytes);
  From from = asked < kHugePage ? From::kHeap : From::kPages;
  size_t size = std::max<size_t>(asked, 1);
  char* p = nullptr;
  if (from == From::kPages && asked <= kBlock) {
    // All of one size, so that any may take the place of any.
    from = From::kBlocks;
    p = Take(*state_);
    if (p == nullptr) p = MapPages(kBlock);
  } else if (from == From::kPages) {
    size = (size + kPage - 1) / kPage * kPage;
    p = MapPages(size);
  } else {
    p = static_cast<char*>(::operator new(size, kAlignment, std::nothrow));
  }
  if (p == nullptr) {
    return ResourceExhausted("no memory for ", bytes, " bytes of a dataset");
  }
  state_->resident += bytes;
  return std::shared_ptr<char>(p,
                               [from, size, bytes, state = state_](char* gone) {
                                 if (from == From::kBlocks) {
                                   Give(*state, gone);
                                 } else if (from == From::kPages) {
                                   munmap(gone, size);
                                 } else {
                                   ::operator delete(gone, kAlignment);
                                 }
                                 state->resident -= bytes;
                               });
}

}  // namespace hawser::server
