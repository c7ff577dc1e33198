// Control flow: what regions capture becomes operands.

#include <utility>
#include <vector>

#include "client/stablehlo/body/op_context.h"
#include "client/stablehlo/rows/rows.h"
#include "core/base/status.h"
#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"

namespace hawser::stablehlo {
namespace {

// The regions as computations that take what any of them captures, and the
// operands with it after them.
struct Lifted {
  std::vector<int> called;
  Values operands;
  int64_t count = 0;  // of captured values
};

absl::StatusOr<Lifted> Lift(OpContext& context, Values operands) {
  Lifted lifted;
  HAWSER_ASSIGN_OR_RETURN(
      const Captures captures,
      CapturesOf(context.program, context.body, context.op.regions));
  for (const Region& region : context.op.regions) {
    HAWSER_ASSIGN_OR_RETURN(const int computation,
                            AddComputation(context.program, context.body,
                                           region, captures, context.op.name));
    lifted.called.push_back(computation);
  }
  lifted.operands = std::move(operands);
  lifted.operands.insert(lifted.operands.end(), captures.values.begin(),
                         captures.values.end());
  lifted.count = static_cast<int64_t>(captures.values.size());
  return lifted;
}

absl::StatusOr<Values> LowerWhile(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectRegions(2));
  if (context.operands.empty()) return Unimplemented("a loop without state");
  HAWSER_ASSIGN_OR_RETURN(const Lifted lifted, Lift(context, context.operands));
  Attributes attributes;
  if (lifted.count > 0) attributes.Set("num_invariant", lifted.count);
  return context.Add(kWhile, lifted.operands, std::move(attributes),
                     lifted.called);
}

absl::StatusOr<Values> LowerCase(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(1, 1));
  HAWSER_ASSIGN_OR_RETURN(const Lifted lifted, Lift(context, context.operands));
  return context.Add(kCase, lifted.operands, {}, lifted.called);
}

// Branch 0 is the one for true.
absl::StatusOr<Values> LowerIf(OpContext& context) {
  HAWSER_RETURN_IF_ERROR(context.ExpectOperands(1, 1));
  HAWSER_RETURN_IF_ERROR(context.ExpectRegions(2));
  const ValueId is_false = context.AddOne(kNot, context.operands);
  const ValueId branch =
      context.AddOne(kConvert, {is_false}, {{"dtype", DType::kS32}});
  HAWSER_RETURN_IF_ERROR(context.builder().status());
  HAWSER_ASSIGN_OR_RETURN(const Lifted lifted, Lift(context, {branch}));
  return context.Add(kCase, lifted.operands, {}, lifted.called);
}

constexpr Row kControlRows[] = {
    {"stablehlo.while", LowerWhile},
    {"stablehlo.case", LowerCase},
    {"stablehlo.if", LowerIf},
};

}  // namespace

absl::Span<const Row> ControlRows() { return kControlRows; }

}  // namespace hawser::stablehlo
