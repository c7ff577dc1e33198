// Jit: a C++ function over tensors, traced once, sent once, run by name.
#ifndef HAWSER_CLIENT_SDK_FUNCTIONS_FUNCTION_H_
#define HAWSER_CLIENT_SDK_FUNCTIONS_FUNCTION_H_

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "client/sdk/client/options.h"
#include "client/sdk/functions/traced_call.h"
#include "client/sdk/jit/bucketed_function.h"
#include "client/sdk/jit/untyped_call.h"
#include "client/sdk/structure.h"
#include "client/sdk/tensor.h"
#include "core/ir/source_location.h"

namespace hawser {

// Made by Jit. A cheap copy shares the executables. Thread-safe as far as the
// function is; executables die with the last copy.
//
// Arguments are Tensors, C++ numbers (a scalar of their C++ type's dtype;
// double is f32), Literals, structures of them (structure.h), and any of these
// with marks (marks.h); the function gets the same structures with Tensors for
// leaves and returns a structure of Tensors. It is called once per signature
// (dtypes, sizes, marked cuts, client), then never again while that is among
// the last 64: captured numbers and host tensors of at most 4 KiB are baked in;
// other captured tensors are an error. Inside another trace it is simply
// called. HAWSER_CHECK_JIT=1 traces at every call and refuses a function that
// changed.
template <typename Fn>
class JitFunction {
 public:
  template <typename... Args>
  using Result = sdk::Result_t<Fn, Args...>;

  JitFunction(Fn fn, JitOptions options, SourceLocation where)
      : shared_(std::make_shared<Shared>(std::move(fn), std::move(options),
                                         where)) {}

  // The same function with these options for every call.
  JitFunction With(RunOptions options) const {
    JitFunction copy = *this;
    copy.options_ = std::move(options);
    return copy;
  }

  // Queues one execution and returns at once; may block to compile a new
  // signature, and for room in the client's window. The Status covers local
  // errors (tracing, compiling, arguments); later ones come out of fetching
  // the results.
  template <typename... Args>
  absl::StatusOr<Result<Args...>> operator()(const Args&... args) const {
    return Run(&sdk::BucketedFunction::Run, args...);
  }

  // One request and its answer, for services: blocks until the results are
  // here, as host values. Takes what the call operator takes, on every client.
  // Host values and arrays of datasets up to 1 MiB travel, as the results do,
  // without a session; any other argument or result goes through it. Errors:
  // all of them; after one, donated arguments may be gone.
  template <typename... Args>
  absl::StatusOr<Result<Args...>> Call(const Args&... args) const {
    return Run(&sdk::BucketedFunction::Call, args...);
  }

  // Traces and compiles for arguments like these; a Shape will do. Blocks.
  template <typename... Args>
  absl::Status Warm(const Args&... args) const {
    const std::tuple<const Args&...> all(args...);
    return shared_->core.Warm(sdk::FlattenAll(args...), options_,
                              [&](std::vector<Tensor> parameters) {
                                return sdk::CallUntyped(shared_->fn, all,
                                                        parameters);
                              });
  }

  // The text of the graph the function makes of arguments like these, as
  // `hawser explain` takes it; a Shape will do. If there are batch_buckets, it
  // is the text for the bucket. Calls the function once more; compiles nothing,
  // asks no client. Errors: those of arguments and of tracing.
  template <typename... Args>
  absl::StatusOr<std::string> ToText(const Args&... args) const {
    const std::tuple<const Args&...> all(args...);
    return shared_->core.ToText(
        sdk::FlattenAll(args...), [&](std::vector<Tensor> parameters) {
          return sdk::CallUntyped(shared_->fn, all, parameters);
        });
  }

 private:
  struct Shared {
    Shared(Fn f, JitOptions options, SourceLocation where)
        : fn(std::move(f)), core(std::move(options), where) {}
    const Fn fn;
    sdk::BucketedFunction core;
  };

  template <typename Method, typename... Args>
  absl::StatusOr<Result<Args...>> Run(Method method,
                                      const Args&... args) const {
    const std::tuple<const Args&...> all(args...);
    sdk::Flat flat = sdk::FlattenAll(args...);
    if (sdk::Tracing()) {
      std::vector<Tensor> tensors;
      for (const sdk::Leaf& leaf : flat.leaves) {
        tensors.push_back(sdk::ToTensor(leaf, {}));
      }
      return sdk::CallTraced(shared_->fn, all, tensors);
    }
    auto done = (shared_->core.*method)(
        std::move(flat), options_, [&](std::vector<Tensor> parameters) {
          return sdk::CallUntyped(shared_->fn, all, parameters);
        });
    if (!done.ok()) return done.status();
    return sdk::Typed<Result<Args...>>(*done);
  }

  std::shared_ptr<Shared> shared_;
  RunOptions options_;
};

// Turns the result of a call that may have failed into a value, to be checked
// once, where it is fetched:
//   absl::StatusOr<float> loss = KeepError(step(w, x)).Item<float>();
//   auto [w2, loss] = KeepError(step(w, x));
// result: what a Jit function or its Call gives, without vectors in it, since
// an error leaves their sizes open. Result: the value, or where there is none
// the structure with the error kept in each tensor, as after an error of
// building. Errors: result's, from whatever asks for the value. Grad: that of
// the value. Source: none.
template <typename T>
T KeepError(absl::StatusOr<T> result) {
  static_assert(!sdk::kHoldsVector<T>,
                "an error says nothing about the size of a vector");
  if (result.ok()) return *std::move(result);
  return sdk::Rebuild(T{}, [&] { return sdk::FailedTensor(result.status()); });
}

// Returns fn as a function over tensors that is traced once per signature, sent
// once and run by name.
//   auto step = Jit([](Tensor w, Tensor x) { return Dot(x, w); });
//   absl::StatusOr<Tensor> y = step(w, x);
// fn: any callable; see JitFunction for what it takes, gives and may capture.
// options: see JitOptions. Result: a function of the same arguments that gives
// a StatusOr. Errors: of each call: kInvalidArgument for what the function does
// wrong, with its line, for a capture above 4 KiB or on a client, for a batch
// that batch_buckets do not allow, and for marks that do not fit (see Cut);
// kFailedPrecondition for arguments of two clients, donated ones, and, with
// HAWSER_CHECK_JIT=1, a function that changed; those of compiling. Grad:
// Grad(fn) of it. Source: Nx.Defn jit; JAX jit.
template <typename Fn>
JitFunction<std::decay_t<Fn>> Jit(
    Fn&& fn, JitOptions options = {},
    SourceLocation where = SourceLocation::Current()) {
  return JitFunction<std::decay_t<Fn>>(std::forward<Fn>(fn),
                                       std::move(options), where);
}

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_FUNCTIONS_FUNCTION_H_
