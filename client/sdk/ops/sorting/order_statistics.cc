// Median, Mode and Quantile: what stands where when elements are in order.
#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/build/promotion.h"
#include "client/sdk/ops/create.h"
#include "client/sdk/ops/elementwise/compare.h"
#include "client/sdk/ops/elementwise/elementwise.h"
#include "client/sdk/ops/elementwise/interpolation.h"
#include "client/sdk/ops/elementwise/logic.h"
#include "client/sdk/ops/indexing/edge.h"
#include "client/sdk/ops/indexing/index.h"
#include "client/sdk/ops/scan.h"
#include "client/sdk/ops/shape.h"
#include "client/sdk/ops/sorting/ordering.h"
#include "client/sdk/ops/sorting/sort.h"
#include "core/base/status.h"

namespace hawser {
namespace {

using sdk::OpScope;

// The elements that one function looks at, in order along an axis.
struct Ordered {
  Tensor values;  // or an error
  int axis = 0;
};

// Sorts x along the one axis that `over` names, or all of it as one axis.
Ordered OrderedBy(const OpScope& s, const Operand& x, const Over& over) {
  Tensor value = s.As(x);
  if (value.dtype() == DType::kInvalid) return {value};
  const absl::Status fits = sdk::CheckOrder(value.dtype());
  if (!fits.ok()) return {s.Fail(fits)};
  const auto axes = sdk::AxesOf(over);
  if (!axes.ok()) return {s.Fail(axes.status())};
  if (axes->size() > 1) {
    return {s.Fail(
        InvalidArgument("takes one axis, or none, not ", DimsToString(*axes)))};
  }
  int axis = 0;
  if (axes->empty()) {
    value = s.Reshape(value, {value.shape().num_elements()});
  } else {
    const auto normal = NormalizeAxis((*axes)[0], value.rank());
    if (!normal.ok()) return {s.Fail(normal.status())};
    axis = *normal;
  }
  if (value.shape().dim(axis) == 0) {
    return {s.Fail(InvalidArgument("there are no elements along axis ", axis))};
  }
  return {sdk::SortAlong(s, {&value, 1}, axis,
                         sdk::Comparator(value.dtype(), false, {})),
          axis};
}

// Element `at` of the ordered axis, which has size 1 then.
Tensor Entry(const Ordered& ordered, int64_t at) {
  return SliceAlongAxis(ordered.values, at, 1, ordered.axis);
}

// NaN where one of the ordered elements is: the last one then.
Tensor WithNan(const Ordered& ordered, const Tensor& entry) {
  const Tensor& values = ordered.values;
  if (!IsFloat(values.dtype())) return entry;
  const Tensor last = Entry(ordered, values.shape().dim(ordered.axis) - 1);
  const OpScope::Formula numbers;
  return Select(IsNan(last), Convert(last, entry.dtype()), entry);
}

// The entry of an ordered axis with the axes that `over` wants.
Tensor WithAxes(const OpScope& s, const Operand& x, const Over& over,
                const Ordered& ordered, const Tensor& entry) {
  if (!entry.status().ok()) return entry;
  if (over.keep_axes) {
    const Tensor value = s.As(x);
    Dims dims = value.shape().dims();
    const auto axes = sdk::AxesOf(over);
    if (axes.ok() && !axes->empty()) {
      dims[ordered.axis] = 1;
    } else {
      dims.assign(dims.size(), 1);
    }
    return s.Reshape(entry, dims);
  }
  Dims dims = entry.shape().dims();
  dims.erase(dims.begin() + ordered.axis);
  return s.Reshape(entry, dims);
}

}  // namespace

Tensor Median(const Operand& x, const Over& over) {
  const OpScope s("Median", {&x});
  if (!s.ok()) return s.error();
  const Ordered ordered = OrderedBy(s, x, over);
  if (!ordered.values.status().ok()) return ordered.values;
  const int64_t size = ordered.values.shape().dim(ordered.axis);
  Tensor entry = Entry(ordered, size / 2);
  if (size % 2 == 0) {
    const DType dtype = sdk::ToFloating(entry.dtype());
    const DType exact = sdk::ToAccurate(dtype);
    const OpScope::Formula numbers;
    const Tensor a = s.Convert(Entry(ordered, size / 2 - 1), exact);
    const Tensor b = s.Convert(entry, exact);
    const Tensor sum = a + b;
    // The sum may be out of range where its half is not.
    entry = s.Convert(Select(IsFinite(sum), sum / 2, a / 2 + b / 2), dtype);
  }
  return WithAxes(s, x, over, ordered, WithNan(ordered, entry));
}

Tensor Mode(const Operand& x, const Over& over) {
  const OpScope s("Mode", {&x});
  if (!s.ok()) return s.error();
  const Ordered ordered = OrderedBy(s, x, over);
  const Tensor& values = ordered.values;
  if (!values.status().ok()) return values;
  const int axis = ordered.axis;
  const int64_t size = values.shape().dim(axis);
  // `begins` is where a run of equals begins, from which follows how many there
  // are so far.
  const Tensor at = Iota(DType::kS32, values.shape().dims(), axis, s.where());
  Tensor begins = at;
  if (size > 1) {
    const OpScope::Formula numbers;
    const Tensor same = Eq(SliceAlongAxis(values, 1, size - 1, axis),
                           SliceAlongAxis(values, 0, size - 1, axis));
    const Tensor later = Select(same, 0, SliceAlongAxis(at, 1, size - 1, axis));
    begins = CumulativeMax(
        Concatenate({SliceAlongAxis(at, 0, 1, axis), later}, axis),
        {.axis = axis});
  }
  const Tensor longest = ArgMax(at - begins, {.axis = axis, .keep_axis = true});
  return WithAxes(s, x, over, ordered, TakeAlongAxis(values, longest, axis));
}

Tensor Quantile(const Operand& x, const Operand& share, const Over& over) {
  const OpScope s("Quantile", {&x, &share});
  if (!s.ok()) return s.error();
  const Ordered ordered = OrderedBy(s, x, over);
  if (!ordered.values.status().ok()) return ordered.values;
  const DType dtype = sdk::ToFloating(ordered.values.dtype());
  const DType exact = sdk::ToAccurate(dtype);
  const Tensor part = s.As(share, exact);
  if (part.rank() != 0) {
    return s.Fail(InvalidArgument("the share is ", part.shape().ToString(),
                                  ", must be a scalar"));
  }
  const auto last =
      static_cast<double>(ordered.values.shape().dim(ordered.axis) - 1);
  const OpScope::Formula numbers;
  const Tensor place = Clip(part, 0, 1) * last;
  const Tensor low = Floor(place);
  const Tensor first = Convert(low, DType::kS32);
  const Tensor second = Convert(Ceil(place), DType::kS32);
  const auto entry = [&](const Tensor& at) {
    return s.Convert(SliceAlongAxis(ordered.values, at, 1, ordered.axis),
                     exact);
  };
  const Tensor a = entry(first), b = entry(second);
  const Tensor value =
      sdk::Between(a, b, b - a, a + (b - a) * (place - low), place - low);
  return WithAxes(s, x, over, ordered,
                  WithNan(ordered, s.Convert(value, dtype)));
}

}  // namespace hawser
