#include "client/recipes/replay.h"

#include <utility>
#include <variant>

#include "core/base/status.h"

namespace hawser {

absl::StatusOr<std::vector<runtime::BufferPtr>> Replay::Run(
    absl::Span<const RecipePtr> wanted) {
  HAWSER_RETURN_IF_ERROR(Plan(wanted));
  for (Execution* execution : runs_) {
    HAWSER_RETURN_IF_ERROR(RunOne(*execution));
  }
  std::vector<runtime::BufferPtr> values;
  for (const RecipePtr& recipe : wanted) {
    HAWSER_ASSIGN_OR_RETURN(values.emplace_back(), ValueOf(recipe.get()));
  }
  return values;
}

absl::Status Replay::Plan(absl::Span<const RecipePtr> wanted) {
  MutexLock follow(&book_->following_);  // arguments stay as they are
  std::vector<Execution*> todo;
  const auto plan = [&](const RecipePtr& recipe) -> absl::Status {
    HAWSER_ASSIGN_OR_RETURN(Execution * needed, PlanOne(recipe));
    if (needed != nullptr && !needed->planned) todo.push_back(needed);
    return absl::OkStatus();
  };
  for (const RecipePtr& recipe : wanted) HAWSER_RETURN_IF_ERROR(plan(recipe));
  while (!todo.empty()) {
    Execution* next = todo.back();
    if (next->planned) {  // and so is all before it
      todo.pop_back();
      if (!std::exchange(next->ordered, true)) runs_.push_back(next);
      continue;
    }
    next->planned = true;
    for (const RecipeArgument& argument : next->arguments) {
      const auto* recipe = std::get_if<RecipePtr>(&argument);
      if (recipe != nullptr) HAWSER_RETURN_IF_ERROR(plan(*recipe));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Replay::Execution*> Replay::PlanOne(const RecipePtr& recipe) {
  const auto [at, is_new] = sources_.try_emplace(recipe.get());
  Source& source = at->second;
  if (is_new) {
    HAWSER_ASSIGN_OR_RETURN(source, SourceOf(recipe));
  }
  if (source.execution != nullptr) ++source.execution->uses;
  return source.execution;
}

absl::StatusOr<Replay::Source> Replay::SourceOf(const RecipePtr& recipe) {
  MutexLock lock(&book_->mu_);
  if (recipe->made_ != nullptr) return Source{.root = recipe->made_};
  if (const auto* why = std::get_if<absl::Status>(&recipe->source_)) {
    return *why;
  }
  if (const auto* value = std::get_if<Literal>(&recipe->source_)) {
    return Source{.root = *value};
  }
  if (const auto* part = std::get_if<DatasetPart>(&recipe->source_)) {
    return Source{.root = *part};
  }
  const auto& result = std::get<Recipe::Result>(recipe->source_);
  if (!result.execution->made.empty()) {
    return Source{.root = result.execution->made[result.index]};
  }
  Execution& execution = executions_[result.execution.get()];
  if (execution.recipe == nullptr) {
    execution.recipe = result.execution;
    execution.arguments = result.execution->arguments;
  }
  return Source{.execution = &execution, .index = result.index};
}

absl::StatusOr<runtime::BufferPtr> Replay::MakeRoot(const Root& root) {
  if (const auto* part = std::get_if<DatasetPart>(&root)) {
    return place_.open(*part);
  }
  if (const auto* value = std::get_if<Literal>(&root)) {
    return place_.client->Upload(*value, place_.call);
  }
  const auto& elsewhere = std::get<runtime::BufferPtr>(root);
  HAWSER_ASSIGN_OR_RETURN(const Literal value,
                          elsewhere->Fetch(place_.call).Await());
  return place_.client->Upload(value, place_.call);
}

absl::StatusOr<runtime::BufferPtr> Replay::ValueOf(const Recipe* recipe) {
  Source& source = sources_.at(recipe);
  if (source.execution != nullptr) {
    return source.execution->results[source.index];
  }
  if (source.made == nullptr) {
    HAWSER_ASSIGN_OR_RETURN(source.made, MakeRoot(source.root));
  }
  return source.made;
}

absl::Status Replay::RunOne(Execution& execution) {
  HAWSER_ASSIGN_OR_RETURN(const auto executable,
                          execution.recipe->program(place_));
  std::vector<runtime::Argument> arguments;
  for (const RecipeArgument& argument : execution.arguments) {
    if (const auto* recipe = std::get_if<RecipePtr>(&argument)) {
      HAWSER_ASSIGN_OR_RETURN(arguments.emplace_back(), ValueOf(recipe->get()));
    } else {
      arguments.emplace_back(std::get<Literal>(argument));
    }
  }
  HAWSER_ASSIGN_OR_RETURN(
      execution.results,
      executable->Execute(arguments, {.call = place_.call, .donated = {}}));
  book_->Tell(*execution.recipe, place_, execution.results);
  for (const RecipeArgument& argument : execution.arguments) {
    const auto* recipe = std::get_if<RecipePtr>(&argument);
    if (recipe == nullptr) continue;
    Execution* before = sources_.at(recipe->get()).execution;
    if (before != nullptr && --before->uses == 0) before->results.clear();
  }
  return absl::OkStatus();
}

}  // namespace hawser
