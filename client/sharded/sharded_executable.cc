#include "client/sharded/sharded_executable.h"

#include <algorithm>
#include <map>

#include "client/sharded/sharded_buffer.h"
#include "core/base/status.h"
#include "core/ops/part/box.h"
#include "core/sharding/choice/work.h"

namespace hawser {
namespace {

using runtime::Argument;
using runtime::BufferPtr;

constexpr absl::string_view kGone = "the sharded client is gone";
constexpr size_t kPlansKept = 16;
// Work that takes one place so long is cut by what places were measured to do.
constexpr double kWorthMeasuring = 1e-3;

// A function that one place does in less is sent behind those that make its
// arguments, like a step of a single server: to look for a free place takes
// longer.
constexpr double kSmall = 50e-6;

bool IsSmall(const Module& module) {
  const PlaceFigures usual;
  const Work work = WorkOf(module);
  return work.steps / usual.steps + work.bytes / usual.bytes < kSmall;
}

// True if tasks belong to places: they take from each other, or pieces that are
// there.
bool IsFixed(const Sharding& sharding,
             const std::vector<ArgumentLayout>& layouts) {
  return !sharding.between.empty() ||
         std::any_of(layouts.begin(), layouts.end(), [](const auto& layout) {
           return layout.pieces.size() > 1;
         });
}

}  // namespace

ShardedExecutable::ShardedExecutable(runtime::Client* client,
                                     std::shared_ptr<ShardRunner> runner,
                                     std::shared_ptr<const Module> module,
                                     runtime::CompileOptions options)
    : client_(client),
      runner_(std::move(runner)),
      module_(std::move(module)),
      options_(options),
      program_(std::make_shared<ShardedProgram>(std::move(options))) {}

absl::StatusOr<std::vector<ShardedValuePtr>> ShardedExecutable::ValuesOf(
    absl::Span<const Argument> arguments) const {
  std::vector<ShardedValuePtr> values;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (const auto* literal = std::get_if<Literal>(&arguments[i])) {
      values.push_back(std::make_shared<ShardedValue>(literal->shape()));
      values.back()->source = *literal;
      continue;
    }
    const BufferPtr& buffer = std::get<BufferPtr>(arguments[i]);
    const auto* own = dynamic_cast<const ShardedBuffer*>(buffer.get());
    if (own == nullptr || own->runner() != runner_) {
      return FailedPrecondition("argument ", i, " lives on another client, ",
                                "not on ", client_->name());
    }
    values.push_back(own->value());
  }
  return values;
}

absl::StatusOr<ShardedExecutable::PlanPtr> ShardedExecutable::PlanFor(
    const std::vector<ShardedValuePtr>& values) {
  Layouts layouts;
  for (const ShardedValuePtr& value : values) {
    layouts.push_back(runner_->LayoutOf(*value));
  }
  {
    MutexLock lock(&mu_);
    for (auto at = plans_.begin(); at != plans_.end(); ++at) {
      if ((*at)->layouts != layouts) continue;
      plans_.splice(plans_.begin(), plans_, at);
      return plans_.front();
    }
  }
  HAWSER_ASSIGN_OR_RETURN(PlanPtr plan, MakePlan(std::move(layouts)));
  MutexLock lock(&mu_);
  plans_.push_front(plan);
  if (plans_.size() > kPlansKept) plans_.pop_back();
  return plan;
}

absl::StatusOr<Sharding> ShardedExecutable::Choose(
    const Layouts& layouts) const {
  const auto places = runner_->places();
  std::vector<PlaceFigures> figures(
      places.size(), runner_->policy().figures.value_or(PlaceFigures()));
  HAWSER_ASSIGN_OR_RETURN(ShardChoice choice,
                          ChooseSpec(*module_, figures, layouts));
  if (runner_->policy().figures.has_value() || choice.alone < kWorthMeasuring ||
      places.size() < 2) {
    return std::move(choice.sharding);
  }
  std::vector<Future<PlaceFigures>> measured;
  for (const auto& place : places) {
    if (place->open()) measured.push_back(place->Figures());
  }
  // Places that cannot be measured are not there, and do nothing.
  figures.clear();
  for (const auto& one : measured) {
    if (const auto known = one.Await(); known.ok()) figures.push_back(*known);
  }
  if (figures.empty()) return std::move(choice.sharding);
  HAWSER_ASSIGN_OR_RETURN(choice, ChooseSpec(*module_, figures, layouts));
  return std::move(choice.sharding);
}

absl::StatusOr<ShardedExecutable::PlanPtr> ShardedExecutable::MakePlan(
    Layouts layouts) const {
  const size_t places = runner_->places().size();
  if (places == 0) return FailedPrecondition(kGone);
  Sharding sharding;
  if (options_.cuts != nullptr) {
    const auto count = static_cast<int64_t>(places);
    HAWSER_ASSIGN_OR_RETURN(sharding,
                            Shard(*module_, ForPlaces(*options_.cuts, count)));
  } else {
    HAWSER_ASSIGN_OR_RETURN(sharding, Choose(layouts));
  }
  auto plan = std::make_shared<Plan>();
  const bool small = options_.cuts == nullptr && sharding.tasks.size() == 1 &&
                     IsSmall(*module_);
  const bool fixed = IsFixed(sharding, layouts);
  plan->layouts = std::move(layouts);
  plan->sharding = std::make_shared<const Sharding>(std::move(sharding));
  const auto& tasks = plan->sharding->tasks;
  // The tasks of a stage, in the order of the places.
  const std::vector<int> stages = ExchangeOf(*plan->sharding).stage_of;
  std::map<int, int64_t> of_stage, next;
  for (const int stage : stages) ++of_stage[stage];
  std::map<const Module*, double> works;
  for (size_t t = 0; t < tasks.size(); ++t) {
    double& work = works[tasks[t].module.get()];
    if (work == 0) work = std::max(WorkOf(*tasks[t].module).steps, 1.0);
    plan->work.push_back(work);
    const int64_t home =
        next[stages[t]]++ * static_cast<int64_t>(places) / of_stage[stages[t]];
    plan->homes.push_back(small   ? kWhereMostIs
                          : fixed ? static_cast<int>(home)
                                  : kHere);
  }
  return plan;
}

std::vector<ShardedTaskPtr> ShardedExecutable::TasksOf(
    const Plan& plan, const std::vector<ShardedValuePtr>& arguments,
    const std::vector<ShardedValuePtr>& results,
    const runtime::CallOptions& call) const {
  const Sharding& sharding = *plan.sharding;
  std::vector<ShardedValuePtr> takes = arguments, gives = results;
  for (const Shape& shape : sharding.between) {
    takes.push_back(std::make_shared<ShardedValue>(shape));
    gives.push_back(takes.back());
  }
  const auto execution = std::make_shared<ShardedExecution>();
  for (const ShardedValuePtr& value : results) value->execution = execution;
  std::vector<ShardedTaskPtr> tasks;
  for (size_t t = 0; t < sharding.tasks.size(); ++t) {
    const ShardTask& what = sharding.tasks[t];
    auto task = std::make_shared<ShardedTask>();
    task->sharding = plan.sharding;
    task->program = program_;
    task->what = &what;
    task->execution = execution;
    task->home = plan.homes[t];
    task->work = plan.work[t];
    task->call = call;
    for (const Piece& piece : what.takes) {
      task->takes.push_back(takes[piece.value]);
    }
    for (size_t k = 0; k < what.gives.size(); ++k) {
      const ShardedValuePtr& value = gives[what.gives[k].value];
      task->gives.push_back(value);
      value->given.push_back({what.gives[k].box, task, static_cast<int>(k)});
    }
    tasks.push_back(std::move(task));
  }
  return tasks;
}

absl::StatusOr<std::vector<BufferPtr>> ShardedExecutable::Execute(
    absl::Span<const Argument> arguments,
    const runtime::ExecuteOptions& options) {
  HAWSER_RETURN_IF_ERROR(CheckArguments(signature(), arguments));
  for (const int i : options.donated) {
    if (i >= 0 && i < static_cast<int>(arguments.size())) continue;
    return InvalidArgument("argument ", i, " is donated, but there are ",
                           arguments.size());
  }
  HAWSER_RETURN_IF_ERROR(options.call.cancel.Check());
  HAWSER_ASSIGN_OR_RETURN(const auto values, ValuesOf(arguments));
  HAWSER_ASSIGN_OR_RETURN(const PlanPtr plan, PlanFor(values));
  std::vector<ShardedValuePtr> results;
  std::vector<BufferPtr> buffers;
  for (const Shape& shape : signature().results) {
    results.push_back(std::make_shared<ShardedValue>(shape));
    buffers.push_back(
        std::make_shared<ShardedBuffer>(client_, runner_, results.back()));
  }
  const auto tasks = TasksOf(*plan, values, results, options.call);
  if (!runner_->Run(tasks)) return FailedPrecondition(kGone);
  int steps = 0;
  bool cut = false;
  for (const ShardedTaskPtr& task : tasks) {
    steps = std::max(steps, task->steps);
    cut |= task->cut;
  }
  if (cut || steps % runner_->policy().checkpoint_steps == 0) {
    for (const ShardedValuePtr& value : results) runner_->Checkpoint(value);
  }
  return buffers;
}

}  // namespace hawser
