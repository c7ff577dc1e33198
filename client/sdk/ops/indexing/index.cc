#include "client/sdk/ops/indexing/index.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "client/sdk/graph/build/op_scope.h"
#include "client/sdk/graph/build/promotion.h"
#include "client/sdk/graph/region.h"
#include "client/sdk/ops/create.h"
#include "client/sdk/ops/indexing/position.h"
#include "client/sdk/ops/shape.h"
#include "core/base/status.h"
#include "core/ir/builder.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/gather.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/slice.h"

namespace hawser {
namespace {

using sdk::DTypeOf;
using sdk::OpScope;
using sdk::Region;

// s32 unless an index needs more.
absl::StatusOr<DType> IndexDType(absl::Span<const Operand> indices) {
  DType dtype = DType::kS32;
  for (const Operand& index : indices) {
    const DType d = DTypeOf(index);
    if (!IsInteger(d)) {
      return InvalidArgument("indices are integers, not ", DTypeName(d));
    }
    if (BitWidth(d) == 64 || d == DType::kU32) dtype = DType::kS64;
  }
  return dtype;
}

// The operands and starts of a part of the first operand as instructions take
// them. Starts and lengths that do not fit x at all are left to the op's own
// rule.
absl::StatusOr<std::vector<Tensor>> WithStarts(
    const OpScope& s, std::vector<Tensor> operands,
    absl::Span<const Operand> starts, absl::Span<const int64_t> lengths,
    const Outside& outside) {
  HAWSER_ASSIGN_OR_RETURN(const DType dtype, IndexDType(starts));
  const Shape shape = operands[0].shape();
  bool fits = starts.size() == lengths.size() &&
              static_cast<int>(starts.size()) == shape.rank();
  for (size_t i = 0; fits && i < starts.size(); ++i) {
    fits = lengths[i] <= shape.dim(i);
  }
  for (size_t i = 0; i < starts.size(); ++i) {
    operands.push_back(fits ? sdk::StartOf(s, starts[i], dtype, lengths[i],
                                           shape.dim(i), static_cast<int>(i),
                                           outside)
                            : s.As(starts[i], dtype));
  }
  return operands;
}

// The tensors among the operands and starts, for the scope.
std::vector<Tensor> TensorsOf(std::initializer_list<const Operand*> operands,
                              absl::Span<const Operand> starts) {
  std::vector<Tensor> tensors;
  for (const Operand* operand : operands) {
    if (!operand->is_number()) tensors.push_back(operand->tensor());
  }
  for (const Operand& start : starts) {
    if (!start.is_number()) tensors.push_back(start.tensor());
  }
  return tensors;
}

// Gathers slices of size 1 along `axes`; the axes of `indices` but for that of
// the index vectors stand in the result from axis `position` on.
Tensor GatherAt(const OpScope& s, const Tensor& x, const Tensor& indices,
                Dims axes, int64_t index_vector_dim, int64_t position) {
  Dims sizes = x.shape().dims(), collapsed = axes, offset;
  for (int64_t axis : axes) sizes[axis] = 1;
  std::sort(collapsed.begin(), collapsed.end());
  const int64_t batch =
      indices.rank() - (index_vector_dim < indices.rank() ? 1 : 0);
  for (int64_t i = 0; i < x.rank() - static_cast<int64_t>(axes.size()); ++i) {
    offset.push_back(i < position ? i : i + batch);
  }
  // An axis without entries has none to take, but of no indices.
  Dims dims = indices.shape().dims();
  if (index_vector_dim < indices.rank()) {
    dims.erase(dims.begin() + index_vector_dim);
  }
  if (absl::c_linear_search(dims, 0)) {
    Dims kept = sizes;
    for (size_t i = collapsed.size(); i-- > 0;) {
      kept.erase(kept.begin() + collapsed[i]);
    }
    dims.insert(dims.begin(), kept.begin(), kept.begin() + position);
    dims.insert(dims.end(), kept.begin() + position, kept.end());
    return s.BroadcastTo(s.ConstantOf(0, x.dtype()), dims);
  }
  return s.Add(kGather, {x, indices},
               {{"collapsed_slice_dims", std::move(collapsed)},
                {"index_vector_dim", index_vector_dim},
                {"offset_dims", std::move(offset)},
                {"slice_sizes", std::move(sizes)},
                {"start_index_map", std::move(axes)}});
}

// The axes of x that index vectors in the last axis of `indices` address:
// `axes`, or the leading ones.
absl::StatusOr<Dims> AddressedAxes(const Tensor& x, const Tensor& indices,
                                   absl::Span<const int64_t> axes) {
  if (indices.rank() == 0) {
    return InvalidArgument("indices need an axis for index vectors");
  }
  const int64_t components = indices.dim(indices.rank() - 1);
  Dims addressed;
  for (int64_t axis : axes) {
    HAWSER_ASSIGN_OR_RETURN(addressed.emplace_back(),
                            NormalizeAxis(axis, x.rank()));
  }
  if (axes.empty() && components <= x.rank()) {
    for (int64_t axis = 0; axis < components; ++axis) addressed.push_back(axis);
  }
  if (static_cast<int64_t>(addressed.size()) != components) {
    return InvalidArgument("index vectors have ", components,
                           " components for ", addressed.size(), " axes");
  }
  return addressed;
}

// (old, update) -> update.
Region TakeUpdate(DType dtype) {
  Module module;
  ComputationBuilder b(&module, "put");
  b.Parameter(Shape::Scalar(dtype));
  const ValueId update = b.Parameter(Shape::Scalar(dtype));
  HAWSER_CHECK(b.Finish({update}).ok());
  return sdk::MakeRegion(std::move(module));
}

// Scatters to single places along `axes`, combining by `region`.
Tensor ScatterBy(const OpScope& s, const Tensor& x, const Tensor& indices,
                 const Tensor& updates, absl::Span<const int64_t> axes,
                 const Region& region) {
  for (const Tensor* operand : {&x, &indices}) {
    if (operand->dtype() == DType::kInvalid) return *operand;
  }
  auto addressed = AddressedAxes(x, indices, axes);
  if (!addressed.ok()) return s.Fail(addressed.status());
  Dims inserted = *addressed, window, dims = indices.shape().dims();
  std::sort(inserted.begin(), inserted.end());
  dims.pop_back();
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (std::binary_search(inserted.begin(), inserted.end(), i)) continue;
    window.push_back(dims.size());
    dims.push_back(x.dim(i));
  }
  return s.Add(kScatter, {x, indices, s.BroadcastTo(updates, dims)},
               {{"index_vector_dim", int64_t{indices.rank() - 1}},
                {"inserted_window_dims", std::move(inserted)},
                {"scatter_dims_to_operand_dims", *std::move(addressed)},
                {"update_window_dims", std::move(window)}},
               {&region, 1});
}

}  // namespace

Tensor Slice(const Operand& x, absl::Span<const int64_t> starts,
             absl::Span<const int64_t> lengths,
             absl::Span<const int64_t> strides, const Outside& outside) {
  const OpScope s("Slice", {&x}, {starts, lengths, strides});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x);
  const size_t rank = value.rank();
  if (starts.size() != rank || lengths.size() != rank ||
      (!strides.empty() && strides.size() != rank)) {
    return s.Fail(
        InvalidArgument("needs a start, a length and, if any, a "
                        "stride for each of ",
                        rank, " axes"));
  }
  Dims first, limit, step(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    const auto start = sdk::StartInside(starts[i], lengths[i], value.dim(i),
                                        static_cast<int>(i), outside);
    if (!start.ok()) return s.Fail(start.status());
    first.push_back(*start);
    limit.push_back(*start + lengths[i]);
    if (!strides.empty()) step[i] = strides[i];
  }
  return s.Add(kSlice, {value},
               {{"start_indices", std::move(first)},
                {"limit_indices", std::move(limit)},
                {"strides", std::move(step)}});
}

Tensor SliceAlongAxis(const Operand& x, const Operand& start, int64_t length,
                      int64_t axis, int64_t stride, const Outside& outside) {
  const OpScope s("SliceAlongAxis", {&x, &start}, {{length, stride}});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x);
  const auto along = NormalizeAxis(axis, value.rank());
  if (!along.ok()) return s.Fail(along.status());
  const auto dtype = IndexDType({&start, 1});
  if (!dtype.ok()) return s.Fail(dtype.status());
  std::vector<Tensor> operands = {value};
  Dims sizes = value.shape().dims();
  sizes[*along] = length;
  const Tensor zero = s.ConstantOf(0, *dtype);
  for (int i = 0; i < value.rank(); ++i) {
    operands.push_back(i == *along ? sdk::StartOf(s, start, *dtype, length,
                                                  value.dim(i), i, outside)
                                   : zero);
  }
  const Tensor part = s.Add(kDynamicSlice, operands, {{"slice_sizes", sizes}});
  if (stride == 1 || part.dtype() == DType::kInvalid) return part;
  Dims strides(sizes.size(), 1);
  strides[*along] = stride;
  return Slice(part, Dims(sizes.size(), 0), sizes, strides);
}

Tensor Rows(const Operand& x, const Operand& start, int64_t count,
            const Outside& outside) {
  const OpScope s("Rows", {&x, &start}, {{count}});
  return s.ok() ? SliceAlongAxis(x, start, count, 0, 1, outside) : s.error();
}

Tensor DynamicSlice(const Operand& x, absl::Span<const Operand> starts,
                    absl::Span<const int64_t> lengths, const Outside& outside) {
  const OpScope s("DynamicSlice", x.where(), TensorsOf({&x}, starts),
                  {lengths});
  if (!s.ok()) return s.error();
  const auto operands = WithStarts(s, {s.As(x)}, starts, lengths, outside);
  if (!operands.ok()) return s.Fail(operands.status());
  return s.Add(kDynamicSlice, *operands,
               {{"slice_sizes", Dims(lengths.begin(), lengths.end())}});
}

Tensor PutSlice(const Operand& x, absl::Span<const Operand> starts,
                const Operand& part, const Outside& outside) {
  const OpScope s("PutSlice", x.where(), TensorsOf({&x, &part}, starts));
  if (!s.ok()) return s.error();
  const DType dtype = sdk::CommonDType({&x, &part});
  const Tensor value = s.As(x, dtype), update = s.As(part, dtype);
  const auto operands =
      WithStarts(s, {value, update}, starts, update.shape().dims(), outside);
  if (!operands.ok()) return s.Fail(operands.status());
  return s.Add(kDynamicUpdateSlice, *operands);
}

Tensor Take(const Operand& x, const Operand& indices, int64_t axis,
            const Outside& outside) {
  const OpScope s("Take", {&x, &indices});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x);
  const auto along = NormalizeAxis(axis, value.rank());
  if (!along.ok()) return s.Fail(along.status());
  const Tensor index =
      sdk::IndicesOf(s, indices, value.shape(), {*along}, outside);
  if (index.dtype() == DType::kInvalid) return index;
  return GatherAt(s, value, index, {*along}, index.rank(), *along);
}

Tensor TakeAlongAxis(const Operand& x, const Operand& indices, int64_t axis,
                     const Outside& outside) {
  const OpScope s("TakeAlongAxis", {&x, &indices});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x);
  const auto along = NormalizeAxis(axis, value.rank());
  if (!along.ok()) return s.Fail(along.status());
  const auto dtype = IndexDType({&indices, 1});
  if (!dtype.ok()) return s.Fail(dtype.status());
  const Tensor index =
      sdk::IndicesOf(s, indices, value.shape(), {*along}, outside);
  if (index.dtype() == DType::kInvalid) return index;
  Dims dims = value.shape().dims();
  if (index.rank() == value.rank()) dims[*along] = index.dim(*along);
  if (index.shape().dims() != dims) {
    return s.Fail(
        InvalidArgument("indices have other sizes than ", DimsToString(dims)));
  }
  // The place of each element, with the index in place of its own.
  std::vector<Tensor> places;
  for (int i = 0; i < value.rank(); ++i) {
    places.push_back(i == *along ? sdk::AsIndices(s, index, *dtype)
                                 : Iota(*dtype, dims, i));
  }
  const Tensor vectors = Stack(places, -1);
  return Gather(value, vectors);
}

Tensor Gather(const Operand& x, const Operand& indices,
              absl::Span<const int64_t> axes, const Outside& outside) {
  const OpScope s("Gather", {&x, &indices});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x), given = s.As(indices);
  auto addressed = AddressedAxes(value, given, axes);
  if (!addressed.ok()) return s.Fail(addressed.status());
  const Tensor index =
      addressed->empty()
          ? given
          : sdk::IndicesOf(s, indices, value.shape(), *addressed, outside);
  if (index.dtype() == DType::kInvalid) return index;
  return GatherAt(s, value, index, *std::move(addressed), index.rank() - 1, 0);
}

Tensor IndexedAdd(const Operand& x, const Operand& indices,
                  const Operand& updates, absl::Span<const int64_t> axes) {
  const OpScope s("IndexedAdd", {&x, &indices, &updates});
  if (!s.ok()) return s.error();
  const DType dtype = sdk::ToNumeric(sdk::CommonDType({&x, &updates}));
  return ScatterBy(s, s.As(x, dtype), s.As(indices), s.As(updates, dtype), axes,
                   sdk::Monoid(kAdd, dtype));
}

Tensor IndexedPut(const Operand& x, const Operand& indices,
                  const Operand& updates, absl::Span<const int64_t> axes) {
  const OpScope s("IndexedPut", {&x, &indices, &updates});
  if (!s.ok()) return s.error();
  const DType dtype = sdk::CommonDType({&x, &updates});
  return ScatterBy(s, s.As(x, dtype), s.As(indices), s.As(updates, dtype), axes,
                   TakeUpdate(dtype));
}

}  // namespace hawser
