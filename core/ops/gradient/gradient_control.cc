// Gradients of branches.
#include <vector>

#include "core/base/status.h"
#include "core/ops/contraction/control.h"
#include "core/ops/gradient/gradient.h"

namespace hawser {

// The same choice between the pull-backs of the branches. Each computes again
// what it needs of its branch.
absl::Status CaseGradient(GradientContext& c) {
  std::vector<int> wanted, seeded;
  for (size_t i = 1; i < c.operands.size(); ++i) {
    if (c.wanted[i]) wanted.push_back(static_cast<int>(i) - 1);
  }
  absl::InlinedVector<Expression, 6> operands(c.operands.begin(),
                                              c.operands.end());
  for (size_t k = 0; k < c.cotangents.size(); ++k) {
    if (!c.cotangents[k].present()) continue;
    seeded.push_back(static_cast<int>(k));
    operands.push_back(c.cotangents[k]);
  }
  std::vector<int> branches;
  for (int branch : c.instruction.called) {
    HAWSER_ASSIGN_OR_RETURN(branches.emplace_back(),
                            c.pull_back(branch, wanted, seeded));
  }
  const Expression first = Apply(kCase, operands, {}, branches);
  for (size_t i = 0; i < wanted.size(); ++i) {
    c.operand_cotangents[wanted[i] + 1] =
        ResultOf(first, static_cast<int>(i));
  }
  return absl::OkStatus();
}

}  // namespace hawser
