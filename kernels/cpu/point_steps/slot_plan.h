// SlotPlan: which slots of a program share memory, since they are not needed at
// the same time.
#ifndef HAWSER_KERNELS_CPU_POINT_STEPS_SLOT_PLAN_H_
#define HAWSER_KERNELS_CPU_POINT_STEPS_SLOT_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "kernels/cpu/tile_steps/tile_step.h"

namespace hawser::cpu {

// Told of slots while steps are made. Steps stand in lists, in the order in
// which lists first run; a list may run again, which needs again what earlier
// lists gave it.
class SlotPlan {
 public:
  // The steps that follow stand in a new list. `lasts`: what it gives stays.
  void BeginList(bool lasts);
  // The step that follows is a new one.
  void BeginStep() { ++now_; }

  // It gives lanes of that shape. `over`: maybe in the memory of a slot that it
  // is the last to use.
  LaneSlot Define(LaneShape shape, int64_t width, bool over);
  // Its lanes mostly are elsewhere, so that its memory is hardly touched.
  void IsElsewhere(int slot) { slots_[slot].is_elsewhere = true; }
  // For as long as the program is.
  LaneSlot DefineLasting(LaneShape shape, int64_t width);
  // To the end of the list.
  LaneSlot DefineForList(LaneShape shape, int64_t width);
  // It uses a slot.
  void Use(int slot);
  // The step that gives it, and the last one so far that uses it.
  int FirstOf(int slot) const { return slots_[slot].first; }
  int LastOf(int slot) const { return slots_[slot].last; }
  // `slot` may be where `other` is, which is there as long.
  void Share(int slot, int other);

  // The bytes of one more lane of kFull, and those of them that are touched.
  int64_t BytesOfALane();
  int64_t TouchedBytesOfALane();
  // The offset of each slot in a worker's memory, for tiles of at most ny rows
  // of nx lanes. `*bytes`: the size of that memory.
  std::vector<int64_t> Layout(int64_t ny, int64_t nx, int64_t* bytes);

 private:
  struct Life {
    LaneShape shape;
    int64_t width;
    bool over = false;
    bool to_the_end = false;  // of its list
    bool is_elsewhere = false;
    int list = 0;
    int first, last;  // steps
    std::vector<int> others;
    int buffer = -1;  // in buffers_
  };
  struct Buffer {
    LaneShape shape;
    int64_t width;
    int free_from;
    bool is_touched = false;
  };
  struct List {
    int first;
    bool lasts;
  };

  int ListOf(int step) const;
  // Extends lives to their last step, then assigns buffers.
  void Settle();
  void Extend();

  int now_ = 0;
  std::vector<List> lists_;
  std::vector<Life> slots_;
  std::vector<Buffer> buffers_;
  bool settled_ = false;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_POINT_STEPS_SLOT_PLAN_H_
