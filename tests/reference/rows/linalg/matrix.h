// Matrix: one of a batch, in long double.
#ifndef HAWSER_TESTS_REFERENCE_ROWS_LINALG_MATRIX_H_
#define HAWSER_TESTS_REFERENCE_ROWS_LINALG_MATRIX_H_

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/base/status.h"
#include "tests/reference/rows/row.h"

namespace hawser::reference {

inline Wide RealPart(Wide x) { return x; }
inline Wide RealPart(const WideComplex& x) { return x.real(); }
inline Wide Conjugated(Wide x) { return x; }
inline WideComplex Conjugated(const WideComplex& x) { return std::conj(x); }
inline Wide TimesOf(Wide x, Wide y) { return x * y; }
inline WideComplex TimesOf(const WideComplex& x, const WideComplex& y) {
  return ProductOf(x, y);
}
inline Wide ImaginaryOf(Wide) { return 0; }
inline Wide ImaginaryOf(const WideComplex& x) { return x.imag(); }
inline bool IsFinite(Wide x) { return x - x == 0; }
inline bool IsFinite(const WideComplex& x) {
  return IsFinite(x.real()) && IsFinite(x.imag());
}
// |re| + |im|, by which LAPACK compares, and |x|^2.
template <typename W>
Wide PartsOf(const W& x) {
  return std::abs(RealPart(x)) + std::abs(ImaginaryOf(x));
}
template <typename W>
Wide SquareOf(const W& x) {
  return RealPart(x) * RealPart(x) + ImaginaryOf(x) * ImaginaryOf(x);
}

// W: Wide or WideComplex.
template <typename W>
class Matrix {
 public:
  Matrix(int64_t rows, int64_t columns)
      : rows_(rows), columns_(columns), elements_(rows * columns) {}

  // Matrix `number` of those that the last two axes of a value are.
  static Matrix Read(const Literal& from, int64_t number) {
    return Read(from, number, from.shape().dim(-2), from.shape().dim(-1));
  }
  // Row `number` of so many elements.
  static Matrix ReadRow(const Literal& from, int64_t number, int64_t size) {
    return Read(from, number, 1, size);
  }
  static Matrix Read(const Literal& from, int64_t number, int64_t rows,
                     int64_t columns) {
    Matrix out(rows, columns);
    const int64_t first = number * out.rows_ * out.columns_;
    for (size_t k = 0; k < out.elements_.size(); ++k) {
      const WideComplex x =
          WideOf(ReadNumber(from, first + static_cast<int64_t>(k)));
      if constexpr (std::is_same_v<W, Wide>) {
        out.elements_[k] = x.real();
      } else {
        out.elements_[k] = x;
      }
    }
    return out;
  }
  void Write(int64_t number, Literal* to) const {
    const int64_t first = number * rows_ * columns_;
    for (size_t k = 0; k < elements_.size(); ++k) {
      WriteNumber(InDType(WideComplex(elements_[k]), to->shape().dtype()),
                  first + static_cast<int64_t>(k), to);
    }
  }

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  W& At(int64_t i, int64_t j) { return elements_[i * columns_ + j]; }
  const W& At(int64_t i, int64_t j) const {
    return elements_[i * columns_ + j];
  }
  bool IsFinite() const {
    for (const W& x : elements_) {
      if (!reference::IsFinite(x)) return false;
    }
    return true;
  }
  void FillNan() {
    const Wide nan = std::numeric_limits<Wide>::quiet_NaN();
    W x = nan;
    if constexpr (!std::is_same_v<W, Wide>) x = WideComplex(nan, nan);
    elements_.assign(elements_.size(), x);
  }

 private:
  int64_t rows_, columns_;
  std::vector<W> elements_;
};

// The number of matrices in a value.
inline int64_t CountOf(const Shape& shape) {
  int64_t count = 1;
  for (int i = 0; i + 2 < shape.rank(); ++i) count *= shape.dim(i);
  return count;
}

template <typename W>
Matrix<W> AdjointOf(const Matrix<W>& a) {
  Matrix<W> out(a.columns(), a.rows());
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t j = 0; j < a.columns(); ++j) {
      out.At(j, i) = Conjugated(a.At(i, j));
    }
  }
  return out;
}

// Room for all results.
inline absl::StatusOr<Values> NewResults(const Context& c) {
  Values out;
  for (int k = 0; k < c.instruction.num_results; ++k) {
    HAWSER_ASSIGN_OR_RETURN(out.emplace_back(),
                            Literal::Allocate(c.result_shape(k)));
  }
  return out;
}

// fn(W(), number) for so many matrices of operand 0, of reals in Wide.
template <typename Fn>
absl::Status ForMatrices(const Context& c, int64_t count, Fn fn) {
  const bool complex = IsComplex(c.shape(0).dtype());
  for (int64_t i = 0; i < count; ++i) {
    HAWSER_RETURN_IF_ERROR(c.cancel.Check());
    if (complex) {
      fn(WideComplex(), i);
    } else {
      fn(Wide(), i);
    }
  }
  return absl::OkStatus();
}

// For all that have elements.
template <typename Fn>
absl::Status ForEachMatrix(const Context& c, Fn fn) {
  const Shape& shape = c.shape(0);
  return ForMatrices(c, shape.num_elements() == 0 ? 0 : CountOf(shape), fn);
}

}  // namespace hawser::reference
#endif  // HAWSER_TESTS_REFERENCE_ROWS_LINALG_MATRIX_H_
