#include "kernels/cpu/chains/chain_rows.h"

#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"

namespace hawser::cpu {
namespace {

// The rows of an op stand together.
using Row = ChainRow;
using Direction = CompareDirection;

constexpr ChainRow kChainRows[] = {
    {&kAbs, 0, {{ChainOp::kAbs}}},
    {&kAdd, 0, {{ChainOp::kAdd, 1}}},
    {&kAdd, 0, {{ChainOp::kIntAdd, 1}}, Row::kInts},
    {&kAdd, 1, {{ChainOp::kAdd, 0}}},
    {&kAdd, 1, {{ChainOp::kIntAdd, 0}}, Row::kInts},
    {&kAnd, 0, {{ChainOp::kAnd, 1}}, Row::kBools},
    {&kAnd, 1, {{ChainOp::kAnd, 0}}, Row::kBools},
    {&kAnd, 0, {{ChainOp::kIntAnd, 1}}, Row::kInts},
    {&kAnd, 1, {{ChainOp::kIntAnd, 0}}, Row::kInts},
    {&kBitcastConvert, 0, {}, Row::kBits, Row::kBits},
    {&kCeil, 0, {{ChainOp::kCeil}}},
    {&kClamp, 1, {{ChainOp::kMax, 0}, {ChainOp::kMin, 2}}},
#define HAWSER_DIRECTION(direction, Op, Other)                     \
  {&kCompare,    0,           {{ChainOp::k##Op, 1}},               \
   Row::kFloats, Row::kBools, Direction::direction},               \
      {&kCompare,    1,           {{ChainOp::k##Other, 0}},        \
       Row::kFloats, Row::kBools, Direction::direction},           \
      {&kCompare,        0,           {{ChainOp::kInt##Op, 1}},    \
       Row::kSignedInts, Row::kBools, Direction::direction},       \
      {&kCompare,        1,           {{ChainOp::kInt##Other, 0}}, \
       Row::kSignedInts, Row::kBools, Direction::direction},
    HAWSER_DIRECTION(kEq, Equal, Equal) HAWSER_DIRECTION(
        kNe, NotEqual, NotEqual) HAWSER_DIRECTION(kGe, GreaterEqual, LessEqual)
        HAWSER_DIRECTION(kGt, Greater, Less) HAWSER_DIRECTION(
            kLe, LessEqual, GreaterEqual) HAWSER_DIRECTION(kLt, Less, Greater)
#undef HAWSER_DIRECTION
            {&kConvert,
             0,
             {{ChainOp::kMaskToFloat}},
             Row::kBools,
             Row::kFloats},
    {&kConvert, 0, {{ChainOp::kMaskToInt}}, Row::kBools, Row::kSignedInts},
    {&kConvert, 0, {{ChainOp::kIntToFloat}}, Row::kSignedInts, Row::kF32},
    {&kConvert, 0, {}, Row::kBytes, Row::kSingles},
    kWidenRow,
    {&kConvert, 0, {}, Row::kSingles, Row::kHalves},
    {&kDivide, 0, {{ChainOp::kDivide, 1}}},
    {&kDivide, 1, {{ChainOp::kReverseDivide, 0}}},
    {&kExponential, 0, {{ChainOp::kExp}}, Row::kSingles},
    {&kFloor, 0, {{ChainOp::kFloor}}},
    {&kIsFinite, 0, {{ChainOp::kIsFinite}}, Row::kFloats, Row::kBools},
    {&kLog, 0, {{ChainOp::kLog}}, Row::kSingles},
    {&kLogPlusOne, 0, {{ChainOp::kLog1p}}, Row::kSingles},
    {&kLogistic, 0, {{ChainOp::kLogistic}}, Row::kSingles},
    {&kMaximum, 0, {{ChainOp::kMax, 1}}},
    {&kMaximum, 1, {{ChainOp::kMax, 0}}},
    {&kMinimum, 0, {{ChainOp::kMin, 1}}},
    {&kMinimum, 1, {{ChainOp::kMin, 0}}},
    {&kMultiply, 0, {{ChainOp::kMultiply, 1}}},
    {&kMultiply, 1, {{ChainOp::kMultiply, 0}}},
    {&kNegate, 0, {{ChainOp::kNegate}}},
    {&kNot, 0, {{ChainOp::kNot}}, Row::kBools},
    {&kNot, 0, {{ChainOp::kIntNot}}, Row::kInts},
    {&kOr, 0, {{ChainOp::kOr, 1}}, Row::kBools},
    {&kOr, 1, {{ChainOp::kOr, 0}}, Row::kBools},
    {&kOr, 0, {{ChainOp::kIntOr, 1}}, Row::kInts},
    {&kOr, 1, {{ChainOp::kIntOr, 0}}, Row::kInts},
    {&kRoundNearestEven, 0, {{ChainOp::kRoundEven}}},
    {&kRsqrt, 0, {{ChainOp::kRsqrt}}},
    {&kSelect,
     1,
     {{ChainOp::kLoadMask, 0}, {ChainOp::kBlendNot, 2}},
     Row::kNumbers},
    {&kSelect,
     2,
     {{ChainOp::kLoadMask, 0}, {ChainOp::kBlend, 1}},
     Row::kNumbers},
    {&kShiftLeft, 0, {{ChainOp::kShiftLeft, 1}}, Row::kInts},
    {&kShiftRightArithmetic,
     0,
     {{ChainOp::kShiftRightArithmetic, 1}},
     Row::kInts},
    {&kShiftRightLogical, 0, {{ChainOp::kShiftRightLogical, 1}}, Row::kInts},
    {&kSign, 0, {{ChainOp::kSign}}},
    {&kSqrt, 0, {{ChainOp::kSqrt}}},
    {&kSubtract, 0, {{ChainOp::kSubtract, 1}}},
    {&kSubtract, 0, {{ChainOp::kIntSubtract, 1}}, Row::kInts},
    {&kSubtract, 1, {{ChainOp::kReverseSubtract, 0}}},
    {&kSubtract, 1, {{ChainOp::kIntReverseSubtract, 0}}, Row::kInts},
    {&kTanh, 0, {{ChainOp::kTanh}}, Row::kSingles},
    {&kXor, 0, {{ChainOp::kXor, 1}}, Row::kBools},
    {&kXor, 1, {{ChainOp::kXor, 0}}, Row::kBools},
    {&kXor, 0, {{ChainOp::kIntXor, 1}}, Row::kInts},
    {&kXor, 1, {{ChainOp::kIntXor, 0}}, Row::kInts},
};

bool Is(DType dtype, ChainRow::Of of) {
  const bool half = IsHalfType(dtype);
  const bool single = half || dtype == DType::kF32;
  const bool real = single || dtype == DType::kF64;
  const bool whole = dtype == DType::kS32 || dtype == DType::kS64;
  const bool word = dtype == DType::kU32 || dtype == DType::kU64;
  switch (of) {
    case ChainRow::kFloats:
      return real;
    case ChainRow::kSingles:
      return single;
    case ChainRow::kF32:
      return dtype == DType::kF32;
    case ChainRow::kHalves:
      return half;
    case ChainRow::kSignedInts:
      return whole;
    case ChainRow::kInts:
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

bool CanWriteH(ChainOp op) {
  enum Form { Unary, BinaryButA, Binary, BinaryOrIntoH };
  switch (op) {
#define HAWSER_CHAIN_OP(Name, Form, ...) \
  case ChainOp::k##Name:                 \
    return Form == BinaryOrIntoH;
#include "kernels/cpu/chains/chain_ops.def"
    default:
      return false;
  }
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
