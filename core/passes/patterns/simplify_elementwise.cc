// Simplifications of what computes one element from one of each operand. All
// are exact: -0 + 0 is 0, so only -0 adds nothing, and 1 times an infinite
// complex number is NaN in one part.
#include <algorithm>
#include <string>
#include <utility>

#include "core/ir/leaves.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "core/ops/movement/shape.h"
#include "core/passes/patterns/simplify.h"

namespace hawser {
namespace {

bool IsNumber(const Site& site, int operand, double number) {
  return IsNumber(site.rewriter, site.operands[operand], number);
}

bool IsAllBits(const Site& site, int operand) {
  const Literal* value = UniformOf(site.rewriter, site.operands[operand]);
  if (value == nullptr) return false;
  const char all = IsBool(value->shape().dtype()) ? 1 : -1;
  const auto bytes = value->bytes();
  return std::all_of(bytes.begin(), bytes.end(),
                     [&](char byte) { return byte == all; });
}

// True if `wide` holds every number of `narrow`.
bool Holds(DType wide, DType narrow) {
  // Digits of a number, without its sign.
  const auto digits = [](DType d) {
    if (IsFloat(d)) return FloatBitsOf(d).mantissa + 1;
    return BitWidth(d) - (IsSigned(d) ? 1 : 0);
  };
  if (IsComplex(wide)) return Holds(RealPart(wide), RealPart(narrow));
  if (IsComplex(narrow)) return false;
  if (IsBool(narrow) || wide == narrow) return true;
  if (IsBool(wide)) return false;
  if (IsFloat(narrow)) {
    return IsFloat(wide) && BitWidth(wide) > BitWidth(narrow);
  }
  const bool signs = !IsSigned(narrow) || IsSigned(wide) || IsFloat(wide);
  return signs && digits(wide) >= digits(narrow);
}

}  // namespace

const Literal* UniformOf(const Rewriter& rewriter, ValueId value) {
  const Instruction* from = &rewriter.producer(value);
  if (from->op == &kBroadcastInDim) {
    from = &rewriter.producer(from->operands[0]);
  }
  if (from->op != &kConstant) return nullptr;
  const Literal& literal = from->attributes.GetLiteral("value");
  return literal.shape().num_elements() == 1 ? &literal : nullptr;
}

bool IsNumber(const Rewriter& rewriter, ValueId value, double number) {
  const Literal* literal = UniformOf(rewriter, value);
  return literal != nullptr &&
         literal->bytes() == ScalarOf(literal->shape().dtype(), number).bytes();
}

Simplified SumWithNothing(const Site& site) {
  if (IsComplex(site.result.dtype())) return kNoValue;
  if (IsNumber(site, 1, -0.0)) return site.operands[0];
  return IsNumber(site, 0, -0.0) ? site.operands[1] : kNoValue;
}

Simplified DifferenceFromNothing(const Site& site) {
  return IsNumber(site, 1, 0) ? site.operands[0] : kNoValue;
}

Simplified SumWithNegative(const Site& site) {
  for (const int k : {1, 0}) {
    const Instruction& before = site.producer(k);
    if (before.op != &kNegate) continue;
    return site.rewriter.Append(kSubtract,
                                {site.operands[1 - k], before.operands[0]});
  }
  return kNoValue;
}

Simplified DifferenceWithNegative(const Site& site) {
  const Instruction& before = site.producer(1);
  if (before.op != &kNegate) return kNoValue;
  return site.rewriter.Append(kAdd, {site.operands[0], before.operands[0]});
}

Simplified FactorOne(const Site& site) {
  if (IsComplex(site.result.dtype())) return kNoValue;
  if (IsNumber(site, 1, 1)) return site.operands[0];
  return IsNumber(site, 0, 1) ? site.operands[1] : kNoValue;
}

Simplified DivisorOne(const Site& site) {
  const bool drop = !IsComplex(site.result.dtype()) && IsNumber(site, 1, 1);
  return drop ? site.operands[0] : kNoValue;
}

Simplified TwiceIsNothing(const Site& site) {
  const Instruction& before = site.producer(0);
  return before.op == site.instruction.op ? before.operands[0] : kNoValue;
}

Simplified TwiceIsOnce(const Site& site) {
  const bool twice = site.producer(0).op == site.instruction.op;
  const bool real = !IsComplex(site.shape(0).dtype());
  return twice && real ? site.operands[0] : kNoValue;
}

// The negative of an unsigned number is another number of another size.
Simplified SizeOfNegative(const Site& site) {
  const Instruction& before = site.producer(0);
  if (before.op != &kNegate || IsUnsigned(site.result.dtype())) return kNoValue;
  return site.rewriter.Append(kAbs, {before.operands[0]});
}

Simplified OfItself(const Site& site) {
  return site.operands[0] == site.operands[1] ? site.operands[0] : kNoValue;
}

Simplified BitsWithNone(const Site& site) {
  if (IsNumber(site, 1, 0)) return site.operands[0];
  const bool either = site.instruction.op->Is(kCommutative);
  return either && IsNumber(site, 0, 0) ? site.operands[1] : kNoValue;
}

Simplified BitsWithAll(const Site& site) {
  if (IsAllBits(site, 1)) return site.operands[0];
  return IsAllBits(site, 0) ? site.operands[1] : kNoValue;
}

Simplified PartOfComplex(const Site& site) {
  const Instruction& before = site.producer(0);
  if (before.op != &kComplex) return kNoValue;
  return before.operands[site.instruction.op == &kReal ? 0 : 1];
}

Simplified ComplexOfParts(const Site& site) {
  const Instruction& real = site.producer(0);
  const Instruction& imaginary = site.producer(1);
  const bool parts = real.op == &kReal && imaginary.op == &kImag &&
                     real.operands[0] == imaginary.operands[0] &&
                     site.rewriter.shape(real.operands[0]) == site.result;
  return parts ? real.operands[0] : kNoValue;
}

// NaN is neither below nor at least anything: of floats only equality has an
// opposite.
Simplified OppositeComparison(const Site& site) {
  const Instruction& before = site.producer(0);
  if (before.op != &kCompare) return kNoValue;
  using enum CompareDirection;
  constexpr std::pair<CompareDirection, CompareDirection> kOpposites[] = {
      {kEq, kNe}, {kNe, kEq}, {kGe, kLt}, {kLt, kGe}, {kGt, kLe}, {kLe, kGt}};
  const CompareDirection was = CompareDirectionOf(before.attributes);
  const DType dtype = site.rewriter.shape(before.operands[0]).dtype();
  const bool whole = IsInteger(dtype) || IsBool(dtype);
  if (!whole && was != kEq && was != kNe) return kNoValue;
  const absl::InlinedVector<ValueId, 3> on = before.operands;
  for (const auto& [direction, opposite] : kOpposites) {
    if (direction != was) continue;
    return site.rewriter.Append(
        kCompare, on,
        {{"direction", std::string(CompareDirectionName(opposite))}});
  }
  return kNoValue;
}

Simplified ChoiceOfOne(const Site& site) {
  if (site.operands[1] == site.operands[2]) return site.operands[1];
  const Instruction& predicate = site.producer(0);
  if (predicate.op != &kConstant) return kNoValue;
  const auto values = predicate.attributes.GetLiteral("value").data<bool>();
  if (values.empty()) return site.operands[1];
  const bool uniform = std::all_of(values.begin(), values.end(),
                                   [&](bool v) { return v == values[0]; });
  if (!uniform) return kNoValue;
  return values[0] ? site.operands[1] : site.operands[2];
}

Simplified ChoiceByOpposite(const Site& site) {
  const Instruction& before = site.producer(0);
  if (before.op != &kNot) return kNoValue;
  return site.rewriter.Append(
      kSelect, {before.operands[0], site.operands[2], site.operands[1]});
}

Simplified ChoiceOfTruths(const Site& site) {
  const bool truths = IsBool(site.result.dtype()) &&
                      site.shape(0) == site.result && IsNumber(site, 1, 1) &&
                      IsNumber(site, 2, 0);
  return truths ? site.operands[0] : kNoValue;
}

// The dtype in between must hold the first one's numbers. From integers by way
// of floats to other integers it saturates, and does not wrap.
Simplified ConvertTwice(const Site& site) {
  const Instruction& before = site.producer(0);
  if (before.op != &kConvert) return kNoValue;
  const ValueId source = before.operands[0];
  const DType from = site.rewriter.shape(source).dtype();
  const DType by = site.shape(0).dtype(), to = site.result.dtype();
  if (!Holds(by, from)) return kNoValue;
  if (from == to) return source;
  if (IsInteger(from) && !IsInteger(by) && IsInteger(to)) return kNoValue;
  return site.rewriter.Append(kConvert, {source}, site.instruction.attributes);
}

// The same bits, whatever they were called in between.
Simplified BitsTwice(const Site& site) {
  const Instruction& before = site.producer(0);
  if (before.op != &kBitcastConvert) return kNoValue;
  const ValueId source = before.operands[0];
  const Shape from = site.rewriter.shape(source);
  if (from == site.result) return source;
  // If the sizes are equal, all three have one width.
  if (!from.SameDims(site.result) || !from.SameDims(site.shape(0))) {
    return kNoValue;
  }
  return site.rewriter.Append(kBitcastConvert, {source},
                              site.instruction.attributes);
}

}  // namespace hawser
