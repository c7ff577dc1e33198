// Gradients of factorizations. The papers' formulas are for cotangents
// d/dx + i d/dy, ours conjugated: formulas that are not holomorphic conjugate
// before and after.
#include <algorithm>

#include "core/base/status.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/gradient/gradient.h"
#include "core/ops/linalg/linalg.h"
#include "core/ops/linalg/matrices.h"
#include "core/ops/movement/shape.h"

namespace hawser {
namespace {

using formulas::AlongColumns;
using formulas::AlongRows;
using formulas::ConjugateOf;
using formulas::HalfOf;
using formulas::MatrixAdjoint;
using formulas::MatrixProduct;
using formulas::MatrixTransposed;
using formulas::PartOf;
using formulas::PermutationMatrix;
using formulas::TriangleOf;
using formulas::TriangularSolveBy;
using formulas::TriangularSolved;
using formulas::UnlessZero;
using formulas::WhereColumns;

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

namespace {

// ---- lu -------------------------------------------------------------------

// What g gives by the matrix of which `packed` holds L and U, whose rows are
// exchanged already. Of a square one it is
// L^-T (below(L^T g_L) + upper(g_U U^T)) U^-T. Columns to the right of it are
// L^-1 times theirs, rows below it theirs times U^-1.
Expression LuCotangent(const Expression& packed, const Expression& g) {
  const int64_t m = packed.shape().dim(-2), n = packed.shape().dim(-1);
  const int64_t k = std::min(m, n);
  const TriangularSolveBy by_l = {
      .left = true, .lower = true, .unit_diagonal = true, .op = kTransposeOf};
  const TriangularSolveBy by_u = {
      .left = false, .lower = false, .op = kTransposeOf};
  const Expression square = PartOf(packed, {0, k}, {0, k});
  const Expression g_square = PartOf(g, {0, k}, {0, k});
  const Expression lower = TriangleOf(square, true, /*strict=*/true);
  // L^T g_L without the diagonal of L, which is not above it; its own part of
  // the product is g_L itself.
  const Expression g_lower = TriangleOf(g_square, true, /*strict=*/true);
  Expression of_l = MatrixProduct(MatrixTransposed(lower), g_lower) + g_lower;
  Expression of_u = MatrixProduct(TriangleOf(g_square, false),
                                  MatrixTransposed(TriangleOf(square, false)));
  Expression beside;
  if (n > k) {
    const Expression g_right = PartOf(g, {0, k}, {k, n});
    of_l =
        of_l - MatrixProduct(g_right,
                             MatrixTransposed(PartOf(packed, {0, k}, {k, n})));
    beside = TriangularSolved(square, g_right, by_l);
  }
  if (m > k) {
    const Expression g_below = PartOf(g, {k, m}, {0, k});
    of_u =
        of_u - MatrixProduct(MatrixTransposed(PartOf(packed, {k, m}, {0, k})),
                             g_below);
    beside = TriangularSolved(square, g_below, by_u);
  }
  const Expression inner =
      TriangleOf(of_l, true, /*strict=*/true) + TriangleOf(of_u, false);
  const Expression out =
      TriangularSolved(square, TriangularSolved(square, inner, by_l), by_u);
  if (!beside.present()) return out;
  return Apply(kConcatenate, {out, beside},
               {{"dimension", int64_t{out.rank() - (n > k ? 1 : 2)}}});
}

}  // namespace

absl::Status LuGradient(GradientContext& c) {
  c.Give(0, [&] {
    const Expression exchanged = LuCotangent(c.result(), c.g());
    const Expression order = PermutationMatrix(c.results[2], exchanged.dtype());
    return MatrixProduct(MatrixTransposed(order), exchanged);
  });
  return absl::OkStatus();
}

// ---- qr, eigh, svd --------------------------------------------------------

namespace {

// x or, of none, zeros of that shape.
Expression OrZeros(const Expression& x, const Expression& like) {
  return x.present() ? ConjugateOf(x) : Like(like, 0);
}

// x + x^H of the lower triangle: a Hermitian with x's below.
Expression HermitianOfLower(const Expression& x) {
  const Expression half = HalfOf(x);
  return half + MatrixAdjoint(half);
}

}  // namespace

// (g_Q + Q M) R^-H, where M is the Hermitian whose lower triangle is that of
// R g_R^H - g_Q^H Q. Of a wide matrix what is right of its square is Q^H times
// R's, which goes to Q first.
absl::Status QrGradient(GradientContext& c) {
  const Shape shape = c.x().shape();
  const int64_t m = shape.dim(-2), n = shape.dim(-1), k = std::min(m, n);
  if (c.instruction.attributes.GetBool("full_matrices") && m > n) {
    return Unimplemented(
        "the gradient of full matrices of more rows than "
        "columns, whose last columns are any");
  }
  c.Give(0, [&] {
    const Expression &q = c.results[0], &r = c.results[1];
    Expression g_q = OrZeros(c.cotangents[0], q);
    const Expression g_r = OrZeros(c.cotangents[1], r);
    const Expression square = PartOf(r, {0, k}, {0, k});
    Expression beside;
    if (n > k) {
      const Expression g_right = PartOf(g_r, {0, k}, {k, n});
      beside = MatrixProduct(q, g_right);
      g_q = g_q + MatrixProduct(PartOf(c.x(), {0, m}, {k, n}),
                                MatrixAdjoint(g_right));
    }
    const Expression g_square =
        TriangleOf(PartOf(g_r, {0, k}, {0, k}), /*lower=*/false);
    const Expression middle =
        HermitianOfLower(MatrixProduct(square, MatrixAdjoint(g_square)) -
                         MatrixProduct(MatrixAdjoint(g_q), q));
    const Expression out =
        TriangularSolved(square, g_q + MatrixProduct(q, middle),
                         {.left = false, .lower = false, .op = kAdjointOf});
    if (!beside.present()) return ConjugateOf(out);
    return ConjugateOf(Apply(kConcatenate, {out, beside},
                             {{"dimension", int64_t{out.rank() - 1}}}));
  });
  return absl::OkStatus();
}

// v (diag g_w + (v^H g_v) / (w_j - w_i)) v^H, without quotients of what is
// equal; of the triangle that is read.
absl::Status EighGradient(GradientContext& c) {
  c.Give(0, [&] {
    const Expression &w = c.results[0], &v = c.results[1];
    const Dims dims = v.dims();
    const DType dtype = v.dtype();
    Expression inner = Like(v, 0);
    if (c.cotangents[1].present()) {
      const Expression apart = AlongColumns(w, dims) - AlongRows(w, dims);
      const Expression equal =
          Compare(apart, CompareDirection::kEq, Like(apart, 0));
      const Expression along =
          MatrixProduct(MatrixAdjoint(v), ConjugateOf(c.cotangents[1]));
      inner = along / ConvertTo(UnlessZero(apart, 1), dtype);
      inner = Choose(equal, Like(inner, 0), inner);
    }
    if (c.cotangents[0].present()) {
      inner = inner + Where(WhereColumns(v, CompareDirection::kEq, 0),
                            ConvertTo(AlongRows(c.cotangents[0], dims), dtype));
    }
    const Expression all =
        MatrixProduct(MatrixProduct(v, inner), MatrixAdjoint(v));
    const Expression lower = HalfOf(all + MatrixAdjoint(all));
    const bool is_lower = c.instruction.attributes.GetBool("lower");
    return ConjugateOf(is_lower ? lower : MatrixAdjoint(lower));
  });
  return absl::OkStatus();
}

namespace {

// The factors of a reduced svd, and the cotangents of u and v^H, zeros where
// there are none.
struct SingularParts {
  Expression s, u, vh, g_u, g_vh;
};

Expression SkewOf(const Expression& x) { return x - MatrixAdjoint(x); }

// What g_u and g_vh give by u^H A v, off the diagonal and, of complex numbers,
// on it, where the two turn by one angle alike.
Expression TurnsOf(const SingularParts& p) {
  const Expression of_u = SkewOf(MatrixProduct(MatrixAdjoint(p.u), p.g_u));
  const Expression of_v = SkewOf(MatrixProduct(p.vh, MatrixAdjoint(p.g_vh)));
  const Dims dims = of_u.dims();
  const DType dtype = of_u.dtype();
  const Expression columns = AlongColumns(p.s, dims);
  const Expression rows = AlongRows(p.s, dims);
  const Expression apart = (columns - rows) * (columns + rows);
  const Expression equal =
      Compare(apart, CompareDirection::kEq, Like(apart, 0));
  const Expression turns =
      of_u * ConvertTo(columns, dtype) + of_v * ConvertTo(rows, dtype);
  Expression out = Choose(equal, Like(turns, 0),
                          turns / ConvertTo(UnlessZero(apart, 1), dtype));
  if (!IsComplex(dtype)) return out;
  const Expression angle = of_u / ConvertTo(2 * UnlessZero(columns, 1), dtype);
  return out + Where(WhereColumns(angle, CompareDirection::kEq, 0), angle);
}

// What is left of x, columns, beside those of u.
Expression BesideOf(const Expression& u, const Expression& x) {
  return x - MatrixProduct(u, MatrixProduct(MatrixAdjoint(u), x));
}

Expression SvdCotangent(const SingularParts& p, const Expression& g_s,
                        bool turns) {
  const DType dtype = p.u.dtype();
  const int64_t k = p.s.shape().dim(-1);
  Dims square = p.s.dims();
  square.push_back(k);
  Expression inner = ConvertTo(
      Where(WhereColumns(Filled(p.s.scope(), Shape::Of(p.s.dtype(), square), 0),
                         CompareDirection::kEq, 0),
            AlongRows(g_s, square)),
      dtype);
  if (!turns) return MatrixProduct(MatrixProduct(p.u, inner), p.vh);
  inner = inner + TurnsOf(p);
  Expression out = MatrixProduct(MatrixProduct(p.u, inner), p.vh);
  const Expression s = UnlessZero(p.s, 1);
  if (p.u.shape().dim(-2) > k) {
    const Expression beside = BesideOf(p.u, p.g_u);
    out = out +
          MatrixProduct(
              beside / ConvertTo(AlongColumns(s, beside.dims()), dtype), p.vh);
  }
  if (p.vh.shape().dim(-1) > k) {
    const Expression beside =
        BesideOf(MatrixAdjoint(p.vh), MatrixAdjoint(p.g_vh));
    out = out + MatrixProduct(
                    p.u, MatrixAdjoint(
                             beside /
                             ConvertTo(AlongColumns(s, beside.dims()), dtype)));
  }
  return out;
}

}  // namespace

// u (diag g_s + turns) v^H. Equal values have no turns between them; the
// columns beside those of a reduced u and v^H are any.
absl::Status SvdGradient(GradientContext& c) {
  const Attributes& attributes = c.instruction.attributes;
  const Shape shape = c.x().shape();
  const bool is_full = attributes.GetBool("compute_uv") &&
                       attributes.GetBool("full_matrices") &&
                       shape.dim(-1) != shape.dim(-2);
  const bool turns = c.cotangents.size() > 1 &&
                     (c.cotangents[1].present() || c.cotangents[2].present());
  if (is_full && turns) {
    return Unimplemented(
        "the gradient by full matrices that are not square, "
        "whose last columns are any");
  }
  c.Give(0, [&] {
    SingularParts p;
    if (c.results.size() > 1 && !is_full) {
      p = {c.results[0], c.results[1], c.results[2]};
    } else {
      p.s = Apply(kSvd, {c.x()},
                  {{"compute_uv", true}, {"full_matrices", false}});
      p.u = ResultOf(p.s, 1);
      p.vh = ResultOf(p.s, 2);
    }
    if (turns) {
      p.g_u = OrZeros(c.cotangents[1], p.u);
      p.g_vh = OrZeros(c.cotangents[2], p.vh);
    }
    const Expression g_s =
        c.cotangents[0].present() ? c.cotangents[0] : Like(p.s, 0);
    return ConjugateOf(SvdCotangent(p, g_s, turns));
  });
  return absl::OkStatus();
}

// ---- eig ------------------------------------------------------------------

namespace {

// a^-H b of square matrices.
Expression AdjointSolved(const Expression& a, const Expression& b) {
  const Expression lu = Apply(kLu, {a});
  const Expression by_u =
      TriangularSolved(lu, b, {.left = true, .lower = false, .op = kAdjointOf});
  const Expression by_l = TriangularSolved(
      lu, by_u,
      {.left = true, .lower = true, .unit_diagonal = true, .op = kAdjointOf});
  const Expression order = PermutationMatrix(ResultOf(lu, 2), b.dtype());
  return MatrixProduct(MatrixTransposed(order), by_l);
}

// Returns the cotangent of v^-1 A v off the diagonal that g gives, a cotangent
// of vectors of length 1: it has no part along the vectors' lengths.
Expression VectorTurns(const Expression& w, const Expression& v,
                       const Expression& g) {
  const Dims dims = v.dims();
  const Expression adjoint = MatrixAdjoint(v);
  const Expression along = MatrixProduct(adjoint, g);
  const Expression lengths =
      Summed(Where(WhereColumns(along, CompareDirection::kEq, 0), along),
             {along.rank() - 2});
  const Expression real = ConvertTo(Apply(kReal, {lengths}), v.dtype());
  const Expression turns =
      along - MatrixProduct(adjoint, v) * AlongColumns(real, dims);
  const Expression apart =
      ConjugateOf(AlongColumns(w, dims) - AlongRows(w, dims));
  const Expression equal =
      Compare(apart, CompareDirection::kEq, Like(apart, 0));
  return Choose(equal, Like(turns, 0), turns / UnlessZero(apart, 1));
}

}  // namespace

// v^-H (diag g_w + turns) v^H, of a real operand the real part. Equal values
// have no turns between them.
absl::Status EigGradient(GradientContext& c) {
  c.Give(0, [&] {
    const Expression &w = c.results[0], &v = c.results[1];
    Expression inner = Like(v, 0);
    if (c.cotangents[1].present()) {
      inner = VectorTurns(w, v, ConjugateOf(c.cotangents[1]));
    }
    if (c.cotangents[0].present()) {
      inner = inner + Where(WhereColumns(v, CompareDirection::kEq, 0),
                            AlongRows(ConjugateOf(c.cotangents[0]), v.dims()));
    }
    const Expression out =
        AdjointSolved(v, MatrixProduct(inner, MatrixAdjoint(v)));
    return IsComplex(c.x().dtype()) ? ConjugateOf(out) : Apply(kReal, {out});
  });
  return absl::OkStatus();
}

}  // namespace hawser
