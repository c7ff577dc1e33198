#include "client/sdk/ops/indexing/position.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "client/sdk/graph/node.h"
#include "core/base/status.h"
#include "core/ops/elementwise/elementwise.h"

namespace hawser::sdk {
namespace {

// The elements of integers; what is above s64 is the largest of it.
template <typename T>
int64_t Widened(T value) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
    return static_cast<int64_t>(value > kMax ? kMax : value);
  } else {
    return static_cast<int64_t>(value);
  }
}

// Calls fn(i, element i) for integers.
template <typename Fn>
void ForEachInteger(const Literal& integers, Fn&& fn) {
  VisitDType(integers.shape().dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsInteger<T>) {
      const absl::Span<const T> values = integers.data<T>();
      for (size_t i = 0; i < values.size(); ++i) fn(i, Widened(values[i]));
    }
  });
}

// The same indices, none negative; the same Literal when none was. Errors: one
// is outside. If there are no elements, nothing is checked.
absl::StatusOr<Literal> Inside(const Literal& indices, const Shape& x,
                               absl::Span<const int64_t> axes) {
  bool negative = false;
  absl::Status error;
  const auto axis_of = [&](size_t i) { return axes[i % axes.size()]; };
  ForEachInteger(indices, [&](size_t i, int64_t index) {
    negative |= index < 0;
    const int64_t size = x.dim(axis_of(i));
    if (!error.ok() || (index < size && index >= -size)) return;
    error = InvalidArgument("index ", index, " of axis ", axis_of(i),
                            " is outside its size ", size);
  });
  HAWSER_RETURN_IF_ERROR(error);
  if (!negative) return indices;
  HAWSER_ASSIGN_OR_RETURN(
      Literal out, Literal::Allocate(indices.shape().WithDType(DType::kS64)));
  const absl::Span<int64_t> to = out.mutable_data<int64_t>();
  ForEachInteger(indices, [&](size_t i, int64_t index) {
    to[i] = index < 0 ? index + x.dim(axis_of(i)) : index;
  });
  return out;
}

}  // namespace

std::optional<Literal> KnownIntegers(const Operand& operand) {
  if (!IsInteger(DTypeOf(operand))) return std::nullopt;
  if (operand.is_number()) {
    if (operand.number().FindAbsence().has_value()) return std::nullopt;
    auto value = operand.number().ToLiteral(operand.number().dtype());
    return value.ok() ? std::optional(*std::move(value)) : std::nullopt;
  }
  MutexLock lock(&graph_mutex);
  if (!Usable(operand.tensor()).ok()) return std::nullopt;
  const auto* host = sdk::NodeOf(operand.tensor())->As<Host>();
  return host == nullptr ? std::nullopt : std::optional(host->value);
}

absl::StatusOr<int64_t> StartInside(int64_t start, int64_t length, int64_t size,
                                    int axis, const Outside& outside) {
  if (length < 0 || length > size) {
    return InvalidArgument("length ", length, " of axis ", axis,
                           " is not between 0 and its size ", size);
  }
  if (outside.clamp) return std::clamp<int64_t>(start, 0, size - length);
  const int64_t first = start < 0 && start >= -size ? start + size : start;
  if (first >= 0 && first <= size - length) return first;
  return InvalidArgument("start ", start, " with length ", length, " of axis ",
                         axis, " is outside its size ", size);
}

Tensor AsIndices(const OpScope& s, const Operand& x, DType dtype) {
  const Tensor value = s.As(x);
  if (value.dtype() != DType::kU64 || dtype == DType::kU64) {
    return s.Convert(value, dtype);
  }
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  const Tensor most = s.BroadcastTo(s.ConstantOf(kMost, DType::kU64),
                                    value.shape().dims());
  return s.Convert(s.Add(kMinimum, {value, most}), dtype);
}

Tensor StartOf(const OpScope& s, const Operand& start, DType dtype,
               int64_t length, int64_t size, int axis, const Outside& outside) {
  const std::optional<Literal> known = KnownIntegers(start);
  if (!known.has_value() || !known->shape().is_scalar()) {
    return start.is_number() ? s.As(start, dtype) : AsIndices(s, start, dtype);
  }
  absl::StatusOr<int64_t> first = 0;
  ForEachInteger(*known, [&](size_t, int64_t value) {
    first = StartInside(value, length, size, axis, outside);
  });
  if (!first.ok()) return s.Fail(first.status());
  return s.As(*first, dtype);
}

Tensor IndicesOf(const OpScope& s, const Operand& indices, const Shape& x,
                 absl::Span<const int64_t> axes, const Outside& outside) {
  const std::optional<Literal> known = KnownIntegers(indices);
  if (outside.clamp || !known.has_value()) return s.As(indices);
  auto inside = Inside(*known, x, axes);
  if (!inside.ok()) return s.Fail(inside.status());
  const bool same = inside->shape().dtype() == known->shape().dtype();
  return same ? s.As(indices) : MakeHost(*std::move(inside), s.where());
}

}  // namespace hawser::sdk
