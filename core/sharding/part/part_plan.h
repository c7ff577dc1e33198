// PartPlan: the instructions and boxes that boxes of a computation's results
// are made of.
#ifndef HAWSER_CORE_SHARDING_PART_PART_PLAN_H_
#define HAWSER_CORE_SHARDING_PART_PART_PLAN_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ir/module.h"
#include "core/ops/expression.h"
#include "core/ops/part/part.h"
#include "core/sharding/part/module_copy.h"
#include "core/sharding/part/part_module.h"

namespace hawser {

// The answer of an instruction's part rule, or of its stated choice to be
// whole, to boxes of its results: PartContext's words. A constant asks nothing.
struct PartAnswer {
  std::vector<MaybeBox> asks, gives;
  MakePart make;  // empty: the same instruction
};
// `instruction` is one of that computation. wanted: one per result, none of
// them without elements. Errors: kInternal, an op without a part rule.
absl::StatusOr<PartAnswer> AskPart(const Module& module,
                                   const Computation& computation,
                                   const Instruction& instruction,
                                   absl::Span<const MaybeBox> wanted);

// One walk from the results back finds, by the part rule of each op, the boxes
// of every value that its users ask for. A box that several users ask for is
// computed once. Boxes of a value are joined to one if they share half of their
// elements, if there are more than three, or if, in a computed value, they have
// as many elements as their hull. The computation's module outlives the plan.
class PartPlan {
 public:
  // gives: of the computation's results.
  static absl::StatusOr<PartPlan> Make(const Module& module, int computation,
                                       absl::Span<const Piece> gives);

  // For each parameter, the boxes that are taken, none without elements.
  const std::vector<std::vector<Box>>& takes() const { return takes_; }

  struct Building {
    ExpressionScope& scope;
    ModuleCopy& copy;  // into the scope's module
    // Takes a box of takes() of a parameter, or one that holds it; which it is
    // goes into `of`.
    absl::FunctionRef<Expression(int parameter, const Box& box, Box* of)> take;
    // The same as PartScope::offset.
    absl::FunctionRef<Expression(int64_t)> offset;
  };
  // Adds the part's instructions, and fills `results`: one for each piece that
  // is given.
  absl::Status Build(const Building& building,
                     absl::Span<Expression> results) const;

 private:
  // One instruction for boxes of its results.
  struct Step {
    const Instruction* instruction;
    PartAnswer answer;
  };
  class Values;
  using Asked = std::vector<std::vector<Box>>;  // of each value

  PartPlan(const Module& module, const Computation& computation,
           absl::Span<const Piece> gives)
      : module_(&module),
        computation_(&computation),
        gives_(gives.begin(), gives.end()) {}
  absl::Status Walk();
  absl::Status AddStep(const Instruction& instruction,
                       absl::Span<const MaybeBox> wanted, Asked& asked);
  absl::Status RunStep(const Step& step, const Building& building,
                       Values& values) const;

  const Module* module_;
  const Computation* computation_;
  std::vector<Piece> gives_;
  std::vector<std::vector<Box>> takes_;
  std::vector<Step> steps_;  // from the last to the first
};

// Returns, in one box for each parameter, what boxes of the results need of it.
absl::StatusOr<std::vector<MaybeBox>> AsksOf(const Module& module,
                                             int computation,
                                             absl::Span<const MaybeBox> gives);

// Adds that part to `copy`'s module as a computation: its parameters are
// `takes`, of each parameter that has one; its results are `gives`, of each
// result that has one. Returns its number. The boxes in `takes` hold what
// PartPlan asks for.
absl::StatusOr<int> AddPart(const Module& module, int computation,
                            absl::Span<const MaybeBox> takes,
                            absl::Span<const MaybeBox> gives, ModuleCopy& copy);

}  // namespace hawser
#endif  // HAWSER_CORE_SHARDING_PART_PART_PLAN_H_
