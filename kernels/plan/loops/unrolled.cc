#include "kernels/plan/loops/unrolled.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/trip_count.h"
#include "core/ops/expression.h"
#include "core/ops/rewritten.h"
#include "core/passes/inline_calls.h"
#include "kernels/plan/region/node_table.h"

namespace hawser::plan {
namespace {

// The instructions of a body that is nothing but elements; nullopt for others.
std::optional<int64_t> ElementsOf(const Computation& body) {
  int64_t instructions = 0;
  for (const Instruction& i : body.instructions()) {
    if (i.op == &kParameter) continue;
    if (NodeOf(body, i).node != NodeClass::kLoop) return std::nullopt;
    ++instructions;
  }
  return instructions;
}

// How often the loop runs, if it is to be written out.
std::optional<int64_t> TurnsOf(const Module& module, int computation,
                               int instruction, const Target& target) {
  const Instruction& i =
      module.computation(computation).instructions()[instruction];
  if (i.op != &kWhile) return std::nullopt;
  const auto size = ElementsOf(module.computation(i.called[1]));
  if (!size || *size > target.unrolled_instructions) return std::nullopt;
  const auto turns = TripCount(module, computation, instruction);
  if (!turns || *turns > target.unrolled_instructions) return std::nullopt;
  const bool fits =
      *turns * std::max<int64_t>(1, *size) <= target.unrolled_instructions;
  return fits ? turns : std::nullopt;
}

bool HasAny(const Module& module, const Target& target) {
  for (size_t c = 0; c < module.computations().size(); ++c) {
    const int number = static_cast<int>(c);
    const size_t size = module.computation(number).instructions().size();
    for (size_t k = 0; k < size; ++k) {
      if (TurnsOf(module, number, static_cast<int>(k), target)) return true;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<std::optional<Module>> Unrolled(const Module& module,
                                               const Target& target) {
  if (target.unrolled_instructions == 0 || !HasAny(module, target)) {
    return std::nullopt;
  }
  const auto as_calls = [&](const Computation& from, const Instruction& i,
                            const std::vector<Expression>& operands)
      -> absl::StatusOr<std::optional<std::vector<Expression>>> {
    const auto turns =
        TurnsOf(module, static_cast<int>(&from - module.computations().data()),
                static_cast<int>(&i - from.instructions().data()), target);
    if (!turns) return std::nullopt;
    std::vector<Expression> state = operands;
    for (int64_t turn = 0; turn < *turns; ++turn) {
      const Expression first = Apply(kCall, state, {}, {i.called[1]});
      for (int k = 0; k < i.num_results; ++k) state[k] = ResultOf(first, k);
    }
    state.resize(i.num_results);
    return state;
  };
  HAWSER_ASSIGN_OR_RETURN(Module called, Rewritten(module, as_calls));
  bool changed = false;
  return InlineCalls(std::move(called), &changed);
}

}  // namespace hawser::plan
