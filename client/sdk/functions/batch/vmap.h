// Vmap: functions of one entry, for a whole batch of them at once.
#ifndef HAWSER_CLIENT_SDK_FUNCTIONS_BATCH_VMAP_H_
#define HAWSER_CLIENT_SDK_FUNCTIONS_BATCH_VMAP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "client/sdk/functions/control_flow.h"
#include "client/sdk/functions/traced_call.h"
#include "client/sdk/structure.h"
#include "client/sdk/tensor.h"
#include "core/ir/source_location.h"

namespace hawser {

struct VmapOptions {
  // For each argument, the axis along which its entries lie, in all tensors of
  // it; std::nullopt if every entry has all of it. A negative one counts from
  // the back. Empty: axis 0 of every argument.
  std::vector<std::optional<int64_t>> in_axes = {};
  // The axis along which the entries of each result lie; a negative one counts
  // from the back.
  int64_t out_axis = 0;
};

namespace sdk {

// A tensor of argument `argument`.
struct VmapLeaf {
  Tensor tensor;
  size_t argument = 0;
};
// Vmap without its types. An error is in every result.
Values RunVmap(absl::Span<const VmapLeaf> leaves, size_t arguments,
               const VmapOptions& options,
               absl::FunctionRef<Values(const Values&)> fn,
               SourceLocation where);

}  // namespace sdk

// Made by Vmap. A cheap copy; thread-safe as far as the function is.
template <typename Fn>
class VmapFunction {
 public:
  VmapFunction(Fn fn, VmapOptions options, SourceLocation where)
      : fn_(std::move(fn)), options_(std::move(options)), where_(where) {}

  template <typename... Args>
  sdk::Result_t<Fn, Args...> operator()(const Args&... args) const {
    const std::tuple<const Args&...> all(args...);
    std::vector<sdk::VmapLeaf> leaves;
    size_t argument = 0;
    (AddLeaves(args, argument++, &leaves), ...);
    std::optional<sdk::Result_t<Fn, Args...>> prototype;
    const sdk::Values results = sdk::RunVmap(
        leaves, sizeof...(Args), options_,
        [&](const sdk::Values& tensors) {
          prototype = sdk::CallTraced(fn_, all, tensors);
          return sdk::TensorsOf(*prototype);
        },
        where_);
    return sdk::RebuildFrom(*prototype, results);
  }

 private:
  template <typename Arg>
  void AddLeaves(const Arg& arg, size_t argument,
                 std::vector<sdk::VmapLeaf>* out) const {
    for (const Tensor& t : sdk::TensorsOf(sdk::Flatten(arg), where_)) {
      out->push_back({t, argument});
    }
  }

  Fn fn_;
  VmapOptions options_;
  SourceLocation where_;
};

// Returns `fn`, which is written for one entry, as a function of a batch: entry
// b of each result is what fn gives for entry b of the arguments.
//   Tensor ys = Vmap(F)(xs);                             // along axis 0
//   auto gs = Vmap(Grad(Loss), {.in_axes = {std::nullopt, 0}})(w, xs);
// fn: as for Jit, or made by Jit, Grad or Vmap. It is called once; each
// operation of it becomes one over the batch, and what depends on no batched
// argument is computed once. Random numbers are those of each entry's key,
// where keys are batched. Arguments: as for Jit, with the axis that options say
// more than fn takes; their entries are equally many. Values that fn uses
// besides its arguments are shared by all entries. Use it inside a traced
// function or outside, as Grad. Result: the structure that fn gives, each
// tensor with the entries along out_axis; what does not depend on the batch is
// repeated. For and Scan run as often as they did. A While whose condition
// differs between entries iterates until it holds for none, and entries that
// are done keep their state; it never ends if one of them does not. If the
// predicate of a Cond or the index of a Switch differs, all branches are
// computed for all entries, and each takes its own: an error value (an
// infinity, NaN) of another branch does not show, but may in its gradient, and
// a While in a branch must end for all entries. Print writes values that have
// the entries along axis 0. Errors: sticky, with this line: entries that are
// not equally many; no such axis; no batched argument; in_axes of another
// number of arguments; more axes than a tensor may have; what fn itself does
// wrong. Grad: that of its parts. Source: JAX vmap; Nx vectorize.
template <typename Fn>
auto Vmap(Fn&& fn, VmapOptions options = {},
          SourceLocation where = SourceLocation::Current()) {
  return VmapFunction<std::decay_t<Fn>>(std::forward<Fn>(fn),
                                        std::move(options), where);
}

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_FUNCTIONS_BATCH_VMAP_H_
