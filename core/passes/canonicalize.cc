#include "core/passes/canonicalize.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/passes/patterns/simplify.h"
#include "core/passes/rewrite/rewriter.h"

namespace hawser {
namespace {

struct Row {
  const OpDef* op;
  absl::string_view pattern;
  Simplify simplify;
};
// The rules of one op stand in the order they are tried.
constexpr Row kRows[] = {
    {&kAbs, "abs of abs", TwiceIsOnce},
    {&kAbs, "abs of negate", SizeOfNegative},
    {&kAdd, "x + -0", SumWithNothing},
    {&kAdd, "x + negate", SumWithNegative},
    {&kAdd, "0 + sum", SumAfterZero},
    {&kAnd, "x and x", OfItself},
    {&kAnd, "x and all", BitsWithAll},
    {&kBitcastConvert, "bitcast to the same", OperandIfSameShape},
    {&kBitcastConvert, "bitcast of bitcast", BitsTwice},
    {&kBroadcastInDim, "broadcast of broadcast", MergeBroadcasts},
    {&kCeil, "ceil of ceil", TwiceIsOnce},
    {&kComplex, "complex of parts", ComplexOfParts},
    {&kConcatenate, "concatenate of one", OnlyOperand},
    {&kConvert, "convert to the same", OperandIfSameShape},
    {&kConvert, "convert of convert", ConvertTwice},
    {&kDivide, "x / 1", DivisorOne},
    {&kDynamicSlice, "slice of all", OperandIfSameShape},
    {&kDynamicSlice, "slice at constants", SliceAtConstants},
    {&kDynamicUpdateSlice, "update of all", UpdateOfAll},
    {&kFloor, "floor of floor", TwiceIsOnce},
    {&kImag, "imag of complex", PartOfComplex},
    {&kMaximum, "max of itself", OfItself},
    {&kMinimum, "min of itself", OfItself},
    {&kMultiply, "x * 1", FactorOne},
    {&kNegate, "negate of negate", TwiceIsNothing},
    {&kNot, "not of not", TwiceIsNothing},
    {&kNot, "not of compare", OppositeComparison},
    {&kOr, "x or x", OfItself},
    {&kOr, "x or 0", BitsWithNone},
    {&kPad, "pad of nothing", PadOfNothing},
    {&kReal, "real of a real", OperandIfSameShape},
    {&kReal, "real of complex", PartOfComplex},
    {&kReduce, "reduce of one element", FoldOfOne},
    {&kReshape, "reshape of reshape", MergeReshapes},
    {&kReshape, "reshape of a scalar", ReshapeOfScalar},
    {&kReverse, "reverse of nothing", ReverseOfNothing},
    {&kReverse, "reverse of reverse", MergeReverses},
    {&kRoundNearestAfz, "round of round", TwiceIsOnce},
    {&kRoundNearestEven, "round of round", TwiceIsOnce},
    {&kScatter, "scatter of one a row", ScatterOfOneARow},
    {&kScatter, "scatter of one window", ScatterOfOneWindow},
    {&kSelect, "select of one", ChoiceOfOne},
    {&kSelect, "select of truths", ChoiceOfTruths},
    {&kSelect, "select by not", ChoiceByOpposite},
    {&kShiftLeft, "x << 0", BitsWithNone},
    {&kShiftRightArithmetic, "x >> 0", BitsWithNone},
    {&kShiftRightLogical, "x >> 0", BitsWithNone},
    {&kSign, "sign of sign", TwiceIsOnce},
    // A part of every axis that is as large as the axis is all of it.
    {&kSlice, "slice of all", OperandIfSameShape},
    {&kSlice, "slice of slice", MergeSlices},
    {&kStopGradient, "stop_gradient", OnlyOperand},
    {&kSubtract, "x - 0", DifferenceFromNothing},
    {&kSubtract, "x - negate", DifferenceWithNegative},
    {&kTranspose, "transpose of transpose", MergeTransposes},
    {&kTranspose, "transpose of broadcast", TransposeOfBroadcast},
    {&kXor, "x xor 0", BitsWithNone},
};

using Rows = absl::flat_hash_map<const OpDef*, std::vector<const Row*>>;
const Rows& RowsByOp() {
  static const Rows& by_op = *[] {
    auto* map = new Rows;
    for (const Row& row : kRows) (*map)[row.op].push_back(&row);
    return map;
  }();
  return by_op;
}

}  // namespace

std::vector<CanonicalPattern> CanonicalPatterns() {
  std::vector<CanonicalPattern> patterns;
  for (const Row& row : kRows) patterns.push_back({row.op, row.pattern});
  return patterns;
}

absl::StatusOr<Module> Canonicalize(Module module, bool* changed) {
  auto rule = [&](Rewriter& rewriter,
                  const Instruction& i) -> absl::StatusOr<bool> {
    const auto rows = RowsByOp().find(i.op);
    if (rows == RowsByOp().end()) return false;
    const Site site{rewriter, i, rewriter.MappedOperands(i),
                    rewriter.from().shape(i.first_result)};
    for (const Row* row : rows->second) {
      HAWSER_ASSIGN_OR_RETURN(const ValueId value, row->simplify(site));
      if (value == kNoValue) continue;
      rewriter.Replace(i, value);
      return true;
    }
    return false;
  };
  return RewriteModule(std::move(module), rule, changed);
}

}  // namespace hawser
