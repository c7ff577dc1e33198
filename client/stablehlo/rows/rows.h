// The table of ops, and how each is lowered: rows by families.
#ifndef HAWSER_CLIENT_STABLEHLO_ROWS_ROWS_H_
#define HAWSER_CLIENT_STABLEHLO_ROWS_ROWS_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/stablehlo/body/row.h"
#include "core/ops/expression.h"

namespace hawser::stablehlo {

// The row of an op, or nullptr. An op of StableHLO whose name an elementwise op
// of core/ops has, without attributes, needs no row of its own.
const Row* FindRow(absl::string_view name);

// The families, joined by FindRow.
absl::Span<const Row> ElementwiseRows();
absl::Span<const Row> FormulaRows();
absl::Span<const Row> MovementRows();
absl::Span<const Row> IndexedRows();
absl::Span<const Row> ContractionRows();
absl::Span<const Row> OrderRows();
absl::Span<const Row> RandomRows();
absl::Span<const Row> WindowRows();
absl::Span<const Row> ConvolutionRows();
absl::Span<const Row> LinalgRows();
absl::Span<const Row> FftRows();
absl::Span<const Row> LibraryRows();
absl::Span<const Row> ControlRows();
absl::Span<const Row> CallRows();
absl::Span<const Row> DeviceRows();

// The rule of an op that is one of ours: row.op, with its attributes.
absl::StatusOr<Values> LowerByName(OpContext& context);
// The rule of elementwise ops, of which results have one type.
absl::StatusOr<Values> LowerElementwise(OpContext& context);

// Integers in the total order of floats: -NaN, -Inf, ..., -0, +0, ..., NaN.
Expression TotalOrder(const Expression& x);

// A region may combine elements in a wider dtype, which the results have then:
// converts operand `i` to that of argument `argument` of region `region`.
void Promote(OpContext& context, size_t i, size_t argument, size_t region = 0);

}  // namespace hawser::stablehlo
#endif  // HAWSER_CLIENT_STABLEHLO_ROWS_ROWS_H_
