// Control flow, and values that are there.
#include "core/ops/contraction/control.h"

#include <utility>

#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "tests/reference/rows/row.h"

namespace hawser::reference {
namespace {

absl::StatusOr<Values> Constant(const Context& c) {
  return Values{c.attributes().GetLiteral("value")};
}

absl::StatusOr<Values> While(const Context& c) {
  const auto invariant = c.attributes().GetInt("num_invariant");
  Values state(c.operands.begin(), c.operands.end());
  const Values fixed(state.end() - invariant, state.end());
  while (true) {
    HAWSER_RETURN_IF_ERROR(c.cancel.Check());
    HAWSER_ASSIGN_OR_RETURN(const Values again, c.call(0, state));
    if (!again[0].data<bool>()[0]) break;
    HAWSER_ASSIGN_OR_RETURN(state, c.call(1, std::move(state)));
    state.insert(state.end(), fixed.begin(), fixed.end());
  }
  state.resize(state.size() - fixed.size());
  return state;
}

absl::StatusOr<Values> Case(const Context& c) {
  const int64_t index = c.operands[0].data<int32_t>()[0];
  const auto branches = static_cast<int64_t>(c.instruction.called.size());
  const bool there = index >= 0 && index < branches;
  return c.call(static_cast<int>(there ? index : branches - 1),
                Values(c.operands.begin() + 1, c.operands.end()));
}

absl::StatusOr<Values> First(const Context& c) {
  return c.call(0, Values(c.operands.begin(), c.operands.end()));
}

absl::StatusOr<Values> StopGradient(const Context& c) {
  return Values{c.operands[0]};
}

constexpr Row kControlRows[] = {
    {&kConstant, Constant}, {&kWhile, While}, {&kCase, Case},
    {&kFusion, First},      {&kCall, First},  {&kStopGradient, StopGradient},
};

}  // namespace

absl::Span<const Row> ControlRows() { return kControlRows; }

}  // namespace hawser::reference
