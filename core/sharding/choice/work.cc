#include "core/sharding/choice/work.h"

#include <algorithm>
#include <vector>

#include "core/sharding/cuts.h"

namespace hawser {
namespace {

// Counts the elements that an instruction takes and gives, without what it
// calls.
Work WorkOf(const Module& module, const Computation& computation,
            const Instruction& instruction) {
  Work work;
  double in = 0, out = 0;
  for (const ValueId operand : instruction.operands) {
    in += static_cast<double>(computation.shape(operand).num_elements());
    work.bytes += static_cast<double>(computation.shape(operand).byte_size());
  }
  for (int k = 0; k < instruction.num_results; ++k) {
    const Shape& shape = computation.shape(instruction.first_result + k);
    out += static_cast<double>(shape.num_elements());
    work.bytes += static_cast<double>(shape.byte_size());
  }
  double all = 1;
  bool contracts = false;
  for (const auto& [kind, size] :
       AxesOf(module, computation, instruction).factors) {
    all *= static_cast<double>(size);
    contracts = contracts || kind == AxisKind::kContracted;
  }
  work.steps = contracts ? all : std::max(in, out);
  return work;
}

}  // namespace

Work WorkOf(const Module& module) {
  // The work of each computation with what it calls; callees come first.
  std::vector<Work> works;
  for (const Computation& computation : module.computations()) {
    Work& work = works.emplace_back();
    const auto add = [&](const Work& more) {
      work.steps += more.steps;
      work.bytes += more.bytes;
    };
    for (const Instruction& instruction : computation.instructions()) {
      if (instruction.operands.empty()) continue;
      add(WorkOf(module, computation, instruction));
      if (!instruction.op->Is(kControlFlow)) continue;
      for (const int callee : instruction.called) add(works[callee]);
    }
  }
  return works.empty() ? Work() : works.back();
}

}  // namespace hawser
