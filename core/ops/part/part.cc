#include "core/ops/part/part.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/movement/sliced.h"

namespace hawser {

std::string ToString(const Box& box) {
  std::string text = "[";
  for (size_t i = 0; i < box.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", box[i].begin, ":", box[i].end);
  }
  return text + "]";
}

MaybeBox HullOf(absl::Span<const MaybeBox> boxes) {
  MaybeBox hull;
  for (const MaybeBox& box : boxes) {
    if (!box.has_value()) continue;
    hull = hull.has_value() ? HullOf(*std::move(hull), *box) : *box;
  }
  return hull;
}

Expression SliceTo(const Expression& x, const Box& of, const Box& wanted) {
  if (of == wanted) return x;
  Dims start, limit;
  for (size_t i = 0; i < of.size(); ++i) {
    start.push_back(wanted[i].begin - of[i].begin);
    limit.push_back(wanted[i].end - of[i].begin);
  }
  return SliceOf(x, std::move(start), std::move(limit));
}

Expression PutInto(const Expression& into, const Box& of, const Expression& x,
                   const Box& part) {
  std::vector<Expression> operands = {into, x};
  for (size_t i = 0; i < of.size(); ++i) {
    operands.push_back(ConstantOf(
        into.scope(), Literal::Scalar<int64_t>(part[i].begin - of[i].begin)));
  }
  return Apply(kDynamicUpdateSlice, operands);
}

Expression AddedTo(const Expression& indices, int axis, int component,
                   const Expression& value) {
  const Dims dims = indices.dims();
  const Expression everywhere =
      Spread(value, dims, OtherAxes(indices.rank(), {}));
  if (axis >= indices.rank()) return indices + everywhere;
  Literal mask = Literal::Zeros(Shape::Of(DType::kS64, {dims[axis]}));
  mask.mutable_data<int64_t>()[component] = 1;
  const Expression chosen = Spread(ConstantOf(indices.scope(), mask), dims,
                                   OtherAxes(indices.rank(), {axis}));
  return indices + chosen * everywhere;
}

}  // namespace hawser
