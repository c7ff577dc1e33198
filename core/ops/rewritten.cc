#include "core/ops/rewritten.h"

#include <string>
#include <utility>

#include "core/base/status.h"
#include "core/ir/builder.h"
#include "core/ir/leaves.h"

namespace hawser {

absl::StatusOr<Module> Rewritten(const Module& module, Replacement replace,
                                 std::vector<int>* numbers) {
  Module to(module.name());
  Monoids monoids;
  std::vector<int> known;
  for (const Computation& from : module.computations()) {
    ComputationBuilder builder(&to, std::string(from.name()));
    ExpressionScope scope{builder, monoids};
    std::vector<ValueId> moved(from.num_values(), kNoValue);
    for (int k = 0; k < from.num_parameters(); ++k) {
      moved[k] = builder.Parameter(from.shape(k), SourceLocation{});
    }
    for (const Instruction& i : from.instructions()) {
      if (i.op == &kParameter) continue;
      std::vector<Expression> operands;
      std::vector<ValueId> values;
      for (const ValueId v : i.operands) {
        values.push_back(moved[v]);
        operands.emplace_back(&scope, moved[v]);
      }
      HAWSER_ASSIGN_OR_RETURN(const auto others, replace(from, i, operands));
      if (others) {
        HAWSER_RETURN_IF_ERROR(builder.status());
        for (int k = 0; k < i.num_results; ++k) {
          moved[i.first_result + k] = (*others)[k].value();
        }
        continue;
      }
      absl::InlinedVector<int, 2> called;
      for (const int callee : i.called) called.push_back(known[callee]);
      const ValueId first =
          builder.Add(*i.op, values, i.attributes, called, SourceLocation{});
      HAWSER_RETURN_IF_ERROR(builder.status());
      for (int k = 0; k < i.num_results; ++k) {
        moved[i.first_result + k] = first + k;
      }
    }
    std::vector<ValueId> results;
    for (const ValueId v : from.results()) results.push_back(moved[v]);
    HAWSER_ASSIGN_OR_RETURN(known.emplace_back(), builder.Finish(results));
  }
  if (numbers != nullptr) *numbers = std::move(known);
  return to;
}

}  // namespace hawser
