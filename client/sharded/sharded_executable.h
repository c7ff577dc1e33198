// ShardedExecutable: one module, cut for how its arguments lie.
#ifndef HAWSER_CLIENT_SHARDED_SHARDED_EXECUTABLE_H_
#define HAWSER_CLIENT_SHARDED_SHARDED_EXECUTABLE_H_

#include <cstdint>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/sharded/shard_runner.h"
#include "client/sharded/places/sharded_program.h"
#include "client/sharded/values/sharded_value.h"
#include "core/base/mutex.h"
#include "core/ir/module.h"
#include "core/runtime/client.h"
#include "core/sharding/choice/choose.h"
#include "core/sharding/shard.h"

namespace hawser {

class ShardedExecutable : public runtime::Executable {
 public:
  ShardedExecutable(runtime::Client* client, std::shared_ptr<ShardRunner> runner,
                    std::shared_ptr<const Module> module,
                    runtime::CompileOptions options);

  const Signature& signature() const override { return module_->signature(); }
  // It may plan, at the first execution of arguments that lie so.
  absl::StatusOr<std::vector<runtime::BufferPtr>> Execute(
      absl::Span<const runtime::Argument> arguments,
      const runtime::ExecuteOptions& options) override;

 private:
  using Layouts = std::vector<ArgumentLayout>;
  // A cut for one layout of the arguments.
  struct Plan {
    Layouts layouts;
    std::shared_ptr<const Sharding> sharding;
    std::vector<double> work;  // of each task
    // The home of each task, as ShardedTask has it.
    std::vector<int> homes;
  };
  using PlanPtr = std::shared_ptr<const Plan>;

  absl::StatusOr<std::vector<ShardedValuePtr>> ValuesOf(
      absl::Span<const runtime::Argument> arguments) const;
  absl::StatusOr<PlanPtr> PlanFor(const std::vector<ShardedValuePtr>& values);
  absl::StatusOr<PlanPtr> MakePlan(Layouts layouts) const;
  // Cuts by cost. It may measure places, once.
  absl::StatusOr<Sharding> Choose(const Layouts& layouts) const;
  std::vector<ShardedTaskPtr> TasksOf(
      const Plan& plan, const std::vector<ShardedValuePtr>& arguments,
      const std::vector<ShardedValuePtr>& results,
      const runtime::CallOptions& call) const;

  runtime::Client* const client_;
  const std::shared_ptr<ShardRunner> runner_;
  const std::shared_ptr<const Module> module_;
  const runtime::CompileOptions options_;
  const std::shared_ptr<ShardedProgram> program_;
  Mutex mu_;
  std::list<PlanPtr> plans_ ABSL_GUARDED_BY(mu_);  // used last first
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_SHARDED_SHARDED_EXECUTABLE_H_
