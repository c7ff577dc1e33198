// TileBuilder's chains: which points become links of one step.
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "core/ops/elementwise/elementwise.h"
#include "kernels/cpu/tiles/tile_builder.h"

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

int64_t TileBuilder::WidthFor(const ChainRow& row, PointId id) const {
  if (row.to != ChainRow::kBools) return LaneBytes(DTypeOf(id));
  const PointId on = region_.points[id].operands[row.operand];
  return row.of == ChainRow::kBools ? 0 : LaneBytes(DTypeOf(on));
}

TileBuilder::Rows TileBuilder::RowsOf(PointId id) const {
  if (rotates_.contains(id)) return {&kRotateRow};
  const Point& p = region_.points[id];
  const Instruction& i = body_.instructions()[p.instruction];
  Rows rows;
  for (const ChainRow& row : ChainRowsOf(*i.op)) {
    const PointId on = p.operands[row.operand];
    if (!IsOf(row, DTypeOf(on), DTypeOf(id), i.attributes)) continue;
    if (absl::c_count(p.operands, on) > 1 && !TakesItself(row)) continue;
    // No link broadcasts a byte.
    const bool are_lanes = shapes_.shape(on) == shapes_.shape(id);
    if (row.of == ChainRow::kBytes && !are_lanes) continue;
    rows.push_back(&row);
  }
  return rows;
}

ChainStep::Link TileBuilder::LinkTo(PointId other, LaneShape shape,
                                    TileSteps* to) {
  const LaneShape own = shapes_.shape(other);
  if (own == LaneShape::kOne) {
    return {.b = ChainOperand::kBroadcast, .slot = As(other, own, to)};
  }
  if (own == shape || region_.loops.extents[lanes_.x] < kLongRow) {
    return {.b = ChainOperand::kLanes, .slot = As(other, shape, to)};
  }
  return {.b = own == LaneShape::kRows ? ChainOperand::kBroadcast
                                       : ChainOperand::kLanes,
          .slot = As(other, own, to)};
}

absl::Span<const PointId> TileBuilder::OperandsOf(PointId id) const {
  const auto rotate = rotates_.find(id);
  if (rotate != rotates_.end()) return rotate->second.operands;
  return region_.points[id].operands;
}

bool TileBuilder::AddLink(PointId id, TileSteps* to) {
  const Point& p = region_.points[id];
  const LaneShape shape = shapes_.shape(id);
  const OpDef& op = *body_.instructions()[p.instruction].op;
  if (shape == LaneShape::kOne || (options_.strict && op.ulp > 0) ||
      FindChains(sizeof(float), options_.isa) == nullptr) {
    return false;
  }
  const Rows rows = RowsOf(id);
  if (rows.empty() || !HasHalves(id)) return false;
  const int scope = ScopeOf(id, shape, to);
  const absl::Span<const PointId> operands = OperandsOf(id);
  const int64_t width = WidthFor(*rows[0], id);
  // Rows are chosen by points: two of them that the draft has as one value are
  // read as two.
  if (draft_.HasAsOne(operands)) EndDraft();
  const bool fits = draft_.Fits(shape, scope, width, to);
  const auto is_made = [&](PointId o) { return draft_.Makes(o); };
  // Truths alone are a byte each.
  if (width == 0 && (!fits || absl::c_none_of(operands, is_made))) return false;
  if (!fits) BeginDraft(shape, scope, width, to);
  absl::InlinedVector<ChainValue, 3> values;
  for (const PointId o : operands) values.push_back(Read(o, to));
  draft_.AddOp(id, rows, values, DTypeOf(id), uses_[id]);
  return true;
}

bool TileBuilder::HasHalves(PointId id) const {
  const absl::Span<const PointId> operands = OperandsOf(id);
  return (DTypeOf(id) != DType::kF16 &&
          absl::c_none_of(
              operands,
              [&](PointId o) { return DTypeOf(o) == DType::kF16; })) ||
         FindChains(sizeof(float), options_.isa)
                 ->find(ChainOp::kRoundF16, ChainOperand::kNone)
                 .run != nullptr;
}

ChainValue TileBuilder::Read(PointId id, TileSteps* to) {
  const ChainValue known = draft_.Find(id);
  if (known >= 0) return known;
  ChainStep::Link link = LinkTo(id, draft_.shape(), to);
  DType dtype = DTypeOf(id);
  if (IsHalfType(dtype) && link.b == ChainOperand::kBroadcast) {
    link.slot = Widened(id, to);
    dtype = DType::kF32;
  }
  return draft_.AddRead(id, dtype, link);
}

LaneSlot TileBuilder::Widened(PointId id, TileSteps* to) {
  const LaneShape shape = shapes_.shape(id);
  const bool once = shapes_.when(id) == PointShapes::When::kOnce;
  if (once && widened_.contains(id)) return widened_.at(id);
  const LaneSlot from = SlotOf(id, shape);
  const DType dtype = DTypeOf(id);
  const Attributes none;
  const ElementFn convert =
      FindCpuKernel(kConvert)->element({{&dtype, 1}, DType::kF32, none});
  slots_.BeginStep();
  slots_.Use(from.slot);
  const LaneSlot slot =
      once ? slots_.DefineLasting(shape, sizeof(float))
           : slots_.Define(shape, sizeof(float), /*over=*/false);
  Add(std::make_unique<OpStep>(once ? -1 : ScopeOf(id, shape, to), convert,
                               OpStep::Operands{from.slot}, slot),
      once ? &program_.once : to);
  slots_.BeginStep();
  if (once) widened_.emplace(id, slot);
  return slot;
}

bool TileBuilder::Passes(PointId on, PointId id, TileSteps* to) {
  const LaneShape shape = shapes_.shape(id);
  if (!draft_.Makes(on) ||
      !draft_.Fits(shape, ScopeOf(id, shape, to), /*width=*/0, to)) {
    return false;
  }
  draft_.AddName(on, id, uses_[id]);
  return true;
}

bool TileBuilder::AddIota(PointId id, int scope, TileSteps* to) {
  const DType dtype = DTypeOf(id);
  std::vector<int> symbols;
  shapes_.index(id).CollectSymbols(&symbols);
  LaneIndex index(shapes_.index(id), lanes_, shapes_.symbols());
  if (!symbols.empty() || !IsInteger(dtype) || ByteWidth(dtype) < 4 ||
      FindChains(WidthOf(id), options_.isa) == nullptr ||
      shapes_.shape(id) != LaneShape::kFull || !index.steps_along_x() ||
      index.step_x() != 1 || region_.loops.extents[lanes_.x] < kLongRow) {
    return false;
  }
  if (!draft_.Fits(LaneShape::kFull, scope, WidthOf(id), to)) {
    BeginDraft(LaneShape::kFull, scope, WidthOf(id), to);
  }
  draft_.AddIota(id, dtype, std::move(index), uses_[id]);
  return true;
}

void TileBuilder::BeginDraft(LaneShape shape, int scope, int64_t width,
                             TileSteps* to) {
  EndDraft();
  draft_ = ChainDraft(shape, scope, width, to);
  if (prefetches_ && shape == LaneShape::kFull) AddPrefetches();
}

void TileBuilder::AddPrefetches() {
  for (size_t n = 0; n < region_.points.size(); ++n) {
    const auto id = static_cast<PointId>(n);
    if (!IsThere(id, LaneShape::kFull) || WidthOf(id) != draft_.width() ||
        !InPlace(id).has_value()) {
      continue;
    }
    prefetches_ = false;
    draft_.Prefetch(SlotOf(id, LaneShape::kFull));
  }
}

// Each link is a step of its own to the plan of slots: what an op gives may be
// where lanes are that no later one reads.
void TileBuilder::EndDraft() {
  if (draft_.to() == nullptr) return;
  ChainDraft draft = std::move(draft_);
  draft_ = ChainDraft();
  const std::vector<WrittenLink> all = draft.Write(is_stored_);
  std::vector<ChainStep::Link> links;
  links.reserve(draft.prefetched().size() + all.size());
  for (const LaneSlot& slot : draft.prefetched()) {
    links.push_back({ChainOp::kPrefetch, ChainOperand::kLanes, slot});
  }
  for (const WrittenLink& written : all) {
    ChainStep::Link link = {.op = written.op,
                            .b = written.b,
                            .spill = written.spill,
                            .is_last = written.is_last};
    if (written.value >= 0 && written.spill < 0) {
      FindSlot(written, &draft, &link);
    }
    links.push_back(link);
  }
  auto step = std::make_unique<ChainStep>(
      draft.scope(), *FindChains(draft.width(), options_.isa), links,
      draft.shape(), std::move(draft.iotas()));
  for (OutputSlot& outputs : step->outputs()) AddMaker(&outputs, draft.to());
  draft.to()->push_back(std::move(step));
}

void TileBuilder::FindSlot(const WrittenLink& written, ChainDraft* draft,
                           ChainStep::Link* link) {
  slots_.BeginStep();
  ChainDraft::Value& value = draft->value(written.value);
  if (written.op == ChainOp::kIota) {
    link->iota = value.iota;
    return;
  }
  const bool as_lanes =
      value.names.empty() ||
      (written.op == ChainOp::kStore && IsHalfType(DTypeOf(value.names[0])));
  if (!IsStore(written.op)) {
    link->slot = value.is_read() ? value.read.slot
                 : value.lanes.slot >= 0
                     ? value.lanes
                     : SlotOf(value.names[0], draft->shape());
    slots_.Use(link->slot.slot);
  } else if (as_lanes) {
    value.lanes = slots_.Define(draft->shape(), sizeof(float), /*over=*/true);
    link->slot = value.lanes;
  } else {
    link->slot = Define(value.names[0], /*over=*/true);
    for (const PointId id : value.names) {
      SlotOf(id, draft->shape()) = link->slot;
    }
  }
}

}  // namespace hawser::cpu
