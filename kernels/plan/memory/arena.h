// Arena: offsets handed out and taken back over a schedule, best fit.
#ifndef HAWSER_KERNELS_PLAN_MEMORY_ARENA_H_
#define HAWSER_KERNELS_PLAN_MEMORY_ARENA_H_

#include <cstdint>
#include <map>
#include <set>
#include <utility>

namespace hawser::plan {

// Not thread-safe. Every call takes time logarithmic in the holes.
class Arena {
 public:
  explicit Arena(int64_t alignment) : alignment_(alignment) {}

  // The offset of the smallest hole that holds `bytes`, or of the end.
  int64_t Allocate(int64_t bytes);
  // `bytes` as it was allocated.
  void Free(int64_t offset, int64_t bytes);
  // The end of the highest offset that was ever handed out.
  int64_t size() const { return size_; }

 private:
  int64_t Rounded(int64_t bytes) const;
  void AddHole(int64_t offset, int64_t bytes);
  void RemoveHole(std::map<int64_t, int64_t>::iterator hole);

  const int64_t alignment_;
  int64_t size_ = 0;
  std::map<int64_t, int64_t> by_offset_;           // offset -> bytes
  std::set<std::pair<int64_t, int64_t>> by_size_;  // (bytes, offset)
};

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_MEMORY_ARENA_H_
