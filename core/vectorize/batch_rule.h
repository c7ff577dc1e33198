// Batch rules: what becomes of an instruction some of whose operands have the
// batch as a new axis 0.
#ifndef HAWSER_CORE_VECTORIZE_BATCH_RULE_H_
#define HAWSER_CORE_VECTORIZE_BATCH_RULE_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/ir/module.h"
#include "core/ops/expression.h"

namespace hawser::vectorize {

using Flags = std::vector<bool>;
class VectorizedCalls;
struct BatchRow;

// Says how an attribute changes when axis 0 is new.
struct AttributeEdit {
  enum Kind : uint8_t {
    kShift,      // axis numbers, or one: each is one more
    kShiftAnd0,  // a list of them, which gets axis 0 in front
    kFront0,     // one entry per axis: 0 in front
    kFront1,
    kFrontSize,  // the size of the batch in front
  };
  absl::string_view name;
  Kind kind;
};

// The input of a batch rule. At least one operand is batched.
struct BatchContext {
  ExpressionScope& scope;
  VectorizedCalls& calls;
  const Computation& from;  // where the instruction stands
  const Instruction& instruction;
  const BatchRow& row;
  const int64_t size;                     // of the batch
  absl::Span<const Expression> operands;  // those batched with axis 0
  const Flags& batched;                   // of each operand
  // For each result, true if it has axis 0. A rule may clear some.
  Flags gives;

  // Operand i without the batch.
  const Shape& shape(int i) const {
    return from.shape(instruction.operands[i]);
  }
  int count() const { return static_cast<int>(operands.size()); }
  Dims ints(absl::string_view name) const {
    const auto list = instruction.attributes.GetInts(name);
    return Dims(list.begin(), list.end());
  }
  int64_t integer(absl::string_view name) const {
    return instruction.attributes.GetInt(name);
  }
  // The batch's size, then these.
  Dims WithSize(absl::Span<const int64_t> dims) const;
  // Operand i with axis 0, along which it is repeated if it lacks it.
  Expression Spread(int i) const;
};

// A value whose axis 0 alone is there of these dims, repeated along the rest.
Expression AlongRest(const Expression& x, absl::Span<const int64_t> dims);
// `x`, which lacks axis 0 of `dims`, repeated along it.
Expression Repeated(const Expression& x, int64_t size);

// The results, batched as `gives` says.
using BatchRule = absl::StatusOr<std::vector<Expression>> (*)(BatchContext&);
// Returns which results of an instruction are batched if these operands are.
using FlowRule = absl::StatusOr<Flags> (*)(VectorizedCalls&, const Instruction&,
                                           const Flags& batched);

// Says how an op takes the batch.
struct BatchRow {
  const OpDef* op;  // null: of a family
  absl::Span<const AttributeEdit> edits = {};
  BatchRule rule;
  FlowRule flow = nullptr;  // null: all results if any operand
};

// The same op on `operands`, of which those with `axis` have axis 0, with its
// attributes edited. The op's own axes rule must say that axis 0 of all these
// and of the results is one parallel axis: entries do not mix (kInternal).
absl::StatusOr<std::vector<Expression>> Edited(
    const BatchContext& c, absl::Span<const AttributeEdit> edits,
    absl::Span<const Expression> operands, const Flags& axis);

// Every operand with axis 0, and the row's edits: most rows' rule.
absl::StatusOr<std::vector<Expression>> ByEdits(BatchContext& c);

// Rules of families, in rules_<family>.cc.
absl::StatusOr<std::vector<Expression>> BatchElementwise(BatchContext& c);
absl::StatusOr<std::vector<Expression>> BatchPad(BatchContext& c);
absl::StatusOr<std::vector<Expression>> BatchDynamicSlice(BatchContext& c);
absl::StatusOr<std::vector<Expression>> BatchDynamicUpdateSlice(
    BatchContext& c);
absl::StatusOr<std::vector<Expression>> BatchGather(BatchContext& c);
absl::StatusOr<std::vector<Expression>> BatchScatter(BatchContext& c);
absl::StatusOr<std::vector<Expression>> BatchDotGeneral(BatchContext& c);
absl::StatusOr<std::vector<Expression>> BatchReduce(BatchContext& c);
absl::StatusOr<std::vector<Expression>> BatchWhile(BatchContext& c);
absl::StatusOr<std::vector<Expression>> BatchCase(BatchContext& c);
absl::StatusOr<std::vector<Expression>> BatchFusion(BatchContext& c);
absl::StatusOr<std::vector<Expression>> BatchCall(BatchContext& c);

absl::StatusOr<Flags> WhileFlow(VectorizedCalls&, const Instruction&,
                                const Flags& batched);
absl::StatusOr<Flags> CaseFlow(VectorizedCalls&, const Instruction&,
                               const Flags& batched);
absl::StatusOr<Flags> FusionFlow(VectorizedCalls&, const Instruction&,
                                 const Flags& batched);
absl::StatusOr<Flags> CallFlow(VectorizedCalls&, const Instruction&,
                               const Flags& batched);

}  // namespace hawser::vectorize
#endif  // HAWSER_CORE_VECTORIZE_BATCH_RULE_H_
