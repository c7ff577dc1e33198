#include "core/autodiff/gradient_transform.h"

#include <string>
#include <utility>

#include "core/autodiff/reverse_sweep.h"
#include "core/base/status.h"

namespace hawser {
namespace {

absl::Status CheckOptions(const Signature& signature,
                          const GradientOptions& options) {
  const int results = static_cast<int>(signature.results.size());
  const int parameters = static_cast<int>(signature.parameters.size());
  if (options.result < 0 || options.result >= results) {
    return InvalidArgument("there is no result ", options.result, " among ",
                           results);
  }
  const Shape& result = signature.results[options.result];
  if (!autodiff::IsDifferentiable(result)) {
    return InvalidArgument("result ", options.result, " is ",
                           result.ToString(),
                           "; only floats and complex numbers have a gradient");
  }
  for (int p : options.parameters) {
    if (p < 0 || p >= parameters) {
      return InvalidArgument("there is no parameter ", p, " among ",
                             parameters);
    }
    const Shape& shape = signature.parameters[p];
    if (autodiff::IsDifferentiable(shape)) continue;
    return InvalidArgument("parameter ", p, " is ", shape.ToString(),
                           "; only floats and complex numbers have a gradient");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Module> ValueAndGradient(Module module,
                                        const GradientOptions& options) {
  if (module.empty()) return InvalidArgument("the module is empty");
  HAWSER_RETURN_IF_ERROR(CheckOptions(module.signature(), options));
  autodiff::PullBacks pull_backs(&module);
  const int entry = static_cast<int>(module.computations().size()) - 1;
  autodiff::ReverseSweep sweep(&pull_backs, entry, options.where);
  HAWSER_RETURN_IF_ERROR(sweep.DifferentiateBy(options.parameters));
  std::vector<ValueId> results = sweep.results();
  sweep.SeedWithOnes(options.result);
  HAWSER_RETURN_IF_ERROR(sweep.Run());
  for (int p : options.parameters) {
    results.push_back(sweep.CotangentOf(p).value());
  }
  HAWSER_RETURN_IF_ERROR(sweep.Finish(results).status());
  if (options.origins != nullptr) *options.origins = sweep.origins();
  return module;
}

}  // namespace hawser
