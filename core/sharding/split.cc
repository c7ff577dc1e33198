#include "core/sharding/split.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/base/status.h"
#include "core/ops/part/split.h"
#include "core/sharding/part/module_copy.h"

namespace hawser {
namespace {

// A new module's entry, grown along that of another one.
class Rewriting {
 public:
  explicit Rewriting(const Module& from)
      : from_(from),
        module_(from.name()),
        copy_(from, &module_),
        builder_(&module_, from.entry().name()),
        scope_{builder_, copy_.monoids()},
        values_(from.entry().num_values(), kNoValue) {
    for (int i = 0; i < from.entry().num_parameters(); ++i) {
      values_[i] = AddParameter(from.entry().shape(i));
    }
  }

  ExpressionScope& scope() { return scope_; }
  ValueId AddParameter(const Shape& shape) {
    return builder_.Parameter(shape, SourceLocation{});
  }
  // Users of `value` take `by` from here on.
  void Replace(ValueId value, ValueId by) { values_[value] = by; }
  ValueId Of(ValueId value) const { return values_[value]; }

  absl::StatusOr<std::vector<int>> CalledBy(const Instruction& instruction) {
    std::vector<int> called;
    for (int callee : instruction.called) {
      HAWSER_ASSIGN_OR_RETURN(called.emplace_back(), copy_.Of(callee));
    }
    return called;
  }
  absl::Status Copy(const Instruction& instruction) {
    HAWSER_ASSIGN_OR_RETURN(const auto called, CalledBy(instruction));
    std::vector<ValueId> operands;
    for (ValueId operand : instruction.operands) {
      operands.push_back(values_[operand]);
    }
    const ValueId first =
        builder_.Add(*instruction.op, operands, instruction.attributes, called,
                     SourceLocation{});
    for (int k = 0; k < instruction.num_results; ++k) {
      Replace(instruction.first_result + k, first + k);
    }
    return builder_.status();
  }
  absl::StatusOr<Module> Finish(absl::Span<const ValueId> results) && {
    HAWSER_RETURN_IF_ERROR(builder_.Finish(results).status());
    return std::move(module_);
  }

 private:
  const Module& from_;
  Module module_;
  ModuleCopy copy_;
  ComputationBuilder builder_;
  ExpressionScope scope_;
  std::vector<ValueId> values_;  // of each value the one there
};

// One of the cells, the product of the parts of all axes, in row-major order.
std::vector<Partial::Of> CellOf(const Cuts& cuts,
                                const Cuts::Contraction& contraction,
                                int64_t number) {
  std::vector<Partial::Of> cell(contraction.axes.size());
  for (size_t i = cell.size(); i-- > 0;) {
    const int axis_class = contraction.axes[i].axis_class;
    const int parts = cuts.axis_class(axis_class).parts();
    cell[i] = {axis_class, static_cast<int>(number % parts)};
    number /= parts;
  }
  return cell;
}

// False: its op's rule does not split it.
absl::StatusOr<bool> SplitOne(const Module& module, const Cuts& cuts,
                              const Cuts::Contraction& contraction,
                              Rewriting& to, std::vector<Partial>& partials) {
  const Computation& entry = module.entry();
  const Instruction& instruction =
      entry.instructions()[contraction.instruction];
  std::vector<Expression> operands;
  std::vector<Box> whole;
  for (ValueId operand : instruction.operands) {
    operands.emplace_back(&to.scope(), to.Of(operand));
    whole.push_back(WholeBox(entry.shape(operand)));
  }
  std::vector<std::vector<Box>> cells;
  for (int64_t i = 0; i < contraction.cells; ++i) {
    const auto cell = CellOf(cuts, contraction, i);
    std::vector<Box>& boxes = cells.emplace_back(whole);
    for (size_t a = 0; a < cell.size(); ++a) {
      for (size_t n = 0; n < boxes.size(); ++n) {
        const int axis = contraction.axes[a].axes[n];
        if (axis < 0) continue;
        boxes[n][axis] = cuts.axis_class(cell[a].axis_class).part(cell[a].part);
      }
    }
  }
  HAWSER_ASSIGN_OR_RETURN(const auto called, to.CalledBy(instruction));
  std::vector<std::vector<Expression>> made(cells.size());
  std::vector<Expression> results(instruction.num_results);
  SplitContext context{.scope = to.scope(),
                       .instruction = instruction,
                       .operands = operands,
                       .called = called,
                       .cells = cells,
                       .partials = absl::MakeSpan(made),
                       .results = absl::MakeSpan(results)};
  HAWSER_RETURN_IF_ERROR(instruction.op->split(context));
  HAWSER_RETURN_IF_ERROR(to.scope().builder.status());
  if (!results[0].present()) return false;
  for (int k = 0; k < instruction.num_results; ++k) {
    to.Replace(instruction.first_result + k, results[k].value());
  }
  for (size_t i = 0; i < made.size(); ++i) {
    for (const Expression& x : made[i]) {
      partials.push_back(
          {.value = x.value(),
           .whole = instruction.first_result,
           .of = CellOf(cuts, contraction, static_cast<int64_t>(i)),
           .cells = static_cast<int>(made.size())});
    }
  }
  return true;
}

}  // namespace

absl::StatusOr<SplitModule> Split(const Module& module, const Cuts& cuts) {
  const Computation& entry = module.entry();
  const std::vector<Cuts::Contraction> contractions = cuts.Contractions();
  Rewriting to(module);
  std::vector<Partial> partials;
  auto next = contractions.begin();
  for (int i = 0; i < static_cast<int>(entry.instructions().size()); ++i) {
    const Instruction& instruction = entry.instructions()[i];
    if (instruction.op == &kParameter) continue;
    bool split = false;
    if (next != contractions.end() && next->instruction == i) {
      HAWSER_ASSIGN_OR_RETURN(split,
                              SplitOne(module, cuts, *next++, to, partials));
    }
    if (!split) HAWSER_RETURN_IF_ERROR(to.Copy(instruction));
  }
  std::vector<ValueId> results;
  for (ValueId value : entry.results()) results.push_back(to.Of(value));
  HAWSER_ASSIGN_OR_RETURN(Module made, std::move(to).Finish(results));
  return SplitModule{std::move(made), std::move(partials)};
}

absl::StatusOr<Module> Staged(const SplitModule& split) {
  const Computation& entry = split.module.entry();
  Rewriting to(split.module);
  absl::flat_hash_map<ValueId, ValueId> parameters;
  for (const Partial& partial : split.partials) {
    parameters[partial.value] = to.AddParameter(entry.shape(partial.value));
  }
  absl::flat_hash_map<ValueId, ValueId> made;
  for (const Instruction& instruction : entry.instructions()) {
    if (instruction.op == &kParameter) continue;
    HAWSER_RETURN_IF_ERROR(to.Copy(instruction));
    for (int k = 0; k < instruction.num_results; ++k) {
      const ValueId value = instruction.first_result + k;
      const auto at = parameters.find(value);
      if (at == parameters.end()) continue;
      made[value] = to.Of(value);
      to.Replace(value, at->second);
    }
  }
  std::vector<ValueId> results;
  for (ValueId value : entry.results()) results.push_back(to.Of(value));
  for (const Partial& partial : split.partials) {
    results.push_back(made[partial.value]);
  }
  return std::move(to).Finish(results);
}

}  // namespace hawser
