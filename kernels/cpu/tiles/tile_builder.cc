#include "kernels/cpu/tiles/tile_builder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/reduce.h"
#include "kernels/cpu/tiles/fold_of.h"

namespace hawser::cpu {
namespace {

using plan::Point;
using plan::PointId;
using plan::Region;
using plan::RegionKind;
using plan::ScopeId;
using When = PointShapes::When;

bool FoldsColumns(const Region& region) {
  return region.kind == RegionKind::kColumnReduction;
}

}  // namespace

TileBuilder::TileBuilder(const Module& module, const Region& region,
                         bool resident, const TileOptions& options)
    : module_(module),
      region_(region),
      body_(module.computation(region.body)),
      columns_(FoldsColumns(region)),
      resident_(resident),
      options_(options),
      lanes_(ChooseLaneLoops(region, columns_)),
      shapes_(region, lanes_, columns_, options.boxes),
      slots_of_(kShapes * region.points.size()),
      scopes_(kShapes * region.scopes.size(), -1),
      symbol_slots_(region.symbols.size(), -1),
      uses_(UsesOf(region)),
      is_stored_(StoredPoints(region)) {
  if (FindChains(sizeof(float), options.isa) == nullptr) return;
  for (const auto& [id, rotate] : FindRotates(module, region, uses_)) {
    if (shapes_.when(id) != When::kTile ||
        shapes_.shape(id) == LaneShape::kOne) {
      continue;
    }
    rotates_.emplace(id, rotate);
    --uses_[rotate.operands[0]];  // one link's, no longer both shifts'
  }
}

absl::StatusOr<TileProgram> TileBuilder::Build() {
  program_.lane_loops = lanes_;
  program_.columns = columns_;
  program_.num_loops = static_cast<int>(region_.loops.extents.size());
  program_.num_symbols = static_cast<int>(region_.symbols.size());
  HAWSER_RETURN_IF_ERROR(FindReductions());
  Points once, before;
  for (size_t n = 0; n < region_.points.size(); ++n) {
    const auto id = static_cast<PointId>(n);
    if (shapes_.when(id) == When::kOnce) once.push_back(id);
    if (shapes_.when(id) == When::kBefore) before.push_back(id);
  }
  slots_.BeginList(/*lasts=*/true);
  HAWSER_RETURN_IF_ERROR(AddPoints(once, &program_.once));
  slots_.BeginList(/*lasts=*/false);
  ForgetScopes();
  HAWSER_RETURN_IF_ERROR(AddPoints(before, &program_.before));
  program_.passes.resize(region_.stages);
  for (int s = 0; s < region_.stages; ++s) HAWSER_RETURN_IF_ERROR(AddPass(s));
  return std::move(program_);
}

absl::Status TileBuilder::FindReductions() {
  for (size_t n = 0; n < region_.points.size(); ++n) {
    const auto id = static_cast<PointId>(n);
    const Point& p = region_.points[n];
    if (p.kind != Point::kReduce) continue;
    const auto known =
        absl::c_find_if(reduction_points_, [&](const ResultPoints& r) {
          return region_.points[r.any].instruction == p.instruction;
        });
    if (known != reduction_points_.end()) {
      known->of_result[p.result] = id;
      continue;
    }
    HAWSER_ASSIGN_OR_RETURN(auto fold,
                            FoldOf(module_, region_, id, shapes_, options_));
    program_.lane_steps += fold->lane_steps();
    program_.reductions.push_back({.fold = std::move(fold)});
    ResultPoints& points = reduction_points_.emplace_back();
    points.any = id;
    points.of_result.resize(body_.instructions()[p.instruction].num_results,
                            -1);
    points.of_result[p.result] = id;
  }
  return absl::OkStatus();
}

absl::Span<const PointId> TileBuilder::InputsOf(size_t reduction) const {
  const Point& p = region_.points[reduction_points_[reduction].any];
  const bool from_values = body_.instructions()[p.instruction].op == &kReduce;
  return absl::MakeSpan(p.operands)
      .subspan(from_values ? p.operands.size() / 2 : 0);
}

std::optional<FoldInput> TileBuilder::InPlace(PointId id) const {
  const Point& p = region_.points[id];
  if (p.kind != Point::kLoad || p.scope != 0 ||
      shapes_.shape(id) != LaneShape::kFull) {
    return std::nullopt;
  }
  const plan::MemoryAccess& access = AccessOf(id);
  std::vector<int> symbols;
  access.offset.CollectSymbols(&symbols);
  if (!symbols.empty() || MayBeWrittenOver(id, access.operand)) {
    return std::nullopt;
  }
  LaneIndex index(access.offset, lanes_, shapes_.symbols());
  if (!index.steps_along_x() || !index.steps_along_y() || index.step_x() != 1) {
    return std::nullopt;
  }
  return FoldInput(access.operand, std::move(index), WidthOf(id));
}

// ---- lists ------------------------------------------------------------------

TileBuilder::Points TileBuilder::Closure(const Points& roots) const {
  std::vector<bool> wanted(region_.points.size(), false);
  for (const PointId root : roots) wanted[root] = true;
  Points points, needed;
  // Operands come first.
  for (size_t n = wanted.size(); n-- > 0;) {
    const auto id = static_cast<PointId>(n);
    if (!wanted[n] || shapes_.when(id) != When::kTile ||
        IsThere(id, shapes_.shape(id))) {
      continue;
    }
    points.push_back(id);
    needed.clear();
    absl::c_copy(OperandsOf(id), std::back_inserter(needed));
    shapes_.AddNeeded(id, &needed);
    for (const PointId other : needed) wanted[other] = true;
  }
  std::reverse(points.begin(), points.end());
  return points;
}

absl::Status TileBuilder::AddPass(int stage) {
  TileProgram::Pass& pass = program_.passes[stage];
  const bool last = stage + 1 == region_.stages;
  Points roots;
  for (size_t r = 0; r < reduction_points_.size(); ++r) {
    if (region_.points[reduction_points_[r].any].stage != stage) continue;
    pass.reductions.push_back(static_cast<int>(r));
    for (const PointId input : InputsOf(r)) {
      if (!InPlace(input).has_value()) roots.push_back(input);
    }
  }
  const std::vector<int> stores =
      last ? StoresOf(/*per_result=*/false) : std::vector<int>();
  for (const int k : stores) roots.push_back(region_.results[k]);
  if (!resident_) {
    for (size_t n = 0; n < region_.points.size(); ++n) {
      if (shapes_.when(static_cast<PointId>(n)) != When::kTile) continue;
      std::fill_n(slots_of_.begin() + kShapes * n, kShapes, LaneSlot());
    }
  }
  slots_.BeginList(/*lasts=*/false);
  ForgetScopes();
  prefetches_ = resident_ && last && stage > 0;
  HAWSER_RETURN_IF_ERROR(AddPoints(Closure(roots), &pass.tile));
  prefetches_ = false;
  for (const int r : pass.reductions) AddFold(r, &pass.tile);
  AddStores(stores, &pass.tile);
  slots_.BeginList(/*lasts=*/false);
  ForgetScopes();
  for (const int r : pass.reductions) {
    FinishReduction(r, &pass.after);
    for (const PointId id : reduction_points_[r].of_result) {
      if (id < 0) continue;
      HAWSER_RETURN_IF_ERROR(AddSymbols(id, &pass.after));
    }
  }
  Points after;
  for (size_t n = 0; n < region_.points.size(); ++n) {
    const auto id = static_cast<PointId>(n);
    const Point& p = region_.points[n];
    if (shapes_.when(id) == When::kAfter && p.kind != Point::kReduce &&
        p.stage == stage + 1) {
      after.push_back(id);
    }
  }
  HAWSER_RETURN_IF_ERROR(AddPoints(after, &pass.after));
  if (last) AddStores(StoresOf(/*per_result=*/true), &pass.after);
  return absl::OkStatus();
}

void TileBuilder::AddFold(size_t reduction, TileSteps* to) {
  std::vector<FoldInput> inputs;
  slots_.BeginStep();
  for (const PointId id : InputsOf(reduction)) {
    // Slots that other points read too are in the nearest cache.
    const bool there = IsThere(id, LaneShape::kFull);
    const auto in_place = there ? std::nullopt : InPlace(id);
    inputs.push_back(in_place.has_value()
                         ? *in_place
                         : FoldInput(As(id, LaneShape::kFull, to)));
  }
  for (const FoldInput& input : inputs) {
    if (input.slot() >= 0) slots_.Use(input.slot());
  }
  to->push_back(std::make_unique<FoldStep>(static_cast<int>(reduction),
                                           *program_.reductions[reduction].fold,
                                           columns_, std::move(inputs)));
}

void TileBuilder::FinishReduction(size_t number, TileSteps* to) {
  const ResultPoints& points = reduction_points_[number];
  TileReduction& reduction = program_.reductions[number];
  const size_t inputs = InputsOf(number).size();
  const auto& operands = region_.points[points.any].operands;
  slots_.BeginStep();
  for (size_t k = 0; k + inputs < operands.size(); ++k) {
    reduction.initial.push_back(As(operands[k], LaneShape::kOne, to));
  }
  for (const LaneSlot& slot : reduction.initial) slots_.Use(slot.slot);
  for (const PointId id : points.of_result) {
    reduction.results.push_back(id < 0 ? LaneSlot()
                                       : Define(id, /*over=*/false));
  }
}

absl::Status TileBuilder::AddPoints(const Points& points, TileSteps* to) {
  makers_.clear();
  for (const PointId id : points) {
    if (IsThere(id, shapes_.shape(id))) continue;
    HAWSER_RETURN_IF_ERROR(AddPoint(id, to));
    HAWSER_RETURN_IF_ERROR(AddSymbols(id, to));
  }
  EndDraft();
  return absl::OkStatus();
}

std::vector<int> TileBuilder::StoresOf(bool per_result) const {
  const bool folds = HasFolds(region_);
  std::vector<int> results;
  for (size_t k = 0; k < region_.results.size(); ++k) {
    const PointId id = region_.results[k];
    // A result may have no elements beside a fold of nothing, whose kept loops
    // do iterate.
    if (body_.shape(region_.points[id].value).num_elements() == 0) continue;
    const When when = shapes_.when(id);
    const bool of_tiles =
        !folds || (when != When::kBefore && when != When::kAfter);
    bool all_loops = of_tiles;
    if (folds && when == When::kOnce) {
      int64_t kept = 1;
      for (int d = 0; d < region_.num_kept; ++d) kept *= region_.domain[d];
      all_loops = body_.shape(region_.points[id].value).num_elements() != kept;
    }
    if (all_loops != per_result) results.push_back(static_cast<int>(k));
  }
  return results;
}

void TileBuilder::AddStores(const std::vector<int>& results, TileSteps* to) {
  const bool tiles = to == &program_.passes.back().tile;
  const LaneShape shape = tiles      ? LaneShape::kFull
                          : columns_ ? LaneShape::kColumns
                                     : LaneShape::kRows;
  std::vector<LaneSlot> slots;
  for (const int k : results) {
    slots_.BeginStep();
    slots.push_back(As(region_.results[k], shape, to));
  }
  slots_.BeginStep();
  for (const LaneSlot& slot : slots) slots_.Use(slot.slot);
  const bool folds = tiles && !program_.passes.back().reductions.empty();
  for (size_t n = 0; n < results.size(); ++n) {
    const int k = results[n];
    const LaneSlot from = slots[n];
    const auto access = std::find_if(
        region_.accesses.begin(), region_.accesses.end(),
        [&](const plan::MemoryAccess& a) { return a.result == k; });
    const Shape& result = body_.shape(region_.points[region_.results[k]].value);
    auto store = std::make_unique<StoreStep>(
        k, IndexOf(access->offset), from, MovesOf(from),
        options_.is_read_again ? 0 : result.byte_size());
    // The step that makes a result may store it directly, maybe over an
    // operand, if nothing reads that any more.
    const auto maker = std::find_if(
        makers_.rbegin(), makers_.rend(),
        [&](const OutputSlot* g) { return g->slot().slot == from.slot; });
    if (maker != makers_.rend() && !folds && MayStoreEarly(from.slot, k)) {
      (*maker)->StoredBy(store.get());
      if (!HasFolds(region_) && store->HasDestinations()) {
        slots_.IsElsewhere(from.slot);
      }
    }
    to->push_back(std::move(store));
  }
}

// ---- points -----------------------------------------------------------------

void TileBuilder::Add(std::unique_ptr<ValueStep> step, TileSteps* to) {
  AddMaker(&step->output(), to);
  to->push_back(std::move(step));
}

void TileBuilder::AddMaker(OutputSlot* output, const TileSteps* to) {
  if (to != &program_.once) makers_.push_back(output);
}

LaneSlot TileBuilder::Define(PointId id, bool over) {
  const LaneShape shape = shapes_.shape(id);
  const LaneSlot slot = slots_.Define(shape, WidthOf(id), over);
  SlotOf(id, shape) = slot;
  return slot;
}

LaneIndex TileBuilder::IndexOf(const plan::IndexExpr& index) {
  std::vector<int> used;
  index.CollectSymbols(&used);
  for (const int s : used) slots_.Use(symbol_slots_[s]);
  return LaneIndex(index, lanes_, shapes_.symbols());
}

LaneSlot TileBuilder::As(PointId id, LaneShape shape, TileSteps* to) {
  if (draft_.Makes(id)) EndDraft();
  if (IsThere(id, shape)) return SlotOf(id, shape);
  const LaneSlot from = SlotOf(id, shapes_.shape(id));
  if (shapes_.when(id) == When::kOnce) {
    const LaneSlot slot = slots_.DefineLasting(shape, from.width);
    SlotOf(id, shape) = slot;
    Add(std::make_unique<ExpandStep>(-1, from, slot, MovesOf(slot)),
        &program_.once);
    return slot;
  }
  // A step of its own: the one before it may give lanes over what this reads.
  slots_.BeginStep();
  slots_.Use(from.slot);
  const LaneSlot slot = slots_.Define(shape, from.width, /*over=*/false);
  SlotOf(id, shape) = slot;
  Add(std::make_unique<ExpandStep>(ScopeOf(id, shape, to), from, slot,
                                   MovesOf(slot)),
      to);
  slots_.BeginStep();
  return slot;
}

absl::Status TileBuilder::AddPoint(PointId id, TileSteps* to) {
  const Point& p = region_.points[id];
  const LaneShape shape = shapes_.shape(id);
  switch (p.kind) {
    case Point::kLoad:
      AddLoad(id, to);
      return absl::OkStatus();
    case Point::kMove: {
      if (Passes(p.operands[0], id, to)) return absl::OkStatus();
      // The slot of what it moves is this one's, too.
      const LaneSlot from = As(p.operands[0], shape, to);
      SlotOf(id, shape) = from;
      return absl::OkStatus();
    }
    case Point::kChoose:
      AddChoice(id, to);
      return absl::OkStatus();
    case Point::kIota: {
      const int scope = ScopeOf(id, shape, to);
      if (AddIota(id, scope, to)) return absl::OkStatus();
      slots_.BeginStep();
      const LaneIndex index = IndexOf(shapes_.index(id));
      Add(std::make_unique<IotaStep>(scope, index,
                                     IotaStep::ConvertTo(DTypeOf(id)),
                                     Define(id, /*over=*/false)),
          to);
      return absl::OkStatus();
    }
    case Point::kOp:
      return AddOp(id, to);
    case Point::kReduce:
      break;
  }
  return Internal("a reduction among the points of a pass");
}

void TileBuilder::AddLoad(PointId id, TileSteps* to) {
  const plan::MemoryAccess& access = AccessOf(id);
  const int scope = ScopeOf(id, shapes_.shape(id), to);
  slots_.BeginStep();
  LaneIndex index = IndexOf(access.offset);
  const LaneSlot slot = Define(id, /*over=*/false);
  if (!HasFolds(region_) && InPlace(id).has_value()) {
    slots_.IsElsewhere(slot.slot);
  }
  // An operand without elements is not loaded, though a list of points may run.
  if (body_.shape(region_.points[id].value).num_elements() == 0) return;
  Add(std::make_unique<LoadStep>(scope, access.operand, std::move(index), slot,
                                 MovesOf(slot),
                                 MayBeWrittenOver(id, access.operand)),
      to);
}

const plan::MemoryAccess& TileBuilder::AccessOf(PointId load) const {
  return *std::find_if(region_.accesses.begin(), region_.accesses.end(),
                       [&](const plan::MemoryAccess& a) {
                         return a.operand >= 0 && a.point == load;
                       });
}

bool TileBuilder::MayBeWrittenOver(PointId load, int operand) const {
  if (region_.results.size() < 2 || !is_stored_[load]) return false;
  const Instruction& i = module_.computation(region_.computation)
                             .instructions()[region_.instruction];
  const Computation& c = module_.computation(region_.computation);
  const int64_t bytes = c.shape(i.operands[operand]).byte_size();
  for (int k = 0; k < i.num_results; ++k) {
    if (c.shape(i.first_result + k).byte_size() == bytes) return true;
  }
  return false;
}

bool TileBuilder::MayStoreEarly(int slot, int result) const {
  const Instruction& i = module_.computation(region_.computation)
                             .instructions()[region_.instruction];
  const Computation& c = module_.computation(region_.computation);
  const int64_t bytes = c.shape(i.first_result + result).byte_size();
  for (size_t n = 0; n < slots_of_.size(); ++n) {
    const LaneSlot& other = slots_of_[n];
    if (other.slot < 0 || slots_.LastOf(other.slot) <= slots_.FirstOf(slot)) {
      continue;
    }
    const auto id = static_cast<PointId>(n / kShapes);
    const Point::Kind kind = region_.points[id].kind;
    // The lanes of a choice may be a load's.
    if (kind == Point::kChoose) return false;
    if (kind == Point::kLoad &&
        body_.shape(region_.points[id].value).byte_size() == bytes) {
      return false;
    }
  }
  return true;
}

absl::Status TileBuilder::AddOp(PointId id, TileSteps* to) {
  const Point& p = region_.points[id];
  const Instruction& i = body_.instructions()[p.instruction];
  const LaneShape shape = shapes_.shape(id);
  if (i.op == &kConstant) {
    slots_.BeginStep();
    Add(std::make_unique<ConstantStep>(i.attributes.GetLiteral("value"),
                                       Define(id, /*over=*/false)),
        to);
    return absl::OkStatus();
  }
  const CpuKernel* kernel = FindCpuKernel(*i.op);
  absl::InlinedVector<DType, 3> dtypes;
  for (const PointId o : p.operands) dtypes.push_back(DTypeOf(o));
  if (AddLink(id, to)) return absl::OkStatus();
  const ElementTypes types{dtypes, DTypeOf(id), i.attributes};
  const bool by_row = options_.strict && i.op->ulp > 0;
  ElementFn fn = by_row ? nullptr : FindLanes(*i.op, types, options_.isa);
  if (fn == nullptr && kernel != nullptr && kernel->element != nullptr) {
    fn = kernel->element(types);
  }
  if (fn == nullptr) return Unimplemented(i.op->name, " has no lanes");
  const int scope = ScopeOf(id, shape, to);
  OpStep::Operands operands;
  for (const PointId o : p.operands) {
    operands.push_back(As(o, shape, to).slot);
  }
  slots_.BeginStep();
  for (const int slot : operands) slots_.Use(slot);
  Add(std::make_unique<OpStep>(scope, fn, std::move(operands),
                               Define(id, /*over=*/true)),
      to);
  return absl::OkStatus();
}

void TileBuilder::AddChoice(PointId id, TileSteps* to) {
  const Point& p = region_.points[id];
  const LaneShape shape = shapes_.shape(id);
  std::vector<int> cases, from;
  for (const ScopeId s : p.cases) cases.push_back(AddScope(s, shape, to));
  const int scope = ScopeOf(id, shape, to);
  for (const PointId o : p.operands) from.push_back(As(o, shape, to).slot);
  slots_.BeginStep();
  const LaneSlot slot = slots_.Define(shape, WidthOf(id), /*over=*/false);
  slots_.BeginStep();
  for (const int s : from) {
    slots_.Use(s);
    slots_.Share(slot.slot, s);
  }
  SlotOf(id, shape) = slot;
  Add(std::make_unique<ChooseStep>(scope, std::move(cases), std::move(from),
                                   slot, MovesOf(slot)),
      to);
}

absl::Status TileBuilder::AddSymbols(PointId id, TileSteps* to) {
  for (size_t s = 0; s < region_.symbols.size(); ++s) {
    if (region_.symbols[s].point != id) continue;
    const LaneShape shape = shapes_.shape(id);
    const auto clamp = SymbolStep::ClampOf(DTypeOf(id));
    if (clamp == nullptr) return Internal("a symbol that is no integer");
    const LaneSlot from = As(id, shape, to);
    const int number = ScopeOf(id, shape, to);
    slots_.BeginStep();
    slots_.Use(from.slot);
    const LaneSlot slot = slots_.Define(shape, sizeof(int64_t), /*over=*/false);
    symbol_slots_[s] = slot.slot;
    Add(std::make_unique<SymbolStep>(number, static_cast<int>(s), from, clamp,
                                     region_.symbols[s].bounds, slot),
        to);
  }
  return absl::OkStatus();
}

int TileBuilder::ScopeOf(PointId id, LaneShape shape, TileSteps* to) {
  const ScopeId scope = region_.points[id].scope;
  if (scope == 0 || !shapes_.Tells(scope, shape)) return -1;
  return AddScope(scope, shape, to);
}

int TileBuilder::AddScope(ScopeId scope, LaneShape shape, TileSteps* to) {
  const int known = NumberOf(scope, shape);
  if (known >= 0) return known;
  const plan::Scope& s = region_.scopes[scope];
  const int parent = s.parent <= 0 ? -1 : AddScope(s.parent, shape, to);
  std::vector<ScopeStep::Part> parts;
  slots_.BeginStep();
  for (const plan::Predicate& p : s.predicates) {
    parts.push_back({IndexOf(shapes_.Merged(p.value)), p.bounds});
  }
  const int number = program_.num_scopes++;
  NumberOf(scope, shape) = number;
  // Looked at by steps of this list alone, to its end.
  const LaneSlot lanes = slots_.DefineForList(shape, sizeof(bool));
  to->push_back(
      std::make_unique<ScopeStep>(number, parent, std::move(parts), lanes));
  return number;
}

}  // namespace hawser::cpu
