#include "core/sharding/split.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/base/status.h"
#include "core/ops/part/split.h"
#include "core/sharding/part/module_copy.h"

namespace hawser {
namespace {

// Multiplications that take as long as to send an element: 4 bytes at 2.5 GB/s,
// and 40 of them in a nanosecond.
constexpr int64_t kWorkToSend = 64;
// Values that are sent since they would be computed again.
constexpr int kMostRepeated = 64;
// The work that a loop is taken to do.
constexpr int64_t kVeryMuch = int64_t{1} << 50;

// About how many operations on elements an instruction of the entry does.
int64_t WorkOf(const Module& module, const Instruction& instruction) {
  if (instruction.operands.empty()) return 0;
  if (instruction.op->Is(kControlFlow)) return kVeryMuch;
  int64_t work = 1;
  const AxisMap map = AxesOf(module, module.entry(), instruction);
  for (const AxisMap::Factor& factor : map.factors) {
    if (factor.kind != AxisKind::kParallel &&
        factor.kind != AxisKind::kContracted) {
      continue;
    }
    if (factor.size == 0) return 0;
    work = work > kVeryMuch / factor.size ? kVeryMuch : work * factor.size;
  }
  return work;
}

// A new module's entry, grown along that of another one.
class Rewriting {
 public:
  explicit Rewriting(const Module& from)
      : module_(from.name()),
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

std::vector<int> StagesOf(const Computation& entry,
                          absl::Span<const Partial> partials) {
  std::vector<int> stage(entry.num_values(), 0);
  std::vector<int> exchanges(entry.num_values(), 0);
  for (const Partial& partial : partials) exchanges[partial.value] = 1;
  for (const Instruction& instruction : entry.instructions()) {
    int own = 0;
    for (ValueId operand : instruction.operands) {
      own = std::max(own, stage[operand] + exchanges[operand]);
    }
    for (int k = 0; k < instruction.num_results; ++k) {
      stage[instruction.first_result + k] = own;
    }
  }
  return stage;
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
  std::vector<ValueId> whole;
  for (ValueId value = 0; value < entry.num_values(); ++value) {
    whole.resize(std::max<size_t>(whole.size(), to.Of(value) + 1), kNoValue);
    whole[to.Of(value)] = value;
  }
  HAWSER_ASSIGN_OR_RETURN(Module made, std::move(to).Finish(results));
  whole.resize(made.entry().num_values(), kNoValue);
  std::vector<int> stage = StagesOf(made.entry(), partials);
  return SplitModule{std::move(made), std::move(partials), std::move(whole),
                     std::move(stage)};
}

void AddRepeated(SplitModule& split) {
  const Computation& entry = split.module.entry();
  const std::vector<int>& stage = split.stage;
  // `last` is the stage of each value's last user, `work` the most that any one
  // instruction does of those that make the value from arguments and values
  // between tasks.
  std::vector<int> last = stage;
  std::vector<int64_t> work(entry.num_values(), 0);
  std::vector<bool> between(entry.num_values(), false);
  for (const Partial& partial : split.partials) between[partial.value] = true;
  for (const Instruction& instruction : entry.instructions()) {
    for (ValueId operand : instruction.operands) {
      last[operand] = std::max(last[operand], stage[instruction.first_result]);
    }
  }
  int most = kMostRepeated;
  for (const Instruction& instruction : entry.instructions()) {
    int64_t own = WorkOf(split.module, instruction);
    for (ValueId operand : instruction.operands) {
      if (!between[operand]) own = std::max(own, work[operand]);
    }
    for (int k = 0; k < instruction.num_results; ++k) {
      const ValueId value = instruction.first_result + k;
      work[value] = own;
      const bool again = last[value] > stage[value] && !between[value] &&
                         split.whole[value] != kNoValue;
      if (!again || own / kWorkToSend <= entry.shape(value).num_elements() ||
          most-- <= 0) {
        continue;
      }
      between[value] = true;
      split.partials.push_back({value, split.whole[value], {}, 1});
    }
  }
}

absl::StatusOr<Module> Staged(const SplitModule& split) {
  const Computation& entry = split.module.entry();
  Rewriting to(split.module);
  struct Between {
    ValueId parameter;
    ValueId made = kNoValue;
  };
  absl::flat_hash_map<ValueId, Between> between;
  for (const Partial& partial : split.partials) {
    between[partial.value].parameter =
        to.AddParameter(entry.shape(partial.value));
  }
  for (const Instruction& instruction : entry.instructions()) {
    if (instruction.op == &kParameter) continue;
    const int stage = split.stage[instruction.first_result];
    for (ValueId operand : instruction.operands) {
      const auto at = between.find(operand);
      if (at == between.end()) continue;
      const bool later = stage > split.stage[operand];
      to.Replace(operand, later ? at->second.parameter : at->second.made);
    }
    HAWSER_RETURN_IF_ERROR(to.Copy(instruction));
    for (int k = 0; k < instruction.num_results; ++k) {
      const auto at = between.find(instruction.first_result + k);
      if (at != between.end()) at->second.made = to.Of(at->first);
    }
  }
  std::vector<ValueId> results;
  const auto give = [&](ValueId value) {
    const auto at = between.find(value);
    results.push_back(at == between.end() ? to.Of(value) : at->second.made);
  };
  for (ValueId value : entry.results()) give(value);
  for (const Partial& partial : split.partials) give(partial.value);
  return std::move(to).Finish(results);
}

}  // namespace hawser
