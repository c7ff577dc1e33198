// Shard: a call of a function as tasks, to look at and to run here.
#ifndef HAWSER_CLIENT_SDK_FUNCTIONS_SHARD_H_
#define HAWSER_CLIENT_SDK_FUNCTIONS_SHARD_H_

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "client/sdk/client/call_options.h"
#include "client/sdk/functions/traced_call.h"
#include "client/sdk/jit/untyped_call.h"
#include "client/sdk/structure.h"
#include "client/sdk/tensor.h"
#include "core/ir/types/signature.h"
#include "core/ir/source_location.h"
#include "core/sharding/shard_spec.h"
#include "core/sharding/sharding.h"

namespace hawser {
namespace sdk {

// A ShardedCall without its type.
class CallInTasks {
 public:
  static absl::StatusOr<CallInTasks> Make(Flat arguments, TraceFn fn,
                                          ShardSpec spec, SourceLocation where);
  const Sharding& sharding() const { return sharding_; }
  absl::StatusOr<CallResult> Run(const CallOptions& call) const;

 private:
  CallInTasks(Flat arguments, Sharding sharding,
              std::shared_ptr<const void> prototype, SourceLocation where)
      : arguments_(std::move(arguments)),
        sharding_(std::move(sharding)),
        prototype_(std::move(prototype)),
        where_(where) {}

  Flat arguments_;
  Sharding sharding_;
  std::shared_ptr<const void> prototype_;  // the result's structure
  SourceLocation where_;                   // of the Shard
};

// core/sharding has a Shard for those.
template <typename T>
concept NoModule = !std::is_same_v<std::remove_cvref_t<T>, ir::Module>;

}  // namespace sdk

// A call that Shard has cut into tasks; it holds its arguments. Thread-safe.
template <typename Result>
class ShardedCall {
 public:
  explicit ShardedCall(sdk::CallInTasks tasks) : tasks_(std::move(tasks)) {}

  const Sharding& sharding() const { return tasks_.sharding(); }
  // The axes that are cut; what came out whole, with the user's line; the first
  // `tasks` tasks.
  std::string Explain(int tasks = 8) const {
    return hawser::Explain(sharding(), tasks);
  }
  // Runs the tasks one after the other on Client::Cpu() and joins what they
  // give. Blocks until the result is there, as host values. Errors:
  // kInvalidArgument for an argument that is a Shape; those of fetching
  // arguments and of running; kDeadlineExceeded.
  absl::StatusOr<Result> Run(const CallOptions& call = {}) const {
    const auto done = tasks_.Run(call);
    if (!done.ok()) return done.status();
    return sdk::Typed<Result>(*done);
  }

 private:
  sdk::CallInTasks tasks_;
};

// Made by Shard. A cheap copy; thread-safe as far as the function is.
template <typename Fn>
class ShardFunction {
 public:
  ShardFunction(Fn fn, absl::StatusOr<ShardSpec> spec, SourceLocation where)
      : fn_(std::move(fn)), spec_(std::move(spec)), where_(where) {}

  template <typename... Args>
  using Result = sdk::Result_t<Fn, Args...>;

  template <typename... Args>
  absl::StatusOr<ShardedCall<Result<Args...>>> operator()(
      const Args&... args) const {
    if (!spec_.ok()) return spec_.status();
    const std::tuple<const Args&...> all(args...);
    auto tasks = sdk::CallInTasks::Make(
        sdk::FlattenAll(args...),
        [&](std::vector<Tensor> parameters) {
          return sdk::CallUntyped(fn_, all, parameters);
        },
        *spec_, where_);
    if (!tasks.ok()) return tasks.status();
    return ShardedCall<Result<Args...>>(*std::move(tasks));
  }

 private:
  Fn fn_;
  absl::StatusOr<ShardSpec> spec_;
  SourceLocation where_;
};

// Returns a function of the same arguments that does not run the call but cuts
// it into tasks, each the same function over slices of its arguments.
//   auto tasks = Shard(fn, "1.4=1+1")(l, r);
//   std::cout << tasks->Explain();
//   absl::StatusOr<Tensor> y = tasks->Run();
// fn: as for Jit, or made by Jit. spec: where arguments, by the number of their
// tensor, are cut, or its text (see ParseShardSpec); cuts that arguments are
// marked with come beside it. Arguments: as for Jit; a Shape will do where the
// tasks are not run; donated ones stay. Result: a function that gives a
// StatusOr of a ShardedCall. Errors: of the call: kInvalidArgument for text
// that is no spec, a spec that does not fit the arguments, what it refuses or
// is strict about, with the line, more tasks than it allows; those of tracing.
// Grad: none. Source: elixir-nx/nx PR 1544.
template <sdk::NoModule Fn>
auto Shard(Fn&& fn, ShardSpec spec,
           SourceLocation where = SourceLocation::Current()) {
  return ShardFunction<std::decay_t<Fn>>(std::forward<Fn>(fn), std::move(spec),
                                         where);
}
template <sdk::NoModule Fn>
auto Shard(Fn&& fn, absl::string_view spec,
           SourceLocation where = SourceLocation::Current()) {
  return ShardFunction<std::decay_t<Fn>>(std::forward<Fn>(fn),
                                         ParseShardSpec(spec), where);
}

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_FUNCTIONS_SHARD_H_
