// lu, qr and what qr is made of, as textbooks have them.
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

// ---- lu -------------------------------------------------------------------

template <typename W>
void Eliminate(Matrix<W>* a, std::vector<int64_t>* pivots) {
  for (int64_t k = 0; k < std::min(a->rows(), a->columns()); ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < a->rows(); ++i) {
      if (PartsOf(a->At(i, k)) > PartsOf(a->At(pivot, k))) pivot = i;
    }
    pivots->push_back(pivot);
    for (int64_t j = 0; j < a->columns(); ++j) {
      std::swap(a->At(k, j), a->At(pivot, j));
    }
    if (a->At(k, k) == W(0)) continue;
    for (int64_t i = k + 1; i < a->rows(); ++i) {
      a->At(i, k) /= a->At(k, k);
      for (int64_t j = k + 1; j < a->columns(); ++j) {
        a->At(i, j) -= TimesOf(a->At(i, k), a->At(k, j));
      }
    }
  }
}

void WriteInts(const std::vector<int64_t>& values, int64_t number,
               Literal* to) {
  const auto size = static_cast<int64_t>(values.size());
  for (int64_t k = 0; k < size; ++k) {
    WriteNumber(Number::Of(static_cast<uint64_t>(values[k])), number * size + k,
                to);
  }
}

}  // namespace

absl::StatusOr<Values> Lu(const Context& c) {
  HAWSER_ASSIGN_OR_RETURN(Values out, NewResults(c));
  // A batch of matrices without columns has an order of rows.
  const int64_t count =
      out[2].shape().num_elements() == 0 ? 0 : CountOf(c.shape(0));
  const int64_t least = std::min(c.shape(0).dim(-1), c.shape(0).dim(-2));
  HAWSER_RETURN_IF_ERROR(ForMatrices(c, count, [&](auto of, int64_t i) {
    using W = decltype(of);
    auto a = Matrix<W>::Read(c.operands[0], i);
    std::vector<int64_t> pivots, order(a.rows());
    std::iota(order.begin(), order.end(), int64_t{0});
    if (a.IsFinite()) {
      Eliminate(&a, &pivots);
    } else {
      a.FillNan();
      for (int64_t k = 0; k < least; ++k) pivots.push_back(k);
    }
    for (int64_t k = 0; k < least; ++k) std::swap(order[k], order[pivots[k]]);
    a.Write(i, &out[0]);
    WriteInts(pivots, i, &out[1]);
    WriteInts(order, i, &out[2]);
  }));
  return out;
}

// ---- reflections ----------------------------------------------------------

namespace {

// c := (I - tau v v^H) c, where v is 1 at row k and below what stands below the
// diagonal of column k of a.
template <typename W>
void ReflectBy(const Matrix<W>& a, int64_t k, const W& tau, Matrix<W>* c,
               int64_t first) {
  const auto v = [&](int64_t i) { return i == k ? W(1) : a.At(i, k); };
  for (int64_t j = first; j < c->columns(); ++j) {
    W sum = 0;
    for (int64_t i = k; i < a.rows(); ++i) {
      sum += TimesOf(Conjugated(v(i)), c->At(i, j));
    }
    sum = TimesOf(tau, sum);
    for (int64_t i = k; i < a.rows(); ++i) c->At(i, j) -= TimesOf(v(i), sum);
  }
}

// LAPACK's: v is scaled to 1 first, and what is left is real.
template <typename W>
std::vector<W> ReflectAll(Matrix<W>* a) {
  std::vector<W> taus;
  for (int64_t k = 0; k < std::min(a->rows(), a->columns()); ++k) {
    Wide below = 0;
    for (int64_t i = k + 1; i < a->rows(); ++i) below += SquareOf(a->At(i, k));
    const W first = a->At(k, k);
    if (below == 0 && ImaginaryOf(first) == 0) {
      taus.push_back(W(0));
      continue;
    }
    const Wide norm = std::sqrt(below + SquareOf(first));
    const Wide beta = RealPart(first) >= 0 ? -norm : norm;
    for (int64_t i = k + 1; i < a->rows(); ++i) {
      a->At(i, k) /= first - W(beta);
    }
    taus.push_back((W(beta) - first) / beta);
    ReflectBy(*a, k, Conjugated(taus.back()), a, k + 1);
    a->At(k, k) = beta;
  }
  return taus;
}

// The reflections times the first columns of the identity.
template <typename W>
Matrix<W> ProductOfAll(const Matrix<W>& a, const std::vector<W>& taus,
                       int64_t columns) {
  Matrix<W> q(a.rows(), columns);
  for (int64_t i = 0; i < std::min(a.rows(), columns); ++i) q.At(i, i) = 1;
  for (auto k = static_cast<int64_t>(taus.size()); k-- > 0;) {
    ReflectBy(a, k, taus[k], &q, 0);
  }
  return q;
}

// The matrices that the results are, where operands have no elements.
int64_t CountOfResults(const Values& out, const Shape& of) {
  for (const Literal& x : out) {
    if (x.shape().num_elements() > 0) return CountOf(of);
  }
  return 0;
}

}  // namespace

absl::StatusOr<Values> Qr(const Context& c) {
  HAWSER_ASSIGN_OR_RETURN(Values out, NewResults(c));
  const int64_t count = CountOfResults(out, c.shape(0));
  HAWSER_RETURN_IF_ERROR(ForMatrices(c, count, [&](auto of, int64_t i) {
    using W = decltype(of);
    auto a = Matrix<W>::Read(c.operands[0], i);
    Matrix<W> q(c.result_shape(0).dim(-2), c.result_shape(0).dim(-1));
    Matrix<W> r(c.result_shape(1).dim(-2), c.result_shape(1).dim(-1));
    if (a.IsFinite()) {
      const auto taus = ReflectAll(&a);
      q = ProductOfAll(a, taus, q.columns());
      for (int64_t k = 0; k < r.rows(); ++k) {
        for (int64_t j = k; j < r.columns(); ++j) r.At(k, j) = a.At(k, j);
      }
    } else {
      q.FillNan();
      r.FillNan();
    }
    q.Write(i, &out[0]);
    r.Write(i, &out[1]);
  }));
  return out;
}

absl::StatusOr<Values> Geqrf(const Context& c) {
  HAWSER_ASSIGN_OR_RETURN(Values out, NewResults(c));
  const int64_t count = CountOfResults(out, c.shape(0));
  HAWSER_RETURN_IF_ERROR(ForMatrices(c, count, [&](auto of, int64_t i) {
    using W = decltype(of);
    auto a = Matrix<W>::Read(c.operands[0], i);
    Matrix<W> taus(1, std::min(a.rows(), a.columns()));
    if (a.IsFinite()) {
      const auto found = ReflectAll(&a);
      for (size_t k = 0; k < found.size(); ++k) taus.At(0, k) = found[k];
    } else {
      a.FillNan();
      taus.FillNan();
    }
    a.Write(i, &out[0]);
    taus.Write(i, &out[1]);
  }));
  return out;
}

absl::StatusOr<Values> HouseholderProduct(const Context& c) {
  HAWSER_ASSIGN_OR_RETURN(Values out, NewResults(c));
  const int64_t count = CountOfResults(out, c.shape(0));
  const int64_t size = c.shape(1).dim(-1);
  HAWSER_RETURN_IF_ERROR(ForMatrices(c, count, [&](auto of, int64_t i) {
    using W = decltype(of);
    const auto a = Matrix<W>::Read(c.operands[0], i);
    const auto row = Matrix<W>::ReadRow(c.operands[1], i, size);
    std::vector<W> taus;
    for (int64_t k = 0; k < size; ++k) taus.push_back(row.At(0, k));
    ProductOfAll(a, taus, a.columns()).Write(i, &out[0]);
  }));
  return out;
}

}  // namespace hawser::reference
