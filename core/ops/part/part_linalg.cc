// Parts of batches of matrices: each is taken whole.
#include <algorithm>

#include "core/ops/linalg/linalg.h"
#include "core/ops/part/part.h"

namespace hawser {

absl::Status MatricesPart(PartContext& c) {
  const int batch = c.operand().rank() - 2;
  Box front;
  for (int i = 0; i < batch; ++i) {
    Interval hull = {c.operand().dim(i), 0};
    for (const MaybeBox& box : c.wanted) {
      if (!box.has_value()) continue;
      hull.begin = std::min(hull.begin, (*box)[i].begin);
      hull.end = std::max(hull.end, (*box)[i].end);
    }
    front.push_back(hull);
  }
  const auto whole = [&](const Shape& shape) {
    Box box = WholeBox(shape);
    std::copy(front.begin(), front.end(), box.begin());
    return box;
  };
  for (size_t i = 0; i < c.operands.size(); ++i) {
    c.asks[i] = whole(c.operands[i]);
  }
  for (size_t k = 0; k < c.results.size(); ++k) {
    c.gives[k] = whole(c.results[k]);
  }
  return absl::OkStatus();
}

}  // namespace hawser
