#include "kernels/cpu/chains/chain_rows.h"

#include <iterator>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/elementwise/math.h"

namespace hawser::cpu {
namespace {

// The rows of an op stand together.
using Row = ChainRow;
using Direction = CompareDirection;

constexpr ChainRow Joins(ChainRow row) {
  row.joins = true;
  return row;
}

constexpr ChainRow kChainRows[] = {
    {&kAbs, 0, {{ChainOp::kAbs}}},
    Joins({&kAbs, 0, {{ChainOp::kIntAbs}}, Row::kSignedInts}),
    {&kAdd, 0, {{ChainOp::kAdd, 1}}},
    {&kAdd, 0, {{ChainOp::kIntAdd, 1}}, Row::kInts},
    {&kAdd, 1, {{ChainOp::kAdd, 0}}},
    {&kAdd, 1, {{ChainOp::kIntAdd, 0}}, Row::kInts},
    {&kAnd, 0, {{ChainOp::kAnd, 1}}, Row::kBools},
    {&kAnd, 1, {{ChainOp::kAnd, 0}}, Row::kBools},
    {&kAnd, 0, {{ChainOp::kIntAnd, 1}}, Row::kInts},
    {&kAnd, 1, {{ChainOp::kIntAnd, 0}}, Row::kInts},
    {&kBitcastConvert, 0, {}, Row::kBits, Row::kBits},
    Joins({&kCbrt, 0, {{ChainOp::kCbrt}}}),
    {&kCeil, 0, {{ChainOp::kCeil}}},
    {&kClamp, 1, {{ChainOp::kMax, 0}, {ChainOp::kMin, 2}}},
    Joins({&kClamp,
           1,
           {{ChainOp::kIntMax, 0}, {ChainOp::kIntMin, 2}},
           Row::kSignedInts}),
    Joins({&kClamp,
           1,
           {{ChainOp::kUintMax, 0}, {ChainOp::kUintMin, 2}},
           Row::kUnsignedInts}),
#define HAWSER_DIRECTION(direction, Op, Other, Unsigned)           \
  {&kCompare,    0,           {{ChainOp::k##Op, 1}},               \
   Row::kFloats, Row::kBools, Direction::direction},               \
      {&kCompare,    1,           {{ChainOp::k##Other, 0}},        \
       Row::kFloats, Row::kBools, Direction::direction},           \
      {&kCompare,        0,           {{ChainOp::kInt##Op, 1}},    \
       Row::kSignedInts, Row::kBools, Direction::direction},       \
      {&kCompare,        1,           {{ChainOp::kInt##Other, 0}}, \
       Row::kSignedInts, Row::kBools, Direction::direction},       \
      Joins({&kCompare,                                            \
             0,                                                    \
             {{ChainOp::k##Unsigned##Op, 1}},                      \
             Row::kUnsignedInts,                                   \
             Row::kBools,                                          \
             Direction::direction}),                               \
      Joins({&kCompare,                                            \
             1,                                                    \
             {{ChainOp::k##Unsigned##Other, 0}},                   \
             Row::kUnsignedInts,                                   \
             Row::kBools,                                          \
             Direction::direction})
    HAWSER_DIRECTION(kEq, Equal, Equal, Int),
    HAWSER_DIRECTION(kNe, NotEqual, NotEqual, Int),
    HAWSER_DIRECTION(kGe, GreaterEqual, LessEqual, Uint),
    HAWSER_DIRECTION(kGt, Greater, Less, Uint),
    HAWSER_DIRECTION(kLe, LessEqual, GreaterEqual, Uint),
    HAWSER_DIRECTION(kLt, Less, Greater, Uint),
#undef HAWSER_DIRECTION
    {&kConvert, 0, {{ChainOp::kMaskToFloat}}, Row::kBools, Row::kFloats},
    {&kConvert, 0, {{ChainOp::kMaskToInt}}, Row::kBools, Row::kSignedInts},
    {&kConvert, 0, {{ChainOp::kIntToFloat}}, Row::kSignedInts, Row::kF32},
    {&kConvert, 0, {}, Row::kBytes, Row::kSingles},
    kWidenRow,
    {&kConvert, 0, {}, Row::kSingles, Row::kHalves},
    Joins({&kCosine, 0, {{ChainOp::kCos}}}),
    {&kDivide, 0, {{ChainOp::kDivide, 1}}},
    {&kDivide, 1, {{ChainOp::kReverseDivide, 0}}},
    Joins({&kErf, 0, {{ChainOp::kErf}}}),
    Joins({&kErfc, 0, {{ChainOp::kErfc}}}),
    {&kExponential, 0, {{ChainOp::kExp}}, Row::kSingles},
    Joins({&kExponential, 0, {{ChainOp::kExp}}, Row::kF64}),
    Joins({&kExponentialMinusOne, 0, {{ChainOp::kExpm1}}}),
    {&kFloor, 0, {{ChainOp::kFloor}}},
    {&kIsFinite, 0, {{ChainOp::kIsFinite}}, Row::kFloats, Row::kBools},
    Joins({&kLgamma, 0, {{ChainOp::kLgamma}}}),
    {&kLog, 0, {{ChainOp::kLog}}, Row::kSingles},
    Joins({&kLog, 0, {{ChainOp::kLog}}, Row::kF64}),
    {&kLogPlusOne, 0, {{ChainOp::kLog1p}}, Row::kSingles},
    Joins({&kLogPlusOne, 0, {{ChainOp::kLog1p}}, Row::kF64}),
    {&kLogistic, 0, {{ChainOp::kLogistic}}, Row::kSingles},
    Joins({&kLogistic, 0, {{ChainOp::kLogistic}}, Row::kF64}),
    {&kMaximum, 0, {{ChainOp::kMax, 1}}},
    {&kMaximum, 1, {{ChainOp::kMax, 0}}},
    Joins({&kMaximum, 0, {{ChainOp::kIntMax, 1}}, Row::kSignedInts}),
    Joins({&kMaximum, 1, {{ChainOp::kIntMax, 0}}, Row::kSignedInts}),
    Joins({&kMaximum, 0, {{ChainOp::kUintMax, 1}}, Row::kUnsignedInts}),
    Joins({&kMaximum, 1, {{ChainOp::kUintMax, 0}}, Row::kUnsignedInts}),
    {&kMinimum, 0, {{ChainOp::kMin, 1}}},
    {&kMinimum, 1, {{ChainOp::kMin, 0}}},
    Joins({&kMinimum, 0, {{ChainOp::kIntMin, 1}}, Row::kSignedInts}),
    Joins({&kMinimum, 1, {{ChainOp::kIntMin, 0}}, Row::kSignedInts}),
    Joins({&kMinimum, 0, {{ChainOp::kUintMin, 1}}, Row::kUnsignedInts}),
    Joins({&kMinimum, 1, {{ChainOp::kUintMin, 0}}, Row::kUnsignedInts}),
    {&kMultiply, 0, {{ChainOp::kMultiply, 1}}},
    {&kMultiply, 1, {{ChainOp::kMultiply, 0}}},
    Joins({&kMultiply, 0, {{ChainOp::kIntMultiply, 1}}, Row::kInts}),
    Joins({&kMultiply, 1, {{ChainOp::kIntMultiply, 0}}, Row::kInts}),
    {&kNegate, 0, {{ChainOp::kNegate}}},
    Joins({&kNegate, 0, {{ChainOp::kIntNegate}}, Row::kInts}),
    {&kNot, 0, {{ChainOp::kNot}}, Row::kBools},
    {&kNot, 0, {{ChainOp::kIntNot}}, Row::kInts},
    {&kOr, 0, {{ChainOp::kOr, 1}}, Row::kBools},
    {&kOr, 1, {{ChainOp::kOr, 0}}, Row::kBools},
    {&kOr, 0, {{ChainOp::kIntOr, 1}}, Row::kInts},
    {&kOr, 1, {{ChainOp::kIntOr, 0}}, Row::kInts},
    Joins({&kRoundNearestAfz, 0, {{ChainOp::kRoundAway}}}),
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
    Joins({&kSign, 0, {{ChainOp::kIntSign}}, Row::kSignedInts}),
    Joins({&kSign, 0, {{ChainOp::kUintSign}}, Row::kUnsignedInts}),
    Joins({&kSine, 0, {{ChainOp::kSin}}}),
    {&kSqrt, 0, {{ChainOp::kSqrt}}},
    {&kSubtract, 0, {{ChainOp::kSubtract, 1}}},
    {&kSubtract, 0, {{ChainOp::kIntSubtract, 1}}, Row::kInts},
    {&kSubtract, 1, {{ChainOp::kReverseSubtract, 0}}},
    {&kSubtract, 1, {{ChainOp::kIntReverseSubtract, 0}}, Row::kInts},
    Joins({&kTan, 0, {{ChainOp::kTan}}}),
    {&kTanh, 0, {{ChainOp::kTanh}}, Row::kSingles},
    Joins({&kTanh, 0, {{ChainOp::kTanh}}, Row::kF64}),
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
    case ChainRow::kF64:
      return dtype == DType::kF64;
    case ChainRow::kHalves:
      return half;
    case ChainRow::kSignedInts:
      return whole;
    case ChainRow::kUnsignedInts:
      return word;
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
#define HAWSER_CHAIN_INT(Name, Form, ...) \
  case ChainOp::k##Name:                  \
    return Form == BinaryOrIntoH;
#include "kernels/cpu/chains/chain_ops.def"
    default:
      return false;
  }
}

bool HasLinks(const ChainRow& row, const Chains& chains) {
  return absl::c_all_of(row.links, [&](const ChainRow::Link& link) {
    const auto b =
        link.operand < 0 ? ChainOperand::kNone : ChainOperand::kBroadcast;
    return chains.find(link.op, b).run != nullptr;
  });
}

bool Rounds(const ChainRow& row) {
  if (row.op == &kConvert) return row.of == ChainRow::kSingles;
  constexpr const OpDef* kExact[] = {&kAbs,
                                     &kCeil,
                                     &kClamp,
                                     &kFloor,
                                     &kMaximum,
                                     &kMinimum,
                                     &kNegate,
                                     &kSelect,
                                     &kSign,
                                     &kRoundNearestAfz,
                                     &kRoundNearestEven};
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
