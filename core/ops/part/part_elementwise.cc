// Parts of elementwise ops: the same of each operand.
#include <utility>

#include "core/ops/elementwise/convert.h"
#include "core/ops/part/part.h"
#include "core/ops/rules.h"

namespace hawser {

// A scalar next to tensors goes for all elements.
absl::Status ElementwisePart(PartContext& c) {
  for (size_t i = 0; i < c.operands.size(); ++i) {
    c.asks[i] = c.operands[i].is_scalar() ? Box() : c.box();
  }
  return absl::OkStatus();
}

// The axis that one of both lacks is there as a whole.
absl::Status BitcastConvertPart(PartContext& c) {
  Box asks = c.box();
  const int rank = c.operand().rank();
  if (rank > c.result().rank()) {
    asks.push_back({0, c.operand().dim(rank - 1)});
  } else if (rank < c.result().rank()) {
    asks.pop_back();
    c.gives[0]->back() = {0, c.result().dim(rank)};
  }
  c.asks[0] = std::move(asks);
  return absl::OkStatus();
}

}  // namespace hawser
