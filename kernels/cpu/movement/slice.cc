// Rectangular parts of a tensor.
#include "core/ops/movement/slice.h"

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "core/ops/windows/unfold.h"
#include "core/ops/windows/windows.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/movement/indices.h"
#include "kernels/cpu/movement/strided.h"

namespace hawser::cpu {
namespace {

absl::StatusOr<Literals> RunSlice(const KernelContext& c) {
  const Shape& shape = c.result_shape();
  if (shape == c.shape(0)) return Literals{std::move(c.operands[0])};
  const auto start = c.attributes().GetInts("start_indices");
  const auto step = c.attributes().GetInts("strides");
  const int64_t width = ByteWidth(shape.dtype());
  Dims strides = c.shape(0).Strides();
  const char* from = c.data(0);
  HAWSER_ASSIGN_OR_RETURN(Literal out, c.Allocate(shape));
  if (shape.num_elements() == 0) return Literals{std::move(out)};
  for (int i = 0; i < shape.rank(); ++i) {
    from += start[i] * strides[i] * width;
    // An axis of one element never steps, so its stride need not fit.
    if (shape.dim(i) > 1) strides[i] *= step[i];
  }
  const StridedCopy copy(width, shape.dims(), shape.Strides(), strides);
  HAWSER_RETURN_IF_ERROR(copy.Run(c, out.mutable_bytes().data(), from));
  return Literals{std::move(out)};
}

// Bytes from the start of `whole` to the slice of `sizes` that starts at the
// scalar operands from `first` on, clamped so that it fits.
int64_t StartOf(const KernelContext& c, int first, const Shape& whole,
                absl::Span<const int64_t> sizes) {
  const Dims strides = whole.Strides();
  int64_t offset = 0;
  for (int i = 0; i < whole.rank(); ++i) {
    const int64_t start = ReadIndex(c.operands[first + i], 0);
    offset +=
        std::clamp<int64_t>(start, 0, whole.dim(i) - sizes[i]) * strides[i];
  }
  return offset * ByteWidth(whole.dtype());
}

absl::StatusOr<Literals> RunDynamicSlice(const KernelContext& c) {
  const Shape& shape = c.result_shape();
  const Shape& whole = c.shape(0);
  if (shape == whole) return Literals{std::move(c.operands[0])};
  HAWSER_ASSIGN_OR_RETURN(Literal out, c.Allocate(shape));
  const StridedCopy copy(ByteWidth(shape.dtype()), shape.dims(),
                         shape.Strides(), whole.Strides());
  HAWSER_RETURN_IF_ERROR(
      copy.Run(c, out.mutable_bytes().data(),
               c.data(0) + StartOf(c, 1, whole, shape.dims())));
  return Literals{std::move(out)};
}

absl::StatusOr<Literals> RunDynamicUpdateSlice(const KernelContext& c) {
  const Shape& shape = c.result_shape();
  const Shape& part = c.shape(1);
  if (part == shape) return Literals{std::move(c.operands[1])};
  const int64_t start = StartOf(c, 2, shape, part.dims());
  HAWSER_ASSIGN_OR_RETURN(Literal out, WritableCopy(c, 0));
  const StridedCopy copy(ByteWidth(shape.dtype()), part.dims(), shape.Strides(),
                         part.Strides());
  HAWSER_RETURN_IF_ERROR(
      copy.Run(c, out.mutable_bytes().data() + start, c.data(1)));
  return Literals{std::move(out)};
}

// Windows are the operand by other strides: they share its elements.
absl::StatusOr<Literals> RunUnfold(const KernelContext& c) {
  const Shape& shape = c.result_shape();
  HAWSER_ASSIGN_OR_RETURN(Literal out, c.Allocate(shape));
  if (shape.num_elements() == 0) return Literals{std::move(out)};
  Dims strides = c.shape(0).Strides();
  // An axis of one element never steps, so its stride need not fit.
  const auto stepped = [](int64_t stride, int64_t steps, int64_t size) {
    return size > 1 ? stride * steps : stride;
  };
  for (const SlidingWindow& w : SlidingWindowsOf(c.attributes())) {
    const int64_t stride = strides[w.axis];
    strides[w.axis] =
        stepped(stride, w.stride, shape.dim(static_cast<int>(w.axis)));
    strides.push_back(stepped(stride, w.dilation, w.size));
  }
  const StridedCopy copy(ByteWidth(shape.dtype()), shape.dims(),
                         shape.Strides(), strides);
  HAWSER_RETURN_IF_ERROR(copy.Run(c, out.mutable_bytes().data(), c.data(0)));
  return Literals{std::move(out)};
}

// A slice costs what it takes, not what it is taken from; an update may have to
// copy what it changes.
double UpdateCost(const CostContext& c) {
  return c.elements(c.operand(0)) + c.elements(c.operand(1));
}

constexpr CpuKernel kSliceKernels[] = {
    {&kDynamicSlice, RunDynamicSlice, nullptr, ResultCost},
    {&kDynamicUpdateSlice, RunDynamicUpdateSlice, nullptr, UpdateCost},
    {&kSlice, RunSlice, nullptr, ResultCost},
    {&kUnfold, RunUnfold, nullptr, ResultCost},
};

}  // namespace

absl::Span<const CpuKernel> SliceKernels() { return kSliceKernels; }

}  // namespace hawser::cpu
