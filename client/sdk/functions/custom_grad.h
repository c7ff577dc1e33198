// Says how Grad goes through a function: computed again, or by a rule of one's
// own.
#ifndef HAWSER_CLIENT_SDK_FUNCTIONS_CUSTOM_GRAD_H_
#define HAWSER_CLIENT_SDK_FUNCTIONS_CUSTOM_GRAD_H_

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"
#include "client/sdk/functions/control_flow.h"
#include "client/sdk/functions/traced_call.h"
#include "client/sdk/structure.h"
#include "client/sdk/tensor.h"
#include "core/ir/source_location.h"

namespace hawser {
namespace sdk {

using ValuesFn = absl::FunctionRef<Values(const Values&)>;
// Checkpoint and CustomGrad without their types. An error is in every result.
Values RunCheckpoint(const Values& arguments, ValuesFn fn,
                     SourceLocation where);
// `rule`: of the cotangents of all results, then the arguments; gives one of
// each argument, of which those of no floats or complex numbers do not matter.
// `name`: of the computation, by which engines may know it.
Values RunCustomGrad(
    const Values& arguments, ValuesFn fn,
    absl::FunctionRef<Values(const Values& cotangents, const Values& arguments)>
        rule,
    SourceLocation where, const char* name = "custom");

// The one argument's structure, or a tuple of the several arguments'.
template <typename... Args>
struct AllOf {
  using Type = std::tuple<Traced_t<Args>...>;
};
template <typename Arg>
struct AllOf<Arg> {
  using Type = Traced_t<Arg>;
};

}  // namespace sdk

// Made by Checkpoint. A cheap copy; thread-safe as far as the function is.
template <typename Fn>
class CheckpointFunction {
 public:
  CheckpointFunction(Fn fn, SourceLocation where)
      : fn_(std::move(fn)), where_(where) {}

  template <typename... Args>
  sdk::Result_t<Fn, Args...> operator()(const Args&... args) const {
    std::optional<sdk::Result_t<Fn, Args...>> prototype;
    const std::tuple<const Args&...> all(args...);
    const sdk::Values results = sdk::RunCheckpoint(
        sdk::TensorsOf(sdk::FlattenAll(args...), where_),
        [&](const sdk::Values& tensors) {
          prototype = sdk::CallTraced(fn_, all, tensors);
          return sdk::TensorsOf(*prototype);
        },
        where_);
    return sdk::RebuildFrom(*prototype, results);
  }

 private:
  Fn fn_;
  SourceLocation where_;
};

// Made by CustomGrad. A cheap copy; thread-safe as far as the functions are.
template <typename Fn, typename Rule>
class CustomGradFunction {
 public:
  CustomGradFunction(Fn fn, Rule rule, SourceLocation where)
      : fn_(std::move(fn)), rule_(std::move(rule)), where_(where) {}

  template <typename... Args>
  sdk::Result_t<Fn, Args...> operator()(const Args&... args) const {
    using Result = sdk::Result_t<Fn, Args...>;
    std::optional<Result> prototype;
    const std::tuple<const Args&...> all(args...);
    const sdk::Values results = sdk::RunCustomGrad(
        sdk::TensorsOf(sdk::FlattenAll(args...), where_),
        [&](const sdk::Values& tensors) {
          prototype = sdk::CallTraced(fn_, all, tensors);
          return sdk::TensorsOf(*prototype);
        },
        [&](const sdk::Values& cotangents, const sdk::Values& tensors) {
          const Result given = sdk::RebuildFrom(*prototype, cotangents);
          const auto bound = [&](const auto&... each) ->
              typename sdk::AllOf<Args...>::Type { return rule_(given, each...); };
          return sdk::TensorsOf(sdk::CallTraced(bound, all, tensors));
        },
        where_);
    return sdk::RebuildFrom(*prototype, results);
  }

 private:
  Fn fn_;
  Rule rule_;
  SourceLocation where_;
};

// Returns a function that computes what `fn` does. Grad keeps its arguments
// alone and computes again what else it needs: less memory, one more forward
// pass.
//   h = Checkpoint([&](Tensor h) { return Block(w, h); })(h);
// fn: as for Jit; may use any tensor in scope, as While. Result: what fn gives.
// Errors: sticky, what fn itself does wrong. Grad: that of fn. Source: JAX
// checkpoint.
template <typename Fn>
auto Checkpoint(Fn&& fn, SourceLocation where = SourceLocation::Current()) {
  return CheckpointFunction<std::decay_t<Fn>>(std::forward<Fn>(fn), where);
}

// Returns a function that computes what `fn` does, with a gradient of one's
// own.
//   auto clipped = CustomGrad([](Tensor x) { return x; },
//                             [](Tensor g, Tensor x) { return Clip(g, -1, 1); });
// fn: as for Jit. rule: takes the gradient by what fn gives, in its structure
// (zeros for integers and bool), then fn's arguments; gives the gradient by the
// argument, in its structure, or a tuple of them by the several arguments, where
// what stands for integers and bool does not matter. Other tensors that either
// uses are constants for Grad. Result: what fn gives. Errors: sticky
// kInvalidArgument for a rule that gives another shape or dtype; what either
// does wrong. Grad: the rule. Source: Nx custom_grad; JAX custom_vjp.
template <typename Fn, typename Rule>
auto CustomGrad(Fn&& fn, Rule&& rule,
                SourceLocation where = SourceLocation::Current()) {
  return CustomGradFunction<std::decay_t<Fn>, std::decay_t<Rule>>(
      std::forward<Fn>(fn), std::forward<Rule>(rule), where);
}

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_FUNCTIONS_CUSTOM_GRAD_H_
