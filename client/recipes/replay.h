// Replay: values made again at a place that does not keep them.
#ifndef HAWSER_CLIENT_RECIPES_REPLAY_H_
#define HAWSER_CLIENT_RECIPES_REPLAY_H_

#include <map>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/recipes/place.h"
#include "client/recipes/recipe.h"
#include "core/runtime/client.h"

namespace hawser {

// Runs every execution behind some recipes once, from their roots on, and drops
// what no later one needs, so that the place holds little more than it did the
// first time. Used once, by one thread, which Run blocks.
//
// `sources_` has every recipe that is needed; `runs_` the executions among
// them, in the order they are run: what another needs comes before it. `uses`
// of an execution counts what is still to be made of its results: arguments of
// runs to come, and values that are asked for. At 0 its results are dropped.
class Replay {
 public:
  // `book` outlives it.
  Replay(RecipeBook* book, Place place)
      : book_(book), place_(std::move(place)) {}

  // The values of `wanted`, in their order. The holders of the recipes of all
  // results of these executions are told of them (RecipeHolder). Errors: why a
  // recipe was dropped; the place's.
  absl::StatusOr<std::vector<runtime::BufferPtr>> Run(
      absl::Span<const RecipePtr> wanted);

 private:
  struct Execution {
    std::shared_ptr<ExecutionRecipe> recipe;
    std::vector<RecipeArgument> arguments;
    std::vector<runtime::BufferPtr> results;
    int uses = 0;
    bool planned = false;  // its arguments are planned or about to be
    bool ordered = false;  // it is in runs_
  };
  // A value that no execution makes; a buffer is of another place.
  using Root = std::variant<Literal, DatasetPart, runtime::BufferPtr>;
  // Says how a recipe's value is had: from an execution, else from a root.
  struct Source {
    Execution* execution = nullptr;
    int index = 0;
    Root root;
    runtime::BufferPtr made = nullptr;  // of root, once it was needed
  };

  absl::Status Plan(absl::Span<const RecipePtr> wanted);
  // One use of a recipe. Returns the execution it needs; null: none.
  absl::StatusOr<Execution*> PlanOne(const RecipePtr& recipe);
  absl::StatusOr<Source> SourceOf(const RecipePtr& recipe);
  absl::Status RunOne(Execution& execution);
  absl::StatusOr<runtime::BufferPtr> ValueOf(const Recipe* recipe);
  absl::StatusOr<runtime::BufferPtr> MakeRoot(const Root& root);

  RecipeBook* const book_;
  const Place place_;
  std::map<const ExecutionRecipe*, Execution> executions_;
  std::map<const Recipe*, Source> sources_;
  std::vector<Execution*> runs_;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_RECIPES_REPLAY_H_
