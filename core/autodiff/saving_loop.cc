#include "core/autodiff/saving_loop.h"

#include <limits>
#include <string>
#include <utility>

#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "core/ops/inlined.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"

namespace hawser::autodiff {
namespace {

// Finds the states that some result of a pull-back is computed from: as what an
// iteration begins with, its first parameters, or as what it ends with, its
// last ones.
std::vector<bool> NeededStates(const Computation& c, int states,
                               absl::Span<const int> known) {
  std::vector<bool> needed(c.num_values(), false);
  for (const ValueId v : c.results()) needed[v] = true;
  for (size_t k = c.instructions().size(); k-- > 0;) {
    const Instruction& i = c.instructions()[k];
    bool any = false;
    for (int r = 0; r < i.num_results; ++r) {
      any = any || needed[i.first_result + r];
    }
    if (!any) continue;
    for (const ValueId v : i.operands) needed[v] = true;
  }
  const int first_known = c.num_parameters() - static_cast<int>(known.size());
  for (size_t k = 0; k < known.size(); ++k) {
    if (needed[first_known + k]) needed[known[k]] = true;
  }
  needed.resize(states);
  return needed;
}

// The parameters of the loop's computations: its states, how many iterations
// there were, the stacks, and what stays the same.
class Frame {
 public:
  Frame(const Instruction& loop, const Computation& body,
        std::vector<Shape> stacks)
      : states_(loop.num_results), stacks_(std::move(stacks)) {
    for (int k = 0; k < body.num_parameters(); ++k) {
      shapes_.push_back(body.shape(k));
    }
  }

  struct Parameters {
    std::vector<ValueId> own;  // those of the loop's own computations
    ValueId turn = kNoValue;
    std::vector<ValueId> stacks;  // of each state that is kept
  };
  Parameters AddTo(ComputationBuilder& b) const {
    Parameters p;
    const auto add = [&](const Shape& shape) {
      return b.Parameter(shape, SourceLocation{});
    };
    for (int k = 0; k < states_; ++k) p.own.push_back(add(shapes_[k]));
    p.turn = add(Shape::Scalar(DType::kS32));
    for (const Shape& shape : stacks_) p.stacks.push_back(add(shape));
    for (size_t k = states_; k < shapes_.size(); ++k) {
      p.own.push_back(add(shapes_[k]));
    }
    return p;
  }

 private:
  const int states_;
  const std::vector<Shape> stacks_;
  std::vector<Shape> shapes_;
};

absl::StatusOr<int> AddCondition(const Frame& frame, const Computation& from,
                                 Module* module) {
  ComputationBuilder b(module, std::string(from.name()));
  const Frame::Parameters p = frame.AddTo(b);
  return b.Finish(Inlined(from, p.own, &b));
}

// The stack, whose entry `at` is that state.
Expression WithEntry(const Expression& stack, const Expression& at,
                     const Expression& state) {
  Dims dims = state.dims();
  dims.insert(dims.begin(), 1);
  std::vector<Expression> operands = {stack, Reshaped(state, dims), at};
  operands.resize(operands.size() + state.rank(), Like(at, 0));
  return Apply(kDynamicUpdateSlice, operands);
}

// `kept`: the states that have stacks.
absl::StatusOr<int> AddBody(const Frame& frame, const Computation& from,
                            absl::Span<const int> kept, Module* module) {
  ComputationBuilder b(module, std::string(from.name()));
  Monoids monoids;
  ExpressionScope scope{b, monoids};
  const Frame::Parameters p = frame.AddTo(b);
  std::vector<ValueId> results = Inlined(from, p.own, &b);
  const Expression turn(&scope, p.turn);
  results.push_back((turn + 1).value());
  for (size_t k = 0; k < kept.size(); ++k) {
    results.push_back(WithEntry(Expression(&scope, p.stacks[k]), turn,
                                Expression(&scope, p.own[kept[k]]))
                          .value());
  }
  return b.Finish(results);
}

}  // namespace

absl::StatusOr<SavingLoop> AddSavingLoop(const Instruction& loop, int64_t turns,
                                         absl::Span<const ValueId> operands,
                                         const LoopRecord& record,
                                         ComputationBuilder* builder) {
  Module* const module = builder->module();
  // It is copied since the module may move its computations.
  const Computation condition = module->computation(loop.called[0]);
  const Computation body = module->computation(loop.called[1]);
  const std::vector<bool> needed =
      NeededStates(module->computation(record.pull_back), loop.num_results,
                   record.known);
  std::vector<int> kept;
  std::vector<Shape> stacks;
  for (int k = 0; k < loop.num_results; ++k) {
    if (!needed[k] || turns == 0) continue;
    Dims dims = body.shape(k).dims();
    dims.insert(dims.begin(), turns + 1);
    const auto shape = Shape::Make(body.shape(k).dtype(), dims);
    if (!shape.ok() || turns >= std::numeric_limits<int32_t>::max()) {
      return Unimplemented("the gradient of ", turns,
                           " turns, whose states are too many to keep");
    }
    kept.push_back(k);
    stacks.push_back(*shape);
  }
  const Frame frame(loop, body, stacks);
  HAWSER_ASSIGN_OR_RETURN(const int new_condition,
                          AddCondition(frame, condition, module));
  HAWSER_ASSIGN_OR_RETURN(const int new_body,
                          AddBody(frame, body, kept, module));
  Monoids monoids;
  ExpressionScope scope{*builder, monoids};
  std::vector<ValueId> given(operands.begin(),
                             operands.begin() + loop.num_results);
  given.push_back(
      Filled(&scope, Shape::Scalar(DType::kS32), 0).value());
  for (const Shape& shape : stacks) {
    given.push_back(Filled(&scope, shape, 0).value());
  }
  given.insert(given.end(), operands.begin() + loop.num_results,
               operands.end());
  SavingLoop saving;
  saving.first_result =
      builder->Add(kWhile, given, loop.attributes, {new_condition, new_body},
                   SourceLocation{});
  saving.stacks.assign(loop.num_results, kNoValue);
  const ValueId first_stack = saving.first_result + loop.num_results + 1;
  const Expression end(&scope, saving.first_result + loop.num_results);
  for (size_t k = 0; k < kept.size(); ++k) {
    const Expression stack(&scope, first_stack + static_cast<int>(k));
    saving.stacks[kept[k]] =
        WithEntry(stack, end,
                  Expression(&scope, saving.first_result + kept[k]))
            .value();
  }
  return saving;
}

}  // namespace hawser::autodiff
