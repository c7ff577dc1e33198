// Ops that make, repeat or rearrange elements by position alone.
#include "core/ops/movement/shape.h"

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "kernels/cpu/elements/conversion.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/movement/strided.h"

namespace hawser::cpu {
namespace {

// The result as a dense copy from `from` with these strides.
absl::StatusOr<Literals> CopyInto(const KernelContext& c, const char* from,
                                  absl::Span<const int64_t> from_strides) {
  const Shape& shape = c.result_shape();
  HAWSER_ASSIGN_OR_RETURN(Literal out, c.Allocate(shape));
  const StridedCopy copy(ByteWidth(shape.dtype()), shape.dims(),
                         shape.Strides(), from_strides);
  HAWSER_RETURN_IF_ERROR(copy.Run(c, out.mutable_bytes().data(), from));
  return Literals{std::move(out)};
}

// Elements [begin, end) of 0, 1, 2, ..., each of them `after` times.
void FillNumbers(DType dtype, char* to, int64_t after, int64_t begin,
                 int64_t end) {
  VisitDType(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* elements = reinterpret_cast<T*>(to);
    for (int64_t i = begin; i < end;) {
      const int64_t number = i / after;
      const int64_t next = std::min((number + 1) * after, end);
      std::fill(elements + i, elements + next, ConvertElement<T>(number));
      i = next;
    }
  });
}

// The result is [before][size][after] around the axis that counts: each number
// fills `after` elements, and the whole repeats `before` times.
absl::StatusOr<Literals> RunIota(const KernelContext& c) {
  const Shape& shape = c.result_shape();
  HAWSER_ASSIGN_OR_RETURN(Literal out, c.Allocate(shape));
  if (shape.num_elements() == 0) return Literals{std::move(out)};
  const int64_t axis = c.attributes().GetInt("iota_dimension");
  const int64_t size = shape.dim(axis);
  const int64_t after = shape.Strides()[axis];
  const int64_t before = shape.num_elements() / (size * after);
  const int64_t period = size * after;
  const int64_t width = ByteWidth(shape.dtype());
  char* to = out.mutable_bytes().data();
  HAWSER_RETURN_IF_ERROR(
      c.ForRanges(period, 1, [&](int64_t begin, int64_t end) {
        FillNumbers(shape.dtype(), to, after, begin, end);
        return absl::OkStatus();
      }));
  const StridedCopy repeat(width, {before - 1, period}, {period, 1}, {0, 1});
  HAWSER_RETURN_IF_ERROR(repeat.Run(c, to + period * width, to));
  return Literals{std::move(out)};
}

// True if a permutation of axes leaves the bytes as they are: axes of size 1
// may go anywhere, the others keep their order.
bool BytesStay(absl::Span<const int64_t> axes,
               absl::Span<const int64_t> sizes) {
  int64_t last = -1;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (sizes[i] == 1) continue;
    if (axes[i] < last) return false;
    last = axes[i];
  }
  return true;
}

absl::StatusOr<Literals> RunBroadcastInDim(const KernelContext& c) {
  const Shape& operand = c.shape(0);
  const Shape& shape = c.result_shape();
  const auto where = c.attributes().GetInts("broadcast_dimensions");
  if (operand.num_elements() == shape.num_elements() &&
      BytesStay(where, operand.dims())) {
    return Literals{c.operands[0].Reinterpret(shape)};
  }
  const Dims strides = operand.Strides();
  Dims from(shape.rank(), 0);
  for (int i = 0; i < operand.rank(); ++i) {
    if (operand.dim(i) != 1) from[where[i]] = strides[i];
  }
  return CopyInto(c, c.data(0), from);
}

absl::StatusOr<Literals> RunReshape(const KernelContext& c) {
  return Literals{c.operands[0].Reinterpret(c.result_shape())};
}

absl::StatusOr<Literals> RunTranspose(const KernelContext& c) {
  const auto permutation = c.attributes().GetInts("permutation");
  if (BytesStay(permutation, c.result_shape().dims())) {
    return Literals{c.operands[0].Reinterpret(c.result_shape())};
  }
  const Dims strides = c.shape(0).Strides();
  Dims from;
  for (int64_t axis : permutation) from.push_back(strides[axis]);
  return CopyInto(c, c.data(0), from);
}

absl::StatusOr<Literals> RunReverse(const KernelContext& c) {
  const Shape& shape = c.shape(0);
  Dims strides = shape.Strides();
  int64_t offset = 0;
  for (int64_t axis : c.attributes().GetInts("dimensions")) {
    offset += (shape.dim(axis) - 1) * strides[axis];
    strides[axis] = -strides[axis];
  }
  if (shape.num_elements() <= 1) return Literals{std::move(c.operands[0])};
  return CopyInto(c, c.data(0) + offset * ByteWidth(shape.dtype()), strides);
}

constexpr CpuKernel kShapeKernels[] = {
    {&kBroadcastInDim, RunBroadcastInDim, nullptr, ResultCost},
    {&kIota, RunIota, nullptr, ResultCost},
    {&kReshape, RunReshape, nullptr, NoCost},
    {&kReverse, RunReverse},
    {&kTranspose, RunTranspose},
};

}  // namespace

absl::Span<const CpuKernel> ShapeKernels() { return kShapeKernels; }

}  // namespace hawser::cpu
