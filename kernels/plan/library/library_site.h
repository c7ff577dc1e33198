// LibrarySite: an op that a form is made for, where it stands.
#ifndef HAWSER_KERNELS_PLAN_LIBRARY_LIBRARY_SITE_H_
#define HAWSER_KERNELS_PLAN_LIBRARY_LIBRARY_SITE_H_

#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "core/ir/module.h"
#include "core/ops/expression.h"
#include "kernels/plan/target/target.h"

namespace hawser::plan {

using Expressions = std::vector<Expression>;

// One op where it stands.
struct LibrarySite {
  const Target& target;
  const Instruction& instruction;
  const Expressions& operands;
  const Shape& result;  // the first

  bool Takes(const OpDef& op) const {
    std::vector<Shape> shapes;
    for (const Expression& x : operands) shapes.push_back(x.shape());
    return target.takes_call(op, shapes, instruction.attributes);
  }
  // The same of operand 0 transposed.
  bool TakesTransposed(const OpDef& op) const {
    Dims dims = operands[0].dims();
    std::swap(dims.back(), dims[dims.size() - 2]);
    const Shape shapes[] = {Shape::Of(operands[0].dtype(), dims)};
    return target.takes_call(op, shapes, instruction.attributes);
  }
  Expression Call(const OpDef& op, absl::Span<const Expression> of) const {
    return Apply(op, of, instruction.attributes);
  }
};

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_LIBRARY_LIBRARY_SITE_H_
