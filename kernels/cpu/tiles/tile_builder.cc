#include "kernels/cpu/tiles/tile_builder.h"

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/reduce.h"
#include "kernels/cpu/lanes/lanes.h"

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
                         bool resident, Isa isa)
    : module_(module),
      region_(region),
      body_(module.computation(region.body)),
      columns_(FoldsColumns(region)),
      resident_(resident),
      isa_(isa),
      lanes_(ChooseLaneLoops(region, columns_)),
      shapes_(region, lanes_, columns_),
      symbol_slots_(region.symbols.size(), -1) {}

int64_t TileBuilder::WidthOf(PointId id) const {
  return ByteWidth(DTypeOf(id));
}

DType TileBuilder::DTypeOf(PointId id) const {
  return body_.shape(region_.points[id].value).dtype();
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
  scopes_.clear();
  HAWSER_RETURN_IF_ERROR(AddPoints(before, &program_.before));
  program_.passes.resize(region_.stages);
  for (int s = 0; s < region_.stages; ++s) HAWSER_RETURN_IF_ERROR(AddPass(s));
  return std::move(program_);
}

absl::Status TileBuilder::FindReductions() {
  for (size_t n = 0; n < region_.points.size(); ++n) {
    const Point& p = region_.points[n];
    if (p.kind != Point::kReduce) continue;
    const Instruction& i = body_.instructions()[p.instruction];
    const Computation* called =
        i.called.empty() ? nullptr : &module_.computation(i.called[0]);
    const OpDef* monoid = called != nullptr && i.operands.size() == 2 &&
                                  called->instructions().size() == 3
                              ? MonoidOf(*called)
                              : nullptr;
    const CpuKernel* kernel =
        monoid == nullptr ? nullptr : FindCpuKernel(*monoid);
    if (kernel == nullptr) {
      return Unimplemented("a reduction by more than one op");
    }
    if (shapes_.shape(p.operands[0]) != LaneShape::kOne) {
      return Unimplemented("a reduction from more than one value");
    }
    program_.reductions.push_back({.reduction = kernel->reduction(
                                       DTypeOf(static_cast<PointId>(n)))});
    reduction_points_.push_back(static_cast<PointId>(n));
  }
  return absl::OkStatus();
}

// ---- lists ------------------------------------------------------------------

TileBuilder::Points TileBuilder::Closure(Points roots) const {
  std::vector<bool> wanted(region_.points.size(), false);
  while (!roots.empty()) {
    const PointId id = roots.back();
    roots.pop_back();
    if (wanted[id] || shapes_.when(id) != When::kTile) continue;
    wanted[id] = true;
    for (const PointId needed : shapes_.Needed(id)) roots.push_back(needed);
  }
  Points points;
  for (size_t n = 0; n < wanted.size(); ++n) {
    if (wanted[n]) points.push_back(static_cast<PointId>(n));
  }
  return points;
}

absl::Status TileBuilder::AddPass(int stage) {
  TileProgram::Pass& pass = program_.passes[stage];
  const bool last = stage + 1 == region_.stages;
  Points roots;
  for (size_t r = 0; r < reduction_points_.size(); ++r) {
    const Point& p = region_.points[reduction_points_[r]];
    if (p.stage != stage) continue;
    pass.reductions.push_back(static_cast<int>(r));
    roots.push_back(p.operands[1]);
  }
  const std::vector<int> stores =
      last ? StoresOf(/*per_result=*/false) : std::vector<int>();
  for (const int k : stores) roots.push_back(region_.results[k]);
  if (!resident_) {
    std::erase_if(slots_of_, [this](const auto& entry) {
      return shapes_.when(entry.first.first) == When::kTile;
    });
  }
  slots_.BeginList(/*lasts=*/false);
  scopes_.clear();
  HAWSER_RETURN_IF_ERROR(AddPoints(Closure(std::move(roots)), &pass.tile));
  for (const int r : pass.reductions) {
    const Point& p = region_.points[reduction_points_[r]];
    slots_.BeginStep();
    const LaneSlot input = As(p.operands[1], LaneShape::kFull, &pass.tile);
    slots_.Use(input.slot);
    pass.tile.push_back(std::make_unique<FoldStep>(
        r, program_.reductions[r].reduction->elements, columns_, input));
  }
  AddStores(stores, &pass.tile);
  slots_.BeginList(/*lasts=*/false);
  scopes_.clear();
  for (const int r : pass.reductions) FinishReduction(r, &pass.after);
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

void TileBuilder::FinishReduction(size_t number, TileSteps* to) {
  const PointId id = reduction_points_[number];
  TileReduction& reduction = program_.reductions[number];
  slots_.BeginStep();
  reduction.initial =
      As(region_.points[id].operands[0], LaneShape::kOne, to);
  slots_.Use(reduction.initial.slot);
  reduction.result = Define(id, /*over=*/false);
}

absl::Status TileBuilder::AddPoints(const Points& points, TileSteps* to) {
  last_value_ = nullptr;
  for (const PointId id : points) {
    if (slots_of_.contains({id, shapes_.shape(id)})) continue;
    HAWSER_RETURN_IF_ERROR(AddPoint(id, to));
    HAWSER_RETURN_IF_ERROR(AddSymbols(id, to));
  }
  return absl::OkStatus();
}

std::vector<int> TileBuilder::StoresOf(bool per_result) const {
  const bool folds = HasFolds(region_);
  std::vector<int> results;
  for (size_t k = 0; k < region_.results.size(); ++k) {
    const PointId id = region_.results[k];
    const When when = shapes_.when(id);
    const bool of_tiles = !folds || (when != When::kBefore &&
                                     when != When::kAfter);
    bool all_loops = of_tiles;
    if (folds && when == When::kOnce) {
      int64_t kept = 1;
      for (int d = 0; d < region_.num_kept; ++d) kept *= region_.domain[d];
      all_loops =
          body_.shape(region_.points[id].value).num_elements() != kept;
    }
    if (all_loops != per_result) results.push_back(static_cast<int>(k));
  }
  return results;
}

void TileBuilder::AddStores(const std::vector<int>& results, TileSteps* to) {
  for (const int k : results) {
    const PointId id = region_.results[k];
    const bool tiles = to == &program_.passes.back().tile;
    const LaneShape shape = tiles      ? LaneShape::kFull
                            : columns_ ? LaneShape::kColumns
                                       : LaneShape::kRows;
    const auto access = std::find_if(
        region_.accesses.begin(), region_.accesses.end(),
        [&](const plan::MemoryAccess& a) { return a.result == k; });
    slots_.BeginStep();
    const LaneSlot from = As(id, shape, to);
    slots_.Use(from.slot);
    auto store = std::make_unique<StoreStep>(k, IndexOf(access->offset), from);
    // What gives the only result may put it where it belongs, which may be the
    // memory of an operand, once nothing is read any more.
    const bool reads = tiles && !program_.passes.back().reductions.empty();
    if (last_value_ != nullptr && last_value_->slot() == from.slot &&
        results.size() == 1 && !reads) {
      last_value_->StoredBy(store.get());
    }
    to->push_back(std::move(store));
  }
}

// ---- points -----------------------------------------------------------------

void TileBuilder::Add(std::unique_ptr<ValueStep> step, TileSteps* to) {
  if (to != &program_.once) last_value_ = step.get();
  to->push_back(std::move(step));
}

LaneSlot TileBuilder::Define(PointId id, bool over) {
  const LaneShape shape = shapes_.shape(id);
  const LaneSlot slot = slots_.Define(shape, WidthOf(id), over);
  slots_of_[{id, shape}] = slot;
  return slot;
}

LaneIndex TileBuilder::IndexOf(const plan::IndexExpr& index) {
  std::vector<int> used;
  index.CollectSymbols(&used);
  for (const int s : used) slots_.Use(symbol_slots_[s]);
  return LaneIndex(index, lanes_, shapes_.symbols());
}

LaneSlot TileBuilder::As(PointId id, LaneShape shape, TileSteps* to) {
  const auto known = slots_of_.find({id, shape});
  if (known != slots_of_.end()) return known->second;
  const LaneSlot from = slots_of_.at({id, shapes_.shape(id)});
  if (shapes_.when(id) == When::kOnce) {
    const LaneSlot slot = slots_.DefineLasting(shape, from.width);
    slots_of_[{id, shape}] = slot;
    Add(std::make_unique<ExpandStep>(-1, from, slot), &program_.once);
    return slot;
  }
  slots_.Use(from.slot);
  const LaneSlot slot = slots_.Define(shape, from.width, /*over=*/false);
  slots_of_[{id, shape}] = slot;
  Add(std::make_unique<ExpandStep>(ScopeOf(id, shape, to), from, slot), to);
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
      // The slot of what it moves is this one's, too.
      const LaneSlot from = As(p.operands[0], shape, to);
      slots_of_[{id, shape}] = from;
      return absl::OkStatus();
    }
    case Point::kChoose:
      AddChoice(id, to);
      return absl::OkStatus();
    case Point::kIota: {
      const int scope = ScopeOf(id, shape, to);
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
  const auto access = std::find_if(
      region_.accesses.begin(), region_.accesses.end(),
      [&](const plan::MemoryAccess& a) {
        return a.operand >= 0 && a.point == id;
      });
  const int scope = ScopeOf(id, shapes_.shape(id), to);
  slots_.BeginStep();
  LaneIndex index = IndexOf(access->offset);
  Add(std::make_unique<LoadStep>(scope, access->operand, std::move(index),
                                 Define(id, /*over=*/false),
                                 MayBeWrittenOver(access->operand)),
      to);
}

bool TileBuilder::MayBeWrittenOver(int operand) const {
  if (region_.results.size() < 2) return false;
  const Instruction& i =
      module_.computation(region_.computation).instructions()
          [region_.instruction];
  const Computation& c = module_.computation(region_.computation);
  const int64_t bytes = c.shape(i.operands[operand]).byte_size();
  for (int k = 0; k < i.num_results; ++k) {
    if (c.shape(i.first_result + k).byte_size() == bytes) return true;
  }
  return false;
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
  std::vector<DType> dtypes;
  for (const PointId o : p.operands) dtypes.push_back(DTypeOf(o));
  const ElementTypes types{dtypes, DTypeOf(id), i.attributes};
  ElementFn fn = FindLanes(*i.op, types, isa_);
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
  if (shapes_.when(id) == When::kTile) {
    int most = kernel->steps.Of(DTypeOf(id));
    for (const DType d : dtypes) most = std::max(most, kernel->steps.Of(d));
    program_.lane_steps += most;
  }
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
  slots_of_[{id, shape}] = slot;
  Add(std::make_unique<ChooseStep>(scope, std::move(cases), std::move(from),
                                   slot),
      to);
}

absl::Status TileBuilder::AddSymbols(PointId id, TileSteps* to) {
  for (size_t s = 0; s < region_.symbols.size(); ++s) {
    if (region_.symbols[s].point != id) continue;
    const LaneShape shape = shapes_.shape(id);
    const auto clamp = SymbolStep::ClampOf(DTypeOf(id));
    if (clamp == nullptr) return Internal("a symbol that is no integer");
    const LaneSlot from = slots_of_.at({id, shape});
    const int number = ScopeOf(id, shape, to);
    slots_.BeginStep();
    slots_.Use(from.slot);
    const LaneSlot slot =
        slots_.Define(shape, sizeof(int64_t), /*over=*/false);
    symbol_slots_[s] = slot.slot;
    Add(std::make_unique<SymbolStep>(number, static_cast<int>(s), from, clamp,
                                     region_.symbols[s].bounds, slot),
        to);
  }
  return absl::OkStatus();
}

int TileBuilder::ScopeOf(PointId id, LaneShape shape, TileSteps* to) {
  const ScopeId scope = region_.points[id].scope;
  if (scope == 0 || shapes_.when(id) == When::kOnce ||
      !shapes_.Tells(scope, shape)) {
    return -1;
  }
  return AddScope(scope, shape, to);
}

int TileBuilder::AddScope(ScopeId scope, LaneShape shape, TileSteps* to) {
  const auto known = scopes_.find({scope, shape});
  if (known != scopes_.end()) return known->second;
  const plan::Scope& s = region_.scopes[scope];
  const int parent = s.parent <= 0 ? -1 : AddScope(s.parent, shape, to);
  std::vector<ScopeStep::Part> parts;
  slots_.BeginStep();
  for (const plan::Predicate& p : s.predicates) {
    parts.push_back({IndexOf(shapes_.Merged(p.value)), p.bounds});
  }
  const int number = program_.num_scopes++;
  scopes_[{scope, shape}] = number;
  // Looked at by steps of this list alone, to its end.
  const LaneSlot lanes = slots_.DefineForList(shape, sizeof(bool));
  to->push_back(std::make_unique<ScopeStep>(number, parent, std::move(parts),
                                            lanes));
  return number;
}

}  // namespace hawser::cpu
