// Loops and branches inside the graph.
#ifndef HAWSER_CLIENT_SDK_FUNCTIONS_CONTROL_FLOW_H_
#define HAWSER_CLIENT_SDK_FUNCTIONS_CONTROL_FLOW_H_

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
Values RunFor(int64_t turns, const Values& initial,
              absl::FunctionRef<Values(const Tensor& i, const Values&)> body,
              SourceLocation where);
// Gives the state, then what is stacked.
using ScanBody = absl::FunctionRef<std::pair<Values, Values>(
    const Values& state, const Values& entry)>;
Values RunScan(const Values& initial, const Values& xs, ScanBody body,
               SourceLocation where);
Values RunCond(const Operand& predicate, absl::FunctionRef<Values()> then_fn,
               absl::FunctionRef<Values()> else_fn);
// Takes at least one branch.
Values RunSwitch(const Operand& index,
                 absl::Span<const absl::FunctionRef<Values()>> branches);

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
// fn(i, state), or fn(i, a, b, ...) likewise.
template <typename Fn, typename State>
decltype(auto) CallWith(Fn& fn, const Tensor& i, State state) {
  if constexpr (std::is_invocable_v<Fn&, Tensor, State>) {
    return fn(i, std::move(state));
  } else {
    return std::apply(
        [&](auto&&... parts) -> decltype(auto) {
          return fn(i, std::forward<decltype(parts)>(parts)...);
        },
        std::move(state));
  }
}

}  // namespace sdk

// Runs body(state) as long as condition(state) holds before an iteration.
//   auto [i, x] = While(std::tuple(0, x0),
//                       [](Tensor i, Tensor x) { return Lt(i, 10); },
//                       [](Tensor i, Tensor x) {
//                         return std::tuple(i + 1, Tanh(x)); });
// initial: a Tensor, a number or a structure of them. condition: gives a bool
// scalar. body: gives a state of the same structure, dtypes and sizes. Both may
// use any tensor in scope, which then is an operand of the loop; inside Jit the
// rules of captures hold (see Jit). Result: the last state, the first one when
// no iteration ran. Errors: sticky kInvalidArgument for a condition that is no
// bool scalar or a state that changes. Grad: where it is known when traced how
// many iterations there are, as of For; else kUnimplemented. Source: StableHLO
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

// Runs body(i, state) for i from 0 to turns - 1.
//   Tensor y = For(10, x, [&](Tensor i, Tensor y) { return Tanh(Dot(w, y)); });
// turns: the number of iterations, 0 or more, known when traced. initial: as of
// While. body: takes i, s32[] (s64 of more iterations), then the state, the
// fields of a tuple, pair or array each; gives a state of the same structure,
// dtypes and sizes. Result: the last state. Errors: sticky kInvalidArgument for
// a negative number of iterations, or a state that changes. Grad: yes; keeps
// for each iteration what its gradient needs of the state. Source: JAX
// fori_loop.
template <typename State, typename Body>
sdk::Traced_t<State> For(int64_t turns, const State& initial, Body body,
                         SourceLocation where = SourceLocation::Current()) {
  const auto tensors = sdk::TensorsOf(sdk::Flatten(initial), where);
  return sdk::RebuildFrom(
      initial,
      sdk::RunFor(
          turns, tensors,
          [&](const Tensor& i, const sdk::Values& state) {
            return sdk::TensorsOf(sdk::CallWith(
                body, i, sdk::RebuildFrom(initial, state)));
          },
          where));
}

// Runs body(state, x) for each entry x of axis 0, in order, and stacks what it
// gives besides the state.
//   auto [h, ys] = Scan(h0, xs, [&](Tensor h, Tensor x) {
//     h = Tanh(Dot(w, h) + x);
//     return std::pair(h, h); });
// initial: as of While. xs: a Tensor or a structure of them, of one axis at
// least and all with the same size of axis 0. body: takes the state and the
// entry, each whole as `initial` and `xs` are; gives a pair of a state as initial
// and a structure of tensors. It is traced twice. Result: the last state, and
// that structure, stacked along a new axis 0. Errors: sticky kInvalidArgument
// for no xs, sizes that differ, a state that changes. Grad: as of For. Source:
// JAX scan.
template <typename State, typename Xs, typename Body>
auto Scan(const State& initial, const Xs& xs, Body body,
          SourceLocation where = SourceLocation::Current()) {
  using Given = std::decay_t<std::invoke_result_t<
      Body&, sdk::Traced_t<State>, sdk::Traced_t<Xs>>>;
  using Ys = std::decay_t<typename Given::second_type>;
  std::optional<Ys> prototype;
  const auto state = sdk::TensorsOf(sdk::Flatten(initial), where);
  const auto entries = sdk::TensorsOf(sdk::Flatten(xs), where);
  const sdk::Values results = sdk::RunScan(
      state, entries,
      [&](const sdk::Values& now, const sdk::Values& entry) {
        auto [next, y] = body(sdk::RebuildFrom(initial, now),
                              sdk::RebuildFrom(xs, entry));
        if (!prototype.has_value()) prototype = y;
        return std::pair(sdk::TensorsOf(next), sdk::TensorsOf(y));
      },
      where);
  const auto behind = results.begin() + static_cast<int64_t>(state.size());
  return std::pair(
      sdk::RebuildFrom(initial, sdk::Values(results.begin(), behind)),
      sdk::RebuildFrom(*prototype, sdk::Values(behind, results.end())));
}

// Runs one of two functions of no arguments, by a scalar.
//   Tensor y = Cond(Gt(Sum(x), 0), [&] { return x; }, [&] { return -x; });
// predicate: a number or scalar of any dtype, true where it is not zero.
// then_fn, else_fn: give the same structure, dtypes and sizes; may use any
// tensor in scope, as in While. Result: that of the chosen one; the other does
// not run. Errors: sticky kInvalidArgument for a predicate that is no scalar,
// or branches that differ. Grad: of the chosen branch. Source: StableHLO case;
// Nx cond.
template <typename Then, typename Else>
auto Cond(const Operand& predicate, Then then_fn, Else else_fn) {
  using Result = std::decay_t<std::invoke_result_t<Then&>>;
  static_assert(sdk::kHoldsTensors<Result>,
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

// Runs one of several functions of no arguments, by number.
//   Tensor y = Switch(kind, [&] { return x; }, [&] { return Tanh(x); },
//                     [&] { return Maximum(x, 0); });
// index: an integer or integer scalar, 0 for the first; one out of range names
// the last. branches: as Cond's. Result: that of the chosen one; the others do
// not run. Errors: sticky kInvalidArgument for an index that is no integer
// scalar, or branches that differ. Grad: of the chosen branch. Source:
// StableHLO case.
template <typename First, typename... Rest>
auto Switch(const Operand& index, First first, Rest... rest) {
  using Result = std::decay_t<std::invoke_result_t<First&>>;
  static_assert(sdk::kHoldsTensors<Result>,
                "branches give Tensors and structures of Tensors");
  std::optional<Result> prototype;
  const auto run_first = [&] {
    prototype = first();
    return sdk::TensorsOf(*prototype);
  };
  [[maybe_unused]] const auto run = [](auto& branch) {
    return [&branch] { return sdk::TensorsOf(branch()); };
  };
  const std::tuple runs(run_first, run(rest)...);
  const sdk::Values results = std::apply(
      [&](const auto&... each) {
        const absl::FunctionRef<sdk::Values()> branches[] = {each...};
        return sdk::RunSwitch(index, branches);
      },
      runs);
  return sdk::RebuildFrom(*prototype, results);
}

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_FUNCTIONS_CONTROL_FLOW_H_
