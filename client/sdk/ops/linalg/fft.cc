#include "client/sdk/ops/linalg/fft.h"

#include <string>
#include <utility>
#include <vector>

#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/ops/indexing/edge.h"
#include "client/sdk/ops/indexing/index.h"
#include "client/sdk/ops/shape.h"
#include "core/base/status.h"
#include "core/ops/expression.h"
#include "core/ops/linalg/fft.h"
#include "core/ops/rules.h"

namespace hawser {
namespace {

using sdk::DTypeOf;
using sdk::OpScope;

// What is transformed: axes from the front, and the lengths of the side that is
// not half of another.
struct Transform {
  absl::string_view type;
  Dims axes, lengths;
};

absl::StatusOr<DType> InputDType(absl::string_view type, DType given) {
  const bool wide = given == DType::kF64 || given == DType::kC128;
  if (type != "RFFT") return wide ? DType::kC128 : DType::kC64;
  if (IsComplex(given)) {
    return InvalidArgument("takes real numbers, not ", DTypeName(given));
  }
  return wide ? DType::kF64 : DType::kF32;
}

// As many elements of an axis as Irfft gives of them by itself.
absl::StatusOr<int64_t> WholeOf(int64_t half) {
  if (half != 1) return half == 0 ? 0 : 2 * (half - 1);
  return InvalidArgument(
      "one element may be of one or of none: give the length");
}

absl::StatusOr<Transform> TransformOf(absl::string_view type,
                                      const Shape& shape, const Dims& axes,
                                      const Dims& lengths) {
  Transform t{type, {}, lengths};
  for (const int64_t axis : axes) {
    HAWSER_ASSIGN_OR_RETURN(const int at, NormalizeAxis(axis, shape.rank()));
    if (Contains(t.axes, at)) {
      return InvalidArgument("axes ", DimsToString(axes), " are given twice");
    }
    t.axes.push_back(at);
  }
  for (const int64_t length : lengths) {
    if (length < 0) return InvalidArgument("a length is ", length);
  }
  if (!lengths.empty()) return t;
  for (const int64_t axis : t.axes) {
    t.lengths.push_back(shape.dim(static_cast<int>(axis)));
  }
  if (type != "IRFFT") return t;
  HAWSER_ASSIGN_OR_RETURN(t.lengths.back(), WholeOf(t.lengths.back()));
  return t;
}

// x with as many elements along each axis as the transform takes.
Tensor Fitted(Tensor x, const Transform& t) {
  for (size_t i = 0; i < t.axes.size(); ++i) {
    const int axis = static_cast<int>(t.axes[i]);
    const bool halves = t.type == "IRFFT" && i + 1 == t.axes.size();
    const int64_t wanted = halves ? HalfOf(t.lengths[i]) : t.lengths[i];
    const int64_t given = x.dim(axis);
    if (wanted == given) continue;
    std::vector<Padding> paddings(x.rank());
    paddings[axis].high = wanted - given;
    x = Pad(x, 0, paddings);
  }
  return x;
}

// The axes that are transformed behind the others, in their order.
Dims Behind(int rank, const Dims& axes) {
  Dims order;
  for (int64_t axis = 0; axis < rank; ++axis) {
    if (!Contains(axes, axis)) order.push_back(axis);
  }
  order.insert(order.end(), axes.begin(), axes.end());
  return order;
}

bool IsInOrder(const Dims& order) {
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

Tensor Transformed(const OpScope& s, const Tensor& given, const Transform& t) {
  const Tensor x = Fitted(given, t);
  const Attributes attributes = {{"fft_length", t.lengths},
                                 {"fft_type", std::string(t.type)}};
  const Dims order = Behind(x.rank(), t.axes);
  if (IsInOrder(order)) return s.Add(kFft, {x}, attributes);
  return Transpose(s.Add(kFft, {Transpose(x, order)}, attributes),
                   InversePermutation(order));
}

Tensor Along(absl::string_view name, absl::string_view type, const Operand& x,
             const Dims& axes, const Dims& lengths) {
  const OpScope s(name, {&x}, {axes, lengths});
  if (!s.ok()) return s.error();
  const auto dtype = InputDType(type, DTypeOf(x));
  if (!dtype.ok()) return s.Fail(dtype.status());
  const Tensor value = s.As(x, *dtype);
  if (value.dtype() == DType::kInvalid) return value;
  const auto transform = TransformOf(type, value.shape(), axes, lengths);
  if (!transform.ok()) return s.Fail(transform.status());
  return Transformed(s, value, *transform);
}

Tensor AlongOne(absl::string_view name, absl::string_view type,
                const Operand& x, const FftOptions& options) {
  const Dims lengths =
      options.length.has_value() ? Dims{*options.length} : Dims{};
  return Along(name, type, x, {options.axis}, lengths);
}

Tensor AlongTwo(absl::string_view name, absl::string_view type,
                const Operand& x, const Fft2Options& options) {
  const Dims axes = options.axes.empty() ? Dims{-2, -1} : options.axes;
  const size_t lengths = options.lengths.size();
  if (axes.size() != 2 || (lengths != 0 && lengths != 2)) {
    const OpScope s(name, {&x});
    if (!s.ok()) return s.error();
    return s.Fail(InvalidArgument("takes two axes and two lengths, not ",
                                  axes.size(), " and ", lengths));
  }
  return Along(name, type, x, axes, options.lengths);
}

}  // namespace

Tensor Fft(const Operand& x, const FftOptions& options) {
  return AlongOne("Fft", "FFT", x, options);
}
Tensor Ifft(const Operand& x, const FftOptions& options) {
  return AlongOne("Ifft", "IFFT", x, options);
}
Tensor Rfft(const Operand& x, const FftOptions& options) {
  return AlongOne("Rfft", "RFFT", x, options);
}
Tensor Irfft(const Operand& x, const FftOptions& options) {
  return AlongOne("Irfft", "IRFFT", x, options);
}
Tensor Fft2(const Operand& x, const Fft2Options& options) {
  return AlongTwo("Fft2", "FFT", x, options);
}
Tensor Ifft2(const Operand& x, const Fft2Options& options) {
  return AlongTwo("Ifft2", "IFFT", x, options);
}
Tensor Rfft2(const Operand& x, const Fft2Options& options) {
  return AlongTwo("Rfft2", "RFFT", x, options);
}
Tensor Irfft2(const Operand& x, const Fft2Options& options) {
  return AlongTwo("Irfft2", "IRFFT", x, options);
}

}  // namespace hawser
