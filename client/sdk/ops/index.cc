#include "client/sdk/ops/index.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "client/sdk/graph/op_scope.h"
#include "client/sdk/ops/shape.h"
#include "core/base/status.h"
#include "core/ops/gather.h"
#include "core/ops/slice.h"

namespace hawser {
namespace {

using sdk::DTypeOf;
using sdk::OpScope;

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

// The operand and its starts as instructions take them.
absl::StatusOr<std::vector<Tensor>> WithStarts(
    const OpScope& s, std::vector<Tensor> operands,
    absl::Span<const Operand> starts) {
  HAWSER_ASSIGN_OR_RETURN(const DType dtype, IndexDType(starts));
  for (const Operand& start : starts) {
    operands.push_back(s.As(start, dtype));
  }
  return operands;
}

// nullptr, or the first start that is an invalid tensor.
const Tensor* FindInvalid(absl::Span<const Operand> starts) {
  for (const Operand& start : starts) {
    if (!start.is_number() && start.tensor().dtype() == DType::kInvalid) {
      return &start.tensor();
    }
  }
  return nullptr;
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
  return s.Add(kGather, {x, indices},
               {{"collapsed_slice_dims", std::move(collapsed)},
                {"index_vector_dim", index_vector_dim},
                {"offset_dims", std::move(offset)},
                {"slice_sizes", std::move(sizes)},
                {"start_index_map", std::move(axes)}});
}

}  // namespace

Tensor Slice(const Operand& x, absl::Span<const int64_t> starts,
             absl::Span<const int64_t> lengths,
             absl::Span<const int64_t> strides) {
  const OpScope s("Slice", x.where(), {&x});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x);
  const size_t rank = value.rank();
  if (starts.size() != rank || lengths.size() != rank ||
      (!strides.empty() && strides.size() != rank)) {
    return s.Fail(InvalidArgument("needs a start, a length and, if any, a "
                                  "stride for each of ", rank, " axes"));
  }
  Dims first, limit, step(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t size = value.dim(i);
    if (lengths[i] < 0 || lengths[i] > size) {
      return s.Fail(InvalidArgument("length ", lengths[i], " of axis ", i,
                                    " is not between 0 and its size ", size));
    }
    first.push_back(
        std::clamp(starts[i], int64_t{0}, size - lengths[i]));
    limit.push_back(first.back() + lengths[i]);
    if (!strides.empty()) step[i] = strides[i];
  }
  return s.Add(kSlice, {value}, {{"start_indices", std::move(first)},
                                 {"limit_indices", std::move(limit)},
                                 {"strides", std::move(step)}});
}

Tensor SliceAlongAxis(const Operand& x, const Operand& start, int64_t length,
                      int64_t axis, int64_t stride) {
  const OpScope s("SliceAlongAxis", x.where(), {&x, &start});
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
    operands.push_back(i == *along ? s.As(start, *dtype) : zero);
  }
  const Tensor part =
      s.Add(kDynamicSlice, operands, {{"slice_sizes", sizes}});
  if (stride == 1 || part.dtype() == DType::kInvalid) return part;
  Dims strides(sizes.size(), 1);
  strides[*along] = stride;
  return Slice(Operand(part, x.where()), Dims(sizes.size(), 0), sizes,
               strides);
}

Tensor Rows(const Operand& x, const Operand& start, int64_t count) {
  return SliceAlongAxis(x, start, count, 0);
}

Tensor DynamicSlice(const Operand& x, absl::Span<const Operand> starts,
                    absl::Span<const int64_t> lengths) {
  const OpScope s("DynamicSlice", x.where(), {&x});
  if (!s.ok()) return s.error();
  if (const Tensor* invalid = FindInvalid(starts)) return *invalid;
  const auto operands = WithStarts(s, {s.As(x)}, starts);
  if (!operands.ok()) return s.Fail(operands.status());
  return s.Add(kDynamicSlice, *operands,
               {{"slice_sizes", Dims(lengths.begin(), lengths.end())}});
}

Tensor PutSlice(const Operand& x, absl::Span<const Operand> starts,
                const Operand& part) {
  const OpScope s("PutSlice", x.where(), {&x, &part});
  if (!s.ok()) return s.error();
  if (const Tensor* invalid = FindInvalid(starts)) return *invalid;
  const DType dtype = sdk::CommonDType({&x, &part});
  const auto operands =
      WithStarts(s, {s.As(x, dtype), s.As(part, dtype)}, starts);
  if (!operands.ok()) return s.Fail(operands.status());
  return s.Add(kDynamicUpdateSlice, *operands);
}

Tensor Take(const Operand& x, const Operand& indices, int64_t axis) {
  const OpScope s("Take", x.where(), {&x, &indices});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x), index = s.As(indices);
  const auto along = NormalizeAxis(axis, value.rank());
  if (!along.ok()) return s.Fail(along.status());
  return GatherAt(s, value, index, {*along}, index.rank(), *along);
}

Tensor Gather(const Operand& x, const Operand& indices,
              absl::Span<const int64_t> axes) {
  const OpScope s("Gather", x.where(), {&x, &indices});
  if (!s.ok()) return s.error();
  const Tensor value = s.As(x), index = s.As(indices);
  if (index.rank() == 0) {
    return s.Fail(InvalidArgument("indices need an axis for index vectors"));
  }
  const int64_t components = index.dim(index.rank() - 1);
  Dims addressed;
  for (int64_t axis : axes) {
    const auto normal = NormalizeAxis(axis, value.rank());
    if (!normal.ok()) return s.Fail(normal.status());
    addressed.push_back(*normal);
  }
  if (axes.empty() && components <= value.rank()) {
    for (int64_t axis = 0; axis < components; ++axis) addressed.push_back(axis);
  }
  if (static_cast<int64_t>(addressed.size()) != components) {
    return s.Fail(InvalidArgument("index vectors have ", components,
                                  " components for ", addressed.size(),
                                  " axes"));
  }
  return GatherAt(s, value, index, std::move(addressed), index.rank() - 1, 0);
}

}  // namespace hawser
