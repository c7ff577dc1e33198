#include "client/sdk/functions/shard.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "client/sdk/client/client.h"
#include "client/sdk/graph/node.h"
#include "client/sdk/jit/call_arguments.h"
#include "client/sdk/jit/cut_marks.h"
#include "client/sdk/jit/traced_module.h"
#include "core/base/process/forked.h"
#include "core/base/status.h"
#include "core/base/values/literal.h"
#include "core/ops/part/box.h"
#include "core/runtime/client.h"
#include "core/sharding/moves.h"
#include "core/sharding/shard.h"

namespace hawser::sdk {
namespace {

// One run of all tasks, in their order.
class TaskRun {
 public:
  TaskRun(const Sharding& sharding, std::vector<Literal> arguments,
          runtime::CallOptions call)
      : sharding_(sharding),
        arguments_(std::move(arguments)),
        call_(std::move(call)),
        given_(sharding.whole.results.size() + sharding.between.size()) {}

  absl::Status Run(const ShardTask& task) {
    HAWSER_ASSIGN_OR_RETURN(auto* const executable, Compiled(task));
    std::vector<runtime::Argument> takes;
    for (const Piece& piece : task.takes) {
      HAWSER_ASSIGN_OR_RETURN(takes.emplace_back(), Take(piece));
    }
    for (const int64_t offset : task.offsets) {
      takes.emplace_back(Literal::Scalar<int64_t>(offset));
    }
    HAWSER_ASSIGN_OR_RETURN(
        runtime::Called done,
        executable->Call(takes, call_).Await(call_.cancel.deadline()));
    for (size_t k = 0; k < done.values.size(); ++k) {
      const Piece& piece = task.gives[k];
      given_[piece.value].push_back({piece.box, std::move(done.values[k])});
    }
    ran_on_ = std::move(done.ran_on);
    return absl::OkStatus();
  }
  absl::StatusOr<Literal> Result(int number) const {
    const Shape& shape = sharding_.whole.results[number];
    return Joined(number, shape, WholeBox(shape));
  }
  const runtime::RanOn& ran_on() const { return ran_on_; }

 private:
  struct Given {
    Box box;
    Literal value;
  };

  absl::StatusOr<runtime::Executable*> Compiled(const ShardTask& task) {
    auto& known = executables_[task.module.get()];
    if (known == nullptr) {
      HAWSER_ASSIGN_OR_RETURN(
          known, Client::Cpu().runtime()->Compile(task.module, {}, call_));
    }
    return known.get();
  }
  absl::StatusOr<Literal> Take(const Piece& piece) const {
    const int between = piece.value - static_cast<int>(arguments_.size());
    if (between < 0) {
      const Literal& value = arguments_[piece.value];
      return SliceBox(value, WholeBox(value.shape()), piece.box);
    }
    return Joined(static_cast<int>(sharding_.whole.results.size()) + between,
                  sharding_.between[between], piece.box);
  }
  // A box of a value of this shape, of what was given of it.
  absl::StatusOr<Literal> Joined(int value, const Shape& shape,
                                 const Box& box) const {
    HAWSER_ASSIGN_OR_RETURN(Literal joined,
                            Literal::Allocate(ShapeOf(shape, box)));
    for (const Given& given : given_[value]) {
      CopyBox(given.value, given.box, box, &joined);
    }
    return joined;
  }

  const Sharding& sharding_;
  const std::vector<Literal> arguments_;
  const runtime::CallOptions call_;
  std::map<const Module*, std::shared_ptr<runtime::Executable>> executables_;
  std::vector<std::vector<Given>> given_;  // of each result and value between
  runtime::RanOn ran_on_;
};

absl::StatusOr<std::vector<Literal>> ValuesOf(const Flat& arguments,
                                              const CallOptions& call) {
  std::vector<Literal> values;
  for (const Leaf& leaf : arguments.leaves) {
    if (leaf.value.valid()) {
      values.push_back(leaf.value);
    } else if (NodeOf(leaf.tensor) != nullptr) {
      HAWSER_ASSIGN_OR_RETURN(values.emplace_back(),
                              leaf.tensor.Fetch({.call = call}));
    } else {
      return InvalidArgument("argument ", values.size(),
                             " is a Shape, which cannot be run");
    }
  }
  return values;
}

// Shards like Shard, and adds the user's lines to the notes.
absl::StatusOr<Sharding> ShardTraced(const TracedModule& traced,
                                     ShardSpec spec) {
  const bool strict = std::exchange(spec.strict, false);
  HAWSER_ASSIGN_OR_RETURN(Sharding sharding, Shard(traced.module, spec));
  AddLines(traced, &sharding.notes);
  if (strict) HAWSER_RETURN_IF_ERROR(CheckNotes(sharding.notes));
  return sharding;
}

}  // namespace

absl::StatusOr<CallInTasks> CallInTasks::Make(Flat arguments, TraceFn fn,
                                              ShardSpec spec,
                                              SourceLocation where) {
  Client client;
  HAWSER_RETURN_IF_ERROR(AgreeOn(arguments, where, &client));
  const auto marks = CutsOf(arguments);
  if (!marks.ok()) return InCall(marks.status(), where);
  if (*marks != nullptr) {
    const auto& cuts = (*marks)->parameters;
    spec.parameters.insert(spec.parameters.end(), cuts.begin(), cuts.end());
  }
  auto traced = TraceFunction(arguments, fn, where);
  if (!traced.ok()) {
    return Annotate(traced.status(), absl::StrCat("tracing the function of ",
                                                  where.file, ":", where.line));
  }
  auto sharding = ShardTraced(*traced, std::move(spec));
  if (!sharding.ok()) return InCall(sharding.status(), where);
  return CallInTasks(std::move(arguments), *std::move(sharding),
                     std::move(traced->prototype), where);
}

absl::StatusOr<CallResult> CallInTasks::Run(const CallOptions& call) const {
  HAWSER_RETURN_IF_ERROR(CheckNotForked());
  const runtime::CallOptions limits = call.FromNow();
  auto values = ValuesOf(arguments_, call);
  if (!values.ok()) return InCall(values.status(), where_);
  TaskRun run(sharding_, *std::move(values), limits);
  for (const ShardTask& task : sharding_.tasks) {
    HAWSER_RETURN_IF_ERROR(run.Run(task));
  }
  CallResult result{{}, prototype_};
  for (size_t k = 0; k < sharding_.whole.results.size(); ++k) {
    HAWSER_ASSIGN_OR_RETURN(Literal value, run.Result(static_cast<int>(k)));
    Shapes shapes = {value.shape()};
    result.tensors.push_back(MakeTensor(
        std::move(shapes),
        Host{.value = std::move(value), .ran_on = run.ran_on()}, where_));
  }
  return result;
}

}  // namespace hawser::sdk
