// CheckedMemory: the device memory that a launch may use, and the rules of use.
#ifndef HAWSER_KERNELS_EMU_LAUNCH_CHECKED_MEMORY_H_
#define HAWSER_KERNELS_EMU_LAUNCH_CHECKED_MEMORY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "kernels/gpu/device/device_api.h"

namespace hawser::emu {

// Memory that was not written holds this in each byte.
inline constexpr char kPoison = static_cast<char>(0xff);

// Every range of a launch is copied to a place far from all others, so that an
// access beyond its end is in no range, wherever the arena had put its
// neighbours. Ranges that overlap share a copy. An address keeps its offset
// within 256 bytes.
//
// Rules: an access lies in one range that allows it; each byte of a kWrite
// range is written exactly once; a byte that one thread writes is used by no
// other thread, except by Update on both sides.
class CheckedMemory {
 public:
  explicit CheckedMemory(absl::Span<const gpu::KernelArgument> arguments);
  ~CheckedMemory();

  // The address of argument i in its copy, for the kernel.
  uint64_t AddressOf(int i) const { return moved_[i]; }

  // These return what is wrong, or an empty text. `thread` counts all threads
  // of the launch, from 1.
  std::string Load(const void* p, uint64_t bytes, uint64_t align,
                   uint32_t thread);
  std::string Store(const void* p, uint64_t bytes, uint64_t align,
                    uint32_t thread);
  std::string Update(const void* p, uint64_t bytes, uint32_t thread);
  // The same after the last block: names bytes that should have been written.
  std::string Finish() const;

  // True if `other`, of the same launch from the same memory, holds the same
  // bytes.
  bool SameResults(const CheckedMemory& other) const;
  // Copies the bytes that were written to their original place.
  void WriteBack() const;

 private:
  struct Range {
    uint64_t begin, end;  // of the copy
    gpu::Access access;
    int argument;
  };
  // A run of ranges that overlap, with the marks of its bytes.
  struct Island {
    uint64_t original;    // its address on the device
    uint64_t begin, end;  // the copy
    std::unique_ptr<char[]> memory;
    bool is_written = false;
    bool is_mixed = false;         // both read and written
    std::vector<uint32_t> writer;  // if written: thread; kUpdated: several
    std::vector<uint32_t> reader;  // if mixed: thread; kMany: several
  };
  enum class Use : uint8_t { kLoad, kStore, kUpdate };

  void MakeIsland(absl::Span<const gpu::KernelArgument> arguments,
                  absl::Span<const int> members, uint64_t begin, uint64_t end);
  std::string Check(const void* p, uint64_t bytes, uint64_t align, Use use,
                    uint32_t thread);
  const Range* FindRange(uint64_t at, uint64_t bytes, Use use) const;
  std::string Outside(uint64_t at, uint64_t bytes, Use use) const;
  std::string Mark(Island* island, const Range& range, uint64_t at,
                   uint64_t bytes, Use use, uint32_t thread);

  std::vector<Range> ranges_;
  std::vector<int> island_of_;  // of each range
  std::vector<Island> islands_;
  std::vector<uint64_t> moved_;
  int last_ = 0;  // the range of the last access, which is tried first
};

}  // namespace hawser::emu
#endif  // HAWSER_KERNELS_EMU_LAUNCH_CHECKED_MEMORY_H_
