#include "kernels/cpu/point_steps/slot_plan.h"

#include <algorithm>

namespace hawser::cpu {
namespace {

constexpr int64_t kLine = 64;  // bytes; a slot begins on one

}  // namespace

void SlotPlan::BeginList(bool lasts) { lists_.push_back({now_ + 1, lasts}); }

LaneSlot SlotPlan::Define(LaneShape shape, int64_t width, bool over) {
  const int list = static_cast<int>(lists_.size()) - 1;
  slots_.push_back({.shape = shape,
                    .width = width,
                    .over = over,
                    .list = list,
                    .first = now_,
                    .last = now_});
  return {static_cast<int>(slots_.size()) - 1, shape, width};
}

LaneSlot SlotPlan::DefineLasting(LaneShape shape, int64_t width) {
  slots_.push_back({.shape = shape, .width = width, .first = 0, .last = 0});
  return {static_cast<int>(slots_.size()) - 1, shape, width};
}

LaneSlot SlotPlan::DefineForList(LaneShape shape, int64_t width) {
  const LaneSlot slot = Define(shape, width, /*over=*/false);
  slots_.back().to_the_end = true;
  return slot;
}

void SlotPlan::Use(int slot) { slots_[slot].last = now_; }

void SlotPlan::Share(int slot, int other) {
  slots_[slot].others.push_back(other);
}

int SlotPlan::ListOf(int step) const {
  int list = static_cast<int>(lists_.size()) - 1;
  while (list > 0 && lists_[list].first > step) --list;
  return list;
}

void SlotPlan::Extend() {
  const auto end_of = [this](int list) {
    return list + 1 < static_cast<int>(lists_.size()) ? lists_[list + 1].first
                                                      : now_ + 1;
  };
  // Users come behind what they use.
  for (size_t s = slots_.size(); s-- > 0;) {
    Life& life = slots_[s];
    if (lists_[life.list].lasts) life.last = now_ + 1;
    const int last_list = ListOf(life.last);
    if (last_list != life.list || life.to_the_end) {
      life.last = std::max(life.last, end_of(last_list));
    }
    for (const int other : life.others) {
      slots_[other].last = std::max(slots_[other].last, life.last);
    }
  }
}

void SlotPlan::Settle() {
  if (settled_) return;
  settled_ = true;
  Extend();
  for (Life& life : slots_) {
    for (size_t p = 0; p < buffers_.size() && life.buffer < 0; ++p) {
      const Buffer& buffer = buffers_[p];
      const bool is_free = life.over ? buffer.free_from <= life.first
                                     : buffer.free_from < life.first;
      if (buffer.shape == life.shape && buffer.width == life.width && is_free) {
        life.buffer = static_cast<int>(p);
      }
    }
    if (life.buffer < 0) {
      life.buffer = static_cast<int>(buffers_.size());
      buffers_.push_back({life.shape, life.width, 0});
    }
    buffers_[life.buffer].free_from = life.last;
    buffers_[life.buffer].is_touched |= !life.is_elsewhere;
  }
}

int64_t SlotPlan::BytesOfALane() {
  Settle();
  int64_t bytes = 0;
  for (const Buffer& buffer : buffers_) {
    if (buffer.shape == LaneShape::kFull) bytes += buffer.width;
  }
  return bytes;
}

int64_t SlotPlan::TouchedBytesOfALane() {
  Settle();
  int64_t bytes = 0;
  for (const Buffer& buffer : buffers_) {
    if (buffer.shape == LaneShape::kFull && buffer.is_touched) {
      bytes += buffer.width;
    }
  }
  return bytes;
}

std::vector<int64_t> SlotPlan::Layout(int64_t ny, int64_t nx, int64_t* bytes) {
  Settle();
  Tile most;
  most.ny = ny;
  most.nx = nx;
  *bytes = 0;
  std::vector<int64_t> begins;
  for (const Buffer& buffer : buffers_) {
    begins.push_back(*bytes);
    const int64_t size = most.lanes(buffer.shape) * buffer.width;
    *bytes += (size + kLine - 1) / kLine * kLine;
  }
  std::vector<int64_t> offsets;
  for (const Life& life : slots_) offsets.push_back(begins[life.buffer]);
  return offsets;
}

}  // namespace hawser::cpu
