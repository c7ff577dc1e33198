// GradientContext is the input of a gradient rule. The rules stand in
// gradient_*.cc, one file a family; core/autodiff calls them.
#ifndef HAWSER_CORE_OPS_GRADIENT_GRADIENT_H_
#define HAWSER_CORE_OPS_GRADIENT_GRADIENT_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ir/module.h"
#include "core/ops/expression.h"

namespace hawser {

// A loop that was run forward and kept what its iterations began with.
struct LoopRecord {
  int64_t turns = 0;
  // For each state its values before each iteration, along a new axis 0, and in
  // the end; not present if nothing needs it.
  std::vector<Expression> states;
  // The pull-back of the body, as GradientContext::pull_back; after the
  // cotangents of the results it takes what was given so far to the parameters
  // in `summed`, in the dtype of their sums, and adds to that, then the results
  // in `known`, which it would compute else. The cotangents of the states in
  // `kept`, which iterations leave as they are, run on as such sums, too.
  int pull_back = -1;
  std::vector<int> wanted, seeded, summed, kept, known;
};

// One instruction of which some result has a cotangent: the derivative of what
// is differentiated by that result, of the result's shape. For a complex value
// z = x + iy it is d/dx - i d/dy, so that rules of holomorphic functions read
// like those of real ones. A rule gives the operands' cotangents by the same
// formulas, as new instructions, so that they can be differentiated again.
struct GradientContext {
  ExpressionScope& scope;
  const Instruction& instruction;
  absl::Span<const Expression> operands;
  absl::Span<const Expression> results;
  // One per result; not present: zero. At least one is present.
  absl::Span<const Expression> cotangents;
  // Operands that need a cotangent: of floating or complex dtype.
  absl::Span<const bool> wanted;
  // To fill, where wanted; not present: zero.
  absl::Span<Expression> operand_cotangents;
  // The pull-back of a called computation: takes its parameters, then one
  // cotangent for each result in `seeded`, and gives one cotangent for each
  // parameter in `wanted`. Returns its number in the module.
  absl::FunctionRef<absl::StatusOr<int>(
      int computation, absl::Span<const int> wanted,
      absl::Span<const int> seeded)>
      pull_back;
  // Returns what later users gave to operand i, in the dtype that sums of its
  // dtype are made in (SumDType); not present: nothing. A rule may give that
  // with its own part added in place: GiveOnto.
  absl::FunctionRef<Expression(int i)> so_far;
  absl::Span<bool> is_onto;
  // Set for a while whose number of iterations is known; else null.
  const LoopRecord* loop = nullptr;

  const Expression& x() const { return operands[0]; }
  const Expression& y() const { return operands[1]; }
  const Expression& result() const { return results[0]; }
  // The cotangent of the only result: present.
  const Expression& g() const { return cotangents[0]; }
  absl::Span<const int64_t> ints(absl::string_view name) const {
    return instruction.attributes.GetInts(name);
  }

  // Operand i has the cotangent formula(), which is made only when wanted.
  template <typename Formula>
  void Give(int i, Formula formula) {
    if (wanted[i]) operand_cotangents[i] = formula();
  }
  // The same with all that was given so far in it: formula(so_far), in the
  // dtype of that.
  template <typename Formula>
  void GiveOnto(int i, Formula formula) {
    if (!wanted[i]) return;
    operand_cotangents[i] = formula(so_far(i));
    is_onto[i] = true;
  }
};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_GRADIENT_GRADIENT_H_
