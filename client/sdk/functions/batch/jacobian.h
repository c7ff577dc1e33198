// Jacobian and Hessian: all derivatives of a function.
#ifndef HAWSER_CLIENT_SDK_FUNCTIONS_BATCH_JACOBIAN_H_
#define HAWSER_CLIENT_SDK_FUNCTIONS_BATCH_JACOBIAN_H_

#include <cstddef>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "client/sdk/functions/control_flow.h"
#include "client/sdk/functions/grad.h"
#include "client/sdk/tensor.h"
#include "core/ir/source_location.h"

namespace hawser {
namespace sdk {

// Jacobian without its types, for `function`: by the one wanted leaf, of fn's
// one result. Calls fn at least once.
struct AllDerivatives {
  size_t results = 0;  // of fn
  Tensor jacobian;
};
AllDerivatives RunJacobian(const char* function,
                           absl::Span<const GradLeaf> leaves,
                           absl::FunctionRef<Values(const Values&)> fn,
                           SourceLocation where);

}  // namespace sdk

// Made by Jacobian and Hessian. A cheap copy; thread-safe as far as the
// function is.
template <typename Fn, size_t By>
class JacobianFunction {
 public:
  JacobianFunction(const char* function, Fn fn, SourceLocation where)
      : function_(function), by_(std::move(fn), where), where_(where) {}

  template <typename... Args>
  Tensor operator()(const Args&... args) const {
    Tensor jacobian;
    by_.Through(
        [&](absl::Span<const sdk::GradLeaf> leaves,
            absl::FunctionRef<sdk::Values(const sdk::Values&)> fn) {
          const auto done = sdk::RunJacobian(function_, leaves, fn, where_);
          jacobian = done.jacobian;
          size_t wanted = 0;
          for (const sdk::GradLeaf& leaf : leaves) wanted += leaf.wanted;
          return sdk::Differentiated{sdk::Values(done.results),
                                     sdk::Values(wanted)};
        },
        args...);
    return jacobian;
  }

 private:
  const char* function_;
  ValueAndGradFunction<Fn, By> by_;
  SourceLocation where_;
};

// Returns a function of the arguments of `fn` that gives the derivative of each
// element of what fn gives by each element of an argument: by Vmap of Vjp over
// one cotangent for each element of the result, so that what fn computes is
// computed once.
//   Tensor j = Jacobian(F)(x);         // by argument 0
//   Tensor j = Jacobian<1>(F)(x, w);
// fn: as for Grad; it gives one tensor of floats. Arguments: as for Grad; the
// one differentiated by is one tensor of floats. Result: the sizes of what fn
// gives, then those of the argument, of the argument's dtype. Errors: as of
// Grad and Vmap; another number of tensors; complex numbers. Grad: that of its
// parts. Source: JAX jacrev.
template <size_t By = 0, typename Fn>
auto Jacobian(Fn&& fn, SourceLocation where = SourceLocation::Current()) {
  return JacobianFunction<std::decay_t<Fn>, By>("Jacobian",
                                                std::forward<Fn>(fn), where);
}

// Returns the same for the gradient: the second derivatives of the sum of the
// elements of what fn gives by each two elements of an argument.
//   Tensor h = Hessian(Loss)(x);
// fn, arguments: as of Jacobian. Result: the sizes of the argument, twice.
// Errors: as of Jacobian. Grad: that of its parts. Source: JAX hessian.
template <size_t By = 0, typename Fn>
auto Hessian(Fn&& fn, SourceLocation where = SourceLocation::Current()) {
  auto gradient = Grad<By>(std::forward<Fn>(fn), where);
  return JacobianFunction<decltype(gradient), By>("Hessian",
                                                  std::move(gradient), where);
}

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_FUNCTIONS_BATCH_JACOBIAN_H_
