// Grad: functions that compute the derivatives of functions.
#ifndef HAWSER_CLIENT_SDK_FUNCTIONS_GRAD_H_
#define HAWSER_CLIENT_SDK_FUNCTIONS_GRAD_H_

#include <array>
#include <cstddef>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "client/sdk/functions/control_flow.h"
#include "client/sdk/functions/traced_call.h"
#include "client/sdk/jit/untyped_call.h"
#include "client/sdk/operand.h"
#include "client/sdk/structure.h"
#include "client/sdk/tensor.h"
#include "core/ir/source_location.h"

namespace hawser {
namespace sdk {

// Leaf `leaf` of argument `argument`.
struct GradLeaf {
  Tensor tensor;
  size_t argument = 0;
  bool wanted = false;  // differentiate by it
};
struct Differentiated {
  Values results;    // of fn
  Values gradients;  // of its first result, one per wanted leaf
};
// ValueAndGrad without its types. An error is in every tensor.
Differentiated Differentiate(absl::Span<const GradLeaf> leaves,
                             absl::FunctionRef<Values(const Values&)> fn,
                             SourceLocation where);

// Argument n's structure, of Tensors.
template <size_t n, typename... Args>
struct ArgumentAt {
  static_assert(n < sizeof...(Args),
                "there is no such argument to differentiate by");
  using Type =
      Traced_t <
      std::tuple_element_t<n<sizeof...(Args) ? n : 0, std::tuple<Args...>>>;
};

}  // namespace sdk

// Made by ValueAndGrad. A cheap copy; thread-safe as far as the function is.
template <typename Fn, size_t... By>
class ValueAndGradFunction {
 public:
  ValueAndGradFunction(Fn fn, SourceLocation where)
      : fn_(std::move(fn)), where_(where) {}

  // The type that fn returns for these arguments.
  template <typename... Args>
  using Value = sdk::Result_t<Fn, Args...>;
  // Argument n's structure, of Tensors.
  template <size_t n, typename... Args>
  using Argument = typename sdk::ArgumentAt<n, Args...>::Type;
  // The one argument's structure, or a tuple of the several arguments'.
  template <typename... Args>
  using Gradient = std::conditional_t<
      sizeof...(By) == 1,
      std::tuple_element_t<0, std::tuple<Argument<By, Args...>...>>,
      std::tuple<Argument<By, Args...>...>>;

  template <typename... Args>
  std::tuple<Value<Args...>, Gradient<Args...>> operator()(
      const Args&... args) const {
    return Through(
        [&](absl::Span<const sdk::GradLeaf> leaves,
            absl::FunctionRef<sdk::Values(const sdk::Values&)> fn) {
          return sdk::Differentiate(leaves, fn, where_);
        },
        args...);
  }

  // The same by another way than Differentiate: `way` takes the leaves and the
  // function of their tensors.
  template <typename Way, typename... Args>
  std::tuple<Value<Args...>, Gradient<Args...>> Through(
      const Way& way, const Args&... args) const {
    const std::tuple<const Args&...> all(args...);
    std::vector<sdk::GradLeaf> leaves;
    size_t argument = 0;
    (AddLeaves(args, argument++, &leaves), ...);
    std::optional<Value<Args...>> prototype;
    const sdk::Differentiated done =
        way(leaves, [&](const sdk::Values& tensors) {
          prototype = sdk::CallTraced(fn_, all, tensors);
          return sdk::TensorsOf(*prototype);
        });
    return {sdk::RebuildFrom(*prototype, done.results),
            GradientOf<Args...>(all, leaves, done.gradients)};
  }

 private:
  template <typename Arg>
  void AddLeaves(const Arg& arg, size_t argument,
                 std::vector<sdk::GradLeaf>* out) const {
    constexpr std::array<size_t, sizeof...(By)> kBy = {By...};
    bool wanted = false;
    for (size_t by : kBy) wanted |= by == argument;
    for (const Tensor& t : sdk::TensorsOf(sdk::Flatten(arg), where_)) {
      out->push_back({t, argument, wanted});
    }
  }

  // Argument n with the gradients of its leaves in their place.
  template <size_t n, typename... Args>
  Argument<n, Args...> Part(const std::tuple<const Args&...>& args,
                            const std::vector<sdk::GradLeaf>& leaves,
                            const sdk::Values& gradients) const {
    sdk::Values mine;
    size_t next = 0;
    for (const sdk::GradLeaf& leaf : leaves) {
      if (!leaf.wanted) continue;
      const Tensor& gradient = gradients[next++];
      if (leaf.argument == n) mine.push_back(gradient);
    }
    return sdk::RebuildFrom(std::get<n>(args), mine);
  }

  template <typename... Args>
  Gradient<Args...> GradientOf(const std::tuple<const Args&...>& args,
                               const std::vector<sdk::GradLeaf>& leaves,
                               const sdk::Values& gradients) const {
    return {Part<By, Args...>(args, leaves, gradients)...};
  }

  Fn fn_;
  SourceLocation where_;
};

// Made by Grad.
template <typename Fn, size_t... By>
class GradFunction {
 public:
  explicit GradFunction(ValueAndGradFunction<Fn, By...> both)
      : both_(std::move(both)) {}

  template <typename... Args>
  auto operator()(const Args&... args) const {
    return std::get<1>(both_(args...));
  }

 private:
  ValueAndGradFunction<Fn, By...> both_;
};

// Returns a function of the same arguments as `fn` that gives (what fn gives,
// the gradient): in reverse mode, at the cost of a few calls of fn.
//   auto [loss, g] = ValueAndGrad(Loss)(w, x, y);       // by argument 0
//   auto [loss, gs] = ValueAndGrad<0, 2>(Loss)(w, x, y);  // gs: tuple (w, y)
// fn: as for Jit, or made by Jit, Grad or ValueAndGrad (higher order). The
// derivative is that of the sum of the elements of its result, or, if it gives
// a structure, of the first tensor in it; the others come along. Arguments: as
// for Jit; those differentiated by hold floats or complex numbers only. Use it
// inside a traced function, where fn becomes part of the graph, or outside,
// where the result is recorded like any expression.
// Result: the gradient has the structure of the argument, and the shape and
// dtype of each tensor in it; zeros where the result does not depend on it. For
// a complex argument x + iy the gradient is d/dx - i d/dy.
// Errors: sticky; an argument or result of bool or integer dtype; what fn
// itself does wrong; kUnimplemented naming op and line for a loop (While) and
// a reduction by a function of one's own (Reduce) on the way.
// Grad: that of its parts. Source: Nx value_and_grad; JAX for the convention
// for complex numbers.
template <size_t... By, typename Fn>
auto ValueAndGrad(Fn&& fn, SourceLocation where = SourceLocation::Current()) {
  using F = std::decay_t<Fn>;
  if constexpr (sizeof...(By) == 0) {
    return ValueAndGradFunction<F, 0>(std::forward<Fn>(fn), where);
  } else {
    return ValueAndGradFunction<F, By...>(std::forward<Fn>(fn), where);
  }
}

// Returns a function that gives the gradient of ValueAndGrad alone.
//   Tensor g = Grad(Loss)(w, x, y);
//   auto second = Grad(Grad([](Tensor x) { return Sin(x); }));
// fn, arguments: as there. Result: the gradient. Errors: as there. Grad: that
// of its parts. Source: Nx grad.
template <size_t... By, typename Fn>
auto Grad(Fn&& fn, SourceLocation where = SourceLocation::Current()) {
  return GradFunction(ValueAndGrad<By...>(std::forward<Fn>(fn), where));
}

// x, taken for a constant by Grad. x: of any shape and dtype. Result: x.
// Errors: none. Grad: zero. Source: Nx stop_grad.
Tensor StopGradient(const Operand& x);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_FUNCTIONS_GRAD_H_
