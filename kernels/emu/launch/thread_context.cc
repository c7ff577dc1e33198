#include "kernels/emu/launch/thread_context.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace hawser::emu {
namespace {

constexpr unsigned kWarp = BlockRunner::kWarp;
// A reader: several threads, all of one warp when the lower bits name it.
constexpr unsigned kSeveral = 0x80000000u;
constexpr unsigned kSeveralWarps = ~0u;
// A turn holds the count of the block's barriers and, in its lower bits, that
// of the warp's own.
constexpr unsigned kTurnShift = 16;
// The most shared memory that a kernel may declare; compilers refuse more.
constexpr int64_t kMostDeclaredBytes = 48 << 10;

unsigned WarpOf(unsigned thread_from_1) { return (thread_from_1 - 1) / kWarp; }

}  // namespace

ThreadContext::ThreadContext(BlockRunner* runner, CheckedMemory* memory,
                             unsigned threads, int64_t dynamic_shared_bytes,
                             int64_t max_shared_bytes)
    : runner_(runner),
      memory_(memory),
      threads_(threads),
      dynamic_shared_bytes_(dynamic_shared_bytes),
      max_shared_bytes_(max_shared_bytes),
      shuffles_(threads),
      warp_syncs_(threads) {
  exchanged_[0].resize(threads * kMostWords);
  exchanged_[1].resize(threads * kMostWords);
  runner_->OnSwitch([this](unsigned t) { thread = t; });
}

void ThreadContext::StartBlock(const unsigned (&at)[3], uint64_t number) {
  std::memcpy(block, at, sizeof(block));
  block_number_ = number;
  for (Array& a : arrays_) a.is_used = false;
  shuffles_.assign(threads_, 0);
  warp_syncs_.assign(threads_, 0);
}

void ThreadContext::Fail(int line, std::string what) {
  runner_->Report(absl::StrCat("line ", line, ": ", what, " (block ", block[0],
                               ",", block[1], ",", block[2], " thread ", thread,
                               ")"));
  // Freed here: no destructor runs on a stack that is left.
  std::string().swap(what);
  runner_->Stop();
}

uint32_t ThreadContext::GlobalThread() const {
  return static_cast<uint32_t>(block_number_ * threads_ + thread + 1);
}

void ThreadContext::Barrier(int line) { runner_->AwaitBlock(line); }

void ThreadContext::WarpBarrier(int line) {
  runner_->AwaitWarp(line);
  ++warp_syncs_[thread];
}

const unsigned* ThreadContext::Gather(const unsigned* words, unsigned count,
                                      int line) {
  const unsigned self = thread;
  unsigned* const all = exchanged_[shuffles_[self]++ % 2].data();
  std::memcpy(all + self * kMostWords, words, count * sizeof(*words));
  runner_->AwaitWarp(line);
  return all + self / kWarp * kWarp * kMostWords;
}

unsigned ThreadContext::Shuffle(unsigned word, unsigned lane, int line) {
  if (thread / kWarp * kWarp + lane % kWarp >= threads_) {
    Fail(line, absl::StrCat("lane ", lane, " is beyond the block"));
  }
  return Gather(&word, 1, line)[lane % kWarp * kMostWords];
}

unsigned ThreadContext::Ballot(bool x, int line) {
  const unsigned first = thread / kWarp * kWarp;
  const unsigned bit = x ? 1 : 0;
  const unsigned* const words = Gather(&bit, 1, line);
  unsigned lanes = 0;
  for (unsigned lane = 0; lane < kWarp && first + lane < threads_; ++lane) {
    lanes |= words[lane * kMostWords] << lane;
  }
  return lanes;
}

void ThreadContext::Load(const void* p, unsigned long bytes,
                         unsigned long align, int line) {
  std::string what = memory_->Load(p, bytes, align, GlobalThread());
  if (!what.empty()) Fail(line, std::move(what));
}

void ThreadContext::Store(const void* p, unsigned long bytes,
                          unsigned long align, int line) {
  std::string what = memory_->Store(p, bytes, align, GlobalThread());
  if (!what.empty()) Fail(line, std::move(what));
}

void ThreadContext::Update(const void* p, unsigned long bytes, int line) {
  std::string what = memory_->Update(p, bytes, GlobalThread());
  if (!what.empty()) Fail(line, std::move(what));
}

hk::HostShared ThreadContext::Shared(int id, unsigned long element_bytes,
                                     unsigned long elements) {
  if (id < 0) elements = dynamic_shared_bytes_ / element_bytes;
  Array* found = nullptr;
  int64_t used = 0, declared = 0;
  for (Array& a : arrays_) {
    if (a.id == id) found = &a;
    used += static_cast<int64_t>(a.data.size());
    if (a.id >= 0) declared += static_cast<int64_t>(a.data.size());
  }
  if (found == nullptr) {
    // Elements of earlier arrays stay where they are: threads hold pointers to
    // them.
    arrays_.push_back({id, element_bytes, false, {}, {}});
    found = &arrays_.back();
    found->data.resize(element_bytes * elements);
    found->cells.resize(elements);
    used += static_cast<int64_t>(found->data.size());
    if (used > max_shared_bytes_) {
      Fail(0, absl::StrCat(used, " bytes of shared memory, of ",
                           max_shared_bytes_));
    }
    if (id >= 0) declared += static_cast<int64_t>(found->data.size());
    if (declared > kMostDeclaredBytes) {
      Fail(0, absl::StrCat(declared, " bytes of declared shared memory, of ",
                           kMostDeclaredBytes));
    }
  }
  if (found->element_bytes != element_bytes) {
    Fail(0, "shared memory of two element types");
  }
  if (!found->is_used) {
    found->is_used = true;
    found->data.assign(found->data.size(), kPoison);
    found->cells.assign(found->cells.size(), hk::HostCell());
  }
  return {found->data.data(), found->cells.data(), found->cells.size()};
}

unsigned ThreadContext::Turn() const {
  return runner_->block_turn() << kTurnShift | warp_syncs_[thread];
}

// True if a barrier stands between this access and that of thread `other` (from
// 1) at turn `at`.
bool ThreadContext::Ordered(unsigned at, unsigned other) const {
  if (at >> kTurnShift != runner_->block_turn()) return true;
  if (other == thread + 1) return true;
  if (other == kSeveralWarps) return false;
  const unsigned warp =
      (other & kSeveral) != 0 ? other & ~kSeveral : WarpOf(other);
  return warp == thread / kWarp && at != Turn();
}

// Ends the launch where another thread has used the element at turn `at`, and
// no barrier stands in between.
void ThreadContext::CheckOrdered(unsigned at, unsigned who, const char* does,
                                 const char* did, int line) {
  if (who == 0 || Ordered(at, who)) return;
  const std::string other = (who & kSeveral) != 0
                                ? "another thread"
                                : absl::StrCat("thread ", who - 1);
  Fail(line, absl::StrCat(does, " a shared element that ", other, " has ", did,
                          ", without a barrier in between"));
}

// Adds this thread to those that have used an element since the last barrier.
void ThreadContext::Join(unsigned* at, unsigned* who) const {
  const unsigned self = thread + 1;
  if (*who == 0 || (Ordered(*at, *who) && *who != self)) {
    *who = self;
  } else if (*who != self && *who != kSeveralWarps) {
    const unsigned warp =
        (*who & kSeveral) != 0 ? *who & ~kSeveral : WarpOf(*who);
    *who = warp == thread / kWarp ? kSeveral | warp : kSeveralWarps;
  }
  *at = Turn();
}

void ThreadContext::SharedRead(hk::HostCell* cell, int line) {
  if (cell->written_at == 0) {
    Fail(line, "reads a shared element that nobody has written");
  }
  CheckOrdered(cell->written_at, cell->writer, "reads", "written", line);
  CheckOrdered(cell->updated_at, cell->updater, "reads", "updated", line);
  Join(&cell->read_at, &cell->reader);
}

void ThreadContext::SharedWrite(hk::HostCell* cell, int line) {
  CheckOrdered(cell->written_at, cell->writer, "writes", "written", line);
  CheckOrdered(cell->updated_at, cell->updater, "writes", "updated", line);
  CheckOrdered(cell->read_at, cell->reader, "writes", "read", line);
  cell->writer = thread + 1;
  cell->written_at = Turn();
}

void ThreadContext::SharedUpdate(hk::HostCell* cell, int line) {
  if (cell->written_at == 0) {
    Fail(line, "updates a shared element that no thread has written");
  }
  CheckOrdered(cell->written_at, cell->writer, "updates", "written", line);
  CheckOrdered(cell->read_at, cell->reader, "updates", "read", line);
  Join(&cell->updated_at, &cell->updater);
}

void ThreadContext::SharedOutside(unsigned long index, unsigned long elements,
                                  int line) {
  Fail(line, absl::StrCat("element ", static_cast<int64_t>(index),
                          " of shared memory, which has ", elements));
}

}  // namespace hawser::emu
