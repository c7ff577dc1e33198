// SortOrder: what a comparator compares, where it is a key of one element.
#ifndef HAWSER_KERNELS_CPU_SORTING_SORT_ORDER_H_
#define HAWSER_KERNELS_CPU_SORTING_SORT_ORDER_H_

#include <optional>

#include "core/ir/module.h"
#include "kernels/cpu/lane_program.h"

namespace hawser::cpu {

// Elements of one operand by a number that is made of each alone.
struct SortOrder {
  int operand = 0;
  bool descending = false;
  // The element itself, as AddComparator orders it (core/ops/movement/sort.h);
  // else what `key` makes of it, of `key_dtype`: likewise.
  bool is_plain = true;
  std::optional<LaneProgram> key = std::nullopt;
  DType key_dtype = DType::kInvalid;
};

// Nothing for a comparator of any other form.
std::optional<SortOrder> OrderOfComparator(const Computation& comparator);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_SORTING_SORT_ORDER_H_
