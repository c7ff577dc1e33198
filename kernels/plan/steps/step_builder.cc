#include "kernels/plan/steps/step_builder.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/trip_count.h"

namespace hawser::plan {

std::string NameOf(const Module& module, const Instruction& instruction) {
  std::vector<absl::string_view> ops;
  if (instruction.op == &kFusion) {
    for (const Instruction& i :
         module.computation(instruction.called[0]).instructions()) {
      if (i.op != &kParameter) ops.push_back(i.op->name);
    }
  } else {
    ops.push_back(instruction.op->name);
  }
  return absl::StrCat("%", instruction.first_result, " (",
                      absl::StrJoin(ops, " "), ")");
}

absl::StatusOr<StepProgram> MakeSteps(const Plan& plan,
                                      RegionEmitter& emitter) {
  return StepBuilder(plan, emitter).Build();
}

absl::StatusOr<StepProgram> StepBuilder::Build() {
  const ComputationPlan& entry = plan_.entry();
  program_.signature = plan_.module.signature();
  Frame frame;
  int base = Slot::kFirstArgument;
  for (const Shape& shape : program_.signature.parameters) {
    frame.arguments.push_back({base++, 0, shape.byte_size()});
  }
  for (const Shape& shape : program_.signature.results) {
    frame.results.push_back({base++, 0, shape.byte_size()});
  }
  HAWSER_RETURN_IF_ERROR(
      AddComputation(entry.computation, frame, &program_.steps));
  DescribeResults();
  // Constants that leave are copied: a caller may keep them for ever.
  for (size_t r = 0; r < program_.results.size(); ++r) {
    const ValueId v = plan_.module.entry().results()[r];
    if (entry.buffers.values[v].kind != Place::kConstant) continue;
    AddCopy(frame.results[r], SlotOf(entry, frame, v), &program_.steps);
  }
  program_.donations = entry.buffers.donations;
  program_.arena_bytes = Aligned(entry.buffers.arena_bytes) + most_extra_;
  return std::move(program_);
}

void StepBuilder::DescribeResults() {
  const BufferPlan& buffers = plan_.entry().buffers;
  const auto results = plan_.module.entry().results();
  program_.results.resize(results.size());
  for (const int r : buffers.aliased_results) {
    const Place& place = buffers.values[results[r]];
    if (place.kind == Place::kArgument) {
      program_.results[r] = {ResultMemory::kArgument, place.index};
    } else if (place.kind == Place::kResult) {
      program_.results[r] = {ResultMemory::kResult, place.index};
    }
  }
}

// ---- memory -----------------------------------------------------------------

int64_t StepBuilder::Aligned(int64_t bytes) const {
  return (bytes + plan_.alignment - 1) / plan_.alignment * plan_.alignment;
}

Slot StepBuilder::ConstantSlot(int computation, int instruction) {
  const auto [entry, is_new] =
      constants_.try_emplace(std::make_pair(computation, instruction));
  if (is_new) {
    const Literal& value = plan_.module.computation(computation)
                               .instructions()[instruction]
                               .attributes.GetLiteral("value");
    const auto bytes = value.bytes();
    program_.constants.resize(Aligned(program_.constants.size()));
    entry->second = {Slot::kConstants,
                     static_cast<int64_t>(program_.constants.size()),
                     static_cast<int64_t>(bytes.size())};
    program_.constants.append(bytes.data(), bytes.size());
  }
  return entry->second;
}

Slot StepBuilder::SlotOf(const ComputationPlan& plan, const Frame& frame,
                         ValueId value) {
  const Place& place = plan.buffers.values[value];
  if (place.kind == Place::kArgument) return frame.arguments[place.index];
  if (place.kind == Place::kResult) return frame.results[place.index];
  if (place.kind == Place::kConstant) {
    return ConstantSlot(plan.computation, place.index);
  }
  return {Slot::kArena, frame.arena + place.offset, place.bytes};
}

Slot StepBuilder::ScratchSlot(const Site& site) const {
  const int64_t offset = site.plan.buffers.scratch[site.number];
  return {Slot::kArena, site.frame.arena + std::max<int64_t>(offset, 0),
          site.region.scratch_bytes};
}

Slot StepBuilder::TakeExtra(int64_t bytes) {
  const Slot slot{Slot::kArena,
                  Aligned(plan_.entry().buffers.arena_bytes) + extra_, bytes};
  extra_ += Aligned(bytes);
  most_extra_ = std::max(most_extra_, extra_);
  return slot;
}

void StepBuilder::AddCopy(const Slot& to, const Slot& from, Steps* steps) {
  if (to == from || to.bytes == 0) return;
  steps->push_back({CopyStep{to, from}});
}

// ---- instructions -----------------------------------------------------------

absl::Status StepBuilder::AddComputation(int computation, const Frame& frame,
                                         Steps* to,
                                         const std::vector<bool>& needed) {
  const ComputationPlan& planned = plan_.computations[computation];
  const Computation& c = plan_.module.computation(computation);
  for (int k = 0; k < static_cast<int>(planned.regions.size()); ++k) {
    if (!needed.empty() && !needed[k]) continue;
    const Site site{planned, c,    planned.regions[k], c.instructions()[k],
                    k,       frame};
    const absl::Status added = AddInstruction(site, to);
    if (!added.ok()) {
      return Annotate(added, NameOf(plan_.module, site.instruction));
    }
  }
  return absl::OkStatus();
}

absl::Status StepBuilder::AddInstruction(const Site& site, Steps* to) {
  switch (site.region.kind) {
    case RegionKind::kNone:
    case RegionKind::kConstant:
    case RegionKind::kView:
      return absl::OkStatus();
    case RegionKind::kControl:
      return AddControl(site, to);
    default:
      return emitter_.Add(site, *this, to);
  }
}

void StepBuilder::Note(const Site& site, absl::string_view what) {
  absl::StrAppend(&program_.explanation, site.computation.name(), " ",
                  NameOf(plan_.module, site.instruction), " ", what, "\n");
}

// ---- loops and branches: called computations in their callers' steps --------

absl::Status StepBuilder::AddControl(const Site& site, Steps* to) {
  const int64_t extra = extra_;
  const absl::Status added =
      site.instruction.op == &kWhile ? AddWhile(site, to) : AddCase(site, to);
  extra_ = extra;
  return added;
}

void StepBuilder::AddCopies(const ComputationPlan& planned, const Frame& frame,
                            Steps* to, const std::vector<bool>& needed) {
  const auto results = plan_.module.computation(planned.computation).results();
  for (const int r : planned.buffers.aliased_results) {
    if (!needed.empty() && !needed[r]) continue;
    AddCopy(frame.results[r], SlotOf(planned, frame, results[r]), to);
  }
}

absl::Status StepBuilder::AddWhile(const Site& site, Steps* to) {
  const Instruction& i = site.instruction;
  LoopStep loop{.trips = TripCount(plan_.module, site.plan.computation,
                                   site.number)};
  const LoopNeeds needs =
      NeedsOf(plan_, site.plan, site.region, /*runs_condition=*/!loop.trips);
  Frame frame{.arena = ScratchSlot(site).offset};
  for (int k = 0; k < static_cast<int>(i.operands.size()); ++k) {
    const bool is_state = k < i.num_results;
    frame.arguments.push_back(is_state ? ResultSlot(site, k)
                                       : OperandSlot(site, k));
    if (is_state && needs.states[k]) {
      AddCopy(ResultSlot(site, k), OperandSlot(site, k), to);
    }
  }
  if (!loop.trips) {
    Frame condition = frame;
    condition.results.push_back(TakeExtra(1));
    loop.predicate = condition.results[0];
    HAWSER_RETURN_IF_ERROR(
        AddComputation(i.called[0], condition, &loop.condition));
    AddCopies(plan_.computations[i.called[0]], condition, &loop.condition);
  }
  HAWSER_RETURN_IF_ERROR(AddBody(i.called[1], frame, needs, &loop.body));
  Note(site, loop.trips ? absl::StrCat("turns ", *loop.trips, " times")
                        : "turns as long as its condition holds");
  to->push_back({std::move(loop)});
  return absl::OkStatus();
}

absl::Status StepBuilder::AddBody(int body, const Frame& outside,
                                  const LoopNeeds& needs, Steps* to) {
  const ComputationPlan& planned = plan_.computations[body];
  const auto results = plan_.module.computation(body).results();
  const BufferPlan& buffers = planned.buffers;
  Frame frame = outside;
  // A result goes straight into the state where that is read no more, else
  // next to it.
  std::vector<bool> in_place(results.size(), false);
  for (const Donation& d : buffers.donations) {
    if (d.argument == d.result) in_place[d.result] = true;
  }
  for (size_t r = 0; r < results.size(); ++r) {
    const Slot& state = outside.arguments[r];
    const Place& place = buffers.values[results[r]];
    const bool stays =
        place.kind == Place::kArgument && place.index == static_cast<int>(r);
    const bool apart = needs.states[r] && !in_place[r] && !stays;
    frame.results.push_back(apart ? TakeExtra(state.bytes) : state);
  }
  HAWSER_RETURN_IF_ERROR(AddComputation(body, frame, to, needs.instructions));
  // First all that reads a state, then all that writes one.
  AddCopies(planned, frame, to, needs.states);
  for (size_t r = 0; r < results.size(); ++r) {
    if (!needs.states[r]) continue;
    AddCopy(outside.arguments[r], frame.results[r], to);
  }
  return absl::OkStatus();
}

absl::Status StepBuilder::AddCase(const Site& site, Steps* to) {
  const Instruction& i = site.instruction;
  Frame frame{.arena = ScratchSlot(site).offset};
  for (int k = 1; k < static_cast<int>(i.operands.size()); ++k) {
    frame.arguments.push_back(OperandSlot(site, k));
  }
  for (int r = 0; r < i.num_results; ++r) {
    frame.results.push_back(ResultSlot(site, r));
  }
  if (i.called.size() == 1) {
    HAWSER_RETURN_IF_ERROR(AddComputation(i.called[0], frame, to));
    AddCopies(plan_.computations[i.called[0]], frame, to);
    Note(site, "runs its only branch");
    return absl::OkStatus();
  }
  CaseStep choice{.index = OperandSlot(site, 0)};
  choice.branches.resize(i.called.size());
  for (size_t b = 0; b < i.called.size(); ++b) {
    HAWSER_RETURN_IF_ERROR(
        AddComputation(i.called[b], frame, &choice.branches[b]));
    AddCopies(plan_.computations[i.called[b]], frame, &choice.branches[b]);
  }
  Note(site, "runs the branch of its number");
  to->push_back({std::move(choice)});
  return absl::OkStatus();
}

}  // namespace hawser::plan
