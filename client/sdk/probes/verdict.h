// Verdict: the first check of an execution that fails, as a value of its graph.
#ifndef HAWSER_CLIENT_SDK_PROBES_VERDICT_H_
#define HAWSER_CLIENT_SDK_PROBES_VERDICT_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "core/ops/expression.h"

namespace hawser::sdk {

// A verdict is s64[1 + n]: the number of a check, then the turns of the loops
// around that check inside the computation the verdict is of, outermost first;
// what is after those says nothing. No check failed:
inline constexpr int64_t kNoCheck = std::numeric_limits<int64_t>::max();

// The verdict that no check failed, of n turns.
Expression NoVerdict(ExpressionScope* scope, int turns);
// Returns the number of the check, which comes before the turns: s64[].
Expression CheckOf(const Expression& verdict);
// Adds the turn of a loop: after the check, before those of inner loops.
Expression WithTurn(const Expression& verdict, const Expression& turn);

// Collects what may be wrong in one turn of a computation, or in all of it.
// Checks are numbered in the order in which they happen, so the first one that
// fails has the smallest number. All expressions that are added belong to one
// scope, which outlives it.
class Findings {
 public:
  explicit Findings(ExpressionScope* scope) : scope_(scope) {}

  // Check `number` fails where `fails`, a bool[], holds.
  void Add(int64_t number, const Expression& fails);
  // Adds the verdict of a loop or a branch that ran.
  void Add(const Expression& verdict);
  // The first of them; `turns` is at least what any verdict has.
  Expression Verdict(int turns) const;

 private:
  ExpressionScope* const scope_;
  std::vector<int64_t> numbers_;
  std::vector<Expression> fails_;  // bool[1], one for each number
  std::vector<Expression> verdicts_;
};

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_PROBES_VERDICT_H_
