// WriteTurn: one run of a kernel's innermost body, over one element or over a
// vector of neighbours.
#ifndef HAWSER_KERNELS_GPU_EMIT_POINTS_TURN_H_
#define HAWSER_KERNELS_GPU_EMIT_POINTS_TURN_H_

#include <functional>
#include <string>
#include <vector>

#include "kernels/gpu/emit/points/point_writer.h"

namespace hawser::gpu {

// One run of the innermost body over `width` neighbours along loop `inner`.
struct Turn {
  int width = 1;
  int inner = -1;
  std::string base;          // `inner`'s index of the first neighbour
  std::vector<int> results;  // stored in it, if not empty
  std::vector<plan::PointId> also_needed;  // besides what results need
  // Called in front of the points and after them, once for each neighbour.
  std::function<void()> before_points;
  std::function<void()> in_lane;
};

// Points that the turn defines are forgotten after it.
void WriteTurn(const Turn& turn, PointWriter* writer);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_POINTS_TURN_H_
