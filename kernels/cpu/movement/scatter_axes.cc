#include "kernels/cpu/movement/scatter_axes.h"

#include "core/ops/rules.h"

namespace hawser::cpu {

// Windows whose moving axes have size 1 meet only at the same offsets of
// theirs, so they may be walked one after another as a whole. Others are
// walked as the updates lie.
ScatterAxes SortAxes(const KernelContext& c) {
  const int n = static_cast<int>(c.operands.size() / 2);
  const Shape& input = c.shape(0);
  const Shape& indices = c.shape(n);
  const Shape& updates = c.shape(n + 1);
  const auto inserted = c.attributes().GetInts("inserted_window_dims");
  const auto window = c.attributes().GetInts("update_window_dims");
  const auto map = c.attributes().GetInts("scatter_dims_to_operand_dims");
  const int64_t vector_axis = c.attributes().GetInt("index_vector_dim");
  const Dims strides = input.Strides();
  const Dims index_strides = indices.Strides();
  const Dims update_strides = updates.Strides();
  ScatterAxes sorted;
  if (vector_axis < indices.rank()) {
    sorted.component_stride = index_strides[vector_axis];
  }
  for (int i = 0; i < input.rank(); ++i) {
    sorted.inputs.push_back({.size = input.dim(i), .stride = strides[i]});
  }
  for (size_t k = 0; k < map.size(); ++k) {
    sorted.inputs[map[k]].component = static_cast<int>(k);
  }
  Dims input_of(updates.rank(), -1);
  for (int i = 0, next = 0; i < input.rank(); ++i) {
    if (Contains(inserted, i)) continue;
    const int64_t at = window[next++];
    input_of[at] = i;
    sorted.inputs[i].window = updates.dim(at);
    sorted.inputs[i].update = update_strides[at];
  }
  bool any_order = true;
  for (const ScatterAxes::Input& a : sorted.inputs) {
    any_order &= a.component < 0 || a.window <= 1;
  }
  int trailing = updates.rank();
  while (trailing > 0 && input_of[trailing - 1] >= 0) --trailing;
  for (int i = 0, next = 0; i < updates.rank(); ++i) {
    const int64_t size = updates.dim(i);
    const int axis = static_cast<int>(input_of[i]);
    if (axis < 0) {
      if (next == vector_axis) ++next;
      sorted.outer.push_back({size, update_strides[i], index_strides[next++]});
    } else if (any_order || i >= trailing) {
      sorted.inputs[axis].inner = true;
    } else {
      sorted.outer.push_back({size, update_strides[i], 0, axis});
    }
  }
  return sorted;
}

}  // namespace hawser::cpu
