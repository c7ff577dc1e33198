// A call of a user's function with its C++ types, for what traces it.
#ifndef HAWSER_CLIENT_SDK_FUNCTIONS_TRACED_CALL_H_
#define HAWSER_CLIENT_SDK_FUNCTIONS_TRACED_CALL_H_

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "client/sdk/jit/untyped_call.h"
#include "client/sdk/structure.h"
#include "client/sdk/tensor.h"

namespace hawser::sdk {

// A Jit function gives a StatusOr, which inside a trace is never an error.
template <typename T>
struct Unwrapped {
  using Type = T;
  static T Get(T value) { return value; }
};
template <typename T>
struct Unwrapped<absl::StatusOr<T>> {
  using Type = T;
  static T Get(absl::StatusOr<T> value) { return *std::move(value); }
};

// The type that fn returns for these arguments.
template <typename Fn, typename... Args>
using Result_t = typename Unwrapped<
    std::decay_t<std::invoke_result_t<const Fn&, Traced_t<Args>...>>>::Type;

template <typename... Args>
Flat FlattenAll(const Args&... args) {
  Flat flat;
  (Structure<Args>::Flatten(args, &flat), ...);
  return flat;
}

// fn with `tensors` in place of its arguments' leaves. Used inside a trace.
template <typename Fn, typename... Args>
Result_t<Fn, Args...> CallTraced(const Fn& fn,
                                 const std::tuple<const Args&...>& args,
                                 const std::vector<Tensor>& tensors) {
  static_assert(kHoldsTensors<Result_t<Fn, Args...>>,
                "results are Tensors and structures of Tensors");
  size_t i = 0;
  const auto next = [&] { return tensors[i++]; };
  auto traced = std::apply(
      [&](const Args&... each) {  // braces keep the order
        return std::tuple<Traced_t<Args>...>{
            Structure<Args>::Rebuild(each, next)...};
      },
      args);
  using Raw = std::decay_t<std::invoke_result_t<const Fn&, Traced_t<Args>...>>;
  return Unwrapped<Raw>::Get(std::apply(fn, std::move(traced)));
}

// The same, without the type of what fn gives: a TraceFn's answer.
template <typename Fn, typename... Args>
CallResult CallUntyped(const Fn& fn, const std::tuple<const Args&...>& args,
                       const std::vector<Tensor>& tensors) {
  const auto result = CallTraced(fn, args, tensors);
  CallResult call;
  for (Leaf& leaf : Flatten(result).leaves) {
    call.tensors.push_back(std::move(leaf.tensor));
  }
  call.prototype = std::make_shared<const Result_t<Fn, Args...>>(
      Rebuild(result, [] { return Tensor(); }));
  return call;
}
// Gives the results of `call` their type again.
template <typename Result>
Result Typed(const CallResult& call) {
  return RebuildFrom(*static_cast<const Result*>(call.prototype.get()),
                     call.tensors);
}

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_FUNCTIONS_TRACED_CALL_H_
