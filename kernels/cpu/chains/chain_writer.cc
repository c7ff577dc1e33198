#include "kernels/cpu/chains/chain_writer.h"

#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"

namespace hawser::cpu {

bool Gives(ChainOp op) {
  return op == ChainOp::kGive || op == ChainOp::kGiveBools ||
         op == ChainOp::kGiveBf16 || op == ChainOp::kGiveF16;
}

namespace {

// What links take, beside one that computes: between registers, from the
// nearest cache, to it.
constexpr int kMove = 2, kRead = 4, kWrite = 6;
// What is left in h rather than in a: maybe a move, later.
constexpr int kToHeld = 1;

bool GivesLanes(const ChainRow& row) { return row.to != ChainRow::kBools; }

// What is done with values of one dtype; most are as the last one.
struct Moves {
  DType dtype;
  ChainOp take = ChainOp::kTake;
  ChainOp give = ChainOp::kGive;
  ChainOp round = ChainOp::kEnd;
};
constexpr Moves kMoves[] = {
    {DType::kBool, ChainOp::kTakeBools, ChainOp::kGiveBools},
    {DType::kU8, ChainOp::kTakeBytes},
    {DType::kBF16, ChainOp::kTakeBf16, ChainOp::kGiveBf16, ChainOp::kRoundBf16},
    {DType::kF16, ChainOp::kTakeF16, ChainOp::kGiveF16, ChainOp::kRoundF16},
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

ChainValue ChainWriter::AddRead(DType dtype, ChainOther other) {
  values_.push_back({.dtype = dtype, .read = other});
  return static_cast<ChainValue>(values_.size()) - 1;
}

ChainValue ChainWriter::AddMade(DType dtype, Op op) {
  values_.push_back({.dtype = dtype});
  op.result = static_cast<ChainValue>(values_.size()) - 1;
  ops_.push_back(std::move(op));
  return ops_.back().result;
}

ChainValue ChainWriter::AddCount(DType dtype) { return AddMade(dtype, {}); }

ChainValue ChainWriter::AddOp(absl::Span<const ChainRow* const> rows,
                              absl::Span<const ChainValue> operands,
                              DType result) {
  Op op;
  op.rows.assign(rows.begin(), rows.end());
  op.operands.assign(operands.begin(), operands.end());
  for (const ChainValue v : operands) {
    values_[v].users.push_back(num_ops());
    ++values_[v].uses;
    if (values_[v].read == ChainOther::kNone) ++op.missing;
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
    if (link.value < 0 || link.kept >= 0) continue;
    if (Gives(link.op)) {
      link.is_last = !is_read[link.value];
    } else {
      is_read[link.value] = true;
    }
  }
  return std::move(links_);
}

int ChainWriter::Next() {
  for (const ChainValue v : {lanes_, truths_, held_}) {
    if (v < 0) continue;
    for (const int user : values_[v].users) {
      if (IsReady(ops_[user])) return user;
    }
  }
  while (ops_[first_].is_written) ++first_;
  return static_cast<int>(first_);
}

bool ChainWriter::IsReady(const Op& op) const {
  const bool gives = op.result < 0;
  return !op.is_written && op.missing == 0 &&
         !(gives && MayReadWhere(op.operands[0]));
}

bool ChainWriter::MayReadWhere(ChainValue v) const {
  return absl::c_any_of(values_, [&](const Value& other) {
    return other.read == ChainOther::kLanes && other.uses > 0 &&
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
    if (IsNeeded(lanes_, held_)) SetAside();
    links_.push_back({ChainOp::kCount, ChainOther::kOne, op.result});
    lanes_ = op.result;
  } else if (!values_[op.operands[0]].is_given) {
    const ChainValue v = op.operands[0];
    if (values_[v].dtype == DType::kBool) {
      TakeTruths(v);
    } else {
      TakeLanes(v, op, /*is_overwritten=*/false);
    }
    Give(v);
  }
  op.is_written = true;
  for (const ChainValue v : op.operands) --values_[v].uses;
  if (op.result < 0) return;
  const ChainValue result = op.result;
  for (const int user : values_[result].users) --ops_[user].missing;
  const Wanted wanted = values_[result].wanted;
  if (wanted == Wanted::kLate && MayReadWhere(result)) {
    AddLateGive(result);
  } else if (wanted != Wanted::kNo) {
    Give(result);
  }
}

void ChainWriter::AddLateGive(ChainValue v) {
  values_[v].users.push_back(num_ops());
  ++values_[v].uses;
  ops_.push_back({.operands = {v}});
}

void ChainWriter::AddLinks(const ChainRow& row, const Op& op) {
  const ChainValue on = op.operands[row.operand];
  if (IsToHeld(row, op)) {
    links_.push_back({row.links[0].op, ChainOther::kToHeld});
    held_ = op.result;
    return;
  }
  for (const ChainRow::Link& l : row.links) {
    if (l.op == ChainOp::kTakeBools) TakeTruths(op.operands[l.operand]);
  }
  if (row.of != ChainRow::kBools) {
    TakeLanes(on, op, GivesLanes(row));
  } else {
    TakeTruths(on);
    if (GivesLanes(row) && IsNeeded(lanes_, held_)) SetAside();
  }
  if (!GivesLanes(row) && IsNeededBehind(op, truths_, -1)) Keep(truths_);
  for (const ChainRow::Link& l : row.links) {
    if (l.op == ChainOp::kEnd || l.op == ChainOp::kTakeBools) continue;
    const ChainValue other = l.operand < 0 ? -1 : op.operands[l.operand];
    if (other < 0) {
      links_.push_back({l.op});
    } else if (other == on) {
      links_.push_back({l.op, ChainOther::kItself});
    } else if (other == held_) {
      links_.push_back({l.op, ChainOther::kHeld});
    } else {
      links_.push_back(ReadOf(l.op, other));
    }
  }
  (GivesLanes(row) ? lanes_ : truths_) = op.result;
}

// ---- which row --------------------------------------------------------------

const ChainRow& ChainWriter::Choose(const Op& op) const {
  return **absl::c_min_element(op.rows,
                               [&](const ChainRow* a, const ChainRow* b) {
                                 return CostOf(*a, op) < CostOf(*b, op);
                               });
}

bool ChainWriter::IsToHeld(const ChainRow& row, const Op& op) const {
  const ChainRow::Link& only = row.links[0];
  if (!GoesToHeld(only.op) || only.operand < 0 ||
      row.links[1].op != ChainOp::kEnd) {
    return false;
  }
  const ChainValue on = op.operands[row.operand];
  const Value& result = values_[op.result];
  return on == held_ && on != lanes_ && op.operands[only.operand] == lanes_ &&
         !IsNeededBehind(op, on, -1) && result.wanted == Wanted::kNo &&
         !IsHalfType(result.dtype);
}

int ChainWriter::CostOf(const ChainRow& row, const Op& op) const {
  if (IsToHeld(row, op)) return kToHeld;
  const ChainValue on = op.operands[row.operand];
  if (row.of == ChainRow::kBools) return on == truths_ ? 0 : kRead;
  const int aside = IsNeeded(held_, lanes_) ? kWrite : kMove;
  const bool stays = GivesLanes(row) && IsNeededBehind(op, on, held_);
  if (on == lanes_) return stays ? aside : 0;
  const bool is_held = on == held_;
  if (!IsNeeded(lanes_, held_)) return is_held ? kMove : kRead;
  if (!is_held) return aside + kRead;
  const bool both = GivesLanes(row) && IsNeededBehind(op, on, lanes_);
  return kMove + (both ? kWrite : 0);
}

bool ChainWriter::IsNeededBehind(const Op& op, ChainValue v,
                                 ChainValue beside) const {
  return IsNeeded(v, beside) && values_[v].uses > absl::c_count(op.operands, v);
}

// ---- registers and places ---------------------------------------------------

void ChainWriter::TakeLanes(ChainValue v, const Op& op, bool is_overwritten) {
  if (v != lanes_ && v == held_ && IsNeeded(lanes_, -1)) {
    links_.push_back({ChainOp::kSwap});
    std::swap(lanes_, held_);
  } else if (v != lanes_) {
    if (IsNeeded(lanes_, held_)) SetAside();
    if (v == held_) {
      links_.push_back({ChainOp::kTake, ChainOther::kHeld});
    } else {
      // What was made is read as lanes, whatever its dtype is elsewhere.
      const bool is_made = values_[v].read == ChainOther::kNone;
      links_.push_back(
          ReadOf(is_made ? ChainOp::kTake : MovesOf(values_[v].dtype).take, v));
    }
    lanes_ = v;
  }
  if (is_overwritten && IsNeededBehind(op, v, held_)) SetAside();
}

void ChainWriter::TakeTruths(ChainValue v) {
  if (v == truths_) return;
  if (IsNeeded(truths_, -1)) Keep(truths_);
  links_.push_back(ReadOf(ChainOp::kTakeBools, v));
  truths_ = v;
}

void ChainWriter::SetAside() {
  if (IsNeeded(held_, lanes_)) return Keep(lanes_);
  links_.push_back({ChainOp::kHold});
  held_ = lanes_;
}

void ChainWriter::Keep(ChainValue v) {
  size_t place = 0;
  while (place < places_.size() && values_[places_[place]].uses > 0) ++place;
  const bool is_bool = values_[v].dtype == DType::kBool;
  WrittenLink link = {is_bool ? ChainOp::kGiveBools : ChainOp::kGive,
                      ChainOther::kLanes, v};
  if (place == kPlaces) {
    values_[v].is_readable = true;
    values_[v].is_given = link.op == MovesOf(values_[v].dtype).give;
  } else {
    if (place == places_.size()) places_.push_back(v);
    places_[place] = v;
    values_[v].kept = link.kept = static_cast<int>(place);
  }
  links_.push_back(link);
}

void ChainWriter::Give(ChainValue v) {
  const ChainOp op = MovesOf(values_[v].dtype).give;
  links_.push_back({op, ChainOther::kLanes, v});
  // Halves are read as lanes by nothing but what takes them.
  if (op == ChainOp::kGive || op == ChainOp::kGiveBools) {
    values_[v].is_readable = true;
  }
}

WrittenLink ChainWriter::ReadOf(ChainOp op, ChainValue v) const {
  const Value& value = values_[v];
  const bool is_made = value.read == ChainOther::kNone;
  return {op, is_made ? ChainOther::kLanes : value.read, v, value.kept};
}

}  // namespace hawser::cpu
