#include "core/passes/canonicalize.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/passes/rewriter.h"

namespace hawser {
namespace {

// What a simplification is given: an instruction of the old computation, with
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
};
// The new value that takes the place of the only result; kNoValue: none.
using Simplify = absl::StatusOr<ValueId> (*)(const Site&);

bool IsCounting(absl::Span<const int64_t> list) {  // 0, 1, 2, ...
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// For an op that keeps the dtype and, when it keeps the sizes too, changes
// nothing.
absl::StatusOr<ValueId> OperandIfSameShape(const Site& site) {
  return site.shape(0) == site.result ? site.operands[0] : kNoValue;
}

absl::StatusOr<ValueId> TheOperand(const Site& site) {
  return site.operands.size() == 1 ? site.operands[0] : kNoValue;
}

absl::StatusOr<ValueId> MergeTranspose(const Site& site) {
  const auto outer = site.ints("permutation");
  if (IsCounting(outer)) return site.operands[0];
  const Instruction& before = site.rewriter.producer(site.operands[0]);
  if (before.op != &kTranspose) return kNoValue;
  const auto inner = before.attributes.GetInts("permutation");
  Dims merged;
  for (int64_t axis : outer) merged.push_back(inner[axis]);
  const ValueId source = before.operands[0];
  if (IsCounting(merged)) return source;
  return site.rewriter.Append(kTranspose, {source}, {{"permutation", merged}});
}

absl::StatusOr<ValueId> MergeReshape(const Site& site) {
  if (site.shape(0) == site.result) return site.operands[0];
  const Instruction& before = site.rewriter.producer(site.operands[0]);
  if (before.op != &kReshape) return kNoValue;
  const ValueId source = before.operands[0];
  if (site.rewriter.shape(source) == site.result) return source;
  return site.rewriter.Append(kReshape, {source}, site.instruction.attributes);
}

absl::StatusOr<ValueId> MergeBroadcast(const Site& site) {
  const auto outer = site.ints("broadcast_dimensions");
  if (site.shape(0) == site.result && IsCounting(outer)) {
    return site.operands[0];
  }
  const Instruction& before = site.rewriter.producer(site.operands[0]);
  if (before.op != &kBroadcastInDim) return kNoValue;
  Dims merged;
  for (int64_t axis : before.attributes.GetInts("broadcast_dimensions")) {
    merged.push_back(outer[axis]);
  }
  const ValueId source = before.operands[0];
  return site.rewriter.Append(
      kBroadcastInDim, {source},
      {{"dims", site.result.dims()}, {"broadcast_dimensions", merged}});
}

// Axes of size 0 and 1 read the same both ways.
absl::StatusOr<ValueId> DropReverse(const Site& site) {
  for (int64_t axis : site.ints("dimensions")) {
    if (site.result.dim(static_cast<int>(axis)) > 1) return kNoValue;
  }
  return site.operands[0];
}

// With no padding the sizes are the same; but so they may be with edges that
// cancel out.
absl::StatusOr<ValueId> DropPad(const Site& site) {
  for (const auto& [name, value] : site.instruction.attributes) {
    for (int64_t n : site.ints(name)) {
      if (n != 0) return kNoValue;
    }
  }
  return site.operands[0];
}

// An update as large as the operand is clamped to start at 0.
absl::StatusOr<ValueId> DropUpdateSlice(const Site& site) {
  return site.shape(1) == site.result ? site.operands[1] : kNoValue;
}

absl::StatusOr<ValueId> DropSelect(const Site& site) {
  if (site.operands[1] == site.operands[2]) return site.operands[1];
  const Instruction& predicate = site.rewriter.producer(site.operands[0]);
  if (predicate.op != &kConstant) return kNoValue;
  const auto values = predicate.attributes.GetLiteral("value").data<bool>();
  if (values.empty()) return site.operands[1];
  const bool uniform = std::all_of(values.begin(), values.end(),
                                   [&](bool v) { return v == values[0]; });
  if (!uniform) return kNoValue;
  return values[0] ? site.operands[1] : site.operands[2];
}

// Whether every element of an operand is known to be 1.
bool IsOne(const Site& site, int operand) {
  const Instruction* from = &site.rewriter.producer(site.operands[operand]);
  if (from->op == &kBroadcastInDim) {
    from = &site.rewriter.producer(from->operands[0]);
  }
  if (from->op != &kConstant) return false;
  const Literal& value = from->attributes.GetLiteral("value");
  return value.shape().num_elements() == 1 &&
         value.bytes() == ScalarOf(value.shape().dtype(), 1).bytes();
}

// Exact, unlike a sum with 0 or a product of complex numbers.
absl::StatusOr<ValueId> DropFactorOne(const Site& site) {
  if (IsComplex(site.result.dtype())) return kNoValue;
  if (IsOne(site, 1)) return site.operands[0];
  return IsOne(site, 0) ? site.operands[1] : kNoValue;
}

absl::StatusOr<ValueId> DropDivisorOne(const Site& site) {
  const bool drop = !IsComplex(site.result.dtype()) && IsOne(site, 1);
  return drop ? site.operands[0] : kNoValue;
}

struct Row {
  const OpDef* op;
  Simplify simplify;
};
constexpr Row kRows[] = {
    {&kBitcastConvert, OperandIfSameShape},
    {&kBroadcastInDim, MergeBroadcast},
    {&kConcatenate, TheOperand},
    {&kConvert, OperandIfSameShape},
    {&kDivide, DropDivisorOne},
    {&kDynamicSlice, OperandIfSameShape},
    {&kDynamicUpdateSlice, DropUpdateSlice},
    {&kMultiply, DropFactorOne},
    {&kPad, DropPad},
    {&kReal, OperandIfSameShape},
    {&kReshape, MergeReshape},
    {&kReverse, DropReverse},
    {&kSelect, DropSelect},
    // A part of every axis that is as large as the axis is all of it.
    {&kSlice, OperandIfSameShape},
    {&kStopGradient, TheOperand},
    {&kTranspose, MergeTranspose},
};

Simplify SimplificationOf(const OpDef* op) {
  static const auto& by_op = *[] {
    auto* map = new absl::flat_hash_map<const OpDef*, Simplify>();
    for (const Row& row : kRows) map->emplace(row.op, row.simplify);
    return map;
  }();
  const auto at = by_op.find(op);
  return at == by_op.end() ? nullptr : at->second;
}

}  // namespace

absl::StatusOr<Module> Canonicalize(Module module, bool* changed) {
  auto rule = [&](Rewriter& rewriter,
                  const Instruction& i) -> absl::StatusOr<bool> {
    const Simplify simplify = SimplificationOf(i.op);
    if (simplify == nullptr) return false;
    HAWSER_ASSIGN_OR_RETURN(const ValueId value,
                            simplify({rewriter, i, rewriter.MappedOperands(i),
                                      rewriter.from().shape(i.first_result)}));
    if (value == kNoValue) return false;
    rewriter.Replace(i, value);
    return true;
  };
  return RewriteModule(std::move(module), rule, changed);
}

}  // namespace hawser
