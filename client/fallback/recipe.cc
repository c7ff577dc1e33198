#include "client/fallback/recipe.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "core/base/status.h"

namespace hawser {
namespace {

// An execution costs about this much besides its host values: the recipes,
// their vectors and shapes.
constexpr int64_t kExecutionOverhead = 1024;

}  // namespace

RecipePtr RecipeBook::OfHostValue(const Literal& value) {
  const int64_t bytes = value.shape().byte_size();
  if (absl::Status why = TooLong("an uploaded value", 0, bytes); !why.ok()) {
    return std::make_shared<Recipe>(value.shape(), std::move(why));
  }
  auto recipe = std::make_shared<Recipe>(value.shape(), value);
  recipe->held_ = HeldBytes(bytes_held_, bytes);
  return recipe;
}

RecipePtr RecipeBook::OfDataset(const Shape& shape, std::string token,
                                std::string array) {
  return std::make_shared<Recipe>(
      shape, Recipe::Dataset{std::move(token), std::move(array)});
}

absl::Status RecipeBook::TooLong(absl::string_view what, int steps,
                                 int64_t bytes) const {
  if (steps > limits_.max_steps) {
    return DataLoss(what, " is lost with the server: its recipe had more than ",
                    limits_.max_steps, " steps");
  }
  if (*bytes_held_ + bytes > limits_.max_bytes) {
    return DataLoss(what, " is lost with the server: recipes hold ",
                    bytes_held_->load(), " host bytes and may hold ",
                    limits_.max_bytes);
  }
  return absl::OkStatus();
}

RecipeBook::Results RecipeBook::OfExecution(
    SecondaryExecutable executable, absl::string_view what,
    std::vector<RecipeArgument> arguments, const Signature& signature) {
  MutexLock lock(&mu_);
  int steps = 1;
  int64_t bytes = kExecutionOverhead;
  for (const RecipeArgument& argument : arguments) {
    if (const auto* recipe = std::get_if<RecipePtr>(&argument)) {
      steps = std::max(steps, (*recipe)->steps_ + 1);
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
  const absl::Status why = TooLong(
      absl::StrCat("a result of ", what.empty() ? "a program" : what), steps,
      bytes);
  auto execution = std::make_shared<ExecutionRecipe>();
  execution->executable = std::move(executable);
  execution->arguments = std::move(arguments);
  execution->held = HeldBytes(bytes_held_, bytes);
  for (size_t i = 0; i < signature.results.size(); ++i) {
    const Shape& shape = signature.results[i];
    results.recipes.push_back(
        why.ok() ? std::make_shared<Recipe>(
                       shape, Recipe::Result{execution, static_cast<int>(i)})
                 : std::make_shared<Recipe>(shape, why));
    results.recipes.back()->steps_ = why.ok() ? steps : 0;
  }
  return results;
}

int RecipeBook::CountSteps(absl::Span<const RecipeArgument> arguments) {
  // Longest way back, over executions in post-order.
  absl::flat_hash_map<const ExecutionRecipe*, int> steps;
  std::vector<const ExecutionRecipe*> todo;
  auto execution_of = [](const RecipeArgument& a) -> const ExecutionRecipe* {
    const auto* recipe = std::get_if<RecipePtr>(&a);
    if (recipe == nullptr) return nullptr;
    const auto* result = std::get_if<Recipe::Result>(&(*recipe)->source_);
    return result == nullptr ? nullptr : result->execution.get();
  };
  auto longest = [&](absl::Span<const RecipeArgument> of, bool* ready) {
    int most = 0;
    for (const RecipeArgument& argument : of) {
      const ExecutionRecipe* e = execution_of(argument);
      if (e == nullptr) continue;
      auto known = steps.find(e);
      if (known != steps.end()) {
        most = std::max(most, known->second);
      } else {
        *ready = false;
        todo.push_back(e);
      }
    }
    return most;
  };
  while (true) {
    bool ready = true;
    const int most = longest(arguments, &ready);
    if (ready) return most;
    while (!todo.empty()) {
      const ExecutionRecipe* e = todo.back();
      bool complete = true;
      const int below = longest(e->arguments, &complete);
      if (!complete) continue;
      steps[e] = below + 1;
      todo.pop_back();
    }
  }
}

void RecipeBook::Checkpoint(const RecipePtr& recipe, const Literal& value) {
  Recipe::Source old;  // its chain is destroyed after the lock
  MutexLock lock(&mu_);
  if (recipe->secondary_ != nullptr) return;
  old = std::exchange(recipe->source_, value);
  recipe->held_ = HeldBytes(bytes_held_, value.shape().byte_size());
  recipe->steps_ = 0;
}

absl::StatusOr<runtime::BufferPtr> RecipeBook::OnSecondary(
    const RecipePtr& recipe) {
  MutexLock lock(&mu_);
  std::vector<RecipePtr> todo = {recipe};
  while (!todo.empty()) {
    const RecipePtr next = todo.back();
    const size_t before = todo.size();
    if (next->secondary_ == nullptr) {
      HAWSER_RETURN_IF_ERROR(Step(*next, &todo));
    }
    if (todo.size() == before) todo.pop_back();
  }
  return recipe->secondary_;
}

absl::Status RecipeBook::Step(Recipe& recipe, std::vector<RecipePtr>* todo) {
  if (const auto* why = std::get_if<absl::Status>(&recipe.source_)) {
    return *why;
  }
  if (const auto* value = std::get_if<Literal>(&recipe.source_)) {
    HAWSER_ASSIGN_OR_RETURN(recipe.secondary_,
                            secondary_->Upload(*value, {}));
  } else if (auto* data = std::get_if<Recipe::Dataset>(&recipe.source_)) {
    HAWSER_ASSIGN_OR_RETURN(recipe.secondary_,
                            open_dataset_(data->token, data->array));
  } else {
    auto& result = std::get<Recipe::Result>(recipe.source_);
    ExecutionRecipe& execution = *result.execution;
    if (execution.made.empty()) {
      const size_t before = todo->size();
      for (const RecipeArgument& argument : execution.arguments) {
        const auto* needed = std::get_if<RecipePtr>(&argument);
        if (needed != nullptr && (*needed)->secondary_ == nullptr) {
          todo->push_back(*needed);
        }
      }
      if (todo->size() > before) return absl::OkStatus();
      HAWSER_RETURN_IF_ERROR(Execute(execution));
    }
    recipe.secondary_ = execution.made[result.index];
    recipe.source_ = absl::OkStatus();
  }
  recipe.steps_ = 0;
  return absl::OkStatus();
}

absl::Status RecipeBook::Execute(ExecutionRecipe& execution) {
  HAWSER_ASSIGN_OR_RETURN(auto executable, execution.executable());
  std::vector<runtime::Argument> arguments;
  for (const RecipeArgument& argument : execution.arguments) {
    if (const auto* recipe = std::get_if<RecipePtr>(&argument)) {
      arguments.emplace_back((*recipe)->secondary_);
    } else {
      arguments.emplace_back(std::get<Literal>(argument));
    }
  }
  HAWSER_ASSIGN_OR_RETURN(execution.made,
                          executable->Execute(arguments, {}));
  execution.arguments.clear();
  execution.held = HeldBytes();
  return absl::OkStatus();
}

}  // namespace hawser
