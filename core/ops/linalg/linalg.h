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
absl::StatusOr<Shapes> InferLu(const InferContext& context);
absl::StatusOr<Shapes> InferQr(const InferContext& context);
absl::StatusOr<Shapes> InferGeqrf(const InferContext& context);
absl::StatusOr<Shapes> InferHouseholderProduct(const InferContext& context);
absl::StatusOr<Shapes> InferEigh(const InferContext& context);
absl::StatusOr<Shapes> InferSvd(const InferContext& context);
absl::StatusOr<Shapes> InferEig(const InferContext& context);

// The axes before the last two are parallel, those of the matrices opaque.
AxisMap MatricesAxes(const InferContext&, absl::Span<const Shape> results);
// Asks for those matrices that hold the boxes, whole.
absl::Status MatricesPart(PartContext&);

absl::Status CholeskyGradient(GradientContext&);
absl::Status TriangularSolveGradient(GradientContext&);
absl::Status LuGradient(GradientContext&);
absl::Status QrGradient(GradientContext&);
absl::Status EighGradient(GradientContext&);
absl::Status SvdGradient(GradientContext&);
absl::Status EigGradient(GradientContext&);

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

// C1: the operand has one of the row's dtypes. C2: it has at least two axes.
inline constexpr OpDef kLu = OfMatrices(
    {.name = "lu",
     .arity = {1, 1},
     .infer = InferLu,
     .gradient = ByRule(LuGradient),
     .traits = kHawserOnly,
     .ulp = 16,
     .summary =
         "A = P L U with rows exchanged for the first largest pivot: L "
         "below its diagonal of 1, and U, in one matrix; the row that "
         "each row was exchanged with in turn, s32, from 0; the row of A "
         "that each row of L U is, s32. A matrix that is not finite "
         "gives NaN, and no exchanges.",
     .source = "LAPACK getrf; JAX lax.linalg.lu"});

inline constexpr AttributeSpec kQrAttributes[] = {
    {"full_matrices", AttributeKind::kBool, true,
     "Q is square, also where A has more rows than columns"},
};
// C1: the operand has one of the row's dtypes. C2: it has at least two axes.
// C3: the results are shapes.
inline constexpr OpDef kQr = OfMatrices(
    {.name = "qr",
     .arity = {1, 1},
     .attributes = kQrAttributes,
     .infer = InferQr,
     .gradient = ByRule(QrGradient),
     .traits = kHawserOnly,
     .ulp = 16,
     .summary = "A = Q R, Q of orthonormal columns, R an upper triangle whose "
                "diagonal is real, of either sign. A matrix that is not finite "
                "gives NaN.",
     .source = "LAPACK geqrf and orgqr; Nx LinAlg qr"});

// C1: the operand has one of the row's dtypes. C2: it has at least two axes.
inline constexpr OpDef kGeqrf = OfMatrices(
    {.name = "geqrf",
     .arity = {1, 1},
     .infer = InferGeqrf,
     .traits = kHawserOnly,
     .ulp = 16,
     .summary =
         "A = Q R with Q as reflections I - tau v v^H: R on and above "
         "the diagonal, the v below it, which are 1 on it; and the taus.",
     .source = "LAPACK geqrf; JAX geqrf"});

// Operands are the reflections' vectors, then the taus. C1: the first has one
// of the row's dtypes. C2: both have one dtype. C3: the first has at least two
// axes. C4: the second has one axis less. C5: the axes before the matrices have
// the same sizes. C6: matrices have no more columns than rows. C7: there are no
// more taus than columns.
inline constexpr OpDef kHouseholderProduct = OfMatrices(
    {.name = "householder_product",
     .arity = {2, 2},
     .infer = InferHouseholderProduct,
     .traits = kHawserOnly,
     .ulp = 16,
     .summary =
         "The first columns of the product of reflections as geqrf gives "
         "them.",
     .source = "LAPACK orgqr; JAX householder_product"});

inline constexpr AttributeSpec kEighAttributes[] = {
    {"lower", AttributeKind::kBool, true, "the triangle that is read"},
};
// C1: the operand has one of the row's dtypes. C2: it has at least two axes.
// C3: its matrices are square.
inline constexpr OpDef kEigh = [] {
  OpDef row = OfMatrices(
      {.name = "eigh",
       .arity = {1, 1},
       .attributes = kEighAttributes,
       .infer = InferEigh,
       .gradient = ByRule(EighGradient),
       .traits = kHawserOnly,
       .ulp = 16,
       .summary = "Eigenvalues, ascending, of Hermitian matrices of which one "
                  "triangle is read, and orthonormal eigenvectors, as columns. "
                  "A matrix that is not finite gives NaN.",
       .source = "LAPACK syevd, heevd; Nx LinAlg eigh"});
  row.result = RealPartOf(0);
  return row;
}();

inline constexpr AttributeSpec kSvdAttributes[] = {
    {"compute_uv", AttributeKind::kBool, true, "gives u and v^H too"},
    {"full_matrices", AttributeKind::kBool, true,
     "u and v^H are square; only where they are given"},
};
// C1: the operand has one of the row's dtypes. C2: it has at least two axes.
// C3: the results are shapes.
inline constexpr OpDef kSvd = [] {
  OpDef row = OfMatrices(
      {.name = "svd",
       .arity = {1, 1},
       .attributes = kSvdAttributes,
       .infer = InferSvd,
       .gradient = ByRule(SvdGradient),
       .traits = kHawserOnly,
       .ulp = 16,
       .summary = "Singular values, descending; with compute_uv also u, of "
                  "orthonormal columns, and v^H, of orthonormal rows: A = u s "
                  "v^H. A matrix that is not finite gives NaN.",
       .source = "LAPACK gesdd; Nx LinAlg svd"});
  row.result = RealPartOf(0);
  return row;
}();

// C1: the operand has one of the row's dtypes. C2: it has at least two axes.
// C3: its matrices are square. C4: the results are shapes.
inline constexpr OpDef kEig = [] {
  OpDef row = OfMatrices(
      {.name = "eig",
       .arity = {1, 1},
       .infer = InferEig,
       .gradient = ByRule(EigGradient),
       .traits = kHawserOnly,
       .ulp = 16,
       .summary = "Eigenvalues, in any order, and eigenvectors of square "
                  "matrices, both complex: A v = v w, the columns of v of "
                  "length 1, the largest element of each real. Of a matrix "
                  "that lacks vectors some are alike. A matrix that is not "
                  "finite gives NaN.",
       .source = "LAPACK geev; NumPy linalg.eig"});
  row.result = ComplexOf(0);
  return row;
}();

inline constexpr const OpDef* kLinalgOps[] = {
    &kCholesky, &kTriangularSolve,    &kLu,   &kQr, &kGeqrf,
    &kEig,      &kHouseholderProduct, &kEigh, &kSvd};

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_LINALG_LINALG_H_
