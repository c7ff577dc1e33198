// eigh and svd by Jacobi's rotations of two rows and columns at a time.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/status.h"
#include "core/ops/linalg/linalg.h"
#include "tests/reference/rows/linalg/matrix.h"
#include "tests/reference/rows/linalg/rows.h"

namespace hawser::reference {
namespace {

constexpr int kSweeps = 60;
// Beside the diagonal nothing larger than this, of the whole, is left.
constexpr Wide kSmall = 1e-19L;

template <typename W>
Wide SumOfSquares(const Matrix<W>& a) {
  Wide sum = 0;
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t j = 0; j < a.columns(); ++j) sum += SquareOf(a.At(i, j));
  }
  return sum;
}

// Columns p and q of x become c x_p - conj(s) x_q and s x_p + c x_q.
template <typename W>
void TurnColumns(int64_t p, int64_t q, Wide c, const W& s, Matrix<W>* x) {
  for (int64_t i = 0; i < x->rows(); ++i) {
    const W first = x->At(i, p), second = x->At(i, q);
    x->At(i, p) = c * first - TimesOf(Conjugated(s), second);
    x->At(i, q) = TimesOf(s, first) + c * second;
  }
}

// The turn that makes [[pp, pq], [conj(pq), qq]] a diagonal.
template <typename W>
void TurnOf(Wide pp, Wide qq, const W& pq, Wide* c, W* s) {
  const Wide size = std::sqrt(SquareOf(pq));
  const Wide zeta = (qq - pp) / (2 * size);
  const Wide t =
      (zeta < 0 ? -1 : 1) / (std::abs(zeta) + std::hypot(1.0L, zeta));
  *c = 1 / std::sqrt(1 + t * t);
  *s = (pq / size) * (t * *c);
}

template <typename W>
Matrix<W> Identity(int64_t n) {
  Matrix<W> out(n, n);
  for (int64_t i = 0; i < n; ++i) out.At(i, i) = 1;
  return out;
}

// a, Hermitian, becomes a diagonal; returns its vectors, by columns.
template <typename W>
Matrix<W> Diagonalize(Matrix<W>* a) {
  const int64_t n = a->rows();
  Matrix<W> v = Identity<W>(n);
  const Wide small = kSmall * std::sqrt(SumOfSquares(*a));
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        const W pq = a->At(p, q);
        if (std::sqrt(SquareOf(pq)) <= small) continue;
        Wide c;
        W s;
        TurnOf(RealPart(a->At(p, p)), RealPart(a->At(q, q)), pq, &c, &s);
        TurnColumns(p, q, c, s, a);
        *a = AdjointOf(*a);
        TurnColumns(p, q, c, s, a);
        *a = AdjointOf(*a);
        TurnColumns(p, q, c, s, &v);
      }
    }
  }
  return v;
}

template <typename Less>
std::vector<int64_t> OrderBy(int64_t n, Less less) {
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), less);
  return order;
}

// The Hermitian that a triangle says.
template <typename W>
Matrix<W> HermitianOf(const Matrix<W>& a, bool lower) {
  Matrix<W> out(a.rows(), a.rows());
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t j = 0; j < a.rows(); ++j) {
      out.At(i, j) = (i > j) == lower ? a.At(i, j) : Conjugated(a.At(j, i));
    }
    out.At(i, i) = RealPart(a.At(i, i));
  }
  return out;
}

template <typename W>
void WriteColumns(const Matrix<W>& v, const std::vector<int64_t>& order,
                  int64_t number, Literal* to) {
  Matrix<W> out(v.rows(), static_cast<int64_t>(order.size()));
  for (int64_t i = 0; i < out.rows(); ++i) {
    for (int64_t j = 0; j < out.columns(); ++j) {
      out.At(i, j) = v.At(i, order[j]);
    }
  }
  out.Write(number, to);
}

}  // namespace

absl::StatusOr<Values> Eigh(const Context& c) {
  HAWSER_ASSIGN_OR_RETURN(Values out, NewResults(c));
  const bool lower = c.attributes().GetBool("lower");
  HAWSER_RETURN_IF_ERROR(ForEachMatrix(c, [&](auto of, int64_t number) {
    using W = decltype(of);
    auto a = HermitianOf(Matrix<W>::Read(c.operands[0], number), lower);
    const int64_t n = a.rows();
    Matrix<Wide> w(1, n);
    Matrix<W> v(n, n);
    std::vector<int64_t> order(n);
    std::iota(order.begin(), order.end(), int64_t{0});
    if (a.IsFinite()) {
      v = Diagonalize(&a);
      order = OrderBy(n, [&](int64_t i, int64_t j) {
        return RealPart(a.At(i, i)) < RealPart(a.At(j, j));
      });
      for (int64_t i = 0; i < n; ++i) {
        w.At(0, i) = RealPart(a.At(order[i], order[i]));
      }
    } else {
      w.FillNan();
      v.FillNan();
    }
    w.Write(number, &out[0]);
    WriteColumns(v, order, number, &out[1]);
  }));
  return out;
}

namespace {

// Columns of x that are orthogonal: x becomes x v; returns v.
template <typename W>
Matrix<W> Orthogonalize(Matrix<W>* x) {
  const int64_t n = x->columns();
  Matrix<W> v = Identity<W>(n);
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (int64_t p = 0; p < n; ++p) {
      for (int64_t q = p + 1; q < n; ++q) {
        Wide pp = 0, qq = 0;
        W pq = 0;
        for (int64_t i = 0; i < x->rows(); ++i) {
          pp += SquareOf(x->At(i, p));
          qq += SquareOf(x->At(i, q));
          pq += TimesOf(Conjugated(x->At(i, p)), x->At(i, q));
        }
        if (std::sqrt(SquareOf(pq)) <= kSmall * std::sqrt(pp * qq)) continue;
        Wide c;
        W s;
        TurnOf(pp, qq, pq, &c, &s);
        TurnColumns(p, q, c, s, x);
        TurnColumns(p, q, c, s, &v);
      }
    }
  }
  return v;
}

// Columns from `known` on orthonormal to those before.
template <typename W>
void CompleteColumns(int64_t known, Matrix<W>* q) {
  int64_t unit = 0;
  for (int64_t column = known; column < q->columns(); ++column) {
    Wide size = 0;
    while (size * static_cast<Wide>(q->rows()) < 0.5L) {
      for (int64_t i = 0; i < q->rows(); ++i) q->At(i, column) = i == unit;
      ++unit;
      for (int twice = 0; twice < 2; ++twice) {
        for (int64_t other = 0; other < column; ++other) {
          W along = 0;
          for (int64_t i = 0; i < q->rows(); ++i) {
            along += TimesOf(Conjugated(q->At(i, other)), q->At(i, column));
          }
          for (int64_t i = 0; i < q->rows(); ++i) {
            q->At(i, column) -= TimesOf(along, q->At(i, other));
          }
        }
      }
      size = 0;
      for (int64_t i = 0; i < q->rows(); ++i)
        size += SquareOf(q->At(i, column));
    }
    for (int64_t i = 0; i < q->rows(); ++i) q->At(i, column) /= std::sqrt(size);
  }
}

// a = u s v^H of a matrix that is not wide: u has `columns` columns.
template <typename W>
struct Singular {
  Singular(const Matrix<W>& a, int64_t columns)
      : u(a.rows(), columns), v(a.columns(), a.columns()) {
    Matrix<W> x = a;
    const Matrix<W> turned = Orthogonalize(&x);
    std::vector<Wide> lengths(a.columns());
    for (int64_t j = 0; j < a.columns(); ++j) {
      for (int64_t i = 0; i < a.rows(); ++i) lengths[j] += SquareOf(x.At(i, j));
      lengths[j] = std::sqrt(lengths[j]);
    }
    const auto order = OrderBy(a.columns(), [&](int64_t i, int64_t j) {
      return lengths[i] > lengths[j];
    });
    int64_t known = 0;
    for (int64_t j = 0; j < a.columns(); ++j) {
      s.push_back(lengths[order[j]]);
      for (int64_t i = 0; i < a.columns(); ++i) {
        v.At(i, j) = turned.At(i, order[j]);
      }
      if (s[j] == 0) continue;
      known = j + 1;
      for (int64_t i = 0; i < a.rows(); ++i) {
        u.At(i, j) = x.At(i, order[j]) / s[j];
      }
    }
    CompleteColumns(known, &u);
  }

  Matrix<W> u, v;
  std::vector<Wide> s;
};

}  // namespace

absl::StatusOr<Values> Svd(const Context& c) {
  HAWSER_ASSIGN_OR_RETURN(Values out, NewResults(c));
  const bool vectors = out.size() > 1,
             full = c.attributes().GetBool("full_matrices");
  const Shape& shape = c.shape(0);
  int64_t count = 0;
  for (const Literal& x : out) {
    if (x.shape().num_elements() > 0) count = CountOf(shape);
  }
  HAWSER_RETURN_IF_ERROR(ForMatrices(c, count, [&](auto of, int64_t number) {
    using W = decltype(of);
    const auto a = Matrix<W>::Read(c.operands[0], number);
    const bool wide = a.columns() > a.rows();
    const int64_t most = std::max(a.rows(), a.columns());
    const int64_t least = std::min(a.rows(), a.columns());
    Matrix<Wide> s(1, least);
    if (!a.IsFinite()) {
      s.FillNan();
      s.Write(number, &out[0]);
      for (size_t k = 1; k < out.size(); ++k) {
        Matrix<W> nan(out[k].shape().dim(-2), out[k].shape().dim(-1));
        nan.FillNan();
        nan.Write(number, &out[k]);
      }
      return;
    }
    const Singular<W> found(wide ? AdjointOf(a) : a,
                            vectors && full ? most : least);
    for (int64_t i = 0; i < least; ++i) s.At(0, i) = found.s[i];
    s.Write(number, &out[0]);
    if (!vectors) return;
    (wide ? found.v : found.u).Write(number, &out[1]);
    AdjointOf(wide ? found.u : found.v).Write(number, &out[2]);
  }));
  return out;
}

}  // namespace hawser::reference
