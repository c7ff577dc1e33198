#include "core/ops/inlined.h"

#include <algorithm>

#include "core/ir/leaves.h"

namespace hawser {

std::vector<ValueId> Inlined(const Computation& computation,
                             absl::Span<const ValueId> arguments,
                             ComputationBuilder* builder) {
  std::vector<ValueId> moved(computation.num_values(), kNoValue);
  std::copy(arguments.begin(), arguments.end(), moved.begin());
  for (const Instruction& i : computation.instructions()) {
    if (i.op == &kParameter) continue;
    absl::InlinedVector<ValueId, 4> operands;
    for (const ValueId v : i.operands) operands.push_back(moved[v]);
    const ValueId first = builder->Add(*i.op, operands, i.attributes, i.called,
                                       SourceLocation{});
    for (int k = 0; k < i.num_results; ++k) {
      moved[i.first_result + k] = first == kNoValue ? kNoValue : first + k;
    }
  }
  std::vector<ValueId> results;
  for (const ValueId v : computation.results()) results.push_back(moved[v]);
  return results;
}

}  // namespace hawser
