// Gradients of factorizations. The papers' formulas are for cotangents
// d/dx + i d/dy, ours conjugated: formulas that are not holomorphic conjugate
// before and after.
#include "core/base/status.h"
#include "core/ops/gradient/gradient.h"
#include "core/ops/linalg/linalg.h"
#include "core/ops/linalg/matrices.h"

namespace hawser {
namespace {

using formulas::ConjugateOf;
using formulas::HalfOf;
using formulas::MatrixAdjoint;
using formulas::MatrixProduct;
using formulas::MatrixTransposed;
using formulas::TriangleOf;
using formulas::TriangularSolved;

}  // namespace

// With L the lower factor and g its cotangent: half(L^-H (P + P^H) L^-1), where
// P = half(L^H g), and half is the lower triangle with half of the diagonal. It
// is the derivative by the triangle that is read; the other has 0.
absl::Status CholeskyGradient(GradientContext& c) {
  const bool lower = c.instruction.attributes.GetBool("lower");
  c.Give(0, [&] {
    Expression factor = c.result(), g = ConjugateOf(c.g());
    if (!lower) {
      factor = MatrixAdjoint(factor);
      g = MatrixAdjoint(g);
    }
    const Expression p =
        HalfOf(MatrixProduct(MatrixAdjoint(factor), TriangleOf(g, true)));
    const Expression left =
        TriangularSolved(factor, p + MatrixAdjoint(p),
                         {.left = true, .lower = true, .op = kAdjointOf});
    const Expression both = HalfOf(TriangularSolved(
        factor, left, {.left = false, .lower = true, .op = kNoTranspose}));
    return ConjugateOf(lower ? both : MatrixAdjoint(both));
  });
  return absl::OkStatus();
}

// B has what solving g with op(A) transposed gives; A has minus the product of
// that and X, of its triangle. An adjoint is the transpose of a conjugate, and
// all else is holomorphic.
absl::Status TriangularSolveGradient(GradientContext& c) {
  const Attributes& attributes = c.instruction.attributes;
  const absl::string_view op = attributes.GetString("transpose_a");
  const bool left = attributes.GetBool("left_side");
  const bool lower = attributes.GetBool("lower");
  const bool unit = attributes.GetBool("unit_diagonal");
  const bool turned = op != kNoTranspose, conjugated = op == kAdjointOf;
  const Expression a = conjugated ? ConjugateOf(c.x()) : c.x();
  const Expression b = TriangularSolved(
      a, c.g(), {left, lower, unit, turned ? kNoTranspose : kTransposeOf});
  c.Give(1, [&] { return b; });
  c.Give(0, [&] {
    const Expression x = MatrixTransposed(c.result());
    Expression by_op = -(left ? MatrixProduct(b, x) : MatrixProduct(x, b));
    if (turned) by_op = MatrixTransposed(by_op);
    by_op = TriangleOf(by_op, lower, /*strict=*/unit);
    return conjugated ? ConjugateOf(by_op) : by_op;
  });
  return absl::OkStatus();
}

}  // namespace hawser
