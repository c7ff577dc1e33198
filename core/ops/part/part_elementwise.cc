// Parts of elementwise ops: the same of each operand.
#include "core/ops/part/part.h"
#include "core/ops/rules.h"

namespace hawser {

// A scalar beside tensors goes for all elements.
absl::Status ElementwisePart(PartContext& c) {
  for (size_t i = 0; i < c.operands.size(); ++i) {
    c.asks[i] = c.operands[i].is_scalar() ? Box() : c.box();
  }
  return absl::OkStatus();
}

}  // namespace hawser
