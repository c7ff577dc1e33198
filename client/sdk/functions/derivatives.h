// Vjp and Jvp: a function's derivative times a vector, from either side.
#ifndef HAWSER_CLIENT_SDK_FUNCTIONS_DERIVATIVES_H_
#define HAWSER_CLIENT_SDK_FUNCTIONS_DERIVATIVES_H_

#include <array>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "client/sdk/functions/control_flow.h"
#include "client/sdk/functions/grad.h"
#include "client/sdk/functions/traced_call.h"
#include "client/sdk/structure.h"
#include "client/sdk/tensor.h"
#include "core/ir/source_location.h"

namespace hawser {
namespace sdk {

// Vjp without its types: what fn gives, and the gradient by each wanted leaf of
// the sum of its results times `cotangents`, one of each result. An error is in
// every tensor.
Differentiated PullBack(absl::Span<const GradLeaf> leaves,
                        const Values& cotangents,
                        absl::FunctionRef<Values(const Values&)> fn,
                        SourceLocation where);
// Jvp without its types: what fn gives, and for each of that the derivative in
// the direction of `tangents`, one of each wanted leaf.
struct Pushed {
  Values results, tangents;
};
Pushed PushForward(absl::Span<const GradLeaf> leaves, const Values& tangents,
                   absl::FunctionRef<Values(const Values&)> fn,
                   SourceLocation where);

}  // namespace sdk

// Made by Vjp. A cheap copy; thread-safe as far as the function is.
template <typename Fn, size_t... By>
class VjpFunction {
 public:
  VjpFunction(Fn fn, SourceLocation where)
      : by_(std::move(fn), where), where_(where) {}

  template <typename Cotangents, typename... Args>
  auto operator()(const Cotangents& cotangents, const Args&... args) const {
    const sdk::Values given =
        sdk::TensorsOf(sdk::Flatten(cotangents), where_);
    return by_.Through(
        [&](absl::Span<const sdk::GradLeaf> leaves,
            absl::FunctionRef<sdk::Values(const sdk::Values&)> fn) {
          return sdk::PullBack(leaves, given, fn, where_);
        },
        args...);
  }

 private:
  ValueAndGradFunction<Fn, By...> by_;
  SourceLocation where_;
};

// Made by Jvp. A cheap copy; thread-safe as far as the function is.
template <typename Fn, size_t... By>
class JvpFunction {
 public:
  JvpFunction(Fn fn, SourceLocation where)
      : by_(std::move(fn), where), where_(where) {}

  template <typename Tangents, typename... Args>
  auto operator()(const Tangents& tangents, const Args&... args) const {
    const sdk::Values given = sdk::TensorsOf(sdk::Flatten(tangents), where_);
    sdk::Values pushed;
    auto both = by_.Through(
        [&](absl::Span<const sdk::GradLeaf> leaves,
            absl::FunctionRef<sdk::Values(const sdk::Values&)> fn) {
          sdk::Pushed done = sdk::PushForward(leaves, given, fn, where_);
          pushed = std::move(done.tangents);
          // In place of gradients, which are not looked at.
          return sdk::Differentiated{std::move(done.results),
                                     sdk::Values(leaves.size())};
        },
        args...);
    auto& value = std::get<0>(both);
    auto tangent = sdk::RebuildFrom(value, pushed);
    return std::tuple(std::move(value), std::move(tangent));
  }

 private:
  ValueAndGradFunction<Fn, By...> by_;
  SourceLocation where_;
};

// Returns a function of cotangents and of the arguments of `fn` that gives
// (what fn gives, the gradient of it times the cotangents): a vector times the
// Jacobian, at the cost of a few calls of fn.
//   auto [y, g] = Vjp(F)(cotangent, x);
//   auto [y, gs] = Vjp<0, 2>(F)(cotangent, w, x, y);  // gs: tuple (w, y)
// fn, arguments: as of ValueAndGrad. Cotangents: of the structure, shapes and
// dtypes of what fn gives; those of integers and bool do not matter. Result: the
// gradient as of ValueAndGrad. Errors: as there; cotangents of another structure
// or shape. Grad: that of its parts. Source: JAX vjp.
template <size_t... By, typename Fn>
auto Vjp(Fn&& fn, SourceLocation where = SourceLocation::Current()) {
  using F = std::decay_t<Fn>;
  if constexpr (sizeof...(By) == 0) {
    return VjpFunction<F, 0>(std::forward<Fn>(fn), where);
  } else {
    return VjpFunction<F, By...>(std::forward<Fn>(fn), where);
  }
}

// Returns a function of tangents and of the arguments of `fn` that gives (what
// fn gives, its derivative in their direction): the Jacobian times a vector, at
// the cost of a few calls of fn.
//   auto [y, dy] = Jvp(F)(dx, x);
//   auto [y, dy] = Jvp<0, 2>(F)(std::tuple(dw, dy), w, x, y);
// fn, arguments: as of ValueAndGrad. Tangents: of the structure, shapes and
// dtypes of the argument, or a tuple of those of the several. Result: dy has the
// structure of what fn gives; zeros for integers and bool. Errors: as of
// ValueAndGrad; tangents of another structure or shape. Grad: that of its parts.
// Source: JAX jvp.
template <size_t... By, typename Fn>
auto Jvp(Fn&& fn, SourceLocation where = SourceLocation::Current()) {
  using F = std::decay_t<Fn>;
  if constexpr (sizeof...(By) == 0) {
    return JvpFunction<F, 0>(std::forward<Fn>(fn), where);
  } else {
    return JvpFunction<F, By...>(std::forward<Fn>(fn), where);
  }
}

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_FUNCTIONS_DERIVATIVES_H_
