// Parts of transforms: what is transformed is whole.
#include <utility>

#include "core/ops/linalg/fft.h"
#include "core/ops/part/part.h"

namespace hawser {

absl::Status FftPart(PartContext& c) {
  const auto count = static_cast<int>(c.ints("fft_length").size());
  Box takes = WholeBox(c.operand()), gives = WholeBox(c.result());
  for (int i = 0; i + count < c.operand().rank(); ++i) {
    takes[i] = c.box()[i];
    gives[i] = c.box()[i];
  }
  c.asks[0] = std::move(takes);
  c.gives[0] = std::move(gives);
  return absl::OkStatus();
}

}  // namespace hawser
