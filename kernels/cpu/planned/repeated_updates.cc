#include "kernels/cpu/planned/repeated_updates.h"

#include "absl/algorithm/container.h"
#include "core/ops/contraction/control.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/shape.h"

namespace hawser::cpu {
namespace {

// The operands of a scatter of one input.
constexpr int kUpdates = 2, kOperands = 3;

bool IsRepeated(const Module& module, const Computation& c,
                const Instruction& i) {
  if (i.op == &kFusion && i.num_results == 1) {
    const Computation& body = module.computation(i.called[0]);
    return IsRepeated(module, body,
                      body.instructions()[body.producer(body.results()[0])]);
  }
  return i.op == &kBroadcastInDim && c.shape(i.operands[0]).num_elements() == 1;
}

// True if the operand is a scatter's updates, one to each index vector.
bool AreSingleUpdates(const Computation& c, const Instruction& i,
                      size_t operand) {
  return i.op == &kScatter && i.operands.size() == kOperands &&
         operand == kUpdates &&
         absl::c_all_of(i.attributes.GetInts("update_window_dims"),
                        [&](int64_t axis) {
                          return c.shape(i.operands[kUpdates]).dim(axis) == 1;
                        });
}

}  // namespace

std::vector<bool> FindRepeatedUpdates(const Module& module,
                                      const Computation& computation) {
  const Computation& c = computation;
  const auto instructions = c.instructions();
  const auto is_scatter = [](const Instruction& i) {
    return i.op == &kScatter;
  };
  if (absl::c_none_of(instructions, is_scatter)) return {};
  // Flags of the readers of each result.
  std::vector<bool> by_scatters(instructions.size(), false);
  std::vector<bool> by_others(instructions.size(), false);
  for (const Instruction& i : instructions) {
    for (size_t k = 0; k < i.operands.size(); ++k) {
      auto& readers = AreSingleUpdates(c, i, k) ? by_scatters : by_others;
      readers[c.producer(i.operands[k])] = true;
    }
  }
  for (const ValueId v : c.results()) by_others[c.producer(v)] = true;
  std::vector<bool> repeated(instructions.size(), false);
  for (size_t k = 0; k < instructions.size(); ++k) {
    const Instruction& i = instructions[k];
    repeated[k] = by_scatters[k] && !by_others[k] &&
                  c.shape(i.first_result).num_elements() > 0 &&
                  IsRepeated(module, c, i);
  }
  return repeated;
}

}  // namespace hawser::cpu
