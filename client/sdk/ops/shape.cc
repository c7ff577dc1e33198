#include "client/sdk/ops/shape.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/build/promotion.h"
#include "core/base/status.h"
#include "core/ops/movement/shape.h"

namespace hawser {
namespace {

using sdk::OpScope;

// The axes, none negative, each once, in order. If none are given, all of them.
absl::StatusOr<Dims> SortedAxes(absl::Span<const int64_t> axes, int rank) {
  Dims out;
  for (int64_t axis : axes) {
    HAWSER_ASSIGN_OR_RETURN(out.emplace_back(), NormalizeAxis(axis, rank));
  }
  if (axes.empty()) {
    for (int axis = 0; axis < rank; ++axis) out.push_back(axis);
  }
  std::sort(out.begin(), out.end());
  const auto twice = std::adjacent_find(out.begin(), out.end());
  if (twice == out.end()) return out;
  return InvalidArgument("axis ", *twice, " is given twice in ",
                         DimsToString(axes));
}

// `dims` with its -1 replaced.
absl::StatusOr<Dims> FillIn(const Shape& shape,
                            absl::Span<const int64_t> dims) {
  const int64_t elements = shape.num_elements();
  Dims out(dims.begin(), dims.end());
  int64_t known = 1;  // at most elements + 1, so that nothing overflows
  int64_t* open = nullptr;
  for (int64_t& d : out) {
    if (d < -1) return InvalidArgument("size ", d, " is negative");
    if (d == -1) {
      if (open != nullptr) return InvalidArgument("two sizes are -1");
      open = &d;
    } else {
      known = d > 0 && known > elements / d ? elements + 1 : known * d;
    }
  }
  if (open == nullptr) return out;
  if (known == 0 || elements % known != 0) {
    return InvalidArgument("no size for the -1 in ", DimsToString(dims),
                           " gives ", elements, " elements");
  }
  *open = elements / known;
  return out;
}

DType PromoteAll(absl::Span<const Tensor> tensors) {
  DType dtype = tensors[0].dtype();
  for (const Tensor& t : tensors) dtype = sdk::Promote(dtype, t.dtype());
  return dtype;
}

}  // namespace

Tensor Reshape(const Operand& x, absl::Span<const int64_t> dims) {
  const OpScope s("Reshape", {&x}, {dims});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x);
  const auto filled = FillIn(value.shape(), dims);
  if (!filled.ok()) return s.Fail(filled.status());
  return s.Reshape(value, *filled);
}

Tensor Flatten(const Operand& x) {
  const OpScope s("Flatten", {&x});
  return s.ok() ? Reshape(x, {-1}) : s.error();
}

Tensor Flatten(const Operand& x, absl::Span<const int64_t> axes) {
  const OpScope s("Flatten", {&x});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x);
  Dims sorted;
  for (const int64_t axis : axes) {
    const auto normal = NormalizeAxis(axis, value.rank());
    if (!normal.ok()) return s.Fail(normal.status());
    if (!sorted.empty() && *normal != sorted.back() + 1) sorted.clear();
    sorted.push_back(*normal);
  }
  if (sorted.empty() || sorted.size() != axes.size()) {
    return s.Fail(InvalidArgument("axes ", DimsToString(axes),
                                  " are no neighbours, one behind the other"));
  }
  const Dims& from = value.shape().dims();
  Dims dims(from.begin(), from.begin() + sorted.front() + 1);
  for (const int64_t axis : absl::MakeConstSpan(sorted).subspan(1)) {
    dims.back() *= from[axis];
  }
  dims.insert(dims.end(), from.begin() + sorted.back() + 1, from.end());
  return s.Reshape(value, dims);
}

Tensor Squeeze(const Operand& x, absl::Span<const int64_t> axes) {
  const OpScope s("Squeeze", {&x});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x);
  const auto dropped = SortedAxes(axes, value.rank());
  if (!dropped.ok()) return s.Fail(dropped.status());
  Dims dims;
  for (int axis = 0; axis < value.rank(); ++axis) {
    const int64_t size = value.dim(axis);
    if (!std::binary_search(dropped->begin(), dropped->end(), axis)) {
      dims.push_back(size);
    } else if (size != 1) {
      if (!axes.empty()) {
        return s.Fail(InvalidArgument("axis ", axis, " has size ", size));
      }
      dims.push_back(size);
    }
  }
  return s.Reshape(value, dims);
}

Tensor ExpandDims(const Operand& x, int64_t axis) {
  const OpScope s("ExpandDims", {&x});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x);
  const auto at = NormalizeAxis(axis, value.rank() + 1);
  if (!at.ok()) return s.Fail(at.status());
  Dims dims = value.shape().dims();
  dims.insert(dims.begin() + *at, 1);
  return s.Reshape(value, dims);
}

Tensor BroadcastTo(const Operand& x, absl::Span<const int64_t> dims,
                   absl::Span<const int64_t> axes) {
  const OpScope s("BroadcastTo", {&x}, {dims});
  if (!s.ok()) return s.error();
  if (axes.empty()) return s.BroadcastTo(s.As(x), dims);
  Dims where;
  for (int64_t axis : axes) {
    const auto normal = NormalizeAxis(axis, static_cast<int>(dims.size()));
    if (!normal.ok()) return s.Fail(normal.status());
    where.push_back(*normal);
  }
  return s.Add(kBroadcastInDim, {s.As(x)},
               {{"broadcast_dimensions", std::move(where)},
                {"dims", Dims(dims.begin(), dims.end())}});
}

Tensor Tile(const Operand& x, absl::Span<const int64_t> repetitions) {
  const OpScope s("Tile", {&x}, {repetitions});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x);
  const size_t rank = std::max<size_t>(value.rank(), repetitions.size());
  Dims dims(rank - value.rank(), 1), times(rank - repetitions.size(), 1);
  dims.insert(dims.end(), value.shape().dims().begin(),
              value.shape().dims().end());
  times.insert(times.end(), repetitions.begin(), repetitions.end());
  Tensor tiled = s.Reshape(value, dims);
  // One axis after another: a new one in front of it, merged with it.
  for (size_t i = 0; i < rank; ++i) {
    if (times[i] == 1) continue;
    if (times[i] < 0) {
      return s.Fail(InvalidArgument("repetition ", times[i], " is negative"));
    }
    Dims repeated = dims;
    repeated.insert(repeated.begin() + i, times[i]);
    Dims axes;
    for (size_t axis = 0; axis < rank; ++axis) {
      axes.push_back(axis < i ? axis : axis + 1);
    }
    tiled = s.Add(kBroadcastInDim, {tiled},
                  {{"broadcast_dimensions", std::move(axes)},
                   {"dims", std::move(repeated)}});
    if (tiled.dtype() == DType::kInvalid) return tiled;
    dims[i] *= times[i];
    tiled = s.Reshape(tiled, dims);
  }
  return tiled;
}

Tensor Transpose(const Operand& x, absl::Span<const int64_t> permutation) {
  const OpScope s("Transpose", {&x});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x);
  Dims axes;
  for (int64_t axis : permutation) {
    const auto normal = NormalizeAxis(axis, value.rank());
    if (!normal.ok()) return s.Fail(normal.status());
    axes.push_back(*normal);
  }
  if (permutation.empty()) {
    for (int axis = value.rank(); axis-- > 0;) axes.push_back(axis);
  }
  return s.Add(kTranspose, {value}, {{"permutation", std::move(axes)}});
}

Tensor Reverse(const Operand& x, absl::Span<const int64_t> axes) {
  const OpScope s("Reverse", {&x});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x);
  auto along = SortedAxes(axes, value.rank());
  if (!along.ok()) return s.Fail(along.status());
  return s.Add(kReverse, {value}, {{"dimensions", *std::move(along)}});
}

Tensor Concatenate(absl::Span<const Tensor> tensors, int64_t axis,
                   SourceLocation where) {
  const OpScope s("Concatenate", where, tensors);
  if (!s.ok()) return s.error();
  if (tensors.empty()) {
    return s.Fail(InvalidArgument("takes at least 1 tensor"));
  }
  const auto along = NormalizeAxis(axis, tensors[0].rank());
  if (!along.ok()) return s.Fail(along.status());
  const DType dtype = PromoteAll(tensors);
  std::vector<Tensor> parts;
  for (const Tensor& t : tensors) parts.push_back(s.Convert(t, dtype));
  return s.Add(kConcatenate, parts, {{"dimension", int64_t{*along}}});
}

Tensor Stack(absl::Span<const Tensor> tensors, int64_t axis,
             SourceLocation where) {
  const OpScope s("Stack", where, tensors);
  if (!s.ok()) return s.error();
  if (tensors.empty()) {
    return s.Fail(InvalidArgument("takes at least 1 tensor"));
  }
  const auto along = NormalizeAxis(axis, tensors[0].rank() + 1);
  if (!along.ok()) return s.Fail(along.status());
  std::vector<Tensor> parts;
  for (const Tensor& t : tensors) {
    if (!t.shape().SameDims(tensors[0].shape())) {
      return s.Fail(InvalidArgument("all sizes must be equal"));
    }
    parts.push_back(ExpandDims(t, *along));
  }
  return Concatenate(parts, *along);
}

}  // namespace hawser
