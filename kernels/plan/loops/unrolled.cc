#include "kernels/plan/loops/unrolled.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "core/base/status.h"
#include "core/ir/builder.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/trip_count.h"
#include "core/ops/expression.h"
#include "core/ops/rewritten.h"
#include "core/passes/cse.h"
#include "core/passes/inline_calls.h"
#include "kernels/plan/region/node_table.h"

namespace hawser::plan {
namespace {

// Values of so many elements may move within an iteration: they are read anew.
constexpr int64_t kFewElements = 64;

using Values = std::vector<Expression>;

// How a loop is written out: so many iterations before it, then so many in each
// of its iterations; none at all where `each` is 0.
struct Iterations {
  int64_t before = 0, each = 0;
};

struct BodySize {
  int64_t instructions = 0;
  int64_t elements = 1;     // of its largest value
  bool by_elements = true;  // an element needs that element of others
};

// nullopt for a body that has more in it than regions are made of.
std::optional<BodySize> BodyOf(const Computation& c) {
  BodySize body;
  for (const Instruction& i : c.instructions()) {
    if (i.op == &kParameter) continue;
    if (NodeOf(c, i).node != NodeClass::kLoop) return std::nullopt;
    ++body.instructions;
    body.elements =
        std::max(body.elements, c.shape(i.first_result).num_elements());
    const bool is_small = absl::c_all_of(i.operands, [&](ValueId v) {
      return c.shape(v).num_elements() <= kFewElements;
    });
    body.by_elements &= is_small || i.op->Is(kElementwise);
  }
  body.instructions = std::max<int64_t>(1, body.instructions);
  return body;
}

// How many of `iterations` are done at once, of at most `most`: a number that
// divides them, if there is one that is about as large.
int64_t IterationsAtOnce(int64_t iterations, int64_t most) {
  for (int64_t each = most; 2 * each > most; --each) {
    if (iterations % each == 0) return each;
  }
  return most;
}

// nullopt for what stays as it is.
std::optional<Iterations> IterationsOf(const Module& module, int computation,
                                       int instruction, const Target& target) {
  const Instruction& i =
      module.computation(computation).instructions()[instruction];
  if (i.op != &kWhile) return std::nullopt;
  const auto body = BodyOf(module.computation(i.called[1]));
  if (!body || body->elements > target.unrolled_elements) return std::nullopt;
  const auto iterations = TripCount(module, computation, instruction);
  if (!iterations) return std::nullopt;
  const int64_t most = target.unrolled_instructions / body->instructions;
  if (*iterations <= most) return Iterations{*iterations, 0};
  if (!body->by_elements || most < 2) return std::nullopt;
  const int64_t each = IterationsAtOnce(*iterations, most);
  return Iterations{*iterations % each, each};
}

bool HasAny(const Module& module, const Target& target) {
  for (size_t c = 0; c < module.computations().size(); ++c) {
    const int number = static_cast<int>(c);
    const size_t size = module.computation(number).instructions().size();
    for (size_t k = 0; k < size; ++k) {
      if (IterationsOf(module, number, static_cast<int>(k), target))
        return true;
    }
  }
  return false;
}

// Writes iterations out as calls. Invariant: a computation of the old module
// has, in the new one, its number and as many more as were added before it.
class Unroller {
 public:
  Unroller(const Module& module, const Target& target)
      : module_(module), target_(target) {}

  absl::StatusOr<std::optional<Values>> Replace(const Computation& from,
                                                const Instruction& i,
                                                const Values& operands) {
    const int computation =
        static_cast<int>(&from - module_.computations().data());
    const auto iterations = IterationsOf(
        module_, computation, static_cast<int>(&i - from.instructions().data()),
        target_);
    if (!iterations) return std::nullopt;
    const int condition = NumberOf(i.called[0]), body = NumberOf(i.called[1]);
    Values state = operands;
    Call(body, iterations->before, i.num_results, &state);
    if (iterations->each > 0) {
      HAWSER_ASSIGN_OR_RETURN(const int many, AddMany(i, body, iterations->each,
                                                      computation, operands));
      const Expression first =
          Apply(kWhile, state, i.attributes, {condition, many});
      for (int k = 0; k < i.num_results; ++k) state[k] = ResultOf(first, k);
    }
    state.resize(i.num_results);
    return state;
  }

 private:
  static void Call(int body, int64_t iterations, int results, Values* state) {
    for (int64_t iteration = 0; iteration < iterations; ++iteration) {
      const Expression first = Apply(kCall, *state, {}, {body});
      for (int k = 0; k < results; ++k) (*state)[k] = ResultOf(first, k);
    }
  }

  // A body that does the work of so many iterations.
  absl::StatusOr<int> AddMany(const Instruction& i, int body,
                              int64_t iterations, int computation,
                              const Values& operands) {
    ExpressionScope* const outer = operands[0].scope();
    ComputationBuilder builder(outer->builder.module(), "turns");
    ExpressionScope scope{builder, outer->monoids};
    Values state;
    for (const Expression& operand : operands) {
      state.emplace_back(&scope,
                         builder.Parameter(operand.shape(), SourceLocation{}));
    }
    Call(body, iterations, i.num_results, &state);
    std::vector<ValueId> results;
    for (int k = 0; k < i.num_results; ++k) results.push_back(state[k].value());
    added_before_.push_back(computation);
    return builder.Finish(results);
  }

  int NumberOf(int old) const {
    return old + static_cast<int>(absl::c_count_if(
                     added_before_, [&](int c) { return c <= old; }));
  }

  const Module& module_;
  const Target& target_;
  std::vector<int> added_before_;  // the old computation in which it stands
};

}  // namespace

absl::StatusOr<std::optional<Module>> Unrolled(const Module& module,
                                               const Target& target) {
  if (target.unrolled_instructions == 0 || !HasAny(module, target)) {
    return std::nullopt;
  }
  Unroller unroller(module, target);
  HAWSER_ASSIGN_OR_RETURN(
      Module called,
      Rewritten(module, [&](const Computation& from, const Instruction& i,
                            const Values& operands) {
        return unroller.Replace(from, i, operands);
      }));
  bool changed = false;
  HAWSER_ASSIGN_OR_RETURN(Module written,
                          InlineCalls(std::move(called), &changed));
  // Every iteration has constants of its own. If they cost nothing, they stay:
  // what reads one of its own is computed where it is read.
  if (target.op_seconds == 0) return written;
  return EliminateCommonSubexpressions(std::move(written), &changed);
}

}  // namespace hawser::plan
