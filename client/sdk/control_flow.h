// Loops and branches inside the graph.
#ifndef HAWSER_CLIENT_SDK_CONTROL_FLOW_H_
#define HAWSER_CLIENT_SDK_CONTROL_FLOW_H_

#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "client/sdk/operand.h"
#include "client/sdk/structure.h"
#include "client/sdk/tensor.h"
#include "core/ir/source_location.h"

namespace hawser {
namespace sdk {

using Values = std::vector<Tensor>;
// While and Cond without their types. An error is in every result.
Values RunWhile(const Values& initial,
                absl::FunctionRef<Tensor(const Values&)> condition,
                absl::FunctionRef<Values(const Values&)> body,
                SourceLocation where);
Values RunCond(const Operand& predicate, absl::FunctionRef<Values()> then_fn,
               absl::FunctionRef<Values()> else_fn);

Values TensorsOf(const Flat& flat, SourceLocation where);
template <typename T>
Values TensorsOf(const T& structure) {
  return TensorsOf(Flatten(structure), {});
}

// fn(state), or fn(a, b, ...) for a tuple, pair or array state.
template <typename Fn, typename State>
decltype(auto) CallWith(Fn& fn, State state) {
  if constexpr (std::is_invocable_v<Fn&, State>) {
    return fn(std::move(state));
  } else {
    return std::apply(fn, std::move(state));
  }
}

}  // namespace sdk

// Runs body(state) as long as condition(state) holds before a turn.
//   auto [i, x] = While(std::tuple(0, x0),
//                       [](Tensor i, Tensor x) { return Lt(i, 10); },
//                       [](Tensor i, Tensor x) {
//                         return std::tuple(i + 1, Tanh(x)); });
// initial: a Tensor, a number or a structure of them. condition: gives a bool
// scalar. body: gives a state of the same structure, dtypes and sizes. Both
// may use any tensor in scope; numbers are baked in. Result: the last state,
// the first one when no turn ran. Errors (sticky): a condition that is no bool
// scalar, a state that changes. Grad: of counted loops. Source: StableHLO
// while; Nx while.
template <typename State, typename Condition, typename Body>
sdk::Traced_t<State> While(const State& initial, Condition condition,
                           Body body,
                           SourceLocation where = SourceLocation::Current()) {
  const auto tensors = sdk::TensorsOf(sdk::Flatten(initial), where);
  return sdk::RebuildFrom(
      initial,
      sdk::RunWhile(
          tensors,
          [&](const sdk::Values& state) -> Tensor {
            return sdk::CallWith(condition, sdk::RebuildFrom(initial, state));
          },
          [&](const sdk::Values& state) {
            return sdk::TensorsOf(
                sdk::CallWith(body, sdk::RebuildFrom(initial, state)));
          },
          where));
}

// Runs one of two functions of no arguments, by a scalar. Both may use any
// tensor in scope and give the same structure, dtypes and sizes.
//   Tensor y = Cond(Gt(Sum(x), 0), [&] { return x; }, [&] { return -x; });
// Only the chosen branch runs. Errors (sticky): a predicate that is no scalar,
// branches that differ. Grad: of the chosen branch. Source: StableHLO case; Nx
// cond.
template <typename Then, typename Else>
auto Cond(const Operand& predicate, Then then_fn, Else else_fn) {
  using Result = std::decay_t<std::invoke_result_t<Then&>>;
  static_assert(std::is_same_v<sdk::Traced_t<Result>, Result>,
                "branches give Tensors and structures of Tensors");
  std::optional<Result> prototype;
  const sdk::Values results = sdk::RunCond(
      predicate,
      [&] {
        prototype = then_fn();
        return sdk::TensorsOf(*prototype);
      },
      [&] { return sdk::TensorsOf(else_fn()); });
  return sdk::RebuildFrom(*prototype, results);
}

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_CONTROL_FLOW_H_
