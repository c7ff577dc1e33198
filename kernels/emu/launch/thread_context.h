// ThreadContext: answers what a kernel asks of the emulator during one launch.
#ifndef HAWSER_KERNELS_EMU_LAUNCH_THREAD_CONTEXT_H_
#define HAWSER_KERNELS_EMU_LAUNCH_THREAD_CONTEXT_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "kernels/dialect/host_context.h"
#include "kernels/emu/launch/block_runner.h"
#include "kernels/emu/launch/checked_memory.h"

namespace hawser::emu {

// Answers for the thread that `runner` runs. Shared memory is poisoned, and
// every element of it keeps its last accesses: two accesses of different
// threads, one of them a write, must have a barrier in between.
class ThreadContext final : public hk::HostContext {
 public:
  // `dynamic_shared_bytes`: those of HK_DYNAMIC_SHARED. `runner` and `memory`
  // outlive this object.
  ThreadContext(BlockRunner* runner, CheckedMemory* memory, unsigned threads,
                int64_t dynamic_shared_bytes, int64_t max_shared_bytes);

  // Starts a block; `number` counts all blocks of the launch.
  void StartBlock(const unsigned (&block)[3], uint64_t number);

  void Barrier(int line) override;
  void WarpBarrier(int line) override;
  unsigned Shuffle(unsigned word, unsigned lane, int line) override;
  unsigned Ballot(bool x, int line) override;
  const unsigned* Gather(const unsigned* words, unsigned count,
                         int line) override;
  void Load(const void* p, unsigned long bytes, unsigned long align,
            int line) override;
  void Store(const void* p, unsigned long bytes, unsigned long align,
             int line) override;
  void Update(const void* p, unsigned long bytes, int line) override;
  hk::HostShared Shared(int id, unsigned long element_bytes,
                        unsigned long elements) override;
  void SharedRead(hk::HostCell* cell, int line) override;
  void SharedWrite(hk::HostCell* cell, int line) override;
  void SharedUpdate(hk::HostCell* cell, int line) override;
  void SharedOutside(unsigned long index, unsigned long elements,
                     int line) override;

 private:
  struct Array {
    int id;
    unsigned long element_bytes;
    bool is_used;  // in this block
    std::vector<char> data;
    std::vector<hk::HostCell> cells;
  };

  [[noreturn]] void Fail(int line, std::string what);
  unsigned Turn() const;
  bool Ordered(unsigned at, unsigned other) const;
  void CheckOrdered(unsigned at, unsigned who, const char* does,
                    const char* did, int line);
  void Join(unsigned* at, unsigned* who) const;
  uint32_t GlobalThread() const;

  BlockRunner* const runner_;
  CheckedMemory* const memory_;
  const unsigned threads_;
  const int64_t dynamic_shared_bytes_;
  const int64_t max_shared_bytes_;
  uint64_t block_number_ = 0;
  std::deque<Array> arrays_;
  // kMostWords for each thread, twice and used in turn: a thread writes words
  // again only after its warp has read the other ones.
  std::vector<unsigned> exchanged_[2];
  std::vector<unsigned> shuffles_;    // per thread
  std::vector<unsigned> warp_syncs_;  // per thread, since the block started
};

}  // namespace hawser::emu
#endif  // HAWSER_KERNELS_EMU_LAUNCH_THREAD_CONTEXT_H_
