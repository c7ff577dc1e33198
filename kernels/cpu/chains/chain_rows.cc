#include "kernels/cpu/chains/chain_rows.h"

#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"

namespace hawser::cpu {
namespace {

// Those of an op stand together.
using Row = ChainRow;
using Direction = CompareDirection;

constexpr ChainRow kChainRows[] = {
    {&kAbs, 0, {{ChainOp::kMagnitude}}},
    {&kAdd, 0, {{ChainOp::kPlus, 1}}},
    {&kAdd, 0, {{ChainOp::kWholePlus, 1}}, Row::kWords},
    {&kAdd, 1, {{ChainOp::kPlus, 0}}},
    {&kAdd, 1, {{ChainOp::kWholePlus, 0}}, Row::kWords},
    {&kAnd, 0, {{ChainOp::kBoth, 1}}, Row::kBools},
    {&kAnd, 1, {{ChainOp::kBoth, 0}}, Row::kBools},
    {&kAnd, 0, {{ChainOp::kWholeBoth, 1}}, Row::kWords},
    {&kAnd, 1, {{ChainOp::kWholeBoth, 0}}, Row::kWords},
    {&kBitcastConvert, 0, {}, Row::kBits, Row::kBits},
    {&kCeil, 0, {{ChainOp::kUp}}},
    {&kClamp, 1, {{ChainOp::kLarger, 0}, {ChainOp::kSmaller, 2}}},
#define HAWSER_DIRECTION(direction, Op, Other)                   \
  {&kCompare,   0,           {{ChainOp::k##Op, 1}},              \
   Row::kReals, Row::kBools, Direction::direction},              \
      {&kCompare,   1,           {{ChainOp::k##Other, 0}},       \
       Row::kReals, Row::kBools, Direction::direction},          \
      {&kCompare,    0,           {{ChainOp::kWhole##Op, 1}},    \
       Row::kWholes, Row::kBools, Direction::direction},         \
      {&kCompare,    1,           {{ChainOp::kWhole##Other, 0}}, \
       Row::kWholes, Row::kBools, Direction::direction},
    HAWSER_DIRECTION(kEq, Equal, Equal) HAWSER_DIRECTION(kNe, Unequal, Unequal)
        HAWSER_DIRECTION(kGe, AtLeast, AtMost) HAWSER_DIRECTION(
            kGt, Above, Below) HAWSER_DIRECTION(kLe, AtMost, AtLeast)
            HAWSER_DIRECTION(kLt, Below, Above)
#undef HAWSER_DIRECTION
                {&kConvert, 0, {{ChainOp::kOnes}}, Row::kBools, Row::kReals},
    {&kConvert, 0, {{ChainOp::kWholeOnes}}, Row::kBools, Row::kWholes},
    {&kConvert, 0, {{ChainOp::kFromWhole}}, Row::kWholes, Row::kF32},
    {&kConvert, 0, {}, Row::kBytes, Row::kSingles},
    kWidenRow,
    {&kConvert, 0, {}, Row::kSingles, Row::kHalves},
    {&kDivide, 0, {{ChainOp::kOver, 1}}},
    {&kDivide, 1, {{ChainOp::kUnder, 0}}},
    {&kExponential, 0, {{ChainOp::kExp}}, Row::kSingles},
    {&kFloor, 0, {{ChainOp::kDown}}},
    {&kIsFinite, 0, {{ChainOp::kFinite}}, Row::kReals, Row::kBools},
    {&kLog, 0, {{ChainOp::kLog}}, Row::kSingles},
    {&kLogPlusOne, 0, {{ChainOp::kLogPlusOne}}, Row::kSingles},
    {&kLogistic, 0, {{ChainOp::kLogistic}}, Row::kSingles},
    {&kMaximum, 0, {{ChainOp::kLarger, 1}}},
    {&kMaximum, 1, {{ChainOp::kLarger, 0}}},
    {&kMinimum, 0, {{ChainOp::kSmaller, 1}}},
    {&kMinimum, 1, {{ChainOp::kSmaller, 0}}},
    {&kMultiply, 0, {{ChainOp::kTimes, 1}}},
    {&kMultiply, 1, {{ChainOp::kTimes, 0}}},
    {&kNegate, 0, {{ChainOp::kNegative}}},
    {&kNot, 0, {{ChainOp::kNotSo}}, Row::kBools},
    {&kNot, 0, {{ChainOp::kWholeNotSo}}, Row::kWords},
    {&kOr, 0, {{ChainOp::kEither, 1}}, Row::kBools},
    {&kOr, 1, {{ChainOp::kEither, 0}}, Row::kBools},
    {&kOr, 0, {{ChainOp::kWholeEither, 1}}, Row::kWords},
    {&kOr, 1, {{ChainOp::kWholeEither, 0}}, Row::kWords},
    {&kRoundNearestEven, 0, {{ChainOp::kEven}}},
    {&kRsqrt, 0, {{ChainOp::kInverseRoot}}},
    {&kSelect,
     1,
     {{ChainOp::kTakeBools, 0}, {ChainOp::kElse, 2}},
     Row::kNumbers},
    {&kSelect,
     2,
     {{ChainOp::kTakeBools, 0}, {ChainOp::kThen, 1}},
     Row::kNumbers},
    {&kShiftLeft, 0, {{ChainOp::kLeft, 1}}, Row::kWords},
    {&kShiftRightArithmetic, 0, {{ChainOp::kRightSigned, 1}}, Row::kWords},
    {&kShiftRightLogical, 0, {{ChainOp::kRight, 1}}, Row::kWords},
    {&kSign, 0, {{ChainOp::kSign}}},
    {&kSqrt, 0, {{ChainOp::kSquareRoot}}},
    {&kSubtract, 0, {{ChainOp::kMinus, 1}}},
    {&kSubtract, 0, {{ChainOp::kWholeMinus, 1}}, Row::kWords},
    {&kSubtract, 1, {{ChainOp::kMinusFrom, 0}}},
    {&kSubtract, 1, {{ChainOp::kWholeMinusFrom, 0}}, Row::kWords},
    {&kTanh, 0, {{ChainOp::kTanh}}, Row::kSingles},
    {&kXor, 0, {{ChainOp::kOneOfTwo, 1}}, Row::kBools},
    {&kXor, 1, {{ChainOp::kOneOfTwo, 0}}, Row::kBools},
    {&kXor, 0, {{ChainOp::kWholeOneOfTwo, 1}}, Row::kWords},
    {&kXor, 1, {{ChainOp::kWholeOneOfTwo, 0}}, Row::kWords},
};

bool Is(DType dtype, ChainRow::Of of) {
  const bool half = IsHalfType(dtype);
  const bool single = half || dtype == DType::kF32;
  const bool real = single || dtype == DType::kF64;
  const bool whole = dtype == DType::kS32 || dtype == DType::kS64;
  const bool word = dtype == DType::kU32 || dtype == DType::kU64;
  switch (of) {
    case ChainRow::kReals:
      return real;
    case ChainRow::kSingles:
      return single;
    case ChainRow::kF32:
      return dtype == DType::kF32;
    case ChainRow::kHalves:
      return half;
    case ChainRow::kWholes:
      return whole;
    case ChainRow::kWords:
      return whole || word;
    case ChainRow::kNumbers:
      return real || whole || word;
    case ChainRow::kBits:
      return (real && !half) || whole || word;
    case ChainRow::kBools:
      return dtype == DType::kBool;
    case ChainRow::kBytes:
      break;
  }
  return dtype == DType::kU8;
}

}  // namespace

absl::Span<const ChainRow> ChainRows() { return kChainRows; }

absl::Span<const ChainRow> ChainRowsOf(const OpDef& op) {
  using Rows = absl::flat_hash_map<const OpDef*, absl::Span<const ChainRow>>;
  static const Rows& rows = *new Rows([] {
    Rows of;
    for (const ChainRow& row : kChainRows) {
      absl::Span<const ChainRow>& some = of[row.op];
      some = {some.empty() ? &row : some.data(), some.size() + 1};
    }
    return of;
  }());
  const auto found = rows.find(&op);
  return found == rows.end() ? absl::Span<const ChainRow>() : found->second;
}

bool IsHalfType(DType dtype) {
  return dtype == DType::kF16 || dtype == DType::kBF16;
}

int64_t LaneBytes(DType dtype) {
  return IsHalfType(dtype) ? 4 : ByteWidth(dtype);
}

bool GoesToHeld(ChainOp op) {
  constexpr ChainOp kOps[] = {
      ChainOp::kPlus,           ChainOp::kMinus,        ChainOp::kMinusFrom,
      ChainOp::kTimes,          ChainOp::kWholePlus,    ChainOp::kWholeMinus,
      ChainOp::kWholeMinusFrom, ChainOp::kWholeOneOfTwo};
  return absl::c_linear_search(kOps, op);
}

bool Rounds(const ChainRow& row) {
  if (row.op == &kConvert) return row.of == ChainRow::kSingles;
  constexpr const OpDef* kExact[] = {
      &kAbs,     &kCeil,   &kClamp,  &kFloor, &kMaximum,
      &kMinimum, &kNegate, &kSelect, &kSign,  &kRoundNearestEven};
  return absl::c_find(kExact, row.op) == std::end(kExact);
}

bool IsOf(const ChainRow& row, DType operand, DType result,
          const Attributes& attributes) {
  return Is(operand, row.of) && Is(result, row.to) &&
         (row.of == ChainRow::kBytes || row.of == ChainRow::kBools ||
          row.to == ChainRow::kBools ||
          LaneBytes(operand) == LaneBytes(result)) &&
         (row.op != &kCompare ||
          CompareDirectionOf(attributes) == row.direction);
}

}  // namespace hawser::cpu
