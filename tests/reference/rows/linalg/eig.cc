// eig by QR with shifts: turns of two rows and columns at a time make the
// matrix a triangle, by which the vectors are solved for.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/status.h"
#include "core/ops/linalg/linalg.h"
#include "tests/reference/rows/linalg/matrix.h"
#include "tests/reference/rows/linalg/rows.h"

namespace hawser::reference {
namespace {

using ComplexMatrix = Matrix<WideComplex>;

constexpr Wide kEpsilon = std::numeric_limits<Wide>::epsilon();
constexpr int kMostSteps = 300;

Wide LengthOf(const WideComplex& x) { return std::hypot(x.real(), x.imag()); }

// The unitary [[c, s], [-conj(s), c]] that turns (x, y) to (r, 0).
struct Turn {
  Turn(const WideComplex& x, const WideComplex& y) {
    const Wide size = std::hypot(LengthOf(x), LengthOf(y));
    if (size == 0) return;
    c = LengthOf(x) / size;
    const WideComplex phase =
        LengthOf(x) == 0 ? WideComplex(1) : x / LengthOf(x);
    s = ProductOf(phase, std::conj(y)) / size;
  }
  Wide c = 1;
  WideComplex s = 0;
};

void TurnRows(const Turn& t, int64_t p, int64_t q, ComplexMatrix* a) {
  for (int64_t j = 0; j < a->columns(); ++j) {
    const WideComplex x = a->At(p, j), y = a->At(q, j);
    a->At(p, j) = t.c * x + ProductOf(t.s, y);
    a->At(q, j) = t.c * y - ProductOf(std::conj(t.s), x);
  }
}

// By the adjoint, from the right.
void TurnColumns(const Turn& t, int64_t p, int64_t q, ComplexMatrix* a) {
  for (int64_t i = 0; i < a->rows(); ++i) {
    const WideComplex x = a->At(i, p), y = a->At(i, q);
    a->At(i, p) = t.c * x + ProductOf(std::conj(t.s), y);
    a->At(i, q) = t.c * y - ProductOf(t.s, x);
  }
}

// Makes all below the first subdiagonal 0.
void MakeHessenberg(ComplexMatrix* a, ComplexMatrix* z) {
  for (int64_t j = 0; j + 2 < a->rows(); ++j) {
    for (int64_t i = a->rows() - 1; i > j + 1; --i) {
      const Turn t(a->At(i - 1, j), a->At(i, j));
      TurnRows(t, i - 1, i, a);
      TurnColumns(t, i - 1, i, a);
      TurnColumns(t, i - 1, i, z);
      a->At(i, j) = 0;
    }
  }
}

// The eigenvalue of [[a, b], [c, d]] that is nearer to d.
WideComplex NearerValue(const ComplexMatrix& m, int64_t last) {
  const WideComplex a = m.At(last - 1, last - 1), d = m.At(last, last);
  const WideComplex bc = ProductOf(m.At(last - 1, last), m.At(last, last - 1));
  const WideComplex middle = (a + d) / 2.0L, half = (a - d) / 2.0L;
  const WideComplex root = std::sqrt(ProductOf(half, half) + bc);
  const WideComplex one = middle + root, other = middle - root;
  return LengthOf(one - d) < LengthOf(other - d) ? one : other;
}

// One step on rows and columns [first, last].
void StepOfQr(int64_t first, int64_t last, const WideComplex& shift,
              ComplexMatrix* a, ComplexMatrix* z) {
  for (int64_t i = 0; i < a->rows(); ++i) a->At(i, i) -= shift;
  std::vector<Turn> turns;
  for (int64_t k = first; k < last; ++k) {
    turns.emplace_back(a->At(k, k), a->At(k + 1, k));
    TurnRows(turns.back(), k, k + 1, a);
    a->At(k + 1, k) = 0;
  }
  for (int64_t k = first; k < last; ++k) {
    TurnColumns(turns[k - first], k, k + 1, a);
    TurnColumns(turns[k - first], k, k + 1, z);
  }
  for (int64_t i = 0; i < a->rows(); ++i) a->At(i, i) += shift;
}

// Makes a triangle of a, and the unitary of it.
ComplexMatrix Triangulate(ComplexMatrix* a) {
  const int64_t n = a->rows();
  ComplexMatrix z(n, n);
  for (int64_t i = 0; i < n; ++i) z.At(i, i) = 1;
  MakeHessenberg(a, &z);
  int64_t last = n - 1;
  for (int step = 1; last > 0; ++step) {
    int64_t first = last;
    for (; first > 0; --first) {
      const Wide beside =
          LengthOf(a->At(first - 1, first - 1)) + LengthOf(a->At(first, first));
      if (LengthOf(a->At(first, first - 1)) <= kEpsilon * beside) break;
    }
    if (first > 0) a->At(first, first - 1) = 0;
    if (first == last || step > kMostSteps) {
      --last;
      step = 0;
      continue;
    }
    const bool stuck = step % 12 == 0;
    StepOfQr(first, last,
             stuck ? a->At(last, last) + LengthOf(a->At(last, last - 1))
                   : NearerValue(*a, last),
             a, &z);
  }
  return z;
}

// z times the vector of element (k, k) of a triangle, to column k of v.
void SolveForVector(const ComplexMatrix& t, const ComplexMatrix& z, int64_t k,
                    Wide least, ComplexMatrix* v) {
  std::vector<WideComplex> x(k + 1);
  x[k] = 1;
  for (int64_t i = k - 1; i >= 0; --i) {
    WideComplex sum = 0;
    for (int64_t j = i + 1; j <= k; ++j) sum -= ProductOf(t.At(i, j), x[j]);
    WideComplex apart = t.At(i, i) - t.At(k, k);
    if (LengthOf(apart) < least) apart = least;
    x[i] = sum / apart;
  }
  Wide square = 0, most = 0;
  WideComplex phase = 1;
  for (int64_t i = 0; i < t.rows(); ++i) {
    for (int64_t j = 0; j <= k; ++j) {
      v->At(i, k) += ProductOf(z.At(i, j), x[j]);
    }
    const Wide length = LengthOf(v->At(i, k));
    square += length * length;
    if (length <= most) continue;
    most = length;
    phase = v->At(i, k) / length;
  }
  for (int64_t i = 0; i < t.rows(); ++i) {
    v->At(i, k) = ProductOf(v->At(i, k), std::conj(phase)) / std::sqrt(square);
  }
}

}  // namespace

// Long double has exponents enough for vectors of equal values.
absl::StatusOr<Values> Eig(const Context& c) {
  HAWSER_ASSIGN_OR_RETURN(Values out, NewResults(c));
  HAWSER_RETURN_IF_ERROR(ForEachMatrix(c, [&](auto, int64_t number) {
    auto a = ComplexMatrix::Read(c.operands[0], number);
    const int64_t n = a.rows();
    ComplexMatrix w(1, n), v(n, n);
    if (a.IsFinite()) {
      const ComplexMatrix z = Triangulate(&a);
      Wide largest = std::numeric_limits<Wide>::min() / kEpsilon;
      for (int64_t i = 0; i < n; ++i) {
        w.At(0, i) = a.At(i, i);
        for (int64_t j = i; j < n; ++j) {
          largest = std::max(largest, LengthOf(a.At(i, j)));
        }
      }
      for (int64_t k = 0; k < n; ++k) {
        SolveForVector(a, z, k, kEpsilon * largest, &v);
      }
    } else {
      w.FillNan();
      v.FillNan();
    }
    w.Write(number, &out[0]);
    v.Write(number, &out[1]);
  }));
  return out;
}

}  // namespace hawser::reference
