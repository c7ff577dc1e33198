// What batch rules are given, and what they share: an instruction some of whose
// operands have the batch as a new axis 0.
#ifndef HAWSER_CORE_OPS_BATCH_BATCH_H_
#define HAWSER_CORE_OPS_BATCH_BATCH_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/ir/module.h"
#include "core/ir/op_def.h"
#include "core/ops/expression.h"

namespace hawser {

// The module's computations for a batch. Implemented by core/vectorize.
class BatchCalls {
 public:
  virtual ~BatchCalls() = default;
  // Returns which results of a computation are batched if these parameters are.
  // Errors: kUnimplemented naming an op without a rule.
  virtual absl::StatusOr<BatchFlags> Flow(int computation,
                                          const BatchFlags& batched) = 0;
  // The computation for a batch: of `batched` parameters and of `gives`
  // results, which must be among the latter what Flow says or more, each with
  // a new axis 0. Errors: naming op and place, of rules.
  virtual absl::StatusOr<int> Find(int computation, const BatchFlags& batched,
                                   const BatchFlags& gives) = 0;
  virtual Module* module() const = 0;
  virtual Monoids& monoids() = 0;
};

// The input of a batch rule. At least one operand is batched.
struct BatchContext {
  ExpressionScope& scope;
  BatchCalls& calls;
  const Computation& from;  // where the instruction stands
  const Instruction& instruction;
  const int64_t size;                     // of the batch
  absl::Span<const Expression> operands;  // those batched with axis 0
  const BatchFlags& batched;              // of each operand
  // For each result, true if it has axis 0. A rule may clear some.
  BatchFlags gives;

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

// The same op on `operands`, of which those with `axis` have axis 0, with its
// attributes edited. The op's own axes rule must say that axis 0 of all these
// and of the results is one parallel axis: entries do not mix (kInternal).
absl::StatusOr<std::vector<Expression>> Edited(
    const BatchContext& c, absl::Span<const AttributeEdit> edits,
    absl::Span<const Expression> operands, const BatchFlags& axis);

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_BATCH_BATCH_H_
