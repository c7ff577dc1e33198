#include "kernels/cpu/chains/chain_writer.h"

#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"

namespace hawser::cpu {

bool IsStore(ChainOp op) {
  return op == ChainOp::kStore || op == ChainOp::kStoreMask ||
         op == ChainOp::kStoreBf16 || op == ChainOp::kStoreF16;
}

namespace {

// Costs of the links that only move lanes: between registers, from the nearest
// cache, to it.
constexpr int kMove = 2, kRead = 4, kWrite = 6;
// A result in h may cost a move later.
constexpr int kIntoH = 1;

bool LeavesLanes(const ChainRow& row) { return row.to != ChainRow::kBools; }

// How values of a dtype are loaded, stored and rounded. Other dtypes are like
// the last row.
struct Moves {
  DType dtype;
  ChainOp load = ChainOp::kLoad;
  ChainOp store = ChainOp::kStore;
  ChainOp round = ChainOp::kEnd;
};
constexpr Moves kMoves[] = {
    {DType::kBool, ChainOp::kLoadMask, ChainOp::kStoreMask},
    {DType::kU8, ChainOp::kLoadU8},
    {DType::kBF16, ChainOp::kLoadBf16, ChainOp::kStoreBf16,
     ChainOp::kRoundBf16},
    {DType::kF16, ChainOp::kLoadF16, ChainOp::kStoreF16, ChainOp::kRoundF16},
    {DType::kF32}};

const Moves& MovesOf(DType dtype) {
  const Moves* moves = std::begin(kMoves);
  while (moves->dtype != dtype && moves->dtype != DType::kF32) ++moves;
  return *moves;
}

}  // namespace

void ChainWriter::Reserve(int values) {
  values_.reserve(values);
  ops_.reserve(values);
}

ChainValue ChainWriter::AddRead(DType dtype, ChainOperand b) {
  values_.push_back({.dtype = dtype, .read = b});
  return static_cast<ChainValue>(values_.size()) - 1;
}

ChainValue ChainWriter::AddMade(DType dtype, Op op) {
  values_.push_back({.dtype = dtype});
  op.result = static_cast<ChainValue>(values_.size()) - 1;
  ops_.push_back(std::move(op));
  return ops_.back().result;
}

ChainValue ChainWriter::AddIota(DType dtype) { return AddMade(dtype, {}); }

ChainValue ChainWriter::AddOp(absl::Span<const ChainRow* const> rows,
                              absl::Span<const ChainValue> operands,
                              DType result) {
  Op op;
  op.rows.assign(rows.begin(), rows.end());
  op.operands.assign(operands.begin(), operands.end());
  for (const ChainValue v : operands) {
    values_[v].users.push_back(num_ops());
    ++values_[v].uses;
    if (values_[v].read == ChainOperand::kNone) ++op.missing;
  }
  return AddMade(result, std::move(op));
}

std::vector<WrittenLink> ChainWriter::Write(absl::Span<const Wanted> wanted) {
  for (size_t v = 0; v < values_.size(); ++v) values_[v].wanted = wanted[v];
  links_.reserve(2 * values_.size());
  for (int written = 0; written < num_ops(); ++written) WriteOp(Next());
  std::vector<bool> is_read(values_.size(), false);
  for (size_t k = links_.size(); k-- > 0;) {
    WrittenLink& link = links_[k];
    if (link.value < 0 || link.spill >= 0) continue;
    if (IsStore(link.op)) {
      link.is_last = !is_read[link.value];
    } else {
      is_read[link.value] = true;
    }
  }
  return std::move(links_);
}

int ChainWriter::Next() {
  for (const ChainValue v : {a_, m_, h_}) {
    if (v < 0) continue;
    for (const int user : values_[v].users) {
      if (IsReady(ops_[user])) return user;
    }
  }
  while (ops_[first_].is_written) ++first_;
  return static_cast<int>(first_);
}

bool ChainWriter::IsReady(const Op& op) const {
  const bool is_store = op.result < 0;
  return !op.is_written && op.missing == 0 &&
         !(is_store && HasAliasingLoads(op.operands[0]));
}

bool ChainWriter::HasAliasingLoads(ChainValue v) const {
  return absl::c_any_of(values_, [&](const Value& other) {
    return other.read == ChainOperand::kLanes && other.uses > 0 &&
           ByteWidth(other.dtype) == ByteWidth(values_[v].dtype);
  });
}

void ChainWriter::WriteOp(int number) {
  Op& op = ops_[number];
  if (!op.rows.empty()) {
    const ChainRow& row = Choose(op);
    AddLinks(row, op);
    const ChainOp round = MovesOf(values_[op.result].dtype).round;
    if (Rounds(row) && round != ChainOp::kEnd) links_.push_back({round});
  } else if (op.operands.empty()) {
    if (IsNeeded(a_, h_)) SaveA();
    links_.push_back({ChainOp::kIota, ChainOperand::kBroadcast, op.result});
    a_ = op.result;
  } else if (!values_[op.operands[0]].is_stored) {
    const ChainValue v = op.operands[0];
    if (values_[v].dtype == DType::kBool) {
      LoadM(v);
    } else {
      LoadA(v, op, /*is_overwritten=*/false);
    }
    Store(v);
  }
  op.is_written = true;
  for (const ChainValue v : op.operands) --values_[v].uses;
  if (op.result < 0) return;
  const ChainValue result = op.result;
  for (const int user : values_[result].users) --ops_[user].missing;
  const Wanted wanted = values_[result].wanted;
  if (wanted == Wanted::kAfterLoads && HasAliasingLoads(result)) {
    AddLateStore(result);
  } else if (wanted != Wanted::kNo) {
    Store(result);
  }
}

void ChainWriter::AddLateStore(ChainValue v) {
  values_[v].users.push_back(num_ops());
  ++values_[v].uses;
  ops_.push_back({.operands = {v}});
}

void ChainWriter::AddLinks(const ChainRow& row, const Op& op) {
  const ChainValue on = op.operands[row.operand];
  if (GoesIntoH(row, op)) {
    links_.push_back({row.links[0].op, ChainOperand::kIntoH});
    h_ = op.result;
    return;
  }
  for (const ChainRow::Link& l : row.links) {
    if (l.op == ChainOp::kLoadMask) LoadM(op.operands[l.operand]);
  }
  if (row.of != ChainRow::kBools) {
    LoadA(on, op, LeavesLanes(row));
  } else {
    LoadM(on);
    if (LeavesLanes(row) && IsNeeded(a_, h_)) SaveA();
  }
  if (!LeavesLanes(row) && IsNeededAfter(op, m_, -1)) Spill(m_);
  for (const ChainRow::Link& l : row.links) {
    if (l.op == ChainOp::kEnd || l.op == ChainOp::kLoadMask) continue;
    const ChainValue other = l.operand < 0 ? -1 : op.operands[l.operand];
    if (other < 0) {
      links_.push_back({l.op});
    } else if (other == on) {
      links_.push_back({l.op, ChainOperand::kA});
    } else if (other == h_) {
      links_.push_back({l.op, ChainOperand::kH});
    } else {
      links_.push_back(ReadOf(l.op, other));
    }
  }
  (LeavesLanes(row) ? a_ : m_) = op.result;
}

// ---- which row --------------------------------------------------------------

const ChainRow& ChainWriter::Choose(const Op& op) const {
  return **absl::c_min_element(op.rows,
                               [&](const ChainRow* a, const ChainRow* b) {
                                 return CostOf(*a, op) < CostOf(*b, op);
                               });
}

bool ChainWriter::GoesIntoH(const ChainRow& row, const Op& op) const {
  const ChainRow::Link& only = row.links[0];
  if (!CanWriteH(only.op) || only.operand < 0 ||
      row.links[1].op != ChainOp::kEnd) {
    return false;
  }
  const ChainValue on = op.operands[row.operand];
  const Value& result = values_[op.result];
  return on == h_ && on != a_ && op.operands[only.operand] == a_ &&
         !IsNeededAfter(op, on, -1) && result.wanted == Wanted::kNo &&
         !IsHalfType(result.dtype);
}

int ChainWriter::CostOf(const ChainRow& row, const Op& op) const {
  if (GoesIntoH(row, op)) return kIntoH;
  const ChainValue on = op.operands[row.operand];
  if (row.of == ChainRow::kBools) return on == m_ ? 0 : kRead;
  const int aside = IsNeeded(h_, a_) ? kWrite : kMove;
  const bool stays = LeavesLanes(row) && IsNeededAfter(op, on, h_);
  if (on == a_) return stays ? aside : 0;
  const bool is_in_h = on == h_;
  if (!IsNeeded(a_, h_)) return is_in_h ? kMove : kRead;
  if (!is_in_h) return aside + kRead;
  const bool both = LeavesLanes(row) && IsNeededAfter(op, on, a_);
  return kMove + (both ? kWrite : 0);
}

bool ChainWriter::IsNeededAfter(const Op& op, ChainValue v,
                                ChainValue beside) const {
  return IsNeeded(v, beside) && values_[v].uses > absl::c_count(op.operands, v);
}

// ---- registers and spills ---------------------------------------------------

void ChainWriter::LoadA(ChainValue v, const Op& op, bool is_overwritten) {
  if (v != a_ && v == h_ && IsNeeded(a_, -1)) {
    links_.push_back({ChainOp::kSwap});
    std::swap(a_, h_);
  } else if (v != a_) {
    if (IsNeeded(a_, h_)) SaveA();
    if (v == h_) {
      links_.push_back({ChainOp::kLoad, ChainOperand::kH});
    } else {
      // Spilled and stored results are lanes, whatever their dtype.
      const bool is_made = values_[v].read == ChainOperand::kNone;
      links_.push_back(
          ReadOf(is_made ? ChainOp::kLoad : MovesOf(values_[v].dtype).load, v));
    }
    a_ = v;
  }
  if (is_overwritten && IsNeededAfter(op, v, h_)) SaveA();
}

void ChainWriter::LoadM(ChainValue v) {
  if (v == m_) return;
  if (IsNeeded(m_, -1)) Spill(m_);
  links_.push_back(ReadOf(ChainOp::kLoadMask, v));
  m_ = v;
}

void ChainWriter::SaveA() {
  if (IsNeeded(h_, a_)) return Spill(a_);
  links_.push_back({ChainOp::kCopyToH});
  h_ = a_;
}

void ChainWriter::Spill(ChainValue v) {
  size_t slot = 0;
  while (slot < spill_slots_.size() && values_[spill_slots_[slot]].uses > 0)
    ++slot;
  const bool is_bool = values_[v].dtype == DType::kBool;
  WrittenLink link = {is_bool ? ChainOp::kStoreMask : ChainOp::kStore,
                      ChainOperand::kLanes, v};
  if (slot == kSpillSlots) {
    values_[v].is_readable = true;
    values_[v].is_stored = link.op == MovesOf(values_[v].dtype).store;
  } else {
    if (slot == spill_slots_.size()) spill_slots_.push_back(v);
    spill_slots_[slot] = v;
    values_[v].spill = link.spill = static_cast<int>(slot);
  }
  links_.push_back(link);
}

void ChainWriter::Store(ChainValue v) {
  const ChainOp op = MovesOf(values_[v].dtype).store;
  links_.push_back({op, ChainOperand::kLanes, v});
  // Links cannot load lanes from stored halves.
  if (op == ChainOp::kStore || op == ChainOp::kStoreMask) {
    values_[v].is_readable = true;
  }
}

WrittenLink ChainWriter::ReadOf(ChainOp op, ChainValue v) const {
  const Value& value = values_[v];
  const bool is_made = value.read == ChainOperand::kNone;
  return {op, is_made ? ChainOperand::kLanes : value.read, v, value.spill};
}

}  // namespace hawser::cpu
