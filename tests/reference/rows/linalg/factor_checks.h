// What the checks of factors share: how exact a dtype is, and matrices that are
// near to each other.
#ifndef HAWSER_TESTS_REFERENCE_ROWS_LINALG_FACTOR_CHECKS_H_
#define HAWSER_TESTS_REFERENCE_ROWS_LINALG_FACTOR_CHECKS_H_

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/base/status.h"
#include "core/ir/module.h"
#include "tests/reference/rows/linalg/matrix.h"

namespace hawser::reference {

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
inline constexpr Wide kRoundings = 8;

// Matrix `number` of the operands and results of an op.
struct Factors {
  const OpDef& op;
  const Attributes& attributes;
  absl::Span<const Literal> operands, results;
  int64_t number;

  template <typename W>
  Matrix<W> Operand(int k) const {
    return Matrix<W>::Read(operands[k], number);
  }
  template <typename W>
  Matrix<W> Result(int k) const {
    return Matrix<W>::Read(results[k], number);
  }
  // One row of a value whose last axis is a vector for each matrix.
  template <typename W>
  Matrix<W> RowOf(const Literal& x) const {
    return Matrix<W>::ReadRow(x, number, x.shape().dim(-1));
  }
  Precision precision() const { return Precision(operands[0].shape().dtype()); }
};

template <typename W>
Matrix<W> Product(const Matrix<W>& x, const Matrix<W>& y) {
  Matrix<W> out(x.rows(), y.columns());
  for (int64_t i = 0; i < x.rows(); ++i) {
    for (int64_t k = 0; k < x.columns(); ++k) {
      for (int64_t j = 0; j < y.columns(); ++j) {
        out.At(i, j) += TimesOf(x.At(i, k), y.At(k, j));
      }
    }
  }
  return out;
}

// The largest part of any element.
template <typename W>
Wide LargestOf(const Matrix<W>& x) {
  Wide most = 0;
  for (int64_t i = 0; i < x.rows(); ++i) {
    for (int64_t j = 0; j < x.columns(); ++j) {
      most = std::max(most, PartsOf(x.At(i, j)));
    }
  }
  return most;
}

template <typename W>
absl::Status ExpectNear(absl::string_view what, const Factors& of,
                        const Matrix<W>& got, const Matrix<W>& want,
                        Wide bound) {
  for (int64_t i = 0; i < want.rows(); ++i) {
    for (int64_t j = 0; j < want.columns(); ++j) {
      const Wide off = PartsOf(got.At(i, j) - want.At(i, j));
      if (off <= bound) continue;
      return Internal(what, " of matrix ", of.number, " is off by ",
                      static_cast<double>(off), " at (", i, ", ", j,
                      "), more than ", static_cast<double>(bound));
    }
  }
  return absl::OkStatus();
}

// x^H x is the identity.
template <typename W>
absl::Status ExpectOrthonormal(absl::string_view what, const Factors& of,
                               const Matrix<W>& x) {
  Matrix<W> identity(x.columns(), x.columns());
  for (int64_t i = 0; i < x.columns(); ++i) identity.At(i, i) = 1;
  return ExpectNear(
      what, of, Product(AdjointOf(x), x), identity,
      kRoundings * static_cast<Wide>(x.rows() + 2) * of.precision().epsilon);
}

// The checks that stand in files of their own.
absl::Status CheckLu(const Factors& of);
absl::Status CheckQr(const Factors& of);
absl::Status CheckGeqrf(const Factors& of);
absl::Status CheckHouseholderProduct(const Factors& of);
absl::Status CheckEig(const Factors& of);
absl::Status CheckEigh(const Factors& of);
absl::Status CheckSvd(const Factors& of);

}  // namespace hawser::reference
#endif  // HAWSER_TESTS_REFERENCE_ROWS_LINALG_FACTOR_CHECKS_H_
