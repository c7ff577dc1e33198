// The families share these: dtype checks, axis factors, and the small checks of
// dimension lists that many shape rules make.
#ifndef HAWSER_CORE_OPS_RULES_H_
#define HAWSER_CORE_OPS_RULES_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/ir/op_def.h"

namespace hawser {

// The result dtype by the row's rule. Only after arity and attributes were
// checked, and not for FromComputation.
DType ResultDType(const InferContext& context);

// Constraint `n`: operand `operand` has one of the row's dtypes.
absl::Status CheckDType(const InferContext& context, int n, int operand);
// Constraint `n`: operands `first`, `first + 1`, ... have one dtype.
absl::Status CheckSameDTypes(const InferContext& context, int n, int first = 0);
// Constraint `n`: all operands have the same sizes.
absl::Status CheckSameDims(const InferContext& context, int n);
// Constraint `n`: attribute `name` is an axis of `shape`.
absl::Status CheckAxis(const InferContext& context, int n,
                       absl::string_view name, const Shape& shape);
// Constraint `n`: every entry of attribute `name` is an axis, 0 <= a < rank.
absl::Status CheckAxes(const InferContext& context, int n,
                       absl::string_view name, int rank);
// Constraint `n`: no entry of attribute `name` stands twice. Entries must be
// below kMaxRank (see CheckAxes).
absl::Status CheckUnique(const InferContext& context, int n,
                         absl::string_view name);
// Constraint `n`: the entries of attribute `name` ascend, so none is twice.
absl::Status CheckAscending(const InferContext& context, int n,
                            absl::string_view name);
// Constraint `n`: attribute `name` has `size` entries.
absl::Status CheckLength(const InferContext& context, int n,
                         absl::string_view name, size_t size);
// The one called computation combines values of the first N = `count` operands'
// dtypes. Constraint `takes`: it takes 2N scalars of them, N running values,
// then N others. Constraint `gives`: it gives the N running values.
absl::Status CheckCombiner(const InferContext& context, int takes, int gives,
                           size_t count);
// Constraint `n`: `dims` are the sizes of a shape.
absl::StatusOr<Shape> MakeResult(int n, DType dtype,
                                 absl::Span<const int64_t> dims);

bool Contains(absl::Span<const int64_t> list, int64_t value);

// ---- axes -----------------------------------------------------------------

// An axis of an operand or result that has no factor yet.
inline constexpr int kNoFactor = -1;

// A map with a place for every axis of `context` and `results`, all kNoFactor.
AxisMap EmptyAxes(const InferContext& context, absl::Span<const Shape> results);
// Gives every axis that still has no factor one of its own, opaque: the axes
// rule that leaves an axis out has stated that it cannot be split.
AxisMap OpaqueRest(AxisMap map, const InferContext& context,
                   absl::Span<const Shape> results);

// Axis i of every operand of the result's rank and of every result is one
// parallel factor; scalars stay out.
AxisMap ElementwiseAxes(const InferContext& context,
                        absl::Span<const Shape> results);
// The same, of operands and results of the same sizes, but for the axis of
// attribute `dimension`, along which elements meet: it is opaque.
AxisMap AxesBesideDimension(const InferContext& context,
                            absl::Span<const Shape> results);
// Asks each operand for the result's box; a scalar, for all of it.
absl::Status ElementwisePart(PartContext&);
// Gives every operand the batch's axis, a scalar only where it has it. Rules of
// what moves elements have edits beside that (EditedBatch).
absl::StatusOr<std::vector<Expression>> ElementwiseBatch(BatchContext&);
absl::StatusOr<std::vector<Expression>> EditedBatch(BatchContext&);
constexpr BatchDef BatchBy(BatchRule rule, BatchFlowRule flow = nullptr) {
  return {rule, {}, flow};
}
// Most rows: the same op on operands with the batch, attributes edited.
constexpr BatchDef BatchByEdits(absl::Span<const AttributeEdit> edits) {
  return {EditedBatch, edits, nullptr};
}
inline constexpr AttributeEdit kShiftedDimension[] = {
    {"dimension", AttributeEdit::kShift}};
inline constexpr AttributeEdit kShiftedDimensions[] = {
    {"dimensions", AttributeEdit::kShift}};
// Every axis opaque.
AxisMap OpaqueAxes(const InferContext& context,
                   absl::Span<const Shape> results);

// ---- the elementwise family -----------------------------------------------

// C1: operand 0 has one of the row's dtypes. C2: all operands have one dtype.
// C3: all operands have the same sizes.
absl::StatusOr<Shapes> InferElementwise(const InferContext& context);

// A row of the family; fields the family does not decide are kept.
constexpr OpDef ElementwiseRow(int arity, OpDef row) {
  row.arity = {arity, arity};
  row.infer = InferElementwise;
  row.axes = ElementwiseAxes;
  row.part = PartBy(ElementwisePart);
  row.batch = BatchBy(ElementwiseBatch);
  row.traits |= kElementwise;
  return row;
}
constexpr OpDef Unary(OpDef row) { return ElementwiseRow(1, row); }
constexpr OpDef Binary(OpDef row) { return ElementwiseRow(2, row); }

inline constexpr DTypeSet kBits = kBoolOnly | kInts;
inline constexpr DTypeSet kOrdered = kBoolOnly | kReals;
inline constexpr DTypeSet kFloating = kFloats | kComplexes;

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_RULES_H_
