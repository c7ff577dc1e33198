// Factorizations as textbooks have them, in long double, each element rounded
// once.
#include "core/ops/linalg/linalg.h"

#include <cmath>
#include <utility>

#include "core/base/status.h"
#include "tests/reference/rows/linalg/matrix.h"
#include "tests/reference/rows/linalg/rows.h"

namespace hawser::reference {
namespace {

// The lower factor of a lower triangle; false: there is none.
template <typename W>
bool FactorLower(const Matrix<W>& a, Matrix<W>* out) {
  const int64_t n = a.rows();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      if (!IsFinite(i == j ? W(RealPart(a.At(i, j))) : a.At(i, j))) {
        return false;
      }
      W sum = a.At(i, j);
      for (int64_t k = 0; k < j; ++k) {
        sum -= TimesOf(out->At(i, k), Conjugated(out->At(j, k)));
      }
      if (i != j) {
        out->At(i, j) = sum / RealPart(out->At(j, j));
      } else if (RealPart(sum) > 0) {
        out->At(i, i) = std::sqrt(RealPart(sum));
      } else {
        return false;
      }
    }
  }
  return true;
}

absl::StatusOr<Values> Cholesky(const Context& c) {
  const bool lower = c.attributes().GetBool("lower");
  HAWSER_ASSIGN_OR_RETURN(Literal out, Literal::Allocate(c.result_shape()));
  HAWSER_RETURN_IF_ERROR(ForEachMatrix(c, [&](auto of, int64_t i) {
    using W = decltype(of);
    const auto a = Matrix<W>::Read(c.operands[0], i);
    Matrix<W> factor(a.rows(), a.rows());
    if (!FactorLower(lower ? a : AdjointOf(a), &factor)) {
      factor.FillNan();
    } else if (!lower) {
      factor = AdjointOf(factor);
    }
    factor.Write(i, &out);
  }));
  return Values{std::move(out)};
}

// The equations of a triangular_solve: one for each index of the axis that A
// acts on, in columns on the left and rows on the right.
template <typename W>
struct Equations {
  // The coefficient of unknown k in equation i.
  W Of(int64_t i, int64_t k) const {
    if (i == k && unit) return W(1);
    // op(A)(i, k), or of the right side its transpose.
    const bool straight = (op == kNoTranspose) == left;
    const W x = straight ? a.At(i, k) : a.At(k, i);
    return op == kAdjointOf ? Conjugated(x) : x;
  }

  const Matrix<W>& a;
  const bool left, lower, unit;
  const absl::string_view op;
};

template <typename W>
void Substitute(const Equations<W>& e, Matrix<W>* x) {
  const int64_t n = e.a.rows();
  const bool forward = (e.lower == (e.op == kNoTranspose)) == e.left;
  const int64_t sides = e.left ? x->columns() : x->rows();
  for (int64_t s = 0; s < sides; ++s) {
    const auto at = [&](int64_t i) -> W& {
      return e.left ? x->At(i, s) : x->At(s, i);
    };
    for (int64_t step = 0; step < n; ++step) {
      const int64_t i = forward ? step : n - 1 - step;
      for (int64_t before = 0; before < step; ++before) {
        const int64_t k = forward ? before : n - 1 - before;
        at(i) -= TimesOf(e.Of(i, k), at(k));
      }
      if (!e.unit) at(i) /= e.Of(i, i);
    }
  }
}

absl::StatusOr<Values> TriangularSolve(const Context& c) {
  const Attributes& by = c.attributes();
  HAWSER_ASSIGN_OR_RETURN(Literal out, Literal::Allocate(c.result_shape()));
  if (out.shape().num_elements() == 0) return Values{std::move(out)};
  HAWSER_RETURN_IF_ERROR(ForEachMatrix(c, [&](auto of, int64_t i) {
    using W = decltype(of);
    const auto a = Matrix<W>::Read(c.operands[0], i);
    auto x = Matrix<W>::Read(c.operands[1], i);
    Substitute(
        Equations<W>{a, by.GetBool("left_side"), by.GetBool("lower"),
                     by.GetBool("unit_diagonal"), by.GetString("transpose_a")},
        &x);
    x.Write(i, &out);
  }));
  return Values{std::move(out)};
}

constexpr Row kLinalgRows[] = {{&kCholesky, Cholesky},
                               {&kEig, Eig},
                               {&kEigh, Eigh},
                               {&kGeqrf, Geqrf},
                               {&kHouseholderProduct, HouseholderProduct},
                               {&kLu, Lu},
                               {&kQr, Qr},
                               {&kSvd, Svd},
                               {&kTriangularSolve, TriangularSolve}};

}  // namespace

absl::Span<const Row> LinalgRows() { return kLinalgRows; }

}  // namespace hawser::reference
