// Factorizations of matrices and what is solved with them. The last two axes of
// an operand are matrices, those before are batches of them.
#ifndef HAWSER_CORE_OPS_LINALG_LINALG_H_
#define HAWSER_CORE_OPS_LINALG_LINALG_H_

#include <string>

#include "core/ir/op_def.h"
#include "core/ops/rules.h"

namespace hawser {

absl::StatusOr<Shapes> InferCholesky(const InferContext& context);
absl::StatusOr<Shapes> InferTriangularSolve(const InferContext& context);

// The axes before the last two are parallel, those of the matrices opaque.
AxisMap MatricesAxes(const InferContext&, absl::Span<const Shape> results);
// Asks for those matrices that hold the boxes, whole.
absl::Status MatricesPart(PartContext&);

absl::Status CholeskyGradient(GradientContext&);
absl::Status TriangularSolveGradient(GradientContext&);

// The dtypes that matrices are factored in; halves are converted before.
inline constexpr DTypeSet kFactoredDTypes =
    DTypeSet::Of(DType::kF32) | DTypeSet::Of(DType::kF64) | kComplexes;

// Row of the family, whose fields that the family does not decide are kept.
constexpr OpDef OfMatrices(OpDef row) {
  row.dtypes = kFactoredDTypes;
  row.axes = MatricesAxes;
  row.part = PartBy(MatricesPart);
  row.batch = BatchByEdits({});
  return row;
}

inline constexpr AttributeSpec kCholeskyAttributes[] = {
    {"lower", AttributeKind::kBool, true,
     "the triangle that is read, and that the factor fills"},
};
// C1: the operand has one of the row's dtypes. C2: it has at least two axes.
// C3: its matrices are square. C4: these have less than 2^31 rows.
inline constexpr OpDef kCholesky = OfMatrices(
    {.name = "cholesky",
     .arity = {1, 1},
     .attributes = kCholeskyAttributes,
     .infer = InferCholesky,
     .gradient = ByRule(CholeskyGradient),
     .ulp = 16,
     .summary =
         "The triangular factor L of A = L L^H, or U of A = U^H U, of "
         "Hermitian matrices of which one triangle is read, without the "
         "imaginary part of its diagonal; the factor's other triangle is "
         "0. A matrix that is not positive definite or not finite gives "
         "NaN.",
     .source = "StableHLO cholesky; NaN: XLA"});

// What `transpose_a` says, in StableHLO's words.
inline constexpr absl::string_view kNoTranspose = "NO_TRANSPOSE";
inline constexpr absl::string_view kTransposeOf = "TRANSPOSE";
inline constexpr absl::string_view kAdjointOf = "ADJOINT";

inline constexpr AttributeSpec kTriangularSolveAttributes[] = {
    {"left_side", AttributeKind::kBool, true, "op(A) X = B; else X op(A) = B"},
    {"lower", AttributeKind::kBool, true, "the triangle of A that is read"},
    {"transpose_a", AttributeKind::kString, true,
     "what op is: NO_TRANSPOSE, TRANSPOSE or ADJOINT"},
    {"unit_diagonal", AttributeKind::kBool, true,
     "the diagonal of A is not read and counts as 1"},
};
// Operands are A, then B. C1: A has one of the row's dtypes. C2: both have one
// dtype. C3: A has at least two axes. C4: both have the same number of axes.
// C5: the matrices of A are square. C6: the axes before the last two have the
// same sizes. C7: the axis of B on which A acts has the size of A's. C8:
// transpose_a is one of the three. C9: matrices have less than 2^31 rows and
// columns.
inline constexpr OpDef kTriangularSolve = OfMatrices(
    {.name = "triangular_solve",
     .arity = {2, 2},
     .attributes = kTriangularSolveAttributes,
     .infer = InferTriangularSolve,
     .gradient = ByRule(TriangularSolveGradient),
     .ulp = 16,
     .summary =
         "The X of op(A) X = B, or X op(A) = B, with one triangle of A, "
         "by substitution; a 0 on the diagonal gives what dividing by it "
         "does.",
     .source = "StableHLO triangular_solve"});

inline constexpr const OpDef* kLinalgOps[] = {&kCholesky, &kTriangularSolve};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_LINALG_LINALG_H_
