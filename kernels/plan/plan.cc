#include "kernels/plan/plan.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/status.h"
#include "core/base/trace/trace.h"
#include "core/ops/contraction/control.h"
#include "core/ops/formulas/wide_sums.h"
#include "core/ops/scatters/sorted_scatters.h"
#include "core/ops/windows/convolution.h"
#include "kernels/plan/fusion/dot_layout.h"
#include "kernels/plan/fusion/emit.h"
#include "kernels/plan/fusion/fuse.h"
#include "kernels/plan/library/library_forms.h"
#include "kernels/plan/loops/unrolled.h"
#include "kernels/plan/loops/unrolled_folds.h"
#include "kernels/plan/region/block_layout.h"
#include "kernels/plan/region/node_table.h"
#include "kernels/plan/selection/selections.h"
#include "kernels/plan/tiling/tiling.h"

namespace hawser::plan {
namespace {

constexpr int kMostTilings = 4;

// The computations an engine steps through: the entry, and what control flow
// in one of them calls.
std::vector<bool> SteppedThrough(const Module& module) {
  std::vector<bool> stepped(module.computations().size(), false);
  if (stepped.empty()) return stepped;
  stepped.back() = true;
  for (size_t c = stepped.size(); c-- > 0;) {
    if (!stepped[c]) continue;
    for (const Instruction& i : module.computation(c).instructions()) {
      if (i.called.empty() || NodeOf(*i.op).node != NodeClass::kControl) {
        continue;
      }
      for (const int callee : i.called) stepped[callee] = true;
    }
  }
  return stepped;
}

absl::StatusOr<int> CopyComputation(const Computation& from,
                                    absl::Span<const int> called,
                                    Module* module) {
  Computation to(from.name());
  for (const Instruction& i : from.instructions()) {
    absl::InlinedVector<int, 2> calls;
    for (const int c : i.called) calls.push_back(called[c]);
    HAWSER_RETURN_IF_ERROR(
        to.Append(*module, *i.op, i.operands, i.attributes, calls));
  }
  HAWSER_RETURN_IF_ERROR(to.SetResults(from.results()));
  return module->Add(std::move(to));
}

// Called computations run one after another: their arenas share the space.
int64_t ScratchOf(const Plan& plan, const Instruction& i,
                  const Region& region) {
  int64_t bytes = region.scratch_bytes;
  for (const int c : i.called) {
    bytes = std::max(bytes, plan.computations[c].buffers.arena_bytes);
  }
  return bytes;
}

// `of_body`: by computation, the region of the fusions that call it, or
// nullptr: a region is a function of what its fusion calls.
absl::StatusOr<ComputationPlan> PlanComputation(
    const Plan& plan, int index, const Target& target,
    std::vector<Regions::Ptr>* of_body) {
  const Computation& c = plan.module.computation(index);
  ComputationPlan result{.computation = index};
  const size_t size = c.instructions().size();
  std::vector<int64_t> scratch;
  scratch.reserve(size);
  result.regions.Reserve(size);
  for (size_t k = 0; k < size; ++k) {
    const Instruction& i = c.instructions()[k];
    Regions::Ptr alone;
    Regions::Ptr& region = i.op == &kFusion ? (*of_body)[i.called[0]] : alone;
    if (region == nullptr) {
      HAWSER_ASSIGN_OR_RETURN(
          Region lowered,
          LowerRegion(plan.module, index, static_cast<int>(k), target));
      region = std::make_shared<const Region>(std::move(lowered));
    }
    scratch.push_back(ScratchOf(plan, i, *region));
    result.regions.Add(region);
  }
  result.wanted = FindWanted(c, result.regions);
  result.buffers = PlanBuffers(c, result.regions, scratch, target);
  return result;
}

// The module in the form that regions are made of; nullopt: it is already.
absl::StatusOr<std::optional<Module>> Prepared(const Module& original,
                                               const Target& target) {
  std::optional<Module> held;
  const auto now = [&]() -> const Module& { return held ? *held : original; };
  HAWSER_ASSIGN_OR_RETURN(held, Unrolled(original, target));
  HAWSER_ASSIGN_OR_RETURN(auto folds, UnrolledFolds(now(), target));
  if (folds) held = std::move(folds);
  const int last = static_cast<int>(now().computations().size()) - 1;
  if (ScattersHalves(now(), last)) {
    HAWSER_ASSIGN_OR_RETURN(held, WithWideScatters(now()));
  }
  const auto skips = [&](const Computation& c, const Instruction& i) {
    return WayOfScatter(now(), c, i, target) != ScatterWay::kOwners;
  };
  if (HasLongScatters(now(), target.sorted_scatters, skips)) {
    HAWSER_ASSIGN_OR_RETURN(
        held, WithSortedScatters(now(), target.sorted_scatters, skips));
  }
  HAWSER_ASSIGN_OR_RETURN(auto selected, WithSelections(now(), target));
  if (selected) held = std::move(selected);
  if (target.takes_call && HasLibraryOps(now())) {
    HAWSER_ASSIGN_OR_RETURN(held, WithLibraryCalls(now(), target));
  }
  if (!target.convolutions && HasConvolutions(now())) {
    HAWSER_ASSIGN_OR_RETURN(held, WithoutConvolutions(now()));
  }
  // A tile that is still large is tiled along another axis.
  for (int n = 0; n < kMostTilings; ++n) {
    HAWSER_ASSIGN_OR_RETURN(std::optional<Module> tiled,
                            Tiled(now(), SteppedThrough(now()), target));
    if (!tiled) break;
    held = std::move(tiled);
  }
  if (MayLayOut(now(), target)) {
    HAWSER_ASSIGN_OR_RETURN(held, LayOutProducts(now(), target));
  }
  return held;
}

}  // namespace

absl::StatusOr<Module> FuseModule(const Module& original,
                                  const Target& target) {
  const TraceSpan span("compile", "fuse");
  HAWSER_ASSIGN_OR_RETURN(const std::optional<Module> prepared,
                          Prepared(original, target));
  const Module& module = prepared ? *prepared : original;
  Module fused(module.name());
  FusedBodies bodies(&fused);
  const std::vector<bool> stepped = SteppedThrough(module);
  std::vector<int> called(module.computations().size(), -1);
  for (size_t c = 0; c < called.size(); ++c) {
    const Computation& from = module.computation(static_cast<int>(c));
    if (stepped[c]) {
      HAWSER_ASSIGN_OR_RETURN(
          called[c],
          EmitGroups(FuseComputation(from, target), called, &bodies));
    } else {
      HAWSER_ASSIGN_OR_RETURN(called[c], CopyComputation(from, called, &fused));
    }
  }
  return fused;
}

absl::StatusOr<Plan> PlanFused(Module fused, const Target& target) {
  const TraceSpan span("compile", "plan");
  Plan plan{.module = std::move(fused), .alignment = target.alignment};
  const std::vector<bool> stepped = SteppedThrough(plan.module);
  plan.computations.resize(stepped.size());
  std::vector<Regions::Ptr> of_body(stepped.size());
  for (size_t c = 0; c < stepped.size(); ++c) {
    if (!stepped[c]) continue;
    HAWSER_ASSIGN_OR_RETURN(
        plan.computations[c],
        PlanComputation(plan, static_cast<int>(c), target, &of_body));
  }
  return plan;
}

absl::StatusOr<Plan> MakePlan(const Module& module, const Target& target) {
  HAWSER_ASSIGN_OR_RETURN(Module fused, FuseModule(module, target));
  return PlanFused(std::move(fused), target);
}

PlanCost CostOf(const ComputationPlan& plan, const Target& target) {
  PlanCost cost;
  for (const Region& r : plan.regions) {
    cost.launches += r.launches;
    cost.bytes += r.bytes_read + r.bytes_written;
    const double memory = static_cast<double>(r.bytes_read + r.bytes_written) /
                          target.bytes_per_second;
    cost.seconds +=
        r.launches * target.launch_seconds + std::max(memory, r.lane_seconds);
  }
  return cost;
}

}  // namespace hawser::plan
