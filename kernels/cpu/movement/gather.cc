// Slices at places that are themselves values of a tensor.
#include "core/ops/movement/gather.h"

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/movement/indices.h"
#include "kernels/cpu/movement/strided.h"

namespace hawser::cpu {
namespace {

// Reading a component of an index vector, and dividing for where it stands.
constexpr double kStepsPerIndex = 4;

// One gather, with axes sorted out. The result is walked as batches: one for
// each index vector, each a window of the operand.
class Gather {
 public:
  explicit Gather(const KernelContext& c)
      : c_(c),
        sizes_(c.attributes().GetInts("slice_sizes")),
        map_(c.attributes().GetInts("start_index_map")),
        offset_(c.attributes().GetInts("offset_dims")),
        vector_axis_(c.attributes().GetInt("index_vector_dim")),
        operand_strides_(c.shape(0).Strides()),
        window_(Window()) {
    const Shape& indices = c.shape(1);
    const Dims index_strides = indices.Strides();
    const Dims result_strides = c.result_shape().Strides();
    int to = 0;
    for (int i = 0; i < indices.rank(); ++i) {
      if (i == vector_axis_) continue;
      while (Contains(offset_, to)) ++to;
      batch_.push_back({indices.dim(i), result_strides[to], index_strides[i]});
      batches_ *= indices.dim(i);
      ++to;
    }
    component_stride_ =
        vector_axis_ < indices.rank() ? index_strides[vector_axis_] : 0;
  }

  absl::StatusOr<Literals> Run() const {
    HAWSER_ASSIGN_OR_RETURN(Literal out, c_.Allocate(c_.result_shape()));
    if (out.shape().num_elements() == 0) return Literals{std::move(out)};
    char* to = out.mutable_bytes().data();
    const int64_t window = window_.num_elements();
    if (window > kParallelElements) {
      for (int64_t batch = 0; batch < batches_; ++batch) {
        const Move move = MoveOf(batch, to);
        HAWSER_RETURN_IF_ERROR(window_.Run(c_, move.to, move.from));
      }
      return Literals{std::move(out)};
    }
    const double steps = static_cast<double>(window) +
                         kStepsPerIndex * static_cast<double>(map_.size() + 1);
    HAWSER_RETURN_IF_ERROR(
        c_.ForRanges(batches_, steps, [&](int64_t begin, int64_t end) {
          for (int64_t batch = begin; batch < end; ++batch) {
            const Move move = MoveOf(batch, to);
            window_.Run(move.to, move.from);
          }
          return absl::OkStatus();
        }));
    return Literals{std::move(out)};
  }

 private:
  struct Axis {
    int64_t size;
    int64_t to;    // elements of the result
    int64_t from;  // elements of the indices
  };

  // From a window's first element in the operand to its place in the result.
  StridedCopy Window() const {
    const auto collapsed = c_.attributes().GetInts("collapsed_slice_dims");
    const Dims result_strides = c_.result_shape().Strides();
    Dims dims, to, from;
    size_t next = 0;
    for (int i = 0; i < c_.shape(0).rank(); ++i) {
      if (Contains(collapsed, i)) continue;
      dims.push_back(sizes_[i]);
      to.push_back(result_strides[offset_[next++]]);
      from.push_back(operand_strides_[i]);
    }
    return StridedCopy(ByteWidth(c_.result_shape().dtype()), dims, to, from);
  }

  // The source and destination of one index vector's window.
  struct Move {
    char* to;
    const char* from;
  };
  Move MoveOf(int64_t batch, char* result) const {
    int64_t to = 0;
    int64_t index = 0;
    for (size_t i = batch_.size(); i-- > 0;) {
      const int64_t at = batch % batch_[i].size;
      batch /= batch_[i].size;
      to += at * batch_[i].to;
      index += at * batch_[i].from;
    }
    int64_t from = 0;
    for (size_t k = 0; k < map_.size(); ++k) {
      const int64_t axis = map_[k];
      const int64_t start =
          ReadIndex(c_.operands[1], index + k * component_stride_);
      from +=
          std::clamp<int64_t>(start, 0, c_.shape(0).dim(axis) - sizes_[axis]) *
          operand_strides_[axis];
    }
    const int64_t width = ByteWidth(c_.result_shape().dtype());
    return {result + to * width, c_.data(0) + from * width};
  }

  const KernelContext& c_;
  const absl::Span<const int64_t> sizes_, map_, offset_;
  const int64_t vector_axis_;
  const Dims operand_strides_;
  const StridedCopy window_;
  absl::InlinedVector<Axis, 4> batch_;
  int64_t batches_ = 1;
  int64_t component_stride_ = 0;
};

absl::StatusOr<Literals> RunGather(const KernelContext& c) {
  return Gather(c).Run();
}

double GatherCost(const CostContext& c) {
  return kStepsPerIndex * c.elements(c.operand(1)) + ResultCost(c);
}

constexpr CpuKernel kGatherKernels[] = {
    {&kGather, RunGather, nullptr, GatherCost},
};

}  // namespace

absl::Span<const CpuKernel> GatherKernels() { return kGatherKernels; }

}  // namespace hawser::cpu
