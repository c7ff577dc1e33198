#include "client/cli/cases/factor_check.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/base/status.h"

namespace hawser::cli {
namespace {

using Wide = std::complex<long double>;

// Roundings that are allowed for each row and column.
constexpr long double kRoundings = 8;

struct Matrix {
  Matrix(int64_t rows, int64_t columns)
      : rows(rows), columns(columns), elements(rows * columns) {}

  Wide& At(int64_t i, int64_t j) { return elements[i * columns + j]; }
  const Wide& At(int64_t i, int64_t j) const {
    return elements[i * columns + j];
  }

  int64_t rows, columns;
  std::vector<Wide> elements;
};

template <typename T>
Wide ToWide(T x) {
  if constexpr (std::is_same_v<T, std::complex<float>> ||
                std::is_same_v<T, std::complex<double>>) {
    return Wide(x.real(), x.imag());
  } else {
    return static_cast<long double>(static_cast<double>(x));
  }
}

// Matrix `number` of rows x columns elements.
Matrix Read(const Literal& from, int64_t number, int64_t rows,
            int64_t columns) {
  Matrix out(rows, columns);
  VisitDType(from.shape().dtype(), [&](auto tag) {
    const auto data = from.data<typename decltype(tag)::type>();
    const int64_t first = number * rows * columns;
    for (int64_t k = 0; k < rows * columns; ++k) {
      out.elements[k] = ToWide(data[first + k]);
    }
    return 0;
  });
  return out;
}

Matrix Product(const Matrix& x, const Matrix& y) {
  Matrix out(x.rows, y.columns);
  for (int64_t i = 0; i < x.rows; ++i) {
    for (int64_t k = 0; k < x.columns; ++k) {
      for (int64_t j = 0; j < y.columns; ++j) {
        out.At(i, j) += x.At(i, k) * y.At(k, j);
      }
    }
  }
  return out;
}

Matrix AdjointOf(const Matrix& x) {
  Matrix out(x.columns, x.rows);
  for (int64_t i = 0; i < x.rows; ++i) {
    for (int64_t j = 0; j < x.columns; ++j) {
      out.At(j, i) = std::conj(x.At(i, j));
    }
  }
  return out;
}

// The first columns of x times the elements of a row.
Matrix Scaled(const Matrix& x, const Matrix& by) {
  Matrix out(x.rows, by.columns);
  for (int64_t i = 0; i < x.rows; ++i) {
    for (int64_t j = 0; j < by.columns; ++j) {
      out.At(i, j) = x.At(i, j) * by.At(0, j);
    }
  }
  return out;
}

long double SizeOf(const Matrix& x) {
  long double sum = 0;
  for (const Wide& element : x.elements) sum += std::norm(element);
  return std::sqrt(sum);
}

long double EpsilonOf(DType dtype) {
  switch (RealPart(dtype)) {
    case DType::kF64:
      return std::numeric_limits<double>::epsilon();
    case DType::kF16:
      return 0x1p-10L;
    case DType::kBF16:
      return 0x1p-7L;
    default:
      return std::numeric_limits<float>::epsilon();
  }
}

// One matrix and its factors.
struct Checked {
  // Factor k: of two axes, or one for a vector.
  Matrix Factor(int k) const {
    const Shape& shape = factors[k].shape();
    return Read(factors[k], number, shape.dim(-2), shape.dim(-1));
  }
  Matrix Row(int k) const {
    return Read(factors[k], number, 1, factors[k].shape().dim(-1));
  }

  // `sizes`: those of the numbers that were rounded.
  absl::Status ExpectNear(absl::string_view what, const Matrix& got,
                          const Matrix& want, long double sizes) const {
    if (got.rows != want.rows || got.columns != want.columns) {
      return InvalidArgument(what, " has other sizes");
    }
    const auto terms = static_cast<long double>(a.rows + a.columns + 2);
    const long double bound = kRoundings * terms * epsilon * sizes;
    for (int64_t i = 0; i < want.rows; ++i) {
      for (int64_t j = 0; j < want.columns; ++j) {
        const long double off = std::abs(got.At(i, j) - want.At(i, j));
        if (off <= bound) continue;
        return Internal(what, " of matrix ", number, " is off by ",
                        static_cast<double>(off), " at (", i, ", ", j,
                        "), more than ", static_cast<double>(bound));
      }
    }
    return absl::OkStatus();
  }
  absl::Status ExpectOrthonormal(absl::string_view what,
                                 const Matrix& x) const {
    Matrix identity(x.columns, x.columns);
    for (int64_t i = 0; i < x.columns; ++i) identity.At(i, i) = 1;
    return ExpectNear(what, Product(AdjointOf(x), x), identity, 1);
  }
  absl::Status ExpectTriangle(absl::string_view what, const Matrix& x,
                              bool lower) const {
    for (int64_t i = 0; i < x.rows; ++i) {
      for (int64_t j = 0; j < x.columns; ++j) {
        const bool inside = lower ? j <= i : j >= i;
        if (inside || x.At(i, j) == Wide(0)) continue;
        return Internal(what, " of matrix ", number, " is no triangle");
      }
    }
    return absl::OkStatus();
  }
  // Reals that stand in order.
  absl::Status ExpectOrdered(const Matrix& row, bool ascending) const {
    for (int64_t k = 1; k < row.columns; ++k) {
      const long double step = row.At(0, k).real() - row.At(0, k - 1).real();
      if (ascending ? step >= 0 : step <= 0) continue;
      return Internal("value ", k, " of matrix ", number, " is out of order");
    }
    return absl::OkStatus();
  }

  const Matrix& a;
  const absl::Span<const Literal> factors;
  const int64_t number;
  const long double epsilon;
};

// The rows of a in the order given are L U, and no element of L is above 1, by
// which LAPACK counts |re| + |im|.
absl::Status CheckLu(const Checked& c) {
  const Matrix order = c.Row(0), lower = c.Factor(1), upper = c.Factor(2);
  HAWSER_RETURN_IF_ERROR(c.ExpectTriangle("L", lower, true));
  HAWSER_RETURN_IF_ERROR(c.ExpectTriangle("U", upper, false));
  Matrix turned = c.a;
  std::vector<bool> seen(c.a.rows);
  for (int64_t i = 0; i < c.a.rows; ++i) {
    const auto from = static_cast<int64_t>(order.At(0, i).real());
    if (from < 0 || from >= c.a.rows || seen[from]) {
      return Internal("the order of matrix ", c.number, " is none");
    }
    seen[from] = true;
    for (int64_t j = 0; j < c.a.columns; ++j) turned.At(i, j) = c.a.At(from, j);
  }
  for (int64_t i = 0; i < lower.rows; ++i) {
    for (int64_t j = 0; j < lower.columns; ++j) {
      const Wide x = lower.At(i, j);
      if (i == j && x != Wide(1)) return Internal("L has no 1 at ", i);
      if (std::abs(x.real()) + std::abs(x.imag()) > 2.01L) {
        return Internal("an element of L is above 2");
      }
    }
  }
  return c.ExpectNear("L U", Product(lower, upper), turned,
                      SizeOf(c.a) + SizeOf(upper));
}

absl::Status CheckQr(const Checked& c) {
  const Matrix q = c.Factor(0), r = c.Factor(1);
  HAWSER_RETURN_IF_ERROR(c.ExpectTriangle("R", r, false));
  HAWSER_RETURN_IF_ERROR(c.ExpectOrthonormal("Q", q));
  return c.ExpectNear("Q R", Product(q, r), c.a, SizeOf(c.a));
}

absl::Status CheckSvd(const Checked& c) {
  const Matrix u = c.Factor(0), s = c.Row(1), vh = c.Factor(2);
  HAWSER_RETURN_IF_ERROR(c.ExpectOrdered(s, /*ascending=*/false));
  if (s.columns > 0 && !(s.At(0, s.columns - 1).real() >= 0)) {
    return Internal("a singular value of matrix ", c.number, " is below 0");
  }
  HAWSER_RETURN_IF_ERROR(c.ExpectOrthonormal("u", u));
  const Matrix v = AdjointOf(vh);
  HAWSER_RETURN_IF_ERROR(c.ExpectOrthonormal("v", v));
  Matrix ones(1, s.columns);
  std::fill(ones.elements.begin(), ones.elements.end(), Wide(1));
  return c.ExpectNear("u s v^H",
                      Product(Scaled(u, s), AdjointOf(Scaled(v, ones))), c.a,
                      SizeOf(c.a));
}

absl::Status CheckEigh(const Checked& c) {
  const Matrix w = c.Row(0), v = c.Factor(1);
  HAWSER_RETURN_IF_ERROR(c.ExpectOrdered(w, /*ascending=*/true));
  HAWSER_RETURN_IF_ERROR(c.ExpectOrthonormal("v", v));
  return c.ExpectNear("a v", Product(c.a, v), Scaled(v, w), SizeOf(c.a));
}

// Columns of length 1; the sum of the values tells one that was found twice.
absl::Status CheckEig(const Checked& c) {
  const Matrix w = c.Row(0), v = c.Factor(1);
  Matrix trace(1, 1), sum(1, 1), lengths(1, v.columns), ones(1, v.columns);
  for (int64_t j = 0; j < v.columns; ++j) {
    trace.At(0, 0) += c.a.At(j, j);
    sum.At(0, 0) += w.At(0, j);
    ones.At(0, j) = 1;
    for (int64_t i = 0; i < v.rows; ++i) {
      lengths.At(0, j) += std::norm(v.At(i, j));
    }
  }
  HAWSER_RETURN_IF_ERROR(c.ExpectNear("the vectors", lengths, ones, 1));
  HAWSER_RETURN_IF_ERROR(c.ExpectNear("the trace", sum, trace, SizeOf(c.a)));
  return c.ExpectNear("a v", Product(c.a, v), Scaled(v, w), SizeOf(c.a));
}

struct Row {
  v1::Case::Property property;
  // The ranks of the factors below that of the matrices.
  std::vector<int> below;
  absl::Status (*check)(const Checked&);
};
const std::vector<Row>& Rows() {
  static const auto& rows = *new std::vector<Row>{
      {v1::Case::LU, {1, 0, 0}, CheckLu},   {v1::Case::QR, {0, 0}, CheckQr},
      {v1::Case::SVD, {0, 1, 0}, CheckSvd}, {v1::Case::EIGH, {1, 0}, CheckEigh},
      {v1::Case::EIG, {1, 0}, CheckEig},
  };
  return rows;
}

}  // namespace

absl::Status CheckFactors(v1::Case::Property property, const Literal& a,
                          absl::Span<const Literal> factors) {
  const auto row =
      std::find_if(Rows().begin(), Rows().end(),
                   [&](const Row& r) { return r.property == property; });
  if (row == Rows().end()) return InvalidArgument("there is no such property");
  const Shape& shape = a.shape();
  bool fits = shape.rank() >= 2 && factors.size() == row->below.size();
  for (size_t k = 0; fits && k < factors.size(); ++k) {
    fits = factors[k].shape().rank() == shape.rank() - row->below[k];
  }
  if (!fits) return InvalidArgument("results are not the factors of a matrix");
  int64_t count = 1;
  for (int i = 0; i + 2 < shape.rank(); ++i) count *= shape.dim(i);
  for (int64_t number = 0; number < count; ++number) {
    const Matrix matrix = Read(a, number, shape.dim(-2), shape.dim(-1));
    HAWSER_RETURN_IF_ERROR(
        row->check(Checked{matrix, factors, number, EpsilonOf(shape.dtype())}));
  }
  return absl::OkStatus();
}

}  // namespace hawser::cli
