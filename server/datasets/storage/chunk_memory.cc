#include "server/datasets/storage/chunk_memory.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "core/base/status.h"
#include "core/base/values/large_memory.h"
#include "core/runtime/dataset.h"

namespace hawser::server {
namespace {

constexpr auto kAlignment = std::align_val_t(64);

// The size of a chunk, and of what is prepared for one.
constexpr size_t kBlock = kChunkBytes;
static_assert(kBlock >= kLargeBytes);
// Smaller ones would waste too much of it.
constexpr size_t kWorthABlock = kBlock / 2;

}  // namespace

ChunkMemory::State::~State() {
  for (Spare& spare : blocks) UnmapLarge(spare.memory, kBlock);
}

char* ChunkMemory::Take(State& state) {
  MutexLock lock(&state.mu);
  if (state.blocks.empty()) return nullptr;
  char* block = state.blocks.back().memory;
  state.blocks.pop_back();
  return block;
}

void ChunkMemory::Give(State& state, char* block) {
  MemoryCharge charge;
  if (state.holder != nullptr) {
    charge = state.holder->TryTake(MemoryUse::kSpare, kBlock);
  }
  if (state.holder == nullptr || charge.bytes() > 0) {
    MutexLock lock(&state.mu);
    if (state.blocks.size() < state.most_blocks) {
      state.blocks.push_back({block, std::move(charge)});
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

// Memory that is handed out, with what it is charged to.
struct ChunkMemory::Block {
  enum class From { kNone, kHeap, kPages, kBlocks };

  ~Block() {
    charge.Reset();  // first: it may be charged as spare
    if (from == From::kBlocks) Give(*state, memory);
    if (from == From::kPages) UnmapLarge(memory, size);
    if (from == From::kHeap) ::operator delete(memory, kAlignment);
    if (from != From::kNone) state->resident -= bytes;
  }

  std::shared_ptr<State> state;
  MemoryCharge charge;
  From from = From::kNone;
  char* memory = nullptr;
  size_t size = 0;
  int64_t bytes = 0;
};

absl::StatusOr<std::shared_ptr<char>> ChunkMemory::Allocate(
    int64_t bytes, const MemoryHolderPtr& holder, MemoryUse use) {
  using From = Block::From;
  auto block = std::make_shared<Block>();
  block->state = state_;
  block->bytes = bytes;
  const size_t asked = static_cast<size_t>(bytes);
  From from = asked < kWorthABlock ? From::kHeap : From::kPages;
  block->size = std::max<size_t>(asked, 1);
  if (from == From::kPages && asked <= kBlock) {
    // All of one size, so that each can be used again for any chunk.
    from = From::kBlocks;
    block->size = kBlock;
  }
  char*& p = block->memory;
  // Before the charge, which is the block's own then and not spare.
  if (from == From::kBlocks) p = Take(*state_);
  MemoryHolder* payer =
      holder != nullptr ? holder.get() : state_->holder.get();
  if (payer != nullptr) {
    auto charge = payer->Take(use, static_cast<int64_t>(block->size));
    if (!charge.ok()) {
      if (p != nullptr) Give(*state_, p);
      return charge.status();
    }
    block->charge = *std::move(charge);
  }
  if (from == From::kHeap) {
    p = static_cast<char*>(
        ::operator new(block->size, kAlignment, std::nothrow));
  } else if (p == nullptr) {
    p = MapLarge(block->size);
  }
  if (p == nullptr) {
    return ResourceExhausted("no memory for ", bytes, " bytes of a dataset");
  }
  block->from = from;
  state_->resident += bytes;
  char* const memory = p;
  return std::shared_ptr<char>(std::move(block), memory);
}

}  // namespace hawser::server
