#include "core/ops/elementwise_call.h"

#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ops/movement/shape.h"

namespace hawser {
namespace {

// A scalar's value in every element of arrays like `like`.
Expression Repeated(const Expression& like, const Literal& value) {
  const Dims none;
  return Apply(kBroadcastInDim, {ConstantOf(like.scope(), value)},
               {{"broadcast_dimensions", none}, {"dims", like.dims()}});
}

}  // namespace

absl::StatusOr<std::vector<Expression>> AppliedToEach(
    const Computation& computation, absl::Span<const Expression> arguments) {
  std::vector<Expression> values(computation.num_values());
  int next = 0;
  for (const Instruction& i : computation.instructions()) {
    Expression& result = values[i.first_result];
    if (i.op == &kParameter) {
      result = arguments[next++];
    } else if (i.op == &kConstant) {
      result = Repeated(arguments[0], i.attributes.GetLiteral("value"));
    } else if (i.op->Is(kElementwise)) {
      std::vector<Expression> operands;
      for (const ValueId v : i.operands) operands.push_back(values[v]);
      result = Apply(*i.op, operands, i.attributes);
    } else {
      return Unimplemented("computation \"", computation.name(), "\" has a ",
                           i.op->name, ", which is not elementwise");
    }
  }
  std::vector<Expression> results;
  for (const ValueId v : computation.results()) results.push_back(values[v]);
  return results;
}

}  // namespace hawser
