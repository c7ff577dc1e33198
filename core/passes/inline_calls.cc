#include "core/passes/inline_calls.h"

#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/control.h"
#include "core/passes/rewrite/rewriter.h"

namespace hawser {

absl::StatusOr<Module> InlineCalls(Module module, bool* changed) {
  const auto rule = [](Rewriter& to,
                       const Instruction& i) -> absl::StatusOr<bool> {
    if (i.op != &kCall) return false;
    const Computation& body = to.module().computation(to.MappedCalls(i)[0]);
    const auto operands = to.MappedOperands(i);
    std::vector<ValueId> at(operands.begin(), operands.end());
    at.resize(body.num_values(), kNoValue);
    for (const Instruction& each : body.instructions()) {
      if (each.op == &kParameter) continue;
      std::vector<ValueId> taken;
      for (const ValueId v : each.operands) taken.push_back(at[v]);
      HAWSER_ASSIGN_OR_RETURN(
          const ValueId first,
          to.Append(*each.op, taken, each.attributes, each.called));
      for (int r = 0; r < each.num_results; ++r) {
        at[each.first_result + r] = first + r;
      }
    }
    std::vector<ValueId> results;
    for (const ValueId v : body.results()) results.push_back(at[v]);
    to.Replace(i, results);
    return true;
  };
  return RewriteModule(std::move(module), rule, changed);
}

}  // namespace hawser
