#include "core/base/values/shape.h"

#include <ostream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "core/base/status.h"
#include "core/base/values/absent_size.h"

namespace hawser {

absl::StatusOr<Shape> Shape::Make(DType dtype, absl::Span<const int64_t> dims) {
  if (!IsSupported(dtype)) {
    return InvalidArgument("shape has unsupported dtype number ",
                           static_cast<int>(dtype));
  }
  if (dims.size() > kMaxRank) {
    return InvalidArgument("shape has rank ", dims.size(), ", the largest is ",
                           kMaxRank);
  }
  // The bound is taken over max(size, 1), so that no partial product or
  // stride of a zero-sized shape can overflow either.
  constexpr int64_t kMaxBytes = int64_t{1} << 62;
  int64_t bytes = ByteWidth(dtype);
  int64_t elements = 1;
  for (int64_t d : dims) {
    if (d < 0) {
      if (const auto absence = FindAbsence(d)) return absence->why;
      return InvalidArgument("shape ", DimsToString(dims),
                             " has a negative size ", d);
    }
    if (d > 1 && __builtin_mul_overflow(bytes, d, &bytes)) bytes = kMaxBytes;
    if (bytes >= kMaxBytes) {
      return InvalidArgument("shape ", DTypeName(dtype), DimsToString(dims),
                             " is larger than 2^62 bytes");
    }
    elements *= d;  // at most `bytes`
  }
  Shape s;
  s.dtype_ = dtype;
  s.num_elements_ = elements;
  s.dims_.assign(dims.begin(), dims.end());
  return s;
}

Shape Shape::Scalar(DType dtype) { return Of(dtype, {}); }

Shape Shape::Of(DType dtype, std::initializer_list<int64_t> dims,
                const char* file, int line) {
  return Of(dtype, absl::Span<const int64_t>(dims.begin(), dims.size()), file,
            line);
}

Shape Shape::Of(DType dtype, absl::Span<const int64_t> dims, const char* file,
                int line) {
  auto shape = Make(dtype, dims);
  if (!shape.ok()) {
    internal::Die(file, line,
                  absl::StrCat("Shape::Of: ", shape.status().message()));
  }
  return *std::move(shape);
}

int64_t Shape::DimFromBack(int64_t axis) const {
  if (axis < 0 && axis >= -rank()) return dims_[axis + rank()];
  return AbsentSize(
      {InvalidArgument("dim(", axis, ") of ", ToString(), ": axis ", axis,
                       " is out of range for rank ", rank())});
}

Dims Shape::Strides() const {
  Dims strides(dims_.size());
  int64_t step = 1;
  for (int i = rank() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= dims_[i] > 0 ? dims_[i] : 1;
  }
  return strides;
}

Shape Shape::WithDType(DType dtype) const { return Of(dtype, dims_); }

std::string Shape::ToString() const {
  return absl::StrCat(DTypeName(dtype_), DimsToString(dims_));
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  return out << shape.ToString();
}

std::string DimsToString(absl::Span<const int64_t> dims) {
  return absl::StrCat("[", absl::StrJoin(dims, ","), "]");
}

absl::StatusOr<Shape> ParseShape(absl::string_view text) {
  const auto open = text.find('[');
  if (open == absl::string_view::npos || text.back() != ']') {
    return InvalidArgument("\"", text, "\" is not a shape like f32[2,3]");
  }
  HAWSER_ASSIGN_OR_RETURN(DType dtype, ParseDType(text.substr(0, open)));
  const absl::string_view inner = text.substr(open + 1, text.size() - open - 2);
  Dims dims;
  if (!inner.empty()) {
    for (absl::string_view part : absl::StrSplit(inner, ',')) {
      int64_t d;
      if (!absl::SimpleAtoi(part, &d)) {
        return InvalidArgument("\"", text, "\" is not a shape like f32[2,3]");
      }
      dims.push_back(d);
    }
  }
  return Shape::Make(dtype, dims);
}

absl::StatusOr<int> NormalizeAxis(int64_t axis, int rank) {
  if (axis < -rank || axis >= rank) {
    return InvalidArgument("axis ", axis, " is out of range for rank ", rank);
  }
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

}  // namespace hawser
