#include "tests/reference/rows/linalg/properties.h"

#include <cmath>
#include <limits>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ops/linalg/linalg.h"
#include "tests/reference/rows/linalg/matrix.h"

namespace hawser::reference {
namespace {

// What one rounding of a number of a dtype is, and the least normal number.
struct Precision {
  explicit Precision(DType dtype)
      : epsilon(RealPart(dtype) == DType::kF32
                    ? std::numeric_limits<float>::epsilon()
                    : std::numeric_limits<double>::epsilon()),
        least(RealPart(dtype) == DType::kF32
                  ? std::numeric_limits<float>::min()
                  : std::numeric_limits<double>::min()) {}
  Wide epsilon, least;
};

// Roundings that are allowed for each row.
constexpr Wide kRoundings = 8;

Wide SizeOf(Wide x) { return std::abs(x); }
Wide SizeOf(const WideComplex& x) {
  return std::abs(x.real()) + std::abs(x.imag());
}

// A sum of products, the sum of their sizes, and that of the left factors.
template <typename W>
struct Sum {
  void Add(const W& x, const W& y) {
    value += TimesOf(x, y);
    sizes += SizeOf(x) * SizeOf(y);
    left += SizeOf(x);
  }
  // Whether `want` is the value but for roundings of so many terms.
  bool Is(const W& want, int64_t terms, const Precision& precision) const {
    const Wide roundings = kRoundings * static_cast<Wide>(terms + 2);
    return SizeOf(value - want) <=
           roundings * (precision.epsilon * (sizes + SizeOf(want)) +
                        precision.least * (left + 1));
  }

  W value = 0;
  Wide sizes = 0, left = 0;
};

template <typename W>
absl::Status Off(absl::string_view what, int64_t matrix, int64_t i, int64_t j,
                 const Sum<W>& got, const W& want) {
  return Internal(what, " of matrix ", matrix, " is off by ",
                  static_cast<double>(SizeOf(got.value - want)), " at (", i,
                  ", ", j, "), of sizes ", static_cast<double>(got.sizes));
}

template <typename W>
absl::Status CheckCholesky(const Matrix<W>& a, const Matrix<W>& factor,
                           bool lower, int64_t number,
                           const Precision& precision) {
  const int64_t n = a.rows();
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      if (!IsFinite(factor.At(i, j))) return absl::OkStatus();
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const bool inside = i == j || (i > j) == lower;
      if (!inside && factor.At(i, j) != W(0)) {
        return Internal("(", i, ", ", j, ") of matrix ", number, " is not 0");
      }
      if (!inside) continue;
      Sum<W> product;
      for (int64_t k = 0; k < n; ++k) {
        if (lower) {
          product.Add(factor.At(i, k), Conjugated(factor.At(j, k)));
        } else {
          product.Add(Conjugated(factor.At(k, i)), factor.At(k, j));
        }
      }
      const W want = i == j ? W(RealPart(a.At(i, j))) : a.At(i, j);
      if (!product.Is(want, n, precision)) {
        return Off("the factor's square", number, i, j, product, want);
      }
    }
  }
  return absl::OkStatus();
}

// The matrix that acts, of its triangle alone.
template <typename W>
Matrix<W> ActingMatrix(const Matrix<W>& a, const Attributes& by) {
  const absl::string_view op = by.GetString("transpose_a");
  Matrix<W> out(a.rows(), a.rows());
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t j = 0; j < a.rows(); ++j) {
      if (i != j && (i > j) != by.GetBool("lower")) continue;
      W x = i == j && by.GetBool("unit_diagonal") ? W(1) : a.At(i, j);
      if (op == kAdjointOf) x = Conjugated(x);
      (op == kNoTranspose ? out.At(i, j) : out.At(j, i)) = x;
    }
  }
  return out;
}

template <typename W>
absl::Status CheckSolved(const Matrix<W>& acting, const Matrix<W>& b,
                         const Matrix<W>& x, bool left, int64_t number,
                         const Precision& precision) {
  const int64_t n = acting.rows();
  const int64_t sides = left ? x.columns() : x.rows();
  for (int64_t s = 0; s < sides; ++s) {
    const auto at = [&](const Matrix<W>& m, int64_t k) {
      return left ? m.At(k, s) : m.At(s, k);
    };
    bool finite = true;
    for (int64_t k = 0; k < n; ++k) finite = finite && IsFinite(at(x, k));
    for (int64_t i = 0; i < n && finite; ++i) {
      Sum<W> product;
      for (int64_t k = 0; k < n; ++k) {
        product.Add(left ? acting.At(i, k) : acting.At(k, i), at(x, k));
      }
      if (!IsFinite(product.value)) continue;
      if (!product.Is(at(b, i), n, precision)) {
        return Off("what is solved", number, left ? i : s, left ? s : i,
                   product, at(b, i));
      }
    }
  }
  return absl::OkStatus();
}

template <typename W>
absl::Status CheckMatrix(const OpDef& op, const Attributes& by,
                         absl::Span<const Literal> operands,
                         absl::Span<const Literal> results, int64_t number) {
  const Precision precision(operands[0].shape().dtype());
  const auto a = Matrix<W>::Read(operands[0], number);
  const auto first = Matrix<W>::Read(results[0], number);
  if (&op == &kCholesky) {
    return CheckCholesky(a, first, by.GetBool("lower"), number, precision);
  }
  return CheckSolved(ActingMatrix(a, by), Matrix<W>::Read(operands[1], number),
                     first, by.GetBool("left_side"), number, precision);
}

}  // namespace

bool HasFactors(const OpDef& op) {
  return absl::c_linear_search(kLinalgOps, &op);
}

absl::Status CheckFactors(const OpDef& op, const Attributes& attributes,
                          absl::Span<const Literal> operands,
                          absl::Span<const Literal> results) {
  const Shape& shape = results[0].shape();
  if (shape.num_elements() == 0) return absl::OkStatus();
  for (int64_t i = 0; i < CountOf(shape); ++i) {
    HAWSER_RETURN_IF_ERROR(
        IsComplex(shape.dtype())
            ? CheckMatrix<WideComplex>(op, attributes, operands, results, i)
            : CheckMatrix<Wide>(op, attributes, operands, results, i));
  }
  return absl::OkStatus();
}

}  // namespace hawser::reference
