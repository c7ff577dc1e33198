#include "server/datasets/chunk_memory.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "core/base/large_memory.h"
#include "core/base/status.h"
#include "core/runtime/dataset.h"

namespace hawser::server {
namespace {

constexpr auto kAlignment = std::align_val_t(64);

// Of a chunk, and of what is prepared for one.
constexpr size_t kBlock = kChunkBytes;
static_assert(kBlock >= kLargeBytes);
// Smaller ones would waste too much of it.
constexpr size_t kWorthABlock = kBlock / 2;

}  // namespace

ChunkMemory::State::~State() {
  for (char* block : blocks) UnmapLarge(block, kBlock);
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
  UnmapLarge(block, kBlock);
}

absl::Status ChunkMemory::Prepare(int64_t bytes) {
  const size_t blocks = (bytes + kBlock - 1) / kBlock;
  {
    MutexLock lock(&state_->mu);
    state_->most_blocks = blocks;
  }
  for (size_t i = 0; i < blocks; ++i) {
    char* block = MapLarge(kBlock);
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
  From from = asked < kWorthABlock ? From::kHeap : From::kPages;
  size_t size = std::max<size_t>(asked, 1);
  char* p = nullptr;
  if (from == From::kPages && asked <= kBlock) {
    // All of one size, so that any may take the place of any.
    from = From::kBlocks;
    p = Take(*state_);
    if (p == nullptr) p = MapLarge(kBlock);
  } else if (from == From::kPages) {
    p = MapLarge(size);
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
                                   UnmapLarge(gone, size);
                                 } else {
                                   ::operator delete(gone, kAlignment);
                                 }
                                 state->resident -= bytes;
                               });
}

}  // namespace hawser::server
