// Gradients of what moves elements to and from places that are values.
#include <algorithm>
#include <limits>

#include "core/base/status.h"
#include "core/ops/elementwise.h"
#include "core/ops/gather.h"
#include "core/ops/gradient.h"
#include "core/ops/gradient_rules.h"
#include "core/ops/registry.h"
#include "core/ops/shape.h"

namespace hawser {
namespace {

// The largest starts at which a slice fits, one per component of an index
// vector.
Literal LargestStarts(const GradientContext& c, DType dtype) {
  const auto map = c.ints("start_index_map");
  const auto sizes = c.ints("slice_sizes");
  return VisitDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Literal out = Literal::Uninitialized(
        Shape::Of(dtype, {static_cast<int64_t>(map.size())}));
    if constexpr (kIsInteger<T>) {
      auto starts = out.mutable_data<T>();
      for (size_t i = 0; i < map.size(); ++i) {
        const uint64_t start = c.x().dims()[map[i]] - sizes[map[i]];
        const uint64_t most = std::numeric_limits<T>::max();
        starts[i] = static_cast<T>(std::min(start, most));
      }
    }
    return out;
  });
}

// Gather moves starts so that the slice fits, scatter drops slices that do
// not: the same slices need moved starts.
Expression ClampedStarts(GradientContext& c) {
  const Expression& starts = c.y();
  const int64_t axis = c.instruction.attributes.GetInt("index_vector_dim");
  const Literal largest = LargestStarts(c, starts.dtype());
  const Expression vector = ConstantOf(&c.scope, largest);
  Expression high = Reshaped(vector, {});
  if (axis < starts.rank()) {
    high = Spread(vector, starts.dims(),
                  OtherAxes(starts.rank(), {axis}));
  }
  const Expression low =
      Filled(&c.scope, Shape::Scalar(starts.dtype()), 0);
  return Apply(kClamp, {low, starts, high});
}

Dims Copy(absl::Span<const int64_t> list) {
  return Dims(list.begin(), list.end());
}

}  // namespace

// Each element is added where it came from.
absl::Status GatherGradient(GradientContext& c) {
  const OpDef* scatter = FindOp("scatter");
  if (scatter == nullptr) return Unimplemented("the gradient needs scatter");
  c.Give(0, [&] {
    const int add = c.scope.monoids.Find(kAdd, c.x().dtype(),
                                         c.scope.builder.module());
    return Apply(
        *scatter, {Like(c.x(), 0), ClampedStarts(c), c.g()},
        {{"index_vector_dim",
          c.instruction.attributes.GetInt("index_vector_dim")},
         {"inserted_window_dims", Copy(c.ints("collapsed_slice_dims"))},
         {"scatter_dims_to_operand_dims", Copy(c.ints("start_index_map"))},
         {"update_window_dims", Copy(c.ints("offset_dims"))}},
        {add});
  });
  return absl::OkStatus();
}

}  // namespace hawser
