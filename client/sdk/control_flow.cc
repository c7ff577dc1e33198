#include "client/sdk/control_flow.h"

#include <string>

#include "client/sdk/graph/jit.h"
#include "client/sdk/graph/op_scope.h"
#include "client/sdk/graph/trace.h"
#include "core/base/status.h"
#include "core/ops/control.h"

namespace hawser::sdk {
namespace {

// Both computations get the same parameters in the same order: the second one
// starts with what the first lifted, the first then takes what is new.
void LiftAll(const Tensors& lifted, Trace* trace) {
  for (const Tensor& outer : lifted) trace->Lift(outer);
}

Values ResultsOf(const Tensor& first, size_t count) {
  Values out;
  for (size_t k = 0; k < count; ++k) {
    out.push_back(ResultOf(first, static_cast<int>(k)));
  }
  return out;
}

// The body gives the state it takes. Errors name the first that differs.
absl::Status CheckState(const Values& initial, const Values& results) {
  if (results.size() != initial.size()) {
    return InvalidArgument("the body gives ", results.size(),
                           " tensors for a state of ", initial.size());
  }
  for (size_t i = 0; i < initial.size(); ++i) {
    if (results[i].dtype() == DType::kInvalid ||
        results[i].shape() == initial[i].shape()) {
      continue;
    }
    return InvalidArgument("the body gives ", results[i].shape().ToString(),
                           " for state ", i, ", which is ",
                           initial[i].shape().ToString());
  }
  return absl::OkStatus();
}

absl::Status CheckBranches(const Values& a, const Values& b) {
  bool same = a.size() == b.size();
  for (size_t i = 0; same && i < a.size(); ++i) {
    // An invalid result is reported by its own trace.
    same = a[i].dtype() == DType::kInvalid ||
           b[i].dtype() == DType::kInvalid || a[i].shape() == b[i].shape();
    if (same) continue;
    return InvalidArgument("the branches give ", a[i].shape().ToString(),
                           " and ", b[i].shape().ToString(), " as result ", i);
  }
  if (same) return absl::OkStatus();
  return InvalidArgument("the branches give ", a.size(), " and ", b.size(),
                         " results");
}

Values Parameters(Trace* trace, const Values& like, SourceLocation where) {
  Values out;
  for (const Tensor& t : like) {
    out.push_back(trace->Parameter(t.shape(), where));
  }
  return out;
}

}  // namespace

Values TensorsOf(const Flat& flat, SourceLocation where) {
  Values out;
  for (const Leaf& leaf : flat.leaves) out.push_back(ToTensor(leaf, where));
  return out;
}

Values RunWhile(const Values& initial,
                absl::FunctionRef<Tensor(const Values&)> condition,
                absl::FunctionRef<Values(const Values&)> body,
                SourceLocation where) {
  const OpScope s("While", where, initial);
  const auto fail = [&](const Tensor& error) {
    return Values(initial.size(), error);
  };
  if (!s.ok()) return fail(s.error());
  Trace condition_trace("condition", Captures::kLift);
  Trace body_trace("body", Captures::kLift);
  {
    const Values state = Parameters(&condition_trace, initial, where);
    const Trace::Scope scope(&condition_trace);
    const Tensor more = condition(state);
    condition_trace.Return({&more, 1}, where);
  }
  Values next;
  {
    const Values state = Parameters(&body_trace, initial, where);
    LiftAll(condition_trace.lifted(), &body_trace);
    const Trace::Scope scope(&body_trace);
    next = body(state);
    body_trace.Return(next, where);
  }
  LiftAll(body_trace.lifted(), &condition_trace);
  auto condition_module = condition_trace.Finish();
  if (!condition_module.ok()) return fail(s.Keep(condition_module.status()));
  auto body_module = body_trace.Finish();
  if (!body_module.ok()) return fail(s.Keep(body_module.status()));
  const absl::Status same = CheckState(initial, next);
  if (!same.ok()) return fail(s.Fail(same));
  Tensors operands(initial.begin(), initial.end());
  const Tensors& lifted = body_trace.lifted();
  operands.insert(operands.end(), lifted.begin(), lifted.end());
  const Region called[] = {MakeRegion(*std::move(condition_module)),
                           MakeRegion(*std::move(body_module))};
  return ResultsOf(
      s.Add(kWhile, operands,
            {{"num_invariant", static_cast<int64_t>(lifted.size())}}, called),
      initial.size());
}

Values RunCond(const Operand& predicate, absl::FunctionRef<Values()> then_fn,
               absl::FunctionRef<Values()> else_fn) {
  const SourceLocation where = predicate.where();
  const OpScope s("Cond", where, {&predicate});
  Trace then_trace("then", Captures::kLift);
  Trace else_trace("else", Captures::kLift);
  Values then_results, else_results;
  {
    const Trace::Scope scope(&then_trace);
    then_results = then_fn();
    then_trace.Return(then_results, where);
  }
  const auto fail = [&](const Tensor& error) {
    return Values(then_results.size(), error);
  };
  if (!s.ok()) return fail(s.error());
  {
    LiftAll(then_trace.lifted(), &else_trace);
    const Trace::Scope scope(&else_trace);
    else_results = else_fn();
    else_trace.Return(else_results, where);
  }
  LiftAll(else_trace.lifted(), &then_trace);
  auto then_module = then_trace.Finish();
  if (!then_module.ok()) return fail(s.Keep(then_module.status()));
  auto else_module = else_trace.Finish();
  if (!else_module.ok()) return fail(s.Keep(else_module.status()));
  const absl::Status same = CheckBranches(then_results, else_results);
  if (!same.ok()) return fail(s.Fail(same));
  // Branch 0 is the else, so that the predicate as a number names the branch.
  Tensors operands = {
      s.Convert(s.Convert(s.As(predicate), DType::kBool), DType::kS32)};
  const Tensors& lifted = else_trace.lifted();
  operands.insert(operands.end(), lifted.begin(), lifted.end());
  const Region branches[] = {MakeRegion(*std::move(else_module)),
                             MakeRegion(*std::move(then_module))};
  return ResultsOf(s.Add(kCase, operands, {}, branches), then_results.size());
}

}  // namespace hawser::sdk
