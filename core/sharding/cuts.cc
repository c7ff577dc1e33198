#include "core/sharding/cuts.h"

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/sharding/probes/axis_cutter.h"
#include "core/sharding/probes/axis_probe.h"

namespace hawser {
namespace {

using From = AxisClass::From;

// Finds the instructions that the results need.
std::vector<bool> NeededBy(const Computation& computation) {
  std::vector<bool> needed(computation.instructions().size(), false);
  for (ValueId value : computation.results()) {
    needed[computation.producer(value)] = true;
  }
  for (size_t i = needed.size(); i-- > 0;) {
    if (!needed[i]) continue;
    for (ValueId value : computation.instructions()[i].operands) {
      needed[computation.producer(value)] = true;
    }
  }
  return needed;
}

}  // namespace

AxisMap AxesOf(const Module& module, const Computation& computation,
               const Instruction& instruction) {
  std::vector<Shape> operands, results;
  std::vector<const Signature*> called;
  for (ValueId operand : instruction.operands) {
    operands.push_back(computation.shape(operand));
  }
  for (int k = 0; k < instruction.num_results; ++k) {
    results.push_back(computation.shape(instruction.first_result + k));
  }
  for (int callee : instruction.called) {
    called.push_back(&module.signature(callee));
  }
  return instruction.op->axes(
      {*instruction.op, operands, instruction.attributes, called}, results);
}

absl::StatusOr<Cuts> Cuts::Make(const Module& module, const ShardSpec& spec,
                                int64_t neighbours) {
  HAWSER_RETURN_IF_ERROR(CheckShardSpec(spec, module.signature()));
  Cuts cuts(module);
  cuts.NumberAxes();
  cuts.JoinAxes(spec.contracted != ShardSpec::Contracted::kWhole);
  cuts.CutNamedAxes(spec);
  cuts.CutEveryIndex(spec, neighbours);
  HAWSER_RETURN_IF_ERROR(cuts.Derive());
  return cuts;
}

int Cuts::ClassOf(ValueId value, int axis) const {
  return class_of_axis_[first_axis_[value] + axis];
}

int Cuts::ClassOf(ValueId value, const AxisCut& cut) const {
  const int rank = module_->entry().shape(value).rank();
  return ClassOf(value, cut.axis < 0 ? cut.axis + rank : cut.axis);
}

bool Cuts::CutAtEveryIndex() const {
  return std::any_of(classes_.begin(), classes_.end(),
                     [](const AxisClass& one) {
                       return one.from == From::kEvery && one.parts() > 1;
                     });
}

std::vector<Cuts::Contraction> Cuts::Contractions() const {
  const Computation& entry = module_->entry();
  const std::vector<bool> needed = NeededBy(entry);
  std::vector<Contraction> found;
  for (int i = 0; i < static_cast<int>(needed.size()); ++i) {
    const Instruction& instruction = entry.instructions()[i];
    if (!needed[i] || instruction.op->split == nullptr) continue;
    const AxisMap map = AxesOf(*module_, entry, instruction);
    Contraction one{.instruction = i, .axes = {}, .cells = 1};
    for (int f = 0; f < static_cast<int>(map.factors.size()); ++f) {
      const AxisKind kind = map.factors[f].kind;
      if (kind != AxisKind::kContracted && kind != AxisKind::kIndexed) continue;
      Contraction::Axis axis{.axis_class = -1, .axes = {}};
      for (size_t n = 0; n < map.operands.size(); ++n) {
        const auto& axes = map.operands[n];
        const auto at = std::find(axes.begin(), axes.end(), f);
        const bool here = at != axes.end();
        axis.axes.push_back(here ? static_cast<int>(at - axes.begin()) : -1);
        if (!here) continue;
        axis.axis_class = ClassOf(instruction.operands[n], axis.axes.back());
      }
      if (axis.axis_class < 0) continue;
      const AxisClass& cut = classes_[axis.axis_class];
      if (cut.parts() < 2 || !cut.named) continue;
      one.cells = std::min(one.cells * cut.parts(), int64_t{1} << 30);
      one.axes.push_back(std::move(axis));
    }
    if (!one.axes.empty()) found.push_back(std::move(one));
  }
  return found;
}

const Instruction* Cuts::EndOf(int axis_class,
                               const std::vector<bool>& split) const {
  const Computation& entry = module_->entry();
  std::vector<bool> reached(classes_.size(), false);
  reached[axis_class] = true;
  const auto reaches = [&](ValueId value) {
    for (int axis = 0; axis < entry.shape(value).rank(); ++axis) {
      if (reached[ClassOf(value, axis)]) return true;
    }
    return false;
  };
  const std::vector<bool> needed = NeededBy(entry);
  const Instruction* end = nullptr;
  for (size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    const Instruction& instruction = entry.instructions()[i];
    bool comes = false, goes = false;
    for (ValueId operand : instruction.operands) {
      comes = comes || reaches(operand);
    }
    if (!comes) continue;
    for (int k = 0; k < instruction.num_results; ++k) {
      const ValueId value = instruction.first_result + k;
      for (int axis = 0; axis < entry.shape(value).rank(); ++axis) {
        const int number = ClassOf(value, axis);
        if (classes_[number].from == From::kDerived) reached[number] = true;
      }
      goes = goes || reaches(value);
    }
    if (!goes) end = &instruction;
  }
  for (int i = 0; i < num_classes(); ++i) {
    if (reached[i] && split[i]) return nullptr;
  }
  for (ValueId value : entry.results()) {
    if (reaches(value)) return nullptr;
  }
  return end;
}

// ---- classes --------------------------------------------------------------

void Cuts::NumberAxes() {
  const Computation& entry = module_->entry();
  int axes = 0;
  for (ValueId value = 0; value < entry.num_values(); ++value) {
    first_axis_.push_back(axes);
    axes += entry.shape(value).rank();
  }
  parents_.resize(axes);
  for (int axis = 0; axis < axes; ++axis) parents_[axis] = axis;
}

int Cuts::FindRoot(int axis) {
  while (parents_[axis] != axis) {
    axis = parents_[axis] = parents_[parents_[axis]];
  }
  return axis;
}

void Cuts::JoinAxes(bool contracted) {
  const Computation& entry = module_->entry();
  for (const Instruction& instruction : entry.instructions()) {
    if (instruction.operands.empty()) continue;
    const AxisMap map = AxesOf(*module_, entry, instruction);
    std::vector<int> first(map.factors.size(), -1);
    const auto join = [&](const AxisMap::Axes& axes, ValueId value) {
      for (size_t i = 0; i < axes.size(); ++i) {
        const AxisKind kind = map.factors[axes[i]].kind;
        if (kind != AxisKind::kParallel &&
            (kind != AxisKind::kContracted || !contracted)) {
          continue;
        }
        const int axis = first_axis_[value] + static_cast<int>(i);
        int& other = first[axes[i]];
        if (other < 0) other = axis;
        parents_[FindRoot(axis)] = FindRoot(other);
      }
    };
    for (size_t i = 0; i < map.operands.size(); ++i) {
      join(map.operands[i], instruction.operands[i]);
    }
    for (int k = 0; k < instruction.num_results; ++k) {
      join(map.results[k], instruction.first_result + k);
    }
  }
  class_of_axis_.assign(parents_.size(), -1);
  for (ValueId value = 0; value < entry.num_values(); ++value) {
    for (int i = 0; i < entry.shape(value).rank(); ++i) {
      const int axis = first_axis_[value] + i;
      int& number = class_of_axis_[FindRoot(axis)];
      if (number < 0) {
        number = num_classes();
        classes_.emplace_back().size = entry.shape(value).dim(i);
      }
      class_of_axis_[axis] = number;
    }
  }
}

// ---- cuts -----------------------------------------------------------------

void Cuts::CutNamedAxes(const ShardSpec& spec) {
  const Computation& entry = module_->entry();
  const auto cut = [&](const AxisCut& wanted, ValueId value) {
    AxisClass& one = classes_[ClassOf(value, wanted)];
    std::vector<int64_t> merged;
    const std::vector<int64_t> own = BoundariesOf(wanted, one.size);
    std::set_union(one.boundaries.begin(), one.boundaries.end(), own.begin(),
                   own.end(), std::back_inserter(merged));
    one.boundaries = std::move(merged);
    one.from = From::kNamed;
    one.named = true;
  };
  for (const AxisCut& wanted : spec.parameters) {
    if (wanted.kind != AxisCut::Kind::kEveryIndex) cut(wanted, wanted.value);
  }
  for (const AxisCut& wanted : spec.results) {
    if (wanted.kind != AxisCut::Kind::kEveryIndex) {
      cut(wanted, entry.results()[wanted.value]);
    }
  }
}

void Cuts::CutEveryIndex(const ShardSpec& spec, int64_t neighbours) {
  const Computation& entry = module_->entry();
  const auto cut = [&](int number, bool named) {
    AxisClass& one = classes_[number];
    if (one.from != From::kNothing) return;
    one.from = From::kEvery;
    one.named = named;
    // No class has more parts than there may be tasks.
    const int64_t least = (one.size + spec.max_tasks - 1) / spec.max_tasks;
    const int64_t step = std::max(neighbours, least);
    for (int64_t at = step; at < one.size; at += step) {
      one.boundaries.push_back(at);
    }
  };
  for (const AxisCut& wanted : spec.parameters) {
    if (wanted.kind != AxisCut::Kind::kEveryIndex) continue;
    cut(ClassOf(wanted.value, wanted), /*named=*/true);
  }
  for (const AxisCut& wanted : spec.results) {
    if (wanted.kind != AxisCut::Kind::kEveryIndex) continue;
    cut(ClassOf(entry.results()[wanted.value], wanted), /*named=*/true);
  }
  if (spec.unnamed != ShardSpec::Unnamed::kEveryIndex) return;
  for (int i = 0; i < entry.num_parameters(); ++i) {
    for (int axis = 0; axis < entry.shape(i).rank(); ++axis) {
      cut(ClassOf(i, axis), /*named=*/false);
    }
  }
}

absl::Status Cuts::Derive() {
  for (const Instruction& instruction : module_->entry().instructions()) {
    if (instruction.operands.empty() ||
        instruction.op->part.kind != PartDef::kRule) {
      continue;
    }
    for (int k = 0; k < instruction.num_results; ++k) {
      const ValueId value = instruction.first_result + k;
      const Shape& shape = module_->entry().shape(value);
      for (int axis = 0; axis < shape.rank(); ++axis) {
        const AxisClass& one = classes_[ClassOf(value, axis)];
        if (one.from != From::kNothing || one.size < 2) continue;
        HAWSER_RETURN_IF_ERROR(DeriveAxis(instruction, k, axis));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status Cuts::DeriveAxis(const Instruction& instruction, int result,
                              int axis) {
  const AxisProbe probe(*module_, instruction, result, axis);
  HAWSER_ASSIGN_OR_RETURN(const auto first, probe.Ask({0, 1}));
  HAWSER_ASSIGN_OR_RETURN(const auto last,
                          probe.Ask({probe.size() - 1, probe.size()}));
  std::vector<AnsweringAxis> answering;
  std::vector<bool> named;  // of each
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    const ValueId operand = instruction.operands[i];
    const int rank = module_->entry().shape(operand).rank();
    for (int a = 0; a < rank; ++a) {
      const AxisClass& one = classes_[ClassOf(operand, a)];
      const int number = static_cast<int>(i);
      const bool answers = !first[i].has_value() || !last[i].has_value() ||
                           (*first[i])[a] != (*last[i])[a];
      if (one.parts() > 1 && answers) {
        answering.push_back({number, a, one.boundaries});
        named.push_back(one.named);
      }
    }
  }
  AxisClass& cut = classes_[ClassOf(instruction.first_result + result, axis)];
  // All of them, else the first one: where axes are merged, the major one.
  for (; !answering.empty(); answering.resize(answering.size() > 1 ? 1 : 0)) {
    HAWSER_ASSIGN_OR_RETURN(auto boundaries, CutToAnswer(probe, answering));
    if (!boundaries.has_value()) continue;
    cut.boundaries = *std::move(boundaries);
    cut.from = From::kDerived;
    cut.named =
        std::count(named.begin(), named.begin() + answering.size(), true) > 0;
    return absl::OkStatus();
  }
  return absl::OkStatus();
}

}  // namespace hawser
