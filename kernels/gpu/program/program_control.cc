// Loops and branches of a program: called computations laid into the steps of
// their callers.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ops/contraction/control.h"
#include "kernels/gpu/program/program_builder.h"
#include "kernels/gpu/program/trip_count.h"

namespace hawser::gpu {

using plan::Place;

absl::Status ProgramBuilder::AddControl(const Site& site, Steps* to) {
  const int64_t extra = extra_;
  const absl::Status added =
      site.instruction.op == &kWhile ? AddWhile(site, to) : AddCase(site, to);
  extra_ = extra;
  return added;
}

// Results that are other values' bytes, put where they belong.
void ProgramBuilder::AddCopies(const plan::ComputationPlan& planned,
                               const Frame& frame, Steps* to) {
  const auto results = plan_.module.computation(planned.computation).results();
  for (const int r : planned.buffers.aliased_results) {
    AddCopy(frame.results[r], SlotOf(planned, frame, results[r]), to);
  }
}

absl::Status ProgramBuilder::AddWhile(const Site& site, Steps* to) {
  const Instruction& i = site.instruction;
  Frame frame{.arena = CalleeArena(site)};
  for (int k = 0; k < static_cast<int>(i.operands.size()); ++k) {
    const bool is_state = k < i.num_results;
    frame.arguments.push_back(is_state ? ResultSlot(site, k)
                                       : OperandSlot(site, k));
    if (is_state) AddCopy(ResultSlot(site, k), OperandSlot(site, k), to);
  }
  LoopStep loop{.trips = TripCount(plan_.module, site.region.computation,
                                   site.region.instruction)};
  if (!loop.trips) {
    Frame condition = frame;
    condition.results.push_back(TakeExtra(1));
    loop.predicate = condition.results[0];
    HAWSER_RETURN_IF_ERROR(
        AddComputation(i.called[0], condition, &loop.condition));
    AddCopies(plan_.computations[i.called[0]], condition, &loop.condition);
  }
  HAWSER_RETURN_IF_ERROR(AddBody(i.called[1], frame, frame.arena, &loop.body));
  Note(site, loop.trips ? absl::StrCat("turns ", *loop.trips, " times")
                        : "turns as long as its condition holds");
  to->push_back({std::move(loop)});
  return absl::OkStatus();
}

absl::Status ProgramBuilder::AddBody(int body, const Frame& outside,
                                     int64_t arena, Steps* to) {
  const plan::ComputationPlan& planned = plan_.computations[body];
  const auto results = plan_.module.computation(body).results();
  const plan::BufferPlan& buffers = planned.buffers;
  Frame frame = outside;
  // A result goes straight into the state where that is read no more, else
  // next to it.
  std::vector<bool> in_place(results.size(), false);
  for (const plan::Donation& d : buffers.donations) {
    if (d.argument == d.result) in_place[d.result] = true;
  }
  for (size_t r = 0; r < results.size(); ++r) {
    const Slot& state = outside.arguments[r];
    const bool stays = buffers.values[results[r]].kind == Place::kArgument &&
                       buffers.values[results[r]].index == static_cast<int>(r);
    frame.results.push_back(in_place[r] || stays ? state
                                                 : TakeExtra(state.bytes));
  }
  HAWSER_RETURN_IF_ERROR(AddComputation(body, frame, to));
  // First all that reads a state, then all that writes one.
  AddCopies(planned, frame, to);
  for (size_t r = 0; r < results.size(); ++r) {
    AddCopy(outside.arguments[r], frame.results[r], to);
  }
  return absl::OkStatus();
}

absl::Status ProgramBuilder::AddCase(const Site& site, Steps* to) {
  const Instruction& i = site.instruction;
  Frame frame{.arena = CalleeArena(site)};
  for (int k = 1; k < static_cast<int>(i.operands.size()); ++k) {
    frame.arguments.push_back(OperandSlot(site, k));
  }
  for (int r = 0; r < i.num_results; ++r) {
    frame.results.push_back(ResultSlot(site, r));
  }
  CaseStep choice{.index = OperandSlot(site, 0)};
  choice.branches.resize(i.called.size());
  const int64_t extra = extra_;
  for (size_t b = 0; b < i.called.size(); ++b) {
    extra_ = extra;
    HAWSER_RETURN_IF_ERROR(
        AddComputation(i.called[b], frame, &choice.branches[b]));
    AddCopies(plan_.computations[i.called[b]], frame, &choice.branches[b]);
  }
  Note(site, "reads its branch's number on the host");
  to->push_back({std::move(choice)});
  return absl::OkStatus();
}

int64_t CountQueued(const Steps& steps) {
  int64_t count = 0;
  for (const Step& step : steps) {
    if (const auto* loop = std::get_if<LoopStep>(&step.work)) {
      const int64_t turn =
          CountQueued(loop->condition) + CountQueued(loop->body);
      const int64_t trips =
          std::min(loop->trips.value_or(1), 2 * kMaxQueuedSteps);
      count += turn * trips;
    } else if (const auto* choice = std::get_if<CaseStep>(&step.work)) {
      int64_t most = 0;
      for (const Steps& branch : choice->branches) {
        most = std::max(most, CountQueued(branch));
      }
      count += most;
    } else {
      ++count;
    }
    count = std::min(count, 2 * kMaxQueuedSteps);
  }
  return count;
}

bool MustBlock(const Steps& steps) {
  if (CountQueued(steps) > kMaxQueuedSteps) return true;
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    const auto* loop = std::get_if<LoopStep>(&step.work);
    if (loop != nullptr) return !loop->trips || MustBlock(loop->body);
    return std::holds_alternative<HostStep>(step.work) ||
           std::holds_alternative<CaseStep>(step.work);
  });
}

}  // namespace hawser::gpu
