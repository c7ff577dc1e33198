#include "kernels/plan/memory/arena.h"

#include <algorithm>
#include <iterator>

namespace hawser::plan {

// A value of no bytes takes a place too, so that no two values share an offset.
int64_t Arena::Rounded(int64_t bytes) const {
  bytes = std::max<int64_t>(bytes, 1);
  return (bytes + alignment_ - 1) / alignment_ * alignment_;
}

void Arena::AddHole(int64_t offset, int64_t bytes) {
  by_offset_.emplace(offset, bytes);
  by_size_.emplace(bytes, offset);
}

void Arena::RemoveHole(std::map<int64_t, int64_t>::iterator hole) {
  by_size_.erase({hole->second, hole->first});
  by_offset_.erase(hole);
}

int64_t Arena::Allocate(int64_t bytes) {
  bytes = Rounded(bytes);
  const auto fit = by_size_.lower_bound({bytes, 0});
  if (fit != by_size_.end()) {
    const auto [hole_bytes, offset] = *fit;
    RemoveHole(by_offset_.find(offset));
    if (hole_bytes > bytes) AddHole(offset + bytes, hole_bytes - bytes);
    return offset;
  }
  int64_t offset = size_;
  if (!by_offset_.empty()) {
    const auto last = std::prev(by_offset_.end());
    if (last->first + last->second == size_) {
      offset = last->first;
      RemoveHole(last);
    }
  }
  size_ = offset + bytes;
  return offset;
}

void Arena::Free(int64_t offset, int64_t bytes) {
  bytes = Rounded(bytes);
  auto next = by_offset_.lower_bound(offset);
  if (next != by_offset_.end() && offset + bytes == next->first) {
    bytes += next->second;
    const auto merged = next++;
    RemoveHole(merged);
  }
  if (next != by_offset_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == offset) {
      offset = before->first;
      bytes += before->second;
      RemoveHole(before);
    }
  }
  AddHole(offset, bytes);
}

}  // namespace hawser::plan
