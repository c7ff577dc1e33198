// Batch rules of control flow.
#include <utility>

#include "core/base/status.h"
#include "core/ops/batch/batch.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/inlined.h"

namespace hawser {
namespace {

using Results = std::vector<Expression>;

// The batched parts of a loop: operands as they are in every iteration, and
// whether the condition is.
struct LoopFlow {
  BatchFlags operands;
  bool condition = false;
};

// A state is batched where it starts so, or where the body makes it so; all
// are where the condition is, since an entry that is done keeps its state.
absl::StatusOr<LoopFlow> FlowOf(BatchCalls& calls, const Instruction& loop,
                                BatchFlags batched) {
  while (true) {
    HAWSER_ASSIGN_OR_RETURN(const BatchFlags condition,
                            calls.Flow(loop.called[0], batched));
    HAWSER_ASSIGN_OR_RETURN(const BatchFlags body,
                            calls.Flow(loop.called[1], batched));
    BatchFlags next = batched;
    for (int k = 0; k < loop.num_results; ++k) {
      next[k] = batched[k] || body[k] || condition[0];
    }
    if (next == batched) return LoopFlow{std::move(next), condition[0]};
    batched = std::move(next);
  }
}

Results Inline(BatchCalls& calls, int computation,
               absl::Span<const Expression> arguments, ExpressionScope* scope) {
  // It is copied since an expression may add to the module.
  const Computation c = calls.module()->computation(computation);
  std::vector<ValueId> values;
  for (const Expression& x : arguments) values.push_back(x.value());
  Results results;
  for (const ValueId v : Inlined(c, values, &scope->builder)) {
    results.emplace_back(scope, v);
  }
  return results;
}

Results ResultsOf(const BatchContext& c, const Expression& first) {
  Results results;
  for (int k = 0; k < c.instruction.num_results; ++k) {
    results.push_back(ResultOf(first, k));
  }
  return results;
}

// For each entry of a batch: x where `holds`, else y.
Expression ChooseEach(const Expression& holds, const Expression& x,
                      const Expression& y) {
  return Choose(AlongRest(holds, x.dims()), x, y);
}

// The computations of a loop in which an entry may be done before others. Its
// state has one more: bool[size], whether the condition holds.
struct MaskedLoop {
  BatchCalls& calls;
  const BatchContext& c;
  int condition;  // for a batch
  int body;

  int states() const { return c.instruction.num_results; }

  // The parameters of a new computation: states, whether, invariants.
  Results Parameters(ExpressionScope* scope,
                     absl::Span<const Expression> like) const {
    Results parameters;
    for (const Expression& x : like) {
      parameters.emplace_back(
          scope, scope->builder.Parameter(x.shape(), SourceLocation{}));
    }
    return parameters;
  }

  // Makes the condition that it holds for any entry.
  absl::StatusOr<int> MakeCondition(absl::Span<const Expression> like) const {
    ComputationBuilder builder(calls.module(), "any");
    ExpressionScope scope{builder, calls.monoids()};
    const Results p = Parameters(&scope, like);
    const Expression any =
        Folded(kOr, p[states()], Literal::Scalar(false), {0});
    return builder.Finish({any.value()});
  }

  absl::StatusOr<int> MakeBody(absl::Span<const Expression> like) const {
    ComputationBuilder builder(calls.module(), "masked");
    ExpressionScope scope{builder, calls.monoids()};
    Results now = Parameters(&scope, like);
    const Expression holds = now[states()];
    now.erase(now.begin() + states());
    const Results next = Inline(calls, body, now, &scope);
    for (int k = 0; k < states(); ++k) {
      now[k] = ChooseEach(holds, next[k], now[k]);
    }
    std::vector<ValueId> results;
    for (int k = 0; k < states(); ++k) results.push_back(now[k].value());
    results.push_back(Inline(calls, condition, now, &scope)[0].value());
    HAWSER_RETURN_IF_ERROR(builder.status());
    return builder.Finish(results);
  }
};

absl::StatusOr<Results> BatchMaskedWhile(
    BatchContext& c, const LoopFlow& flow,
    absl::Span<const Expression> operands) {
  const Instruction& loop = c.instruction;
  const BatchFlags all(loop.num_results, true);
  HAWSER_ASSIGN_OR_RETURN(const int condition,
                          c.calls.Find(loop.called[0], flow.operands, {true}));
  HAWSER_ASSIGN_OR_RETURN(const int body,
                          c.calls.Find(loop.called[1], flow.operands, all));
  const MaskedLoop masked{c.calls, c, condition, body};
  Results state(operands.begin(), operands.end());
  const Expression holds = Inline(c.calls, condition, state, &c.scope)[0];
  HAWSER_RETURN_IF_ERROR(c.scope.builder.status());
  state.insert(state.begin() + loop.num_results, holds);
  HAWSER_ASSIGN_OR_RETURN(const int any, masked.MakeCondition(state));
  HAWSER_ASSIGN_OR_RETURN(const int turn, masked.MakeBody(state));
  return ResultsOf(c, Apply(kWhile, state, loop.attributes, {any, turn}));
}

// The arguments of a case's branches.
BatchFlags BehindIndex(const BatchFlags& operands) {
  return BatchFlags(operands.begin() + 1, operands.end());
}

// The pull-back of a call for a batch. For an operand that all entries share it
// gives the sum of what it gives for each.
absl::StatusOr<int> PullBackOf(BatchContext& c) {
  const Instruction& call = c.instruction;
  BatchFlags takes, shared;
  for (int k = 0; k < call.num_results; ++k) {
    if (IsContinuous(c.from.shape(call.first_result + k).dtype())) {
      takes.push_back(true);
    }
  }
  takes.insert(takes.end(), c.batched.begin(), c.batched.end());
  for (int i = 0; i < c.count(); ++i) {
    if (IsContinuous(c.shape(i).dtype())) shared.push_back(!c.batched[i]);
  }
  HAWSER_ASSIGN_OR_RETURN(
      const int each,
      c.calls.Find(call.called[1], takes, BatchFlags(shared.size(), true)));
  ComputationBuilder builder(c.calls.module(), "pull-back");
  ExpressionScope scope{builder, c.calls.monoids()};
  Results parameters;
  const Signature signature = c.calls.module()->signature(each);
  for (const Shape& shape : signature.parameters) {
    parameters.emplace_back(&scope, builder.Parameter(shape, SourceLocation{}));
  }
  const Results given = Inline(c.calls, each, parameters, &scope);
  std::vector<ValueId> results;
  for (size_t i = 0; i < shared.size(); ++i) {
    results.push_back((shared[i] ? Summed(given[i], {0}) : given[i]).value());
  }
  HAWSER_RETURN_IF_ERROR(builder.status());
  return builder.Finish(results);
}

}  // namespace

absl::StatusOr<BatchFlags> WhileBatchFlow(BatchCalls& calls,
                                          const Instruction& loop,
                                          const BatchFlags& batched) {
  HAWSER_ASSIGN_OR_RETURN(LoopFlow flow, FlowOf(calls, loop, batched));
  flow.operands.resize(loop.num_results);
  return flow.operands;
}

absl::StatusOr<Results> WhileBatch(BatchContext& c) {
  const Instruction& loop = c.instruction;
  HAWSER_ASSIGN_OR_RETURN(const LoopFlow flow,
                          FlowOf(c.calls, loop, c.batched));
  Results operands;
  for (int i = 0; i < c.count(); ++i) {
    operands.push_back(flow.operands[i] ? c.Spread(i) : c.operands[i]);
  }
  if (flow.condition) return BatchMaskedWhile(c, flow, operands);
  c.gives.assign(flow.operands.begin(),
                 flow.operands.begin() + loop.num_results);
  HAWSER_ASSIGN_OR_RETURN(const int condition,
                          c.calls.Find(loop.called[0], flow.operands, {false}));
  HAWSER_ASSIGN_OR_RETURN(const int body,
                          c.calls.Find(loop.called[1], flow.operands, c.gives));
  return ResultsOf(c,
                   Apply(kWhile, operands, loop.attributes, {condition, body}));
}

// A result is batched where a branch makes it so; all are where the index is.
absl::StatusOr<BatchFlags> CaseBatchFlow(BatchCalls& calls,
                                         const Instruction& choice,
                                         const BatchFlags& batched) {
  BatchFlags gives(choice.num_results, batched[0]);
  for (const int branch : choice.called) {
    HAWSER_ASSIGN_OR_RETURN(const BatchFlags given,
                            calls.Flow(branch, BehindIndex(batched)));
    for (int k = 0; k < choice.num_results; ++k) {
      gives[k] = gives[k] || given[k];
    }
  }
  return gives;
}

absl::StatusOr<Results> CaseBatch(BatchContext& c) {
  const Instruction& choice = c.instruction;
  HAWSER_ASSIGN_OR_RETURN(c.gives, CaseBatchFlow(c.calls, choice, c.batched));
  std::vector<int> branches;
  for (const int branch : choice.called) {
    HAWSER_ASSIGN_OR_RETURN(
        const int made, c.calls.Find(branch, BehindIndex(c.batched), c.gives));
    branches.push_back(made);
  }
  if (!c.batched[0]) {
    return ResultsOf(c, Apply(kCase, c.operands, {}, branches));
  }
  // The last branch runs for each index that names no other one.
  const auto arguments = c.operands.subspan(1);
  Results results = Inline(c.calls, branches.back(), arguments, &c.scope);
  for (int b = static_cast<int>(branches.size()) - 2; b >= 0; --b) {
    const Results given = Inline(c.calls, branches[b], arguments, &c.scope);
    const Expression named =
        Compare(c.operands[0], CompareDirection::kEq, Like(c.operands[0], b));
    for (int k = 0; k < choice.num_results; ++k) {
      results[k] = ChooseEach(named, given[k], results[k]);
    }
  }
  return results;
}

absl::StatusOr<BatchFlags> FusionBatchFlow(BatchCalls& calls,
                                           const Instruction& fusion,
                                           const BatchFlags& batched) {
  return calls.Flow(fusion.called[0], batched);
}

absl::StatusOr<Results> FusionBatch(BatchContext& c) {
  const Instruction& fusion = c.instruction;
  HAWSER_ASSIGN_OR_RETURN(c.gives, FusionBatchFlow(c.calls, fusion, c.batched));
  HAWSER_ASSIGN_OR_RETURN(const int meaning,
                          c.calls.Find(fusion.called[0], c.batched, c.gives));
  return ResultsOf(c, Apply(kFusion, c.operands, fusion.attributes, {meaning}));
}

// All results are batched beside a pull-back: what it is given for one that all
// entries share would count for each of them.
absl::StatusOr<BatchFlags> CallBatchFlow(BatchCalls& calls,
                                         const Instruction& call,
                                         const BatchFlags& batched) {
  if (call.called.size() > 1) return BatchFlags(call.num_results, true);
  return calls.Flow(call.called[0], batched);
}

absl::StatusOr<Results> CallBatch(BatchContext& c) {
  const Instruction& call = c.instruction;
  HAWSER_ASSIGN_OR_RETURN(c.gives, CallBatchFlow(c.calls, call, c.batched));
  std::vector<int> called;
  HAWSER_ASSIGN_OR_RETURN(called.emplace_back(),
                          c.calls.Find(call.called[0], c.batched, c.gives));
  if (call.called.size() > 1) {
    HAWSER_ASSIGN_OR_RETURN(called.emplace_back(), PullBackOf(c));
  }
  return ResultsOf(c, Apply(kCall, c.operands, call.attributes, called));
}

}  // namespace hawser
