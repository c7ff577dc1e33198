#include "client/sdk/functions/grad.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "client/sdk/graph/build/inline.h"
#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/printed.h"
#include "client/sdk/graph/region.h"
#include "client/sdk/graph/trace.h"
#include "client/sdk/graph/user_code.h"
#include "client/sdk/probes/probes.h"
#include "core/autodiff/gradient_transform.h"
#include "core/base/status.h"
#include "core/ops/contraction/control.h"

namespace hawser {
namespace sdk {
namespace {

absl::Status CheckLeaves(absl::Span<const GradLeaf> leaves) {
  for (const GradLeaf& leaf : leaves) {
    if (!leaf.wanted || IsContinuous(leaf.tensor.dtype())) continue;
    return InvalidArgument("argument ", leaf.argument, " has a ",
                           leaf.tensor.shape().ToString(),
                           ", and only floats and complex numbers have a "
                           "gradient: convert it, or pass it beside");
  }
  return absl::OkStatus();
}

absl::Status CheckResults(const Values& results) {
  if (results.empty()) {
    return InvalidArgument("the function gives no tensor to differentiate");
  }
  // An invalid result is reported by the trace.
  const DType dtype = results[0].dtype();
  if (dtype == DType::kInvalid || IsContinuous(dtype)) return absl::OkStatus();
  return InvalidArgument("the function gives ", results[0].shape().ToString(),
                         ", and only floats and complex numbers have a "
                         "gradient");
}

bool IsOfLoop(const absl::Status& status) {
  return absl::StartsWith(status.message(), absl::StrCat(kWhile.name, ": "));
}

// Loops with a known number of iterations have gradients.
absl::Status WithWayOut(const absl::Status& status) {
  if (!IsOfLoop(status)) return status;
  return absl::Status(status.code(),
                      absl::StrCat(status.message(),
                                   "; For and Scan, and a C++ loop, have one"));
}

// The traced computation of fn's results with its gradients after them: it
// starts with the same instructions, which keep their places.
absl::StatusOr<Region> WithGradients(const RegionDef& traced,
                                     absl::Span<const GradLeaf> leaves) {
  std::vector<int> origins;
  GradientOptions options;
  options.parameters.clear();
  options.where = traced.places->at;
  options.origins = &origins;
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i].wanted) options.parameters.push_back(static_cast<int>(i));
  }
  HAWSER_ASSIGN_OR_RETURN(Module module,
                          ValueAndGradient(traced.module, options));
  auto places =
      PlacesBy(origins, *traced.places, traced.module.entry(), module.entry());
  return MakeRegion(std::move(module), std::move(places));
}

// A function traced, with its gradients after what it gives.
struct Derivative {
  Values results;  // of the function, in the trace
  std::vector<Printed> printed;
  Region region;
  Tensors lifted;        // arguments after those there were
  absl::Status status;   // of the gradient
  absl::Status tracing;  // which says where
};

Derivative TraceDerivative(absl::Span<const GradLeaf> leaves,
                           absl::FunctionRef<Values(const Values&)> fn,
                           Captures captures, SourceLocation where) {
  Derivative made;
  Trace trace("grad", captures);
  Values parameters;
  for (const GradLeaf& leaf : leaves) {
    parameters.push_back(trace.Parameter(leaf.tensor.shape(), where));
  }
  {
    const Trace::Scope scope(&trace);
    made.results = fn(parameters);
    made.printed = trace.TakePrinted();
    Values given = made.results;
    AppendTensors(made.printed, &given);
    trace.Return(given, where);
  }
  made.status = CheckLeaves(leaves);
  if (made.status.ok()) made.status = CheckResults(made.results);
  if (!made.status.ok()) return made;
  const auto traced = trace.FinishRegion();
  made.tracing = traced.status();
  if (!traced.ok()) return made;
  auto region = WithGradients(**traced, leaves);
  made.status = region.status();
  if (region.ok()) made.region = *std::move(region);
  made.lifted = trace.lifted();
  return made;
}

}  // namespace

Differentiated Differentiate(absl::Span<const GradLeaf> leaves,
                             absl::FunctionRef<Values(const Values&)> fn,
                             SourceLocation where) {
  Values arguments;
  size_t wanted = 0;
  for (const GradLeaf& leaf : leaves) {
    arguments.push_back(leaf.tensor);
    wanted += leaf.wanted;
  }
  const OpScope s("Grad", where, arguments);
  const auto fail = [&](const Values& results, const Tensor& error) {
    return Differentiated{Values(results.size(), error), Values(wanted, error)};
  };
  if (!s.ok()) {
    const UserCode user_code;
    return fail(fn(arguments), s.error());
  }
  Derivative made = TraceDerivative(leaves, fn, Captures::kLift, where);
  // Its iterations may be known by values that would else be arguments.
  if (IsOfLoop(made.status)) {
    made = TraceDerivative(leaves, fn, Captures::kLiftButCounts, where);
  }
  if (!made.status.ok()) {
    return fail(made.results, s.Fail(WithWayOut(made.status)));
  }
  if (!made.tracing.ok()) return fail(made.results, s.Keep(made.tracing));
  arguments.insert(arguments.end(), made.lifted.begin(), made.lifted.end());
  const Values all = Inline("Grad", *made.region, arguments, where);
  const auto behind = all.begin() + made.results.size();
  const size_t shown = ReplaceTensors(
      absl::MakeConstSpan(all).subspan(made.results.size()), &made.printed);
  for (Printed& p : made.printed) Show(std::move(p));
  return {Values(all.begin(), behind), Values(behind + shown, all.end())};
}

}  // namespace sdk

Tensor StopGradient(const Operand& x) {
  const sdk::OpScope s("StopGradient", {&x});
  if (!s.ok()) return s.error();
  return s.Add(kStopGradient, {s.As(x)});
}

}  // namespace hawser
