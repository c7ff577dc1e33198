#include "kernels/cpu/point_steps/chain_builder.h"

#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "core/ops/elementwise/elementwise.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {
namespace {

using plan::Point;
using plan::PointId;

// In shorter rows a chain does not begin anew for each.
constexpr int64_t kLongRow = 64;

// A link on a Rotate's operands.
constexpr ChainRow kRotateRow = {
    &kOr, 0, {{ChainOp::kRotateLeft, 1}}, ChainRow::kInts};

// True if both operands of the row's op may be register a.
bool TakesItself(const ChainRow& row) {
  return row.links[1].op == ChainOp::kEnd && row.of != ChainRow::kBools;
}

}  // namespace

ChainBuilder::ChainBuilder(const RegionPoints& points, PointSlots* slots)
    : points_(points), slots_(*slots), uses_(UsesOf(points.region())) {
  if (FindChains(sizeof(float), points.options().isa) == nullptr) return;
  for (const auto& [id, rotate] :
       FindRotates(points.module(), points.region(), uses_)) {
    if (points.when(id) != PointShapes::When::kTile ||
        points.shape(id) == LaneShape::kOne) {
      continue;
    }
    rotates_.emplace(id, rotate);
    --uses_[rotate.operands[0]];  // one link's, no longer both shifts'
  }
}

int64_t ChainBuilder::WidthFor(const ChainRow& row, PointId id) const {
  if (row.to != ChainRow::kBools) return LaneBytes(points_.dtype(id));
  const PointId on = points_.point(id).operands[row.operand];
  return row.of == ChainRow::kBools ? 0 : LaneBytes(points_.dtype(on));
}

ChainBuilder::Rows ChainBuilder::RowsOf(PointId id) const {
  if (rotates_.contains(id)) return {&kRotateRow};
  const Point& p = points_.point(id);
  const Instruction& i = points_.instruction(id);
  Rows rows;
  for (const ChainRow& row : ChainRowsOf(*i.op)) {
    const PointId on = p.operands[row.operand];
    if (!IsOf(row, points_.dtype(on), points_.dtype(id), i.attributes)) {
      continue;
    }
    if (absl::c_count(p.operands, on) > 1 && !TakesItself(row)) continue;
    const int64_t width = WidthFor(row, id);
    const Chains& chains =
        *FindChains(width == 0 ? sizeof(float) : width, points_.options().isa);
    if (!HasLinks(row, chains)) continue;
    // No link broadcasts a byte.
    const bool are_lanes = points_.shape(on) == points_.shape(id);
    if (row.of == ChainRow::kBytes && !are_lanes) continue;
    rows.push_back(&row);
  }
  return rows;
}

ChainDraft::Read ChainBuilder::ReadOf(PointId other, LaneShape shape,
                                      TileSteps* to) {
  const LaneShape own = points_.shape(other);
  if (own == LaneShape::kOne) {
    return {.b = ChainOperand::kBroadcast, .slot = slots_.As(other, own, to)};
  }
  if (own == shape || points_.extent_of_x() < kLongRow) {
    return {.b = ChainOperand::kLanes, .slot = slots_.As(other, shape, to)};
  }
  return {.b = own == LaneShape::kRows ? ChainOperand::kBroadcast
                                       : ChainOperand::kLanes,
          .slot = slots_.As(other, own, to)};
}

absl::Span<const PointId> ChainBuilder::OperandsOf(PointId id) const {
  const auto rotate = rotates_.find(id);
  if (rotate != rotates_.end()) return rotate->second.operands;
  return points_.point(id).operands;
}

bool ChainBuilder::AddOp(PointId id, TileSteps* to) {
  const LaneShape shape = points_.shape(id);
  const OpDef& op = *points_.instruction(id).op;
  if (shape == LaneShape::kOne || (points_.options().strict && op.ulp > 0) ||
      FindChains(sizeof(float), points_.options().isa) == nullptr) {
    return false;
  }
  const Rows rows = RowsOf(id);
  if (rows.empty() || !HasHalves(id)) return false;
  const int scope = slots_.ScopeOf(id, shape, to);
  const absl::Span<const PointId> operands = OperandsOf(id);
  const int64_t width = WidthFor(*rows[0], id);
  // Rows are chosen by points: two of them that the draft has as one value are
  // read as two.
  if (draft_.HasAsOne(operands)) End();
  const bool fits = draft_.Fits(shape, scope, width, to);
  const auto is_made = [&](PointId o) { return draft_.Makes(o); };
  // Masks alone are a byte each.
  const bool joins = width == 0 || rows[0]->joins;
  if (joins && (!fits || absl::c_none_of(operands, is_made))) return false;
  if (!fits) Begin(shape, scope, width, to);
  absl::InlinedVector<ChainValue, 3> values;
  for (const PointId o : operands) values.push_back(Read(o, to));
  draft_.AddOp(id, rows, values, points_.dtype(id), uses_[id]);
  return true;
}

bool ChainBuilder::HasHalves(PointId id) const {
  const absl::Span<const PointId> operands = OperandsOf(id);
  return (points_.dtype(id) != DType::kF16 &&
          absl::c_none_of(
              operands,
              [&](PointId o) { return points_.dtype(o) == DType::kF16; })) ||
         FindChains(sizeof(float), points_.options().isa)
                 ->find(ChainOp::kRoundF16, ChainOperand::kNone)
                 .run != nullptr;
}

ChainValue ChainBuilder::Read(PointId id, TileSteps* to) {
  const ChainValue known = draft_.Find(id);
  if (known >= 0) return known;
  ChainDraft::Read read = ReadOf(id, draft_.shape(), to);
  DType dtype = points_.dtype(id);
  if (IsHalfType(dtype) && read.b == ChainOperand::kBroadcast) {
    read.slot = Widened(id, to);
    dtype = DType::kF32;
  }
  return draft_.AddRead(id, dtype, read);
}

LaneSlot ChainBuilder::Widened(PointId id, TileSteps* to) {
  const LaneShape shape = points_.shape(id);
  const bool once = points_.when(id) == PointShapes::When::kOnce;
  if (once && widened_.contains(id)) return widened_.at(id);
  const LaneSlot from = slots_.Of(id, shape);
  const DType dtype = points_.dtype(id);
  const Attributes none;
  const ElementFn convert =
      FindCpuKernel(kConvert)->element({{&dtype, 1}, DType::kF32, none});
  slots_.plan().BeginStep();
  slots_.plan().Use(from.slot);
  const LaneSlot slot =
      once ? slots_.plan().DefineLasting(shape, sizeof(float))
           : slots_.plan().Define(shape, sizeof(float), /*over=*/false);
  slots_.Add(
      std::make_unique<OpStep>(once ? -1 : slots_.ScopeOf(id, shape, to),
                               convert, OpStep::Operands{from.slot}, slot),
      once ? &slots_.once() : to);
  slots_.plan().BeginStep();
  if (once) widened_.emplace(id, slot);
  return slot;
}

bool ChainBuilder::AddName(PointId on, PointId id, TileSteps* to) {
  const LaneShape shape = points_.shape(id);
  if (!draft_.Makes(on) ||
      !draft_.Fits(shape, slots_.ScopeOf(id, shape, to), /*width=*/0, to)) {
    return false;
  }
  draft_.AddName(on, id, uses_[id]);
  return true;
}

bool ChainBuilder::AddIota(PointId id, int scope, TileSteps* to) {
  const DType dtype = points_.dtype(id);
  std::vector<int> symbols;
  points_.shapes().index(id).CollectSymbols(&symbols);
  LaneIndex index(points_.shapes().index(id), points_.lanes(),
                  points_.shapes().symbols());
  if (!symbols.empty() || !IsInteger(dtype) || ByteWidth(dtype) < 4 ||
      FindChains(points_.width(id), points_.options().isa) == nullptr ||
      points_.shape(id) != LaneShape::kFull || !index.steps_along_x() ||
      index.step_x() != 1 || points_.extent_of_x() < kLongRow) {
    return false;
  }
  if (!draft_.Fits(LaneShape::kFull, scope, points_.width(id), to)) {
    Begin(LaneShape::kFull, scope, points_.width(id), to);
  }
  draft_.AddIota(id, dtype, std::move(index), uses_[id]);
  return true;
}

void ChainBuilder::Begin(LaneShape shape, int scope, int64_t width,
                         TileSteps* to) {
  End();
  draft_ = ChainDraft(shape, scope, width, to);
  if (prefetches_ && shape == LaneShape::kFull) AddPrefetches();
}

void ChainBuilder::AddPrefetches() {
  for (size_t n = 0; n < points_.size(); ++n) {
    const auto id = static_cast<PointId>(n);
    if (!slots_.Has(id, LaneShape::kFull) ||
        points_.width(id) != draft_.width() ||
        !points_.InPlace(id).has_value()) {
      continue;
    }
    prefetches_ = false;
    draft_.Prefetch(slots_.Of(id, LaneShape::kFull));
  }
}

// Each link is a step of its own to the plan of slots: what an op gives may be
// where lanes are that no later one reads.
void ChainBuilder::End() {
  if (draft_.to() == nullptr) return;
  ChainDraft draft = std::move(draft_);
  draft_ = ChainDraft();
  std::vector<WrittenLink> links;
  std::vector<LaneSlot> slots;
  for (const LaneSlot& slot : draft.prefetched()) {
    links.push_back({ChainOp::kPrefetch, ChainOperand::kLanes});
    slots.push_back(slot);
  }
  for (const WrittenLink& link : draft.Write(points_.is_stored())) {
    links.push_back(link);
    slots.push_back(SlotOf(link, &draft));
  }
  auto step = std::make_unique<ChainStep>(
      draft.scope(), *FindChains(draft.width(), points_.options().isa), links,
      slots, draft.shape(), std::move(draft.iotas()));
  for (OutputSlot& output : step->outputs()) {
    slots_.AddOutput(&output, draft.to());
  }
  draft.to()->push_back(std::move(step));
}

LaneSlot ChainBuilder::SlotOf(const WrittenLink& link, ChainDraft* draft) {
  if (link.value < 0 || link.spill >= 0) return {};
  slots_.plan().BeginStep();
  if (link.op == ChainOp::kIota) return {};
  ChainDraft::Value& value = draft->value(link.value);
  const LaneShape shape = draft->shape();
  if (!IsStore(link.op)) {
    const LaneSlot slot = value.is_read() ? value.read
                          : value.lanes.slot >= 0
                              ? value.lanes
                              : slots_.Of(value.names[0], shape);
    slots_.plan().Use(slot.slot);
    return slot;
  }
  const bool as_lanes =
      value.names.empty() ||
      (link.op == ChainOp::kStore && IsHalfType(points_.dtype(value.names[0])));
  if (as_lanes) {
    value.lanes = slots_.plan().Define(shape, sizeof(float), /*over=*/true);
    return value.lanes;
  }
  const LaneSlot slot = slots_.Define(value.names[0], /*over=*/true);
  for (const PointId id : value.names) slots_.Set(id, shape, slot);
  return slot;
}

}  // namespace hawser::cpu
