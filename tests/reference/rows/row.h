// Row: how the reference computes an op.
#ifndef HAWSER_TESTS_REFERENCE_ROWS_ROW_H_
#define HAWSER_TESTS_REFERENCE_ROWS_ROW_H_

#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/status.h"
#include "core/base/threads/cancel.h"
#include "core/ir/module.h"
#include "tests/reference/number/number.h"

namespace hawser::reference {

using Values = std::vector<Literal>;
using Index = absl::Span<const int64_t>;

// One instruction about to run.
struct Context {
  const Module& module;
  const Computation& computation;
  const Instruction& instruction;
  absl::Span<const Literal> operands;
  const CancelToken& cancel;
  // Runs called computation `which` of this instruction.
  absl::FunctionRef<absl::StatusOr<Values>(int which, Values arguments)> call;

  const Attributes& attributes() const { return instruction.attributes; }
  const Shape& result_shape(int k = 0) const {
    return computation.shape(instruction.first_result + k);
  }
  const Shape& shape(int operand) const { return operands[operand].shape(); }
};

using RowFn = absl::StatusOr<Values> (*)(const Context&);

struct Row {
  const OpDef* op;
  RowFn run;
};

// The rows of each family of core/ops.
absl::Span<const Row> ElementwiseRows();
absl::Span<const Row> MathRows();
absl::Span<const Row> CompareRows();
absl::Span<const Row> ConvertRows();
absl::Span<const Row> ShapeRows();
absl::Span<const Row> SliceRows();
absl::Span<const Row> GatherRows();
absl::Span<const Row> ReduceRows();
absl::Span<const Row> ScanRows();
absl::Span<const Row> SortRows();
absl::Span<const Row> DotRows();
absl::Span<const Row> LinalgRows();
absl::Span<const Row> FftRows();
absl::Span<const Row> ControlRows();

// nullptr where an op has none.
const Row* FindRow(const OpDef& op);

// ---- what rows are made of --------------------------------------------------

// fn(index) for each element of a value of these sizes, in row-major order.
// Looks at the token.
absl::Status ForEachIndex(absl::Span<const int64_t> dims,
                          const CancelToken& cancel,
                          absl::FunctionRef<absl::Status(Index)> fn);
// A value whose element at each index is fn(index). Errors: of the token, and
// kResourceExhausted.
absl::StatusOr<Literal> FillByIndex(const Context& context, const Shape& shape,
                                    absl::FunctionRef<Number(Index)> fn);
// The same, by the element's number in row-major order.
absl::StatusOr<Literal> FillByPlace(const Context& context, const Shape& shape,
                                    absl::FunctionRef<Number(int64_t)> fn);
int64_t PlaceOf(const Shape& shape, Index index);
inline Number At(const Literal& from, Index index) {
  return ReadNumber(from, PlaceOf(from.shape(), index));
}
// A scalar of the dtype.
Literal ScalarOf(const Number& x, DType dtype);

// ---- an element of one of each operand --------------------------------------

using Numbers = absl::Span<const Number>;
// Computes one element; `dtype` is that of the last operand. The result is
// rounded or wrapped where it is written.
using ElementFn = Number (*)(DType dtype, Numbers x);

// Operands that are scalars are the same for each element.
template <ElementFn Fn>
absl::StatusOr<Values> ElementByElement(const Context& c) {
  const DType dtype = c.operands.back().shape().dtype();
  HAWSER_ASSIGN_OR_RETURN(
      Literal out, FillByPlace(c, c.result_shape(), [&](int64_t place) {
        absl::InlinedVector<Number, 3> x;
        for (const Literal& operand : c.operands) {
          const bool scalar = operand.shape().rank() == 0;
          x.push_back(ReadNumber(operand, scalar ? 0 : place));
        }
        return Fn(dtype, x);
      }));
  return Values{std::move(out)};
}

}  // namespace hawser::reference
#endif  // HAWSER_TESTS_REFERENCE_ROWS_ROW_H_
