#include "client/sdk/functions/custom_grad.h"

#include <vector>

#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/printed.h"
#include "client/sdk/graph/trace.h"
#include "client/sdk/probes/probes.h"
#include "core/base/status.h"
#include "core/ops/contraction/control.h"

namespace hawser::sdk {
namespace {

Values With(const Values& arguments, const Tensors& lifted) {
  Values all = arguments;
  all.insert(all.end(), lifted.begin(), lifted.end());
  return all;
}

// Returns the rule's gradients of those arguments that are floats or complex
// numbers.
absl::StatusOr<Values> Gradients(const Values& arguments,
                                 const Values& gradients) {
  if (gradients.size() != arguments.size()) {
    return InvalidArgument("the rule gives ", gradients.size(),
                           " tensors for arguments of ", arguments.size());
  }
  Values given;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Shape& shape = arguments[i].shape();
    if (!IsContinuous(shape.dtype())) continue;
    // An invalid one is reported by the trace.
    if (gradients[i].dtype() != DType::kInvalid &&
        gradients[i].shape() != shape) {
      return InvalidArgument("the rule gives ", gradients[i].shape().ToString(),
                             " for tensor ", i, " of the arguments, which is ",
                             shape.ToString());
    }
    given.push_back(gradients[i]);
  }
  return given;
}

// Traces the pull-back: of cotangents, then the arguments, then what either
// function uses besides them, of which there are `lifted` so far. Errors: what
// the rule gives does not fit.
absl::Status TraceRule(
    const OpScope& s, const Values& arguments, const Values& results,
    const Tensors& lifted,
    absl::FunctionRef<Values(const Values& cotangents, const Values& arguments)>
        rule,
    Trace* trace) {
  const Trace::Scope scope(trace);
  Values cotangents;
  for (const Tensor& result : results) {
    cotangents.push_back(IsContinuous(result.dtype())
                             ? trace->Parameter(result.shape(), s.where())
                             : s.ZerosLike(result));
  }
  const Values inside = trace->Parameters(arguments, s.where());
  for (const Tensor& outer : lifted) trace->Lift(outer);
  HAWSER_ASSIGN_OR_RETURN(const Values gradients,
                          Gradients(arguments, rule(cotangents, inside)));
  trace->Return(gradients, s.where());
  // The others are constants.
  Values zeros;
  for (const Tensor& outer : trace->lifted()) {
    if (IsContinuous(outer.dtype())) zeros.push_back(s.ZerosLike(outer));
  }
  trace->Return(zeros, s.where());
  return absl::OkStatus();
}

}  // namespace

Values RunCheckpoint(const Values& arguments, ValuesFn fn,
                     SourceLocation where) {
  const OpScope s("Checkpoint", where, arguments);
  Trace trace("checkpoint", Captures::kLift);
  Values results;
  std::vector<Printed> printed;
  {
    const Values parameters = trace.Parameters(arguments, where);
    const Trace::Scope scope(&trace);
    results = fn(parameters);
    printed = trace.TakePrinted();
    Values given = results;
    AppendTensors(printed, &given);
    trace.Return(given, where);
  }
  const auto fail = [&](const Tensor& error) {
    return Values(results.size(), error);
  };
  if (!s.ok()) return fail(s.error());
  const auto region = trace.FinishRegion();
  if (!region.ok()) return fail(s.Keep(region.status()));
  const Values all = ResultsOf(
      s.Add(kCall, With(arguments, trace.lifted()), {}, {&*region, 1}),
      (*region)->module.entry().results().size());
  const auto behind = all.begin() + static_cast<int64_t>(results.size());
  ReplaceTensors(absl::MakeConstSpan(all).subspan(results.size()), &printed);
  for (Printed& p : printed) Show(std::move(p));
  return Values(all.begin(), behind);
}

Values RunCustomGrad(
    const Values& arguments, ValuesFn fn,
    absl::FunctionRef<Values(const Values& cotangents, const Values& arguments)>
        rule,
    SourceLocation where, const char* name) {
  const OpScope s("CustomGrad", where, arguments);
  Trace forward(name, Captures::kLift), back("rule", Captures::kLift);
  Values results;
  {
    const Values parameters = forward.Parameters(arguments, where);
    const Trace::Scope scope(&forward);
    results = fn(parameters);
    forward.Return(results, where);
  }
  const auto fail = [&](const Tensor& error) {
    return Values(results.size(), error);
  };
  if (!s.ok()) return fail(s.error());
  for (const Tensor& result : results) {
    if (!result.status().ok()) return fail(s.Keep(result.status()));
  }
  const absl::Status ruled =
      TraceRule(s, arguments, results, forward.lifted(), rule, &back);
  if (!ruled.ok()) return fail(s.Fail(ruled));
  for (const Tensor& outer : back.lifted()) forward.Lift(outer);
  std::vector<Region> called;
  for (Trace* const trace : {&forward, &back}) {
    auto region = trace->FinishRegion();
    if (!region.ok()) return fail(s.Keep(region.status()));
    called.push_back(*std::move(region));
  }
  return ResultsOf(s.Add(kCall, With(arguments, forward.lifted()), {}, called),
                   results.size());
}

}  // namespace hawser::sdk
