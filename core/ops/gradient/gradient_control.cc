// Gradients of loops and branches.
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "core/base/status.h"
#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/formulas/wide_sums.h"
#include "core/ops/gradient/gradient.h"
#include "core/ops/inlined.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"

namespace hawser {
namespace {

using Expressions = std::vector<Expression>;

// The loop backwards. Its state: the iteration, the cotangents of the states
// (those of record.seeded), and the sums of those of what stays the same. These
// stay the same in it: the stacks that there are, and what stays the same in
// the loop.
class BackwardLoop {
 public:
  explicit BackwardLoop(GradientContext& c)
      : c_(c), record_(*c.loop), states_(static_cast<int>(c.results.size())) {}

  // One for each of record.wanted.
  absl::StatusOr<Expressions> Run() {
    Expressions operands = {Filled(&c_.scope, Shape::Scalar(DType::kS32),
                                   static_cast<double>(record_.turns - 1))};
    for (const int k : record_.seeded) {
      const Expression given = c_.cotangents[k].present()
                                   ? c_.cotangents[k]
                                   : Like(c_.results[k], 0);
      const bool is_kept = absl::c_linear_search(record_.kept, k);
      operands.push_back(is_kept ? ConvertTo(given, SumDType(given.dtype()))
                                 : given);
    }
    for (const int k : record_.summed) {
      const Expression so_far = c_.so_far(k);
      const Shape shape = c_.operands[k].shape();
      operands.push_back(
          so_far.present()
              ? so_far
              : Filled(&c_.scope, shape.WithDType(SumDType(shape.dtype())), 0));
    }
    const int64_t varying = static_cast<int64_t>(operands.size());
    for (const Expression& stack : record_.states) {
      if (stack.present()) operands.push_back(stack);
    }
    for (size_t k = states_; k < c_.operands.size(); ++k) {
      operands.push_back(c_.operands[k]);
    }
    std::vector<Shape> shapes;
    for (const Expression& x : operands) shapes.push_back(x.shape());
    HAWSER_ASSIGN_OR_RETURN(const int condition, AddCondition(shapes));
    HAWSER_ASSIGN_OR_RETURN(const int body, AddBody(shapes));
    const auto same = static_cast<int64_t>(operands.size()) - varying;
    Attributes attributes;
    if (same > 0) attributes.Set("num_invariant", same);
    const Expression first =
        Apply(kWhile, operands, std::move(attributes), {condition, body});
    Expressions wanted;
    for (int64_t k = 1; k < varying; ++k) {
      wanted.push_back(ResultOf(first, static_cast<int>(k)));
    }
    return wanted;
  }

 private:
  absl::StatusOr<int> AddCondition(const std::vector<Shape>& shapes) {
    ComputationBuilder b(c_.scope.builder.module(), "back");
    ExpressionScope scope{b, c_.scope.monoids};
    const Expression turn = Parameters(shapes, &scope)[0];
    return b.Finish(
        {Compare(turn, CompareDirection::kGe, Like(turn, 0)).value()});
  }

  absl::StatusOr<int> AddBody(const std::vector<Shape>& shapes) {
    Module* const module = c_.scope.builder.module();
    // It is copied since the module may move its computations.
    const Computation pull_back = module->computation(record_.pull_back);
    ComputationBuilder b(module, "back");
    ExpressionScope scope{b, c_.scope.monoids};
    const Expressions p = Parameters(shapes, &scope);
    const Expression& turn = p[0];
    const size_t varying = 1 + record_.seeded.size() + record_.summed.size();
    size_t next = varying;
    Expressions stacks(states_);
    for (int k = 0; k < states_; ++k) {
      if (record_.states[k].present()) stacks[k] = p[next++];
    }
    // A state that is not kept is not looked at.
    const auto state = [&](int k, const Expression& at) {
      return (stacks[k].present() ? EntryOf(stacks[k], at)
                                  : Filled(&scope, c_.results[k].shape(), 0))
          .value();
    };
    std::vector<ValueId> arguments;
    for (int k = 0; k < states_; ++k) arguments.push_back(state(k, turn));
    for (; next < p.size(); ++next) arguments.push_back(p[next].value());
    for (size_t k = 1; k < varying; ++k) arguments.push_back(p[k].value());
    for (const int k : record_.known) arguments.push_back(state(k, turn + 1));
    const std::vector<ValueId> given = Inlined(pull_back, arguments, &b);
    std::vector<ValueId> results = {(turn - 1).value()};
    results.insert(results.end(), given.begin(), given.end());
    return b.Finish(results);
  }

  static Expressions Parameters(const std::vector<Shape>& shapes,
                                ExpressionScope* scope) {
    Expressions all;
    for (const Shape& shape : shapes) {
      all.emplace_back(scope,
                       scope->builder.Parameter(shape, SourceLocation{}));
    }
    return all;
  }

  // Entry `at` of axis 0.
  static Expression EntryOf(const Expression& stack, const Expression& at) {
    Expressions operands = {stack, at};
    operands.resize(1 + stack.rank(), Like(at, 0));
    Dims sizes = stack.dims();
    sizes[0] = 1;
    const Expression entry =
        Apply(kDynamicSlice, operands, {{"slice_sizes", sizes}});
    sizes.erase(sizes.begin());
    return Reshaped(entry, sizes);
  }

  GradientContext& c_;
  const LoopRecord& record_;
  const int states_;
};

}  // namespace

// Iterations backwards, each from what it began with. Errors: kUnimplemented
// where only a run can say how many there are.
absl::Status WhileGradient(GradientContext& c) {
  if (c.loop == nullptr) {
    return Unimplemented(
        "the gradient of a loop whose turns only a run can count");
  }
  if (c.loop->turns == 0) {
    for (const int k : c.loop->seeded) {
      c.Give(k, [&] { return c.cotangents[k]; });
    }
    return absl::OkStatus();
  }
  HAWSER_ASSIGN_OR_RETURN(const Expressions cotangents, BackwardLoop(c).Run());
  for (size_t k = 0; k < c.loop->wanted.size(); ++k) {
    const int operand = c.loop->wanted[k];
    if (operand < static_cast<int>(c.results.size())) {
      c.Give(operand, [&] {
        return ConvertTo(cotangents[k], c.operands[operand].dtype());
      });
    } else {
      c.GiveOnto(operand, [&](const Expression&) { return cotangents[k]; });
    }
  }
  return absl::OkStatus();
}

namespace {

// The inputs and outputs that a pull-back is asked for, numbered without the
// first `first` operands.
struct Asked {
  std::vector<int> wanted, seeded;
  Expressions cotangents;  // of those seeded
};
Asked AskedOf(const GradientContext& c, size_t first) {
  Asked asked;
  for (size_t i = first; i < c.operands.size(); ++i) {
    if (c.wanted[i]) asked.wanted.push_back(static_cast<int>(i - first));
  }
  for (size_t k = 0; k < c.cotangents.size(); ++k) {
    if (!c.cotangents[k].present()) continue;
    asked.seeded.push_back(static_cast<int>(k));
    asked.cotangents.push_back(c.cotangents[k]);
  }
  return asked;
}

// The pull-backs of `called` as branches, which compute again what they need of
// it: what is in a branch is not shared with what is around it.
absl::Status ByBranches(GradientContext& c, const Expression& index,
                        size_t first) {
  const Asked asked = AskedOf(c, first);
  Expressions operands = {index};
  operands.insert(operands.end(), c.operands.begin() + first, c.operands.end());
  operands.insert(operands.end(), asked.cotangents.begin(),
                  asked.cotangents.end());
  std::vector<int> branches;
  for (const int called : c.instruction.called) {
    HAWSER_ASSIGN_OR_RETURN(branches.emplace_back(),
                            c.pull_back(called, asked.wanted, asked.seeded));
  }
  const Expression results = Apply(kCase, operands, {}, branches);
  for (size_t i = 0; i < asked.wanted.size(); ++i) {
    c.operand_cotangents[asked.wanted[i] + first] =
        ResultOf(results, static_cast<int>(i));
  }
  return absl::OkStatus();
}

// Uses the pull-back that the call brings along.
void ByOwnPullBack(GradientContext& c) {
  Expressions operands;
  for (size_t k = 0; k < c.results.size(); ++k) {
    if (!IsContinuous(c.results[k].dtype())) continue;
    operands.push_back(c.cotangents[k].present() ? c.cotangents[k]
                                                 : Like(c.results[k], 0));
  }
  operands.insert(operands.end(), c.operands.begin(), c.operands.end());
  const int back = c.instruction.called[1];
  const Expression first = Apply(kCall, operands, {}, {&back, 1});
  int next = 0;
  for (size_t i = 0; i < c.operands.size(); ++i) {
    if (!IsContinuous(c.operands[i].dtype())) continue;
    const int result = next++;
    if (c.wanted[i]) c.operand_cotangents[i] = ResultOf(first, result);
  }
}

}  // namespace

// The same choice between the pull-backs of the branches.
absl::Status CaseGradient(GradientContext& c) {
  return ByBranches(c, c.operands[0], 1);
}

absl::Status CallGradient(GradientContext& c) {
  if (c.instruction.called.size() == 1) {
    return ByBranches(c, Filled(&c.scope, Shape::Scalar(DType::kS32), 0), 0);
  }
  ByOwnPullBack(c);
  return absl::OkStatus();
}

}  // namespace hawser
