// ScatterAxes: a scatter's axes, sorted out.
#ifndef HAWSER_KERNELS_CPU_MOVEMENT_SCATTER_AXES_H_
#define HAWSER_KERNELS_CPU_MOVEMENT_SCATTER_AXES_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {

// The axes of one scatter. Updates are walked as boxes: the parts of windows in
// which no two elements meet, nor do earlier and later ones elsewhere, so that
// the order of what meets is that of the boxes.
struct ScatterAxes {
  // An axis of the inputs as windows see it.
  struct Input {
    int64_t size = 0;    // of the input
    int64_t stride = 0;  // in the input
    int component = -1;  // of index vectors; -1: windows start at 0
    int64_t window = 1;  // size of windows
    int64_t update = 0;  // stride in the updates
    bool inner = false;  // boxes run through it
  };
  // An axis of the updates that is walked box by box.
  struct Outer {
    int64_t size;
    int64_t update;  // stride in the updates
    int64_t index;   // stride in the indices; 0: of a window
    int input = -1;  // the input's axis; -1: of the indices
  };

  int64_t boxes() const {
    int64_t boxes = 1;
    for (const Outer& a : outer) boxes *= a.size;
    return boxes;
  }

  // The elements of an input.
  int64_t elements() const {
    int64_t elements = 1;
    for (const Input& a : inputs) elements *= a.size;
    return elements;
  }

  absl::InlinedVector<Input, 6> inputs;
  absl::InlinedVector<Outer, 6> outer;
  int64_t component_stride = 0;               // in the indices
  int64_t first_index = 0, first_update = 0;  // of the first box
};

// The axes of the scatter that the kernel runs.
ScatterAxes SortAxes(const KernelContext& c);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_MOVEMENT_SCATTER_AXES_H_
