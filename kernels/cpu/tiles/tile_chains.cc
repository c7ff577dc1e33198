// TileBuilder's chains: which points become links of one step.
#include <iterator>
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
// Ops; of more the first ones are a chain of their own.
constexpr size_t kLongestChain = 64;
constexpr size_t kUsualChain = 8;

ChainOp GiveOf(DType dtype) {
  return dtype == DType::kBool ? ChainOp::kGiveBools : ChainOp::kGive;
}

ChainOp TakeOf(DType dtype) {
  return dtype == DType::kBool ? ChainOp::kTakeBools
         : dtype == DType::kU8 ? ChainOp::kTakeBytes
                               : ChainOp::kTake;
}

// Of Turn's operands.
constexpr ChainRow kTurnRow = {
    &kOr, 0, {{ChainOp::kTurned, 1}}, ChainRow::kWords};

// Whether the row's op can have the chain's own value on its other side.
bool TakesItself(const ChainRow& row) {
  return row.links[1].op == ChainOp::kEnd && row.of != ChainRow::kBools;
}

}  // namespace

bool TileBuilder::GoesOn(PointId on, LaneShape shape, int scope,
                         int64_t width) const {
  return !draft_.points.empty() && draft_.points.back() == on &&
         draft_.scope == scope && shapes_.shape(on) == shape &&
         (width == 0 || draft_.width == width) &&
         draft_.points.size() < kLongestChain;
}

int64_t TileBuilder::WidthFor(const ChainRow& row, PointId id) const {
  if (row.to != ChainRow::kBools) return WidthOf(id);
  const PointId on = region_.points[id].operands[row.operand];
  return row.of == ChainRow::kBools ? 0 : WidthOf(on);
}

const ChainRow* TileBuilder::FindLink(PointId id, int scope) const {
  const Point& p = region_.points[id];
  const Instruction& i = body_.instructions()[p.instruction];
  const LaneShape shape = shapes_.shape(id);
  const bool long_rows =
      lanes_.x >= 0 && region_.loops.extents[lanes_.x] >= kLongRow;
  const ChainRow* found = nullptr;
  bool is_same = false;
  for (const ChainRow& row : ChainRows()) {
    if (row.op != i.op) continue;
    const PointId on = p.operands[row.operand];
    if (!IsOf(row, DTypeOf(on), DTypeOf(id), i.attributes)) continue;
    if (absl::c_count(p.operands, on) > 1 && !TakesItself(row)) continue;
    const int64_t width = WidthFor(row, id);
    if (GoesOn(on, shape, scope, width)) return &row;
    if (width == 0) continue;
    const bool same = shapes_.shape(on) == shape;
    // Of bytes there is no single one.
    const bool begins = same ||
                        (long_rows && shape == LaneShape::kFull &&
                         shapes_.shape(on) == LaneShape::kColumns) ||
                        (row.of != ChainRow::kBytes && found == nullptr);
    if (begins && !is_same && (same || found == nullptr)) {
      found = &row;
      is_same = same;
    }
  }
  return found;
}

ChainStep::Link TileBuilder::LinkTo(PointId other, LaneShape shape,
                                    TileSteps* to) {
  const LaneShape own = shapes_.shape(other);
  if (own == LaneShape::kOne) {
    return {.other = ChainOther::kOne, .slot = As(other, own, to)};
  }
  if (own == shape || region_.loops.extents[lanes_.x] < kLongRow) {
    return {.other = ChainOther::kLanes, .slot = As(other, shape, to)};
  }
  return {
      .other = own == LaneShape::kRows ? ChainOther::kOne : ChainOther::kLanes,
      .slot = As(other, own, to)};
}

absl::Span<const PointId> TileBuilder::OperandsOf(PointId id) const {
  const auto turn = turns_.find(id);
  if (turn != turns_.end()) return turn->second.operands;
  return region_.points[id].operands;
}

bool TileBuilder::AddLink(PointId id, TileSteps* to) {
  const Point& p = region_.points[id];
  const LaneShape shape = shapes_.shape(id);
  const OpDef& op = *body_.instructions()[p.instruction].op;
  if (shape == LaneShape::kOne || (options_.strict && op.ulp > 0) ||
      FindChain(sizeof(float), options_.isa) == nullptr) {
    return false;
  }
  const int scope = ScopeOf(id, shape, to);
  const ChainRow* row = turns_.contains(id) ? &kTurnRow : FindLink(id, scope);
  if (row == nullptr) return false;
  const absl::Span<const PointId> operands = OperandsOf(id);
  const PointId on = operands[row->operand];
  const int64_t width = WidthFor(*row, id);
  absl::InlinedVector<ChainStep::Link, 4> links;
  for (const ChainRow::Link& l : row->links) {
    if (l.op == ChainOp::kEnd) continue;
    ChainStep::Link link;
    if (l.operand >= 0) {
      const PointId other = operands[l.operand];
      link = other == on ? ChainStep::Link{.other = ChainOther::kItself}
                         : LinkTo(other, shape, to);
    }
    const bool by_inverse = l.op == ChainOp::kOver &&
                            link.other == ChainOther::kOne &&
                            InversesPay(options_.isa);
    link.op = by_inverse ? ChainOp::kOverOne : l.op;
    links.push_back(link);
  }
  // What was asked for may have ended it.
  if (!GoesOn(on, shape, scope, width)) {
    if (width == 0) return false;
    ChainStep::Link take = LinkTo(on, shape, to);
    take.op = TakeOf(DTypeOf(on));
    BeginDraft(width, scope, to);
    draft_.links.push_back(take);
    if (asks_ahead_ && shape == LaneShape::kFull) AskAhead();
  } else if (uses_[on] > absl::c_count(operands, on)) {
    draft_.kept.push_back({on, draft_.links.size()});
    draft_.links.push_back(
        {.op = GiveOf(DTypeOf(on)), .other = ChainOther::kLanes});
  }
  absl::c_copy(links, std::back_inserter(draft_.links));
  draft_.points.push_back(id);
  return true;
}

void TileBuilder::AskAhead() {
  for (size_t n = 0; n < region_.points.size(); ++n) {
    const auto id = static_cast<PointId>(n);
    if (!IsThere(id, LaneShape::kFull) || WidthOf(id) != draft_.width ||
        !InPlace(id).has_value()) {
      continue;
    }
    asks_ahead_ = false;
    draft_.links.push_back({.op = ChainOp::kAhead,
                            .other = ChainOther::kLanes,
                            .slot = SlotOf(id, LaneShape::kFull)});
  }
}

bool TileBuilder::Passes(PointId on, PointId id, TileSteps* to) {
  const LaneShape shape = shapes_.shape(id);
  if (uses_[on] > 1 || !GoesOn(on, shape, ScopeOf(id, shape, to), 0)) {
    return false;
  }
  draft_.points.push_back(id);
  return true;
}

bool TileBuilder::BeginCount(PointId id, int scope, TileSteps* to) {
  const DType dtype = DTypeOf(id);
  std::vector<int> symbols;
  shapes_.index(id).CollectSymbols(&symbols);
  LaneIndex index(shapes_.index(id), lanes_, shapes_.symbols());
  if (!symbols.empty() || !IsInteger(dtype) || ByteWidth(dtype) < 4 ||
      FindChain(WidthOf(id), options_.isa) == nullptr ||
      shapes_.shape(id) != LaneShape::kFull || !index.steps_along_x() ||
      index.step_x() != 1 || region_.loops.extents[lanes_.x] < kLongRow) {
    return false;
  }
  BeginDraft(WidthOf(id), scope, to);
  draft_.count = std::move(index);
  draft_.links.push_back({.op = ChainOp::kCount, .other = ChainOther::kOne});
  draft_.points.push_back(id);
  return true;
}

void TileBuilder::BeginDraft(int64_t width, int scope, TileSteps* to) {
  EndDraft();
  draft_.width = width;
  draft_.scope = scope;
  draft_.to = to;
  draft_.points.reserve(kUsualChain);
  draft_.links.reserve(kUsualChain);
}

void TileBuilder::EndDraft() {
  if (draft_.points.empty()) return;
  Draft draft;
  std::swap(draft, draft_);
  slots_.BeginStep();
  for (const ChainStep::Link& link : draft.links) {
    if (link.slot.slot >= 0) slots_.Use(link.slot.slot);
  }
  for (const auto& [point, link] : draft.kept) {
    draft.links[link].slot = Define(point, /*over=*/false);
  }
  const PointId last = draft.points.back();
  const LaneSlot to = Define(last, /*over=*/true);
  draft.links.push_back({GiveOf(DTypeOf(last)), ChainOther::kLanes, to});
  Add(std::make_unique<ChainStep>(
          draft.scope, FindChain(draft.width, options_.isa),
          std::move(draft.links), to, std::move(draft.count)),
      draft.to);
}

}  // namespace hawser::cpu
