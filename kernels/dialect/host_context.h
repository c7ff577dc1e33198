// The thread that a kernel compiled for the host is, and the requests that the
// kernel makes. Filled in by kernels/emu; also part of what g++ reads, so it
// includes nothing.
#ifndef HAWSER_KERNELS_DIALECT_HOST_CONTEXT_H_
#define HAWSER_KERNELS_DIALECT_HOST_CONTEXT_H_

namespace hk {

// The last accesses of one element of a shared array, for finding accesses that
// no barrier orders. Threads count from 1.
struct HostCell {
  unsigned written_at = 0, writer = 0;  // turn and thread; turn 0: never
  unsigned read_at = 0, reader = 0;
  unsigned updated_at = 0, updater = 0;
};

// An array in shared memory.
struct HostShared {
  void* data = nullptr;
  HostCell* cells = nullptr;
  unsigned long elements = 0;
};

// Lines are those of the kernel's text.
struct HostContext {
  unsigned thread = 0;
  unsigned block[3] = {};
  unsigned grid[3] = {};

  virtual void Barrier(int line) = 0;
  virtual void WarpBarrier(int line) = 0;
  // `lane`'s value of `word`, once the whole warp has come here.
  virtual unsigned Shuffle(unsigned word, unsigned lane, int line) = 0;
  // The lanes of the warp whose `x` is true, as bits.
  virtual unsigned Ballot(bool x, int line) = 0;
  // Returns what each lane of the warp gives: lane l's `count` words, at most
  // kMostWords, are those from l * kMostWords on. They stand until this
  // thread's next exchange.
  static constexpr unsigned kMostWords = 8;
  virtual const unsigned* Gather(const unsigned* words, unsigned count,
                                 int line) = 0;

  // Do not return when the access is not allowed.
  virtual void Load(const void* p, unsigned long bytes, unsigned long align,
                    int line) = 0;
  virtual void Store(const void* p, unsigned long bytes, unsigned long align,
                     int line) = 0;
  virtual void Update(const void* p, unsigned long bytes, int line) = 0;

  // The array number `id` of this block. -1: all that the launch asked for, of
  // elements of `element_bytes`.
  virtual HostShared Shared(int id, unsigned long element_bytes,
                            unsigned long elements) = 0;
  virtual void SharedRead(HostCell* cell, int line) = 0;
  virtual void SharedWrite(HostCell* cell, int line) = 0;
  // A read and a write that no other thread comes between.
  virtual void SharedUpdate(HostCell* cell, int line) = 0;
  virtual void SharedOutside(unsigned long index, unsigned long elements,
                             int line) = 0;

 protected:
  ~HostContext() = default;
};

// One parameter of a kernel, as its text declares it.
struct HostParameter {
  unsigned bytes = 0;
  bool is_pointer = false;
  bool is_writable = false;  // a pointer to what is not const
  unsigned align = 1;        // of what a pointer points to
};

// Describes a kernel: "hk_info_<name>" in the shared object.
struct HostKernelInfo {
  void (*call)(void* const* arguments) = nullptr;
  const HostParameter* parameters = nullptr;
  unsigned num_parameters = 0;
  unsigned max_threads = 0;  // HK_BOUNDS; 0: not given
};

}  // namespace hk
#endif  // HAWSER_KERNELS_DIALECT_HOST_CONTEXT_H_
