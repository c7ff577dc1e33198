// Recipes: how a value that lives at one place can be made again at another,
// down to host values and dataset tokens.
#ifndef HAWSER_CLIENT_RECIPES_RECIPE_H_
#define HAWSER_CLIENT_RECIPES_RECIPE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/recipes/place.h"
#include "core/base/mutex.h"
#include "core/base/values/literal.h"
#include "core/runtime/client.h"
#include "core/runtime/dataset.h"

namespace hawser {

class Recipe;
using RecipePtr = std::shared_ptr<Recipe>;
using RecipeArgument = std::variant<Literal, RecipePtr>;
// Compiles for a place at its first use there.
using RecipeProgram =
    std::function<absl::StatusOr<std::shared_ptr<runtime::Executable>>(
        const Place&)>;

// Holds a value of which there is a recipe. Thread-safe.
class RecipeHolder {
 public:
  virtual ~RecipeHolder() = default;
  // The value was made again, along with others, in this life of its place.
  virtual void Remade(uint64_t life, const runtime::BufferPtr& value) = 0;
};

// Host bytes that recipes hold, counted as long as this lives.
class HeldBytes {
 public:
  using Counter = std::shared_ptr<std::atomic<int64_t>>;
  HeldBytes() = default;
  HeldBytes(Counter counter, int64_t bytes)
      : counter_(std::move(counter)), bytes_(bytes) {
    *counter_ += bytes_;
  }
  HeldBytes(HeldBytes&& other) { *this = std::move(other); }
  HeldBytes& operator=(HeldBytes&& other) {
    std::swap(counter_, other.counter_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~HeldBytes() {
    if (counter_ != nullptr) *counter_ -= bytes_;
  }

 private:
  Counter counter_;
  int64_t bytes_ = 0;
};

// One execution, shared by the recipes of its results. Holds no buffer of a
// place that does not keep them, so recipes never keep device memory alive.
struct ExecutionRecipe {
  ~ExecutionRecipe();  // of a long chain too, without recursing

  RecipeProgram program;
  std::vector<RecipeArgument> arguments;
  HeldBytes held;
  std::vector<runtime::BufferPtr> made;  // at home, once it ran there
  std::vector<std::weak_ptr<Recipe>> results;
};

// Says how one value comes about. Everything but the shape is guarded by the
// RecipeBook, through which alone a recipe is made and followed.
class Recipe {
 public:
  struct Result {
    std::shared_ptr<ExecutionRecipe> execution;
    int index;
  };
  // A Status: there is no recipe, because; OK: none is needed any more.
  using Source = std::variant<absl::Status, Literal, DatasetPart, Result>;

  Recipe(Shape shape, Source source, runtime::BufferPtr made = nullptr)
      : shape_(std::move(shape)),
        source_(std::move(source)),
        made_(std::move(made)) {}
  const Shape& shape() const { return shape_; }

 private:
  friend class RecipeBook;
  friend class Replay;
  const Shape shape_;
  Source source_;
  HeldBytes held_;
  int steps_ = 0;  // executions back to the sources, at most
  // When the first of them began; InfiniteFuture: it is a source.
  absl::Time since_ = absl::InfiniteFuture();
  runtime::BufferPtr made_;  // set: the value is at home
  std::weak_ptr<RecipeHolder> holder_;
};

struct RecipeLimits {
  int max_steps;
  int64_t max_bytes;
  // A chain that began so long ago asks to be cut.
  absl::Duration max_replay = absl::Seconds(10);
};

// Makes recipes and follows them at home, a place that keeps what is made
// there: a value that is at home needs no recipe any more. Elsewhere they are
// followed by Replay. Thread-safe. Only AtHome takes long, and while it does
// nothing else here waits for it but another AtHome and the beginning of a
// Replay.
class RecipeBook {
 public:
  // `home` opens a part of a dataset at home, or says that it IsElsewhere.
  RecipeBook(Place home, RecipeLimits limits)
      : home_(std::move(home)), limits_(limits) {}

  RecipePtr OfHostValue(const Literal& value);
  RecipePtr OfDataset(const Shape& shape, DatasetPart part);
  // Returns the recipe of a value that is at home from the start.
  RecipePtr OfMade(runtime::BufferPtr made);

  struct Results {
    std::vector<RecipePtr> recipes;
    // The chain has many steps, or began long ago: fetch its values and give
    // them to Checkpoint.
    bool checkpoint = false;
  };
  // Returns the recipes of all results of an execution of `what` (a name for
  // messages). Beyond the limits they say kDataLoss.
  Results OfExecution(RecipeProgram program, absl::string_view what,
                      std::vector<RecipeArgument> arguments,
                      const Signature& signature);

  // The value has been seen: what led to it is not needed any more.
  void Checkpoint(const RecipePtr& recipe, const Literal& value);
  // The value is that part of a dataset that stays: what led to it is not
  // needed any more.
  void Root(const RecipePtr& recipe, DatasetPart part);

  // The one who is told when the value is made again.
  void SetHolder(const RecipePtr& recipe, std::weak_ptr<RecipeHolder> holder);

  // The value at home, computed if it is not there yet. Does not wait for
  // computations, but may compile. Errors: kDataLoss naming the value where a
  // recipe was dropped; whatever home says.
  // No caller's deadline applies: others may share what it makes.
  absl::StatusOr<runtime::BufferPtr> AtHome(const RecipePtr& recipe);
  // The same if it is there already, else null.
  runtime::BufferPtr Made(const RecipePtr& recipe);
  // The value itself where the recipe holds it.
  std::optional<Literal> HostValue(const RecipePtr& recipe);

  int64_t bytes_held() const { return *bytes_held_; }
  int64_t executions() const { return executions_; }  // at home

 private:
  friend class Replay;
  // Tells the holders of an execution's results.
  void Tell(const ExecutionRecipe& execution, const Place& place,
            absl::Span<const runtime::BufferPtr> results);
  // Makes `recipe` unless arguments are missing, which it pushes on `todo`.
  absl::Status Step(Recipe& recipe, std::vector<RecipePtr>* todo)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(following_);
  absl::Status Execute(ExecutionRecipe& execution)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(following_);
  int CountSteps(absl::Span<const RecipeArgument> arguments)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // OK, or why this many more are not kept.
  absl::Status CheckLimits(int steps, int64_t bytes) const;

  const Place home_;
  const RecipeLimits limits_;
  const HeldBytes::Counter bytes_held_ =
      std::make_shared<std::atomic<int64_t>>(0);
  std::atomic<int64_t> executions_{0};
  // Held while a recipe is followed, also during calls to home; taken
  // before mu_. Only its holder writes `made` and clears arguments.
  Mutex following_;
  Mutex mu_;  // the recipes' fields
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_RECIPES_RECIPE_H_
