#include "client/recipes/recipe.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/base/status.h"

namespace hawser {
namespace {

// An execution costs about this much besides its host values: the recipes,
// their vectors and shapes.
constexpr int64_t kExecutionOverhead = 1024;

absl::Status Lost(absl::string_view what, const Shape& shape,
                  const absl::Status& why) {
  return Annotate(why, absl::StrCat(what, ", ", shape.ToString(),
                                    ", is lost with its server"));
}

}  // namespace

ExecutionRecipe::~ExecutionRecipe() {
  // Recipes that die further down the chain are left to the first one's loop.
  thread_local std::vector<std::vector<RecipeArgument>>* dying = nullptr;
  if (dying != nullptr) {
    dying->push_back(std::move(arguments));
    return;
  }
  std::vector<std::vector<RecipeArgument>> chain;
  dying = &chain;
  chain.push_back(std::move(arguments));
  while (!chain.empty()) {
    const std::vector<RecipeArgument> next = std::move(chain.back());
    chain.pop_back();
  }
  dying = nullptr;
}

absl::Status RecipeBook::CheckLimits(int steps, int64_t bytes) const {
  if (steps > limits_.max_steps) {
    return DataLoss("recipes of at most ", limits_.max_steps,
                    " steps are kept; Freeze keeps values on the server");
  }
  if (bytes_held() + bytes > limits_.max_bytes) {
    return DataLoss("recipes hold ", bytes_held(),
                    " host bytes already, of at most ", limits_.max_bytes,
                    "; Freeze keeps values on the server");
  }
  return absl::OkStatus();
}

RecipePtr RecipeBook::OfHostValue(const Literal& value) {
  const int64_t bytes = value.shape().byte_size();
  if (const absl::Status why = CheckLimits(0, bytes); !why.ok()) {
    return std::make_shared<Recipe>(
        value.shape(), Lost("an uploaded value", value.shape(), why));
  }
  auto recipe = std::make_shared<Recipe>(value.shape(), value);
  recipe->held_ = HeldBytes(bytes_held_, bytes);
  return recipe;
}

RecipePtr RecipeBook::OfDataset(const Shape& shape, DatasetPart part) {
  return std::make_shared<Recipe>(shape, std::move(part));
}

RecipePtr RecipeBook::OfMade(runtime::BufferPtr made) {
  const Shape shape = made->shape();
  return std::make_shared<Recipe>(shape, absl::OkStatus(), std::move(made));
}

RecipeBook::Results RecipeBook::OfExecution(
    RecipeProgram program, absl::string_view what,
    std::vector<RecipeArgument> arguments, const Signature& signature) {
  MutexLock lock(&mu_);
  int steps = 1;
  int64_t bytes = kExecutionOverhead;
  const absl::Time now = SteadyNow();
  absl::Time since = now;
  for (const RecipeArgument& argument : arguments) {
    if (const auto* recipe = std::get_if<RecipePtr>(&argument)) {
      steps = std::max(steps, (*recipe)->steps_ + 1);
      since = std::min(since, (*recipe)->since_);
    } else {
      bytes += std::get<Literal>(argument).shape().byte_size();
    }
  }
  Results results;
  // The estimate only grows; a chain that looks half full is counted anew, as
  // a checkpoint may have cut it since. Counting walks the chain, so it is
  // done each quarter of the limit, which makes it constant per step.
  const int quarter = std::max(1, limits_.max_steps / 4);
  if (steps >= 2 * quarter && steps % quarter == 0) {
    steps = CountSteps(arguments) + 1;
    results.checkpoint = steps >= 2 * quarter;
  }
  // The same for bytes, though the chain that fills them may be another.
  const int64_t quarter_bytes = std::max<int64_t>(1, limits_.max_bytes / 4);
  const int64_t held = bytes_held();
  results.checkpoint |= held + bytes >= 2 * quarter_bytes &&
                        held / quarter_bytes != (held + bytes) / quarter_bytes;
  // A chain that took long takes long again. The next look is as much later.
  const bool is_old = now - since >= limits_.max_replay;
  results.checkpoint |= is_old;
  if (is_old) since = now;

  const absl::Status why = CheckLimits(steps, bytes);
  std::shared_ptr<ExecutionRecipe> execution;
  if (why.ok()) {
    execution = std::make_shared<ExecutionRecipe>();
    execution->program = std::move(program);
    execution->arguments = std::move(arguments);
    execution->held = HeldBytes(bytes_held_, bytes);
  }
  for (size_t i = 0; i < signature.results.size(); ++i) {
    const Shape& shape = signature.results[i];
    Recipe::Source source = Recipe::Result{execution, static_cast<int>(i)};
    if (!why.ok()) {
      source = Lost(
          absl::StrCat("result ", i, " of ", what.empty() ? "a program" : what),
          shape, why);
    }
    results.recipes.push_back(
        std::make_shared<Recipe>(shape, std::move(source)));
    results.recipes.back()->steps_ = why.ok() ? steps : 0;
    if (why.ok()) results.recipes.back()->since_ = since;
    if (why.ok()) execution->results.push_back(results.recipes.back());
  }
  return results;
}

int RecipeBook::CountSteps(absl::Span<const RecipeArgument> arguments) {
  // Longest way back, over executions in post-order.
  absl::flat_hash_map<const ExecutionRecipe*, int> steps;
  std::vector<const ExecutionRecipe*> todo;
  // The longest known way below `of`; pushes what is not known yet.
  auto longest = [&](absl::Span<const RecipeArgument> of) {
    int most = 0;
    for (const RecipeArgument& argument : of) {
      const auto* recipe = std::get_if<RecipePtr>(&argument);
      if (recipe == nullptr) continue;
      const auto* result = std::get_if<Recipe::Result>(&(*recipe)->source_);
      if (result == nullptr) continue;
      auto known = steps.find(result->execution.get());
      if (known != steps.end()) {
        most = std::max(most, known->second);
      } else {
        todo.push_back(result->execution.get());
      }
    }
    return most;
  };
  longest(arguments);
  while (!todo.empty()) {
    const ExecutionRecipe* e = todo.back();
    const size_t before = todo.size();
    const int below = longest(e->arguments);
    if (todo.size() > before) continue;
    steps[e] = below + 1;
    todo.pop_back();
  }
  return longest(arguments);
}

void RecipeBook::Root(const RecipePtr& recipe, DatasetPart part) {
  Recipe::Source old;  // its chain is destroyed after the lock
  MutexLock lock(&mu_);
  if (recipe->made_ != nullptr) return;
  old = std::exchange(recipe->source_, std::move(part));
  recipe->held_ = HeldBytes();
  recipe->steps_ = 0;
  recipe->since_ = absl::InfiniteFuture();
}

void RecipeBook::Checkpoint(const RecipePtr& recipe, const Literal& value) {
  Recipe::Source old;  // its chain is destroyed after the lock
  MutexLock lock(&mu_);
  if (recipe->made_ != nullptr) return;
  old = std::exchange(recipe->source_, value);
  recipe->held_ = HeldBytes(bytes_held_, value.shape().byte_size());
  recipe->since_ = absl::InfiniteFuture();
  recipe->steps_ = 0;
}

void RecipeBook::SetHolder(const RecipePtr& recipe,
                           std::weak_ptr<RecipeHolder> holder) {
  MutexLock lock(&mu_);
  recipe->holder_ = std::move(holder);
}

void RecipeBook::Tell(const ExecutionRecipe& execution, const Place& place,
                      absl::Span<const runtime::BufferPtr> results) {
  for (size_t i = 0; i < execution.results.size(); ++i) {
    const RecipePtr recipe = execution.results[i].lock();
    if (recipe == nullptr) continue;
    std::shared_ptr<RecipeHolder> holder;
    {
      MutexLock lock(&mu_);
      holder = recipe->holder_.lock();
    }
    if (holder != nullptr) holder->Remade(place.life, results[i]);
  }
}

runtime::BufferPtr RecipeBook::Made(const RecipePtr& recipe) {
  MutexLock lock(&mu_);
  return recipe->made_;
}

std::optional<Literal> RecipeBook::HostValue(const RecipePtr& recipe) {
  MutexLock lock(&mu_);
  const auto* value = std::get_if<Literal>(&recipe->source_);
  return value == nullptr ? std::nullopt : std::make_optional(*value);
}

absl::StatusOr<runtime::BufferPtr> RecipeBook::AtHome(const RecipePtr& recipe) {
  if (runtime::BufferPtr made = Made(recipe)) return made;
  MutexLock follow(&following_);
  std::vector<RecipePtr> todo = {recipe};
  while (!todo.empty()) {
    const RecipePtr next = todo.back();
    const size_t before = todo.size();
    if (next->made_ == nullptr) HAWSER_RETURN_IF_ERROR(Step(*next, &todo));
    if (todo.size() == before) todo.pop_back();
  }
  return recipe->made_;
}

absl::Status RecipeBook::Step(Recipe& recipe, std::vector<RecipePtr>* todo) {
  Recipe::Source source;  // may be replaced by Checkpoint meanwhile
  {
    MutexLock lock(&mu_);
    source = recipe.source_;
  }
  runtime::BufferPtr made;
  if (const auto* why = std::get_if<absl::Status>(&source)) return *why;
  if (const auto* value = std::get_if<Literal>(&source)) {
    HAWSER_ASSIGN_OR_RETURN(made, home_.client->Upload(*value, home_.call));
  } else if (const auto* part = std::get_if<DatasetPart>(&source)) {
    HAWSER_ASSIGN_OR_RETURN(made, home_.open(*part));
  } else {
    const auto& result = std::get<Recipe::Result>(source);
    ExecutionRecipe& execution = *result.execution;
    if (execution.made.empty()) {
      const size_t before = todo->size();
      for (const RecipeArgument& argument : execution.arguments) {
        const auto* needed = std::get_if<RecipePtr>(&argument);
        if (needed != nullptr && (*needed)->made_ == nullptr) {
          todo->push_back(*needed);
        }
      }
      if (todo->size() > before) return absl::OkStatus();
      HAWSER_RETURN_IF_ERROR(Execute(execution));
    }
    made = execution.made[result.index];
  }
  MutexLock lock(&mu_);
  recipe.made_ = std::move(made);
  recipe.steps_ = 0;
  if (std::holds_alternative<Recipe::Result>(recipe.source_)) {
    recipe.source_ = absl::OkStatus();  // `source` still holds the chain
  }
  return absl::OkStatus();
}

absl::Status RecipeBook::Execute(ExecutionRecipe& execution) {
  HAWSER_ASSIGN_OR_RETURN(auto executable, execution.program(home_));
  std::vector<runtime::Argument> arguments;
  for (const RecipeArgument& argument : execution.arguments) {
    if (const auto* recipe = std::get_if<RecipePtr>(&argument)) {
      arguments.emplace_back((*recipe)->made_);
    } else {
      arguments.emplace_back(std::get<Literal>(argument));
    }
  }
  ++executions_;
  HAWSER_ASSIGN_OR_RETURN(execution.made, executable->Execute(arguments, {}));
  std::vector<RecipeArgument> old;  // destroyed after the lock
  MutexLock lock(&mu_);
  old = std::move(execution.arguments);
  execution.arguments.clear();
  execution.held = HeldBytes();
  return absl::OkStatus();
}

}  // namespace hawser
