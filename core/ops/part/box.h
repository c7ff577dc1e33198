// Functions of boxes, the rectangular parts of tensors.
#ifndef HAWSER_CORE_OPS_PART_BOX_H_
#define HAWSER_CORE_OPS_PART_BOX_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "core/base/values/shape.h"
#include "core/ir/types/box.h"

namespace hawser {

using ir::Box;
using ir::Interval;
using ir::Piece;

inline Box WholeBox(const Shape& shape) {
  Box box;
  for (int64_t size : shape.dims()) box.push_back({0, size});
  return box;
}
inline Dims SizesOf(const Box& box) {
  Dims dims;
  for (const Interval& interval : box) dims.push_back(interval.size());
  return dims;
}
inline int64_t ElementsOf(const Box& box) {
  int64_t elements = 1;
  for (const Interval& interval : box) elements *= interval.size();
  return elements;
}
// The shape of that part of `shape`.
inline Shape ShapeOf(const Shape& shape, const Box& box) {
  return Shape::Of(shape.dtype(), SizesOf(box));
}
// Boxes of one tensor.
inline bool Contains(const Box& outer, const Box& inner) {
  for (size_t i = 0; i < outer.size(); ++i) {
    if (inner[i].begin < outer[i].begin || inner[i].end > outer[i].end) {
      return false;
    }
  }
  return true;
}
// The intersection of both; without elements if there is none.
inline Box Meet(Box a, const Box& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    a[i].begin = std::max(a[i].begin, b[i].begin);
    a[i].end = std::max(a[i].begin, std::min(a[i].end, b[i].end));
  }
  return a;
}
// The smallest box that holds both.
inline Box HullOf(Box a, const Box& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = {std::min(a[i].begin, b[i].begin), std::max(a[i].end, b[i].end)};
  }
  return a;
}
// "[0:2, 3:4]"
std::string ToString(const Box& box);

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_PART_BOX_H_
