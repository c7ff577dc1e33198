// Shape: an element type and the sizes of the axes. Dense, row-major.
#ifndef HAWSER_CORE_BASE_VALUES_SHAPE_H_
#define HAWSER_CORE_BASE_VALUES_SHAPE_H_

#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/values/dtype.h"

namespace hawser {

inline constexpr int kMaxRank = 16;
// Sizes of axes, strides, permutations: short lists of numbers.
using Dims = absl::InlinedVector<int64_t, 6>;

inline Dims ToDims(absl::Span<const int64_t> list) {
  return Dims(list.begin(), list.end());
}

class Shape {
 public:
  // An invalid shape; every real one comes from Make, Scalar or Of.
  Shape() = default;

  // Errors (kInvalidArgument): unsupported dtype, rank above 16, a negative
  // size, a byte size above 2^62.
  static absl::StatusOr<Shape> Make(DType dtype,
                                    absl::Span<const int64_t> dims);
  static Shape Scalar(DType dtype);
  // For literal arguments known to be right. If Make has an error, this prints
  // it with the caller's file and line, and ends the process.
  static Shape Of(DType dtype, std::initializer_list<int64_t> dims,
                  const char* file = __builtin_FILE(),
                  int line = __builtin_LINE());
  static Shape Of(DType dtype, absl::Span<const int64_t> dims,
                  const char* file = __builtin_FILE(),
                  int line = __builtin_LINE());

  DType dtype() const { return dtype_; }
  int rank() const { return static_cast<int>(dims_.size()); }
  const Dims& dims() const { return dims_; }
  // The size of an axis; a negative one counts from the back. For an axis that
  // is not there it is a number that Make and every rule refuse, naming the
  // axis and this shape (see absent_size.h).
  int64_t dim(int64_t axis) const {
    const auto at = static_cast<size_t>(axis);
    return at < dims_.size() ? dims_.data()[at] : DimFromBack(axis);
  }
  bool is_scalar() const { return dims_.empty(); }
  // Product of the sizes: 1 for a scalar, 0 when an axis has size 0.
  int64_t num_elements() const { return num_elements_; }
  int64_t byte_size() const { return num_elements_ * ByteWidth(dtype_); }
  // Row-major strides in elements; 0-sized axes count as 1.
  Dims Strides() const;

  Shape WithDType(DType dtype) const;
  bool SameDims(const Shape& other) const { return dims_ == other.dims_; }
  bool operator==(const Shape& o) const {
    return dtype_ == o.dtype_ && dims_ == o.dims_;
  }
  std::string ToString() const;  // "f32[2,3]", a scalar is "f32[]"

  template <typename H>
  friend H AbslHashValue(H h, const Shape& s) {
    return H::combine(std::move(h), s.dtype_, s.dims_);
  }

 private:
  int64_t DimFromBack(int64_t axis) const;

  DType dtype_ = DType::kInvalid;
  int64_t num_elements_ = 0;
  Dims dims_;
};

// Writes ToString.
std::ostream& operator<<(std::ostream& out, const Shape& shape);

// "[2,3]"
std::string DimsToString(absl::Span<const int64_t> dims);
// "f32[2,3]" -> Shape. Errors: kInvalidArgument naming the text.
absl::StatusOr<Shape> ParseShape(absl::string_view text);
// Resolves a possibly negative axis. Errors: kInvalidArgument naming both.
absl::StatusOr<int> NormalizeAxis(int64_t axis, int rank);

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_VALUES_SHAPE_H_
