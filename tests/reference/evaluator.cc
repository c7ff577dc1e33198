#include "tests/reference/evaluator.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "tests/reference/rows/row.h"

namespace hawser::reference {
namespace {

absl::StatusOr<Values> Run(const Module& module, int computation,
                           absl::Span<const Literal> arguments,
                           const CancelToken& cancel) {
  const Computation& c = module.computation(computation);
  Values values(c.num_values());
  for (const Instruction& i : c.instructions()) {
    if (i.op == &kParameter) {
      values[i.first_result] = arguments[i.first_result];
      continue;
    }
    HAWSER_RETURN_IF_ERROR(cancel.Check());
    const Row* row = FindRow(*i.op);
    if (row == nullptr) return Unimplemented("no reference of ", i.op->name);
    Values operands;
    for (const ValueId v : i.operands) operands.push_back(values[v]);
    absl::StatusOr<Values> results =
        row->run({module, c, i, operands, cancel, [&](int which, Values given) {
                    return Run(module, i.called[which], given, cancel);
                  }});
    if (absl::IsResourceExhausted(results.status())) {
      return Annotate(
          results.status(),
          absl::StrCat("instruction %", i.first_result, " (", i.op->name, ")"));
    }
    HAWSER_RETURN_IF_ERROR(results.status());
    for (int k = 0; k < i.num_results; ++k) {
      values[i.first_result + k] = std::move((*results)[k]);
    }
  }
  Values results;
  for (const ValueId v : c.results()) results.push_back(values[v]);
  return results;
}

}  // namespace

absl::StatusOr<std::vector<Literal>> Evaluator::Evaluate(
    const Module& module, int computation, absl::Span<const Literal> arguments,
    const CancelToken& cancel) {
  if (computation < 0 ||
      computation >= static_cast<int>(module.computations().size())) {
    return InvalidArgument("the module has no computation ", computation);
  }
  const std::vector<runtime::Argument> given(arguments.begin(),
                                             arguments.end());
  HAWSER_RETURN_IF_ERROR(
      runtime::CheckArguments(module.signature(computation), given));
  return Run(module, computation, arguments, cancel);
}

}  // namespace hawser::reference
