#include "core/sharding/choice/work.h"

#include <algorithm>
#include <vector>

namespace hawser {
namespace {

double ElementsIn(absl::Span<const Shape> shapes) {
  double elements = 0;
  for (const Shape& shape : shapes) {
    elements += static_cast<double>(shape.num_elements());
  }
  return elements;
}

double StepsOf(const InferContext& context, absl::Span<const Shape> results) {
  const AxisMap map = context.op.axes(context, results);
  const auto contracts = [](const AxisMap::Factor& factor) {
    return factor.kind == AxisKind::kContracted;
  };
  if (!std::any_of(map.factors.begin(), map.factors.end(), contracts)) {
    return std::max(ElementsIn(context.operands), ElementsIn(results));
  }
  double steps = 1;
  for (const AxisMap::Factor& factor : map.factors) {
    steps *= static_cast<double>(factor.size);
  }
  return steps;
}

}  // namespace

Work WorkOf(const Module& module) {
  // Of each computation with what it calls; callees come first.
  std::vector<Work> works;
  for (const Computation& computation : module.computations()) {
    Work& work = works.emplace_back();
    for (const Instruction& instruction : computation.instructions()) {
      std::vector<Shape> operands, results;
      std::vector<const Signature*> called;
      for (const ValueId operand : instruction.operands) {
        operands.push_back(computation.shape(operand));
      }
      for (int k = 0; k < instruction.num_results; ++k) {
        results.push_back(computation.shape(instruction.first_result + k));
      }
      for (const int callee : instruction.called) {
        called.push_back(&module.signature(callee));
        if (!instruction.op->Is(kControlFlow)) continue;
        work.steps += works[callee].steps;
        work.bytes += works[callee].bytes;
      }
      if (instruction.operands.empty()) continue;
      work.steps += StepsOf({*instruction.op, operands, instruction.attributes,
                             called},
                            results);
      for (const Shape& shape : operands) work.bytes += shape.byte_size();
      for (const Shape& shape : results) work.bytes += shape.byte_size();
    }
  }
  return works.empty() ? Work() : works.back();
}

}  // namespace hawser
