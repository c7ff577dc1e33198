#include "kernels/cpu/tiles/tile_builder.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "core/base/status.h"
#include "core/ops/contraction/reduce.h"
#include "kernels/cpu/folds/tiles/fold_of.h"

namespace hawser::cpu {

using plan::Point;
using plan::PointId;
using When = PointShapes::When;

absl::StatusOr<TileProgram> TileBuilder::Build() {
  const plan::Region& region = points_.region();
  program_.lane_loops = points_.lanes();
  program_.way = points_.way();
  program_.num_loops = static_cast<int>(region.loops.extents.size());
  program_.num_symbols = static_cast<int>(region.symbols.size());
  HAWSER_RETURN_IF_ERROR(FindReductions());
  Points once, before;
  for (size_t n = 0; n < points_.size(); ++n) {
    const auto id = static_cast<PointId>(n);
    if (points_.when(id) == When::kOnce) once.push_back(id);
    if (points_.when(id) == When::kBefore) before.push_back(id);
  }
  slots_.BeginList(/*lasts=*/true);
  HAWSER_RETURN_IF_ERROR(steps_.AddPoints(once, &slots_.once()));
  slots_.BeginList(/*lasts=*/false);
  HAWSER_RETURN_IF_ERROR(steps_.AddPoints(before, &program_.before));
  program_.passes.resize(region.stages);
  for (int s = 0; s < region.stages; ++s) HAWSER_RETURN_IF_ERROR(AddPass(s));
  program_.once = std::move(slots_.once());
  program_.num_scopes = slots_.num_scopes();
  return std::move(program_);
}

// ---- passes -----------------------------------------------------------------

TileBuilder::Points TileBuilder::Closure(const Points& roots) const {
  std::vector<bool> wanted(points_.size(), false);
  for (const PointId root : roots) wanted[root] = true;
  Points points, needed;
  // Operands come first.
  for (size_t n = wanted.size(); n-- > 0;) {
    const auto id = static_cast<PointId>(n);
    if (!wanted[n] || points_.when(id) != When::kTile ||
        slots_.Has(id, points_.shape(id))) {
      continue;
    }
    points.push_back(id);
    needed.clear();
    absl::c_copy(steps_.chains().OperandsOf(id), std::back_inserter(needed));
    points_.shapes().AddNeeded(id, &needed);
    for (const PointId other : needed) wanted[other] = true;
  }
  std::reverse(points.begin(), points.end());
  return points;
}

absl::Status TileBuilder::AddPass(int stage) {
  TileProgram::Pass& pass = program_.passes[stage];
  for (size_t r = 0; r < reductions_.size(); ++r) {
    if (points_.point(reductions_[r].any).stage == stage) {
      pass.reductions.push_back(static_cast<int>(r));
    }
  }
  HAWSER_RETURN_IF_ERROR(AddTile(stage, &pass));
  return AddAfter(stage, &pass);
}

absl::Status TileBuilder::AddTile(int stage, TileProgram::Pass* pass) {
  Points roots;
  for (const int r : pass->reductions) {
    for (const PointId input : InputsOf(r)) {
      if (!points_.InPlace(input).has_value()) roots.push_back(input);
    }
  }
  const std::vector<int> stores =
      IsLast(stage) ? StoresOf(/*per_result=*/false) : std::vector<int>();
  for (const int k : stores) roots.push_back(points_.region().results[k]);
  if (!resident_) slots_.ForgetTiles();
  slots_.BeginList(/*lasts=*/false);
  // Of the passes that rows stay for, the first waits for memory alone.
  steps_.chains().set_prefetches(resident_ && IsLast(stage) && stage > 0);
  HAWSER_RETURN_IF_ERROR(steps_.AddPoints(Closure(roots), &pass->tile));
  steps_.chains().set_prefetches(false);
  for (const int r : pass->reductions) AddFold(r, &pass->tile);
  AddStores(stores, &pass->tile);
  return absl::OkStatus();
}

absl::Status TileBuilder::AddAfter(int stage, TileProgram::Pass* pass) {
  slots_.BeginList(/*lasts=*/false);
  for (const int r : pass->reductions) {
    FinishReduction(r, &pass->after);
    for (const PointId id : reductions_[r].of_result) {
      if (id < 0) continue;
      HAWSER_RETURN_IF_ERROR(steps_.AddSymbols(id, &pass->after));
    }
  }
  Points after;
  for (size_t n = 0; n < points_.size(); ++n) {
    const auto id = static_cast<PointId>(n);
    const Point& p = points_.point(id);
    if (points_.when(id) == When::kAfter && p.kind != Point::kReduce &&
        p.stage == stage + 1) {
      after.push_back(id);
    }
  }
  HAWSER_RETURN_IF_ERROR(steps_.AddPoints(after, &pass->after));
  if (IsLast(stage)) AddStores(StoresOf(/*per_result=*/true), &pass->after);
  return absl::OkStatus();
}

// ---- reductions -------------------------------------------------------------

absl::Status TileBuilder::FindReductions() {
  for (size_t n = 0; n < points_.size(); ++n) {
    const auto id = static_cast<PointId>(n);
    const Point& p = points_.point(id);
    if (p.kind != Point::kReduce) continue;
    const auto known = absl::c_find_if(reductions_, [&](const ResultPoints& r) {
      return points_.point(r.any).instruction == p.instruction;
    });
    if (known != reductions_.end()) {
      known->of_result[p.result] = id;
      continue;
    }
    HAWSER_ASSIGN_OR_RETURN(auto fold,
                            FoldOf(points_.module(), points_.region(), id,
                                   points_.shapes(), points_.options()));
    program_.lane_steps += fold->lane_steps();
    program_.reductions.push_back({.fold = std::move(fold)});
    ResultPoints& points = reductions_.emplace_back();
    points.any = id;
    points.of_result.resize(points_.instruction(id).num_results, -1);
    points.of_result[p.result] = id;
  }
  return absl::OkStatus();
}

absl::Span<const PointId> TileBuilder::InputsOf(size_t reduction) const {
  const PointId id = reductions_[reduction].any;
  const auto& operands = points_.point(id).operands;
  const bool from_values = points_.instruction(id).op == &kReduce;
  return absl::MakeSpan(operands).subspan(from_values ? operands.size() / 2
                                                      : 0);
}

void TileBuilder::AddFold(size_t reduction, TileSteps* to) {
  std::vector<FoldInput> inputs;
  slots_.plan().BeginStep();
  for (const PointId id : InputsOf(reduction)) {
    // Slots that other points read too are in the nearest cache.
    const bool there = slots_.Has(id, LaneShape::kFull);
    const auto in_place = there ? std::nullopt : points_.InPlace(id);
    inputs.push_back(in_place.has_value()
                         ? *in_place
                         : FoldInput(slots_.As(id, LaneShape::kFull, to)));
  }
  for (const FoldInput& input : inputs) {
    if (input.slot() >= 0) slots_.plan().Use(input.slot());
  }
  to->push_back(std::make_unique<FoldStep>(static_cast<int>(reduction),
                                           *program_.reductions[reduction].fold,
                                           points_.way(), std::move(inputs)));
}

void TileBuilder::FinishReduction(size_t number, TileSteps* to) {
  const ResultPoints& points = reductions_[number];
  TileReduction& reduction = program_.reductions[number];
  const size_t inputs = InputsOf(number).size();
  const auto& operands = points_.point(points.any).operands;
  slots_.plan().BeginStep();
  for (size_t k = 0; k + inputs < operands.size(); ++k) {
    reduction.initial.push_back(slots_.As(operands[k], LaneShape::kOne, to));
  }
  for (const LaneSlot& slot : reduction.initial) slots_.plan().Use(slot.slot);
  for (const PointId id : points.of_result) {
    reduction.results.push_back(id < 0 ? LaneSlot()
                                       : slots_.Define(id, /*over=*/false));
  }
}

// ---- results ----------------------------------------------------------------

std::vector<int> TileBuilder::StoresOf(bool per_result) const {
  const plan::Region& region = points_.region();
  const bool folds = HasFolds(region);
  std::vector<int> results;
  for (size_t k = 0; k < region.results.size(); ++k) {
    const PointId id = region.results[k];
    const int64_t elements = points_.array(id).num_elements();
    // A result may have no elements beside a fold of nothing, whose kept loops
    // do iterate.
    if (elements == 0) continue;
    const When when = points_.when(id);
    bool all_loops = !folds || (when != When::kBefore && when != When::kAfter);
    if (folds && when == When::kOnce) {
      int64_t kept = 1;
      for (int d = 0; d < region.num_kept; ++d) kept *= region.domain[d];
      all_loops = elements != kept;
    }
    if (all_loops != per_result) results.push_back(static_cast<int>(k));
  }
  return results;
}

LaneShape TileBuilder::ShapeOfResults() const {
  switch (points_.way()) {
    case FoldWay::kRows:
      return LaneShape::kRows;
    case FoldWay::kColumns:
      return LaneShape::kColumns;
    case FoldWay::kTiles:
      break;
  }
  return LaneShape::kFull;
}

void TileBuilder::AddStores(const std::vector<int>& results, TileSteps* to) {
  const plan::Region& region = points_.region();
  const bool tiles = to == &program_.passes.back().tile;
  const LaneShape shape = tiles ? LaneShape::kFull : ShapeOfResults();
  std::vector<LaneSlot> slots;
  for (const int k : results) {
    slots_.plan().BeginStep();
    slots.push_back(slots_.As(region.results[k], shape, to));
  }
  slots_.plan().BeginStep();
  for (const LaneSlot& slot : slots) slots_.plan().Use(slot.slot);
  const bool folds = tiles && !program_.passes.back().reductions.empty();
  for (size_t n = 0; n < results.size(); ++n) {
    const int k = results[n];
    const LaneSlot from = slots[n];
    const auto access = absl::c_find_if(
        region.accesses,
        [&](const plan::MemoryAccess& a) { return a.result == k; });
    const int64_t bytes = points_.array(region.results[k]).byte_size();
    auto store = std::make_unique<StoreStep>(
        k, slots_.LanesOf(access->offset), from, points_.MovesOf(from),
        points_.options().is_read_again ? 0 : bytes);
    // The step that makes a result may store it directly, maybe over an
    // operand, if nothing reads that any more.
    OutputSlot* const output = slots_.OutputOf(from.slot);
    if (output != nullptr && !folds && slots_.MayStoreEarly(from.slot, k)) {
      output->StoredBy(store.get());
      if (!HasFolds(region) && store->HasDestinations()) {
        slots_.plan().IsElsewhere(from.slot);
      }
    }
    to->push_back(std::move(store));
  }
}

}  // namespace hawser::cpu
