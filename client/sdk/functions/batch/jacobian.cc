#include "client/sdk/functions/batch/jacobian.h"

#include "client/sdk/functions/batch/vmap.h"
#include "client/sdk/functions/derivatives.h"
#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/trace.h"
#include "client/sdk/graph/user_code.h"
#include "client/sdk/ops/create.h"
#include "client/sdk/ops/shape.h"
#include "core/base/status.h"

namespace hawser::sdk {
namespace {

absl::Status CheckArgument(absl::Span<const GradLeaf> leaves) {
  const GradLeaf* by = nullptr;
  int wanted = 0;
  for (const GradLeaf& leaf : leaves) {
    if (!leaf.wanted) continue;
    ++wanted;
    by = &leaf;
  }
  if (wanted != 1) {
    return InvalidArgument("the argument to differentiate by holds ", wanted,
                           " tensors, must be one");
  }
  if (IsFloat(by->tensor.dtype())) return absl::OkStatus();
  return InvalidArgument("argument ", by->argument, " is ",
                         by->tensor.shape().ToString(), ", must be of floats");
}

absl::Status CheckResult(const Values& results) {
  if (results.size() != 1) {
    return InvalidArgument("the function gives ", results.size(),
                           " tensors, must give one");
  }
  if (!results[0].status().ok() || IsFloat(results[0].dtype())) {
    return results[0].status();
  }
  return InvalidArgument("the function gives ", results[0].shape().ToString(),
                         ", must be of floats");
}

// Returns fn's results as tensors of a trace of its own, which is thrown away:
// only their shapes are used.
Values Probed(const Values& arguments,
              absl::FunctionRef<Values(const Values&)> fn,
              SourceLocation where) {
  Trace probe("jacobian", Captures::kLift);
  const Values parameters = probe.Parameters(arguments, where);
  const Trace::Scope scope(&probe);
  Values results = fn(parameters);
  probe.TakePrinted();
  return results;
}

}  // namespace

AllDerivatives RunJacobian(const char* function,
                           absl::Span<const GradLeaf> leaves,
                           absl::FunctionRef<Values(const Values&)> fn,
                           SourceLocation where) {
  Values arguments;
  for (const GradLeaf& leaf : leaves) arguments.push_back(leaf.tensor);
  const OpScope s(function, where, arguments);
  if (!s.ok()) {
    const UserCode user_code;
    return {fn(arguments).size(), s.error()};
  }
  const Values results = Probed(arguments, fn, where);
  absl::Status fits = CheckResult(results);
  // An error of fn's own says where.
  if (!fits.ok() && results.size() == 1 && !results[0].status().ok()) {
    return {1, s.Keep(fits)};
  }
  if (fits.ok()) fits = CheckArgument(leaves);
  if (!fits.ok()) return {results.size(), s.Fail(fits)};
  const Shape shape = results[0].shape();
  const int64_t elements = shape.num_elements();
  Dims sizes = shape.dims();
  sizes.insert(sizes.begin(), elements);
  const Tensor seeds = s.Reshape(Eye(shape.dtype(), elements, elements), sizes);
  const Tensor rows = RunVmap(
      {VmapLeaf{seeds, 0}}, 1, {},
      [&](const Values& seed) {
        return PullBack(leaves, seed, fn, where).gradients;
      },
      where)[0];
  if (!rows.status().ok()) return {1, rows};
  Dims all = shape.dims();
  for (const GradLeaf& leaf : leaves) {
    if (!leaf.wanted) continue;
    for (const int64_t d : leaf.tensor.shape().dims()) all.push_back(d);
  }
  return {1, s.Reshape(rows, all)};
}

}  // namespace hawser::sdk
