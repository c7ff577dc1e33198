#include "client/sdk/probes/control_prints.h"

#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/sdk/graph/build/inline.h"
#include "client/sdk/graph/trace.h"
#include "client/sdk/ops/elementwise/compare.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "client/sdk/ops/indexing/subscript.h"
#include "client/sdk/ops/shape.h"
#include "client/sdk/probes/probes.h"
#include "core/ops/contraction/control.h"

namespace hawser::sdk {
namespace {

using Values = std::vector<Tensor>;

// A state before the first turn: of a value, and of its turns.
Tensor NoValue(const OpScope& s, const Shape& shape) {
  return s.BroadcastTo(s.Constant(Literal::Zeros(Shape::Scalar(shape.dtype()))),
                       shape.dims());
}
Tensor NoTurns(const OpScope& s, int64_t count) {
  return s.BroadcastTo(s.Constant(Literal::Scalar<int64_t>(-1)), {count});
}

Tensor AsVector(const Tensor& turn) { return Reshape(turn, {1}); }

// `turns` of a value in a loop's body, with the turn of that loop.
Tensor WithTurn(const Tensor& turns, const Tensor& turn) {
  Values parts = {turns[Range(0, 1)], AsVector(turn)};
  if (turns.dim(0) > 1) parts.push_back(turns[Range(1)]);
  return Concatenate(parts);
}

// The states after the user's: the number of the turn, then the tensors of what
// is printed in the body, with the turn of this loop where it may be passed by.
Values HiddenStates(const OpScope& s, const std::vector<Printed>& in_body) {
  Values states = {s.Constant(Literal::Scalar<int64_t>(0))};
  for (const Printed& p : in_body) {
    states.push_back(NoValue(s, p.value.shape()));
    if (!p.turns.has_value()) continue;
    states.push_back(NoTurns(s, p.turns->dim(0) + 1));
  }
  return states;
}

// Returns the hidden states after an iteration that printed `given`; a value
// that was not reached stays as it was.
Values NextHidden(const std::vector<Printed>& in_body, const Values& hidden,
                  absl::Span<const Tensor> given) {
  const Tensor& turn = hidden[0];
  Values next = {turn + 1};
  for (const Printed& p : in_body) {
    const size_t k = next.size();
    const Tensor& value = given[k - 1];
    if (!p.turns.has_value()) {
      next.push_back(value);
      continue;
    }
    const Tensor& turns = given[k];
    const Tensor came = Ge(turns[0], 0);
    next.push_back(Select(came, value, hidden[k]));
    next.push_back(Select(came, WithTurn(turns, turn), hidden[k + 1]));
  }
  return next;
}

// Makes what one of the loop's computations gives of the hidden states and of
// what it gave without them.
using Give = absl::FunctionRef<Values(const Values& hidden, Values given)>;

// `region`, taking the hidden states as well, after the user's.
absl::StatusOr<Region> WithHidden(const PrintingLoop& loop,
                                  const Region& region, const Values& states,
                                  SourceLocation where, Give give) {
  Trace trace(region->module.entry().name(), Captures::kLift);
  Values arguments, hidden;
  for (const Tensor& t : loop.initial) {
    arguments.push_back(trace.Parameter(t.shape(), where));
  }
  for (const Tensor& t : states) {
    hidden.push_back(trace.Parameter(t.shape(), where));
  }
  for (const Tensor& t : loop.lifted) {
    trace.Lift(t);
    arguments.push_back(t);
  }
  {
    const Trace::Scope scope(&trace);
    const OpScope s("Print", where);
    const OpScope::Formula numbers;
    trace.Return(give(hidden, Inline("While", *region, arguments, where)),
                 where);
  }
  return trace.FinishRegion();
}

// Shows what the body printed, from the hidden states after the last iteration.
void ShowBody(std::vector<Printed> in_body, const Values& hidden) {
  ReplaceTensors(absl::MakeConstSpan(hidden).subspan(1), &in_body);
  const Tensor last = hidden[0] - 1;
  for (Printed& p : in_body) {
    if (!p.turns.has_value()) {  // it came in each turn
      p.turns = Concatenate({AsVector(Minimum(last, 0)), AsVector(last)});
    }
    Show(std::move(p));
  }
}

// Shows what the condition printed: what it prints for the last state.
void ShowCondition(PrintingLoop* loop, const Values& last, const Tensor& turn,
                   const OpScope& s) {
  if (loop->in_condition.empty()) return;
  Values arguments = last;
  arguments.insert(arguments.end(), loop->lifted.begin(), loop->lifted.end());
  const Values given = Inline("While", *loop->condition, arguments, s.where());
  ReplaceTensors(absl::MakeConstSpan(given).subspan(1), &loop->in_condition);
  const Tensor here = s.Constant(Literal::Vector<int64_t>({0}));
  for (Printed& p : loop->in_condition) {
    p.turns = WithTurn(p.turns.value_or(here), turn);
    Show(std::move(p));
  }
}

}  // namespace

Values AddPrintingLoop(const OpScope& s, PrintingLoop loop) {
  const OpScope::Formula numbers;
  const size_t count = loop.initial.size();
  const Values states = HiddenStates(s, loop.in_body);
  const auto condition = WithHidden(
      loop, loop.condition, states, s.where(),
      [](const Values&, const Values& given) { return Values{given[0]}; });
  if (!condition.ok()) return Values(count, s.Keep(condition.status()));
  const auto body = WithHidden(
      loop, loop.body, states, s.where(),
      [&](const Values& hidden, Values given) {
        const Values next = NextHidden(
            loop.in_body, hidden, absl::MakeConstSpan(given).subspan(count));
        given.resize(count);
        given.insert(given.end(), next.begin(), next.end());
        return given;
      });
  if (!body.ok()) return Values(count, s.Keep(body.status()));
  Values operands = loop.initial;
  operands.insert(operands.end(), states.begin(), states.end());
  operands.insert(operands.end(), loop.lifted.begin(), loop.lifted.end());
  const Region called[] = {*condition, *body};
  const Tensor first = s.Add(
      kWhile, operands,
      {{"num_invariant", static_cast<int64_t>(loop.lifted.size())}}, called);
  Values results, hidden;
  for (size_t k = 0; k < count + states.size(); ++k) {
    (k < count ? results : hidden)
        .push_back(ResultOf(first, static_cast<int>(k)));
  }
  ShowBody(std::move(loop.in_body), hidden);
  ShowCondition(&loop, results, hidden[0], s);
  return results;
}

Values PrintedHere(std::vector<Printed>* printed, SourceLocation where) {
  const OpScope s("Print", where);
  for (Printed& p : *printed) {
    if (p.turns.has_value()) continue;
    p.turns = s.Constant(Literal::Vector<int64_t>({0}));
  }
  Values tensors;
  AppendTensors(*printed, &tensors);
  return tensors;
}

Values NotPrintedHere(const std::vector<Printed>& printed,
                      SourceLocation where) {
  const OpScope s("Print", where);
  Values tensors;
  for (const Printed& p : printed) {
    tensors.push_back(NoValue(s, p.value.shape()));
    tensors.push_back(NoTurns(s, p.turns->dim(0)));
  }
  return tensors;
}

}  // namespace hawser::sdk
