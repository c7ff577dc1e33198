#include "kernels/emu/launch/checked_memory.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "absl/strings/str_cat.h"

namespace hawser::emu {
namespace {

using gpu::Access;
using gpu::KernelArgument;

constexpr uint64_t kAlignment = 256;
// Bytes between an island and the end of its memory, on both sides.
constexpr uint64_t kMargin = 4096;
// The bytes of memory that was not written: NaN in every floating dtype.
constexpr uint32_t kUpdated = ~uint32_t{0};  // a writer: several, by Update
constexpr uint32_t kMany = ~uint32_t{0};     // a reader: several threads

char* At(uint64_t address) { return reinterpret_cast<char*>(address); }

bool Allows(Access access, bool writes, bool updates) {
  if (updates) return access == Access::kUpdate;
  return access == Access::kUpdate ||
         access == (writes ? Access::kWrite : Access::kRead);
}

}  // namespace

CheckedMemory::CheckedMemory(absl::Span<const KernelArgument> arguments)
    : moved_(arguments.size(), kAlignment) {
  std::vector<int> order;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].is_range() && arguments[i].bytes() > 0) {
      order.push_back(static_cast<int>(i));
    }
  }
  auto begin = [&](int i) { return arguments[i].address().value; };
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return begin(a) < begin(b); });
  size_t first = 0;
  uint64_t end = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i > first && begin(order[i]) >= end) {
      const auto members = absl::MakeConstSpan(order).subspan(first, i - first);
      MakeIsland(arguments, members, begin(order[first]), end);
      first = i;
    }
    const uint64_t own_end = begin(order[i]) + arguments[order[i]].bytes();
    end = i == first ? own_end : std::max(end, own_end);
  }
  if (!order.empty()) {
    MakeIsland(arguments, absl::MakeConstSpan(order).subspan(first),
               begin(order[first]), end);
  }
}

CheckedMemory::~CheckedMemory() = default;

void CheckedMemory::MakeIsland(absl::Span<const KernelArgument> arguments,
                               absl::Span<const int> members, uint64_t begin,
                               uint64_t end) {
  Island island{.original = begin};
  const uint64_t bytes = end - begin;
  const uint64_t room = bytes + 2 * kMargin + kAlignment;
  island.memory = std::make_unique_for_overwrite<char[]>(room);
  std::memset(island.memory.get(), kPoison, room);
  const uint64_t lowest =
      reinterpret_cast<uint64_t>(island.memory.get()) + kMargin;
  island.begin = lowest + (begin - lowest) % kAlignment;
  island.end = island.begin + bytes;
  bool is_read = false;
  for (const int i : members) {
    const KernelArgument& a = arguments[i];
    const uint64_t at = island.begin + (a.address().value - begin);
    moved_[i] = at;
    ranges_.push_back({at, at + a.bytes(), a.access(), i});
    island_of_.push_back(static_cast<int>(islands_.size()));
    island.is_written |= a.access() != Access::kRead;
    is_read |= a.access() != Access::kWrite;
    // A range that is only to be written starts as poison, which shows a thread
    // that reads it.
    if (a.access() != Access::kWrite) {
      std::memcpy(At(at), At(a.address().value), a.bytes());
    }
  }
  island.is_mixed = island.is_written && is_read;
  if (island.is_written) island.writer.resize(bytes);
  if (island.is_mixed) island.reader.resize(bytes);
  islands_.push_back(std::move(island));
}

const CheckedMemory::Range* CheckedMemory::FindRange(uint64_t at,
                                                     uint64_t bytes,
                                                     Use use) const {
  const int n = static_cast<int>(ranges_.size());
  for (int k = 0; k < n; ++k) {
    const Range& r = ranges_[(last_ + k) % n];
    if (at >= r.begin && at + bytes <= r.end &&
        Allows(r.access, use == Use::kStore, use == Use::kUpdate)) {
      return &r;
    }
  }
  return nullptr;
}

// The error of an access that lies in no range; it names the nearest one.
std::string CheckedMemory::Outside(uint64_t at, uint64_t bytes, Use use) const {
  const char* verb = use == Use::kLoad ? "load" : "store";
  const Range* nearest = nullptr;
  uint64_t distance = ~uint64_t{0};
  for (const Range& r : ranges_) {
    const uint64_t d = at < r.begin  ? r.begin - at
                       : at >= r.end ? at - r.end
                                     : 0;
    if (d < distance) {
      distance = d;
      nearest = &r;
    }
  }
  if (nearest == nullptr || distance > kMargin) {
    return absl::StrCat(verb, " of ", bytes, " bytes far from every argument");
  }
  const auto offset = static_cast<int64_t>(at - nearest->begin);
  if (at >= nearest->begin && at + bytes <= nearest->end) {
    return absl::StrCat(verb, " at byte ", offset, " of argument ",
                        nearest->argument, ", which is only ",
                        nearest->access == Access::kRead ? "read" : "written");
  }
  return absl::StrCat(verb, " of ", bytes, " bytes at byte ", offset,
                      " of argument ", nearest->argument, ", which has ",
                      nearest->end - nearest->begin);
}

std::string CheckedMemory::Check(const void* p, uint64_t bytes, uint64_t align,
                                 Use use, uint32_t thread) {
  const uint64_t at = reinterpret_cast<uint64_t>(p);
  const Range* range = FindRange(at, bytes, use);
  if (range == nullptr) return Outside(at, bytes, use);
  if (at % align != 0) {
    return absl::StrCat("access of ", bytes, " bytes at byte ",
                        at - range->begin, " of argument ", range->argument,
                        ", not aligned to ", align);
  }
  last_ = static_cast<int>(range - ranges_.data());
  Island& island = islands_[island_of_[last_]];
  if (!island.is_written) return "";
  return Mark(&island, *range, at, bytes, use, thread);
}

std::string CheckedMemory::Mark(Island* island, const Range& range, uint64_t at,
                                uint64_t bytes, Use use, uint32_t thread) {
  const uint32_t self = use == Use::kUpdate ? kUpdated : thread;
  for (uint64_t k = at - island->begin; k < at - island->begin + bytes; ++k) {
    const uint32_t writer = island->writer[k];
    auto wrong = [&](absl::string_view what) {
      return absl::StrCat("byte ", k + island->begin - range.begin,
                          " of argument ", range.argument, " ", what);
    };
    if (use == Use::kLoad) {
      if (writer != 0 && range.access == Access::kRead) {
        return wrong("is read after it was overwritten in place");
      }
      if (writer != 0 && writer != thread) {
        return wrong("is read while another thread writes it");
      }
      uint32_t& reader = island->reader[k];
      reader = reader == 0 || reader == thread ? thread : kMany;
      continue;
    }
    if (writer != 0 && range.access == Access::kWrite) {
      return wrong("is written twice");
    }
    if (writer != 0 && writer != self) {
      return wrong("is written by two threads");
    }
    if (island->is_mixed && island->reader[k] != 0 &&
        island->reader[k] != thread) {
      return wrong("is written while another thread reads it");
    }
    island->writer[k] = self;
  }
  return "";
}

std::string CheckedMemory::Load(const void* p, uint64_t bytes, uint64_t align,
                                uint32_t thread) {
  return Check(p, bytes, align, Use::kLoad, thread);
}
std::string CheckedMemory::Store(const void* p, uint64_t bytes, uint64_t align,
                                 uint32_t thread) {
  return Check(p, bytes, align, Use::kStore, thread);
}
std::string CheckedMemory::Update(const void* p, uint64_t bytes,
                                  uint32_t thread) {
  return Check(p, bytes, bytes, Use::kUpdate, thread);
}

std::string CheckedMemory::Finish() const {
  for (size_t r = 0; r < ranges_.size(); ++r) {
    const Range& range = ranges_[r];
    if (range.access != Access::kWrite) continue;
    const Island& island = islands_[island_of_[r]];
    const auto from = island.writer.begin() + (range.begin - island.begin);
    const auto to = from + (range.end - range.begin);
    const auto first = std::find(from, to, 0u);
    if (first == to) continue;
    return absl::StrCat(std::count(from, to, 0u), " of ",
                        range.end - range.begin, " bytes of argument ",
                        range.argument, " were not written, the first at byte ",
                        first - from);
  }
  return "";
}

bool CheckedMemory::SameResults(const CheckedMemory& other) const {
  for (size_t i = 0; i < islands_.size(); ++i) {
    const Island& a = islands_[i];
    const Island& b = other.islands_[i];
    if (!a.is_written) continue;
    if (std::memcmp(At(a.begin), At(b.begin), a.end - a.begin) != 0) {
      return false;
    }
  }
  return true;
}

void CheckedMemory::WriteBack() const {
  for (const Island& island : islands_) {
    if (!island.is_written) continue;
    // Only bytes that were written: a range that was only to be written may
    // have kept its poison elsewhere.
    for (size_t k = 0; k < island.writer.size(); ++k) {
      if (island.writer[k] != 0) {
        At(island.original)[k] = At(island.begin)[k];
      }
    }
  }
}

}  // namespace hawser::emu
