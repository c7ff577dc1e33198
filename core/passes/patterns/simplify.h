// Simplification: what canonicalization asks of one instruction. The functions
// are grouped as the rows of core/ops are; canonicalize.cc has their table.
#ifndef HAWSER_CORE_PASSES_PATTERNS_SIMPLIFY_H_
#define HAWSER_CORE_PASSES_PATTERNS_SIMPLIFY_H_

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/ir/module.h"
#include "core/passes/rewrite/rewriter.h"

namespace hawser {

// The input of a simplification: an instruction of the old computation, with
// its operands as values of the new one.
struct Site {
  Rewriter& rewriter;
  const Instruction& instruction;
  absl::InlinedVector<ValueId, 3> operands;
  const Shape& result;

  const Shape& shape(int operand) const {
    return rewriter.shape(operands[operand]);
  }
  absl::Span<const int64_t> ints(absl::string_view name) const {
    return instruction.attributes.GetInts(name);
  }
  // The instruction that makes an operand; good until the next Append.
  const Instruction& producer(int operand) const {
    return rewriter.producer(operands[operand]);
  }
};
// The new value that takes the place of the only result; kNoValue: none.
using Simplified = absl::StatusOr<ValueId>;
using Simplify = Simplified (*)(const Site&);

// The one element of a value that is a constant, repeated or not; null for
// other values. Good until the next Append.
const Literal* UniformOf(const Rewriter& rewriter, ValueId value);
// True if all elements of a value are known to be that very number.
bool IsNumber(const Rewriter& rewriter, ValueId value, double number);

// ---- any op -----------------------------------------------------------------

// Simplifies an op that keeps the dtype and, when it keeps the sizes too,
// changes nothing.
Simplified OperandIfSameShape(const Site& site);
Simplified OnlyOperand(const Site& site);

// ---- one element from one of each operand -----------------------------------

Simplified SumWithNothing(const Site& site);          // x + 0, exact with -0
Simplified DifferenceFromNothing(const Site& site);   // x - 0
Simplified SumWithNegative(const Site& site);         // x + -y
Simplified DifferenceWithNegative(const Site& site);  // x - -y
Simplified FactorOne(const Site& site);               // x * 1, of reals
Simplified DivisorOne(const Site& site);              // x / 1, of reals
Simplified TwiceIsNothing(const Site& site);          // -(-x), not not x
Simplified TwiceIsOnce(const Site& site);             // floor(floor(x))
Simplified SizeOfNegative(const Site& site);          // |-x|
Simplified OfItself(const Site& site);                // max(x, x), x and x
Simplified BitsWithNone(const Site& site);            // x or 0, x << 0
Simplified BitsWithAll(const Site& site);             // x and all
Simplified PartOfComplex(const Site& site);           // real(x + iy)
Simplified ComplexOfParts(const Site& site);          // real(z) + i imag(z)
Simplified OppositeComparison(const Site& site);      // not (x == y)
Simplified ChoiceOfOne(const Site& site);       // p ? x : x, constant ? x : y
Simplified ChoiceByOpposite(const Site& site);  // not p ? x : y
Simplified ChoiceOfTruths(const Site& site);    // p ? true : false
Simplified ConvertTwice(const Site& site);      // there, where nothing is lost
Simplified BitsTwice(const Site& site);         // bitcast_convert likewise

// ---- folded elements --------------------------------------------------------

Simplified SumAfterZero(const Site& site);        // 0 + a sum from 0 on
Simplified FoldOfOne(const Site& site);           // along axes of one
Simplified ScatterOfOneARow(const Site& site);    // into a number everywhere
Simplified ScatterOfOneWindow(const Site& site);  // at a constant, inside

// ---- moved elements ---------------------------------------------------------

Simplified MergeTransposes(const Site& site);
Simplified TransposeOfBroadcast(const Site& site);
Simplified MergeReshapes(const Site& site);
Simplified ReshapeOfScalar(const Site& site);  // spread out
Simplified MergeBroadcasts(const Site& site);
Simplified ReverseOfNothing(const Site& site);
Simplified MergeReverses(const Site& site);
Simplified MergeSlices(const Site& site);
Simplified SliceAtConstants(const Site& site);  // a start that is known
Simplified PadOfNothing(const Site& site);
Simplified UpdateOfAll(const Site& site);

}  // namespace hawser
#endif  // HAWSER_CORE_PASSES_PATTERNS_SIMPLIFY_H_
