// Combining windows of updates with parts of tensors, at places that are
// values. What meets in one element is combined in row-major order of the
// updates, whatever the number of threads.
#include "core/ops/scatter.h"

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "kernels/cpu/combiner.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/indices.h"
#include "kernels/cpu/strided.h"

namespace hawser::cpu {
namespace {

// The most parts the inputs are cut into, each walking all index vectors for
// what falls into it, and the smallest windows for which that pays.
constexpr int64_t kMostBlocks = 8;
constexpr int64_t kSmallestWindow = 16;
// Steps to find where one box goes.
constexpr double kBoxSteps = 16;

// One scatter, with axes sorted out. Updates are walked as boxes: the parts of
// windows in which no two elements meet, nor do earlier and later ones
// elsewhere, so that the order of what meets is that of the boxes.
class Scatter {
 public:
  explicit Scatter(const KernelContext& c)
      : c_(c),
        n_(static_cast<int>(c.operands.size() / 2)),
        map_(c.attributes().GetInts("scatter_dims_to_operand_dims")),
        vector_axis_(c.attributes().GetInt("index_vector_dim")) {
    const Shape& indices = c.shape(n_);
    if (vector_axis_ < indices.rank()) {
      component_stride_ = indices.Strides()[vector_axis_];
    }
    SortAxes();
  }

  absl::StatusOr<Literals> Run() const {
    Literals out;
    CombinedTensors tensors;
    for (int k = 0; k < n_; ++k) {
      tensors.dtypes.push_back(c_.shape(k).dtype());
      tensors.from.push_back(c_.data(n_ + 1 + k));
    }
    const int64_t updates = c_.shape(n_ + 1).num_elements();
    for (int k = 0; k < n_; ++k) {
      HAWSER_ASSIGN_OR_RETURN(Literal result, WritableCopy(c_, k));
      tensors.to.push_back(result.mutable_bytes().data());
      out.push_back(std::move(result));
    }
    if (updates > 0 && out[0].shape().num_elements() > 0) {
      HAWSER_RETURN_IF_ERROR(Combine(updates, tensors));
    }
    return out;
  }

 private:
  // An axis of the inputs as windows see it.
  struct InputAxis {
    int64_t size = 0;    // of the input
    int64_t stride = 0;  // in the input
    int component = -1;  // of index vectors; -1: windows start at 0
    int64_t window = 1;  // size of windows
    int64_t update = 0;  // stride in the updates
    bool inner = false;  // boxes run through it
  };
  // An axis of the updates that is walked box by box.
  struct OuterAxis {
    int64_t size;
    int64_t update;  // stride in the updates
    int64_t index;   // stride in the indices; 0: of a window
    int input = -1;  // the input's axis; -1: of the indices
  };
  // Elements of one axis of the inputs that a walk writes to.
  struct Part {
    int axis;
    int64_t begin, end;
  };

  // Windows whose moving axes have size 1 meet only at the same places of
  // theirs, so they may be walked one after another as a whole. Others are
  // walked as the updates lie.
  void SortAxes() {
    const Shape& input = c_.shape(0);
    const Shape& indices = c_.shape(n_);
    const Shape& updates = c_.shape(n_ + 1);
    const auto inserted = c_.attributes().GetInts("inserted_window_dims");
    const auto window = c_.attributes().GetInts("update_window_dims");
    const Dims strides = input.Strides();
    const Dims index_strides = indices.Strides();
    const Dims update_strides = updates.Strides();
    for (int i = 0; i < input.rank(); ++i) {
      axes_.push_back({.size = input.dim(i), .stride = strides[i]});
    }
    for (size_t k = 0; k < map_.size(); ++k) {
      axes_[map_[k]].component = static_cast<int>(k);
    }
    Dims input_of(updates.rank(), -1);
    for (int i = 0, next = 0; i < input.rank(); ++i) {
      if (Contains(inserted, i)) continue;
      const int64_t at = window[next++];
      input_of[at] = i;
      axes_[i].window = updates.dim(at);
      axes_[i].update = update_strides[at];
    }
    bool any_order = true;
    for (const InputAxis& a : axes_) {
      any_order &= a.component < 0 || a.window <= 1;
    }
    int trailing = updates.rank();
    while (trailing > 0 && input_of[trailing - 1] >= 0) --trailing;
    for (int i = 0, next = 0; i < updates.rank(); ++i) {
      const int64_t size = updates.dim(i);
      const int axis = static_cast<int>(input_of[i]);
      if (axis < 0) {
        if (next == vector_axis_) ++next;
        outer_.push_back({size, update_strides[i], index_strides[next++]});
      } else if (any_order || i >= trailing) {
        axes_[axis].inner = true;
      } else {
        outer_.push_back({size, update_strides[i], 0, axis});
      }
    }
  }

  // Inputs may have moved to where the results are: only axes_ knows them.
  absl::Status Combine(int64_t updates, const CombinedTensors& tensors) const {
    int64_t boxes = 1;
    for (const OuterAxis& a : outer_) boxes *= a.size;
    size_t cut = 0;
    while (cut < axes_.size() && axes_[cut].size == 1) ++cut;
    Combiner combiner(c_, tensors);
    int64_t blocks = 1;
    if (cut < axes_.size() && combiner.parallel() &&
        c_.environment.pool != nullptr && updates / boxes >= kSmallestWindow) {
      blocks = std::min(
          {kMostBlocks, updates / kParallelElements, axes_[cut].size});
    }
    if (blocks <= 1) return Walk({-1, 0, 0}, combiner);
    const int64_t size = axes_[cut].size;
    return ForEachBlock(
        c_.environment.pool, blocks, c_.environment.cancel, [&](int64_t b) {
          Combiner own(c_, tensors);
          return Walk({static_cast<int>(cut), Share(size, b, blocks),
                       Share(size, b + 1, blocks)},
                      own);
        });
  }

  // b / blocks of size, rounded down, without overflow.
  static int64_t Share(int64_t size, int64_t b, int64_t blocks) {
    return size / blocks * b + size % blocks * b / blocks;
  }

  absl::Status Walk(const Part& part, Combiner& combiner) const {
    Dims at(outer_.size(), 0);
    Dims inside(axes_.size(), 0);  // place in the window, of outer axes
    int64_t index = 0, update = 0;
    WorkMeter meter(c_.environment);
    while (true) {
      HAWSER_RETURN_IF_ERROR(meter.Begin(kBoxSteps));
      HAWSER_RETURN_IF_ERROR(
          RunBox(index, update, inside, part, combiner, &meter));
      size_t i = outer_.size();
      while (i-- > 0) {
        const OuterAxis& axis = outer_[i];
        const bool end = ++at[i] == axis.size;
        const int64_t step = end ? 1 - axis.size : 1;
        if (end) at[i] = 0;
        index += step * axis.index;
        update += step * axis.update;
        if (axis.input >= 0) inside[axis.input] = at[i];
        if (!end) break;
      }
      if (i == static_cast<size_t>(-1)) return meter.End();
    }
  }

  struct Loop {
    int64_t size, to, from;
  };

  // What of the box falls inside, row by row.
  absl::Status RunBox(int64_t index, int64_t update, const Dims& inside,
                      const Part& part, Combiner& combiner,
                      WorkMeter* meter) const {
    absl::InlinedVector<Loop, 6> loops;  // the innermost first
    CombinedRow row{0, 1, update, 1, 1};
    for (size_t i = axes_.size(); i-- > 0;) {
      const InputAxis& a = axes_[i];
      int64_t start = 0;
      if (a.component >= 0) {
        const int64_t from = index + a.component * component_stride_;
        // Nothing that starts at either end or beyond is inside.
        start = std::clamp(ReadIndex(c_.operands[n_], from), -a.size, a.size);
      }
      start += inside[i];
      const bool cut = static_cast<int>(i) == part.axis;
      const int64_t low = std::max(start, cut ? part.begin : int64_t{0});
      const int64_t high = std::min(start + (a.inner ? a.window : 1),
                                    cut ? part.end : a.size);
      if (low >= high) return absl::OkStatus();
      row.to += low * a.stride;
      if (!a.inner) continue;
      row.from += (low - start) * a.update;
      AddLoop({high - low, a.stride, a.update}, &loops);
    }
    if (!loops.empty()) {
      row.to_stride = loops[0].to;
      row.from_stride = loops[0].from;
      row.size = loops[0].size;
    }
    return RunRows(loops, row, combiner, meter);
  }

  // Drops axes of size 1 and merges those that run on into the one before.
  static void AddLoop(const Loop& loop, absl::InlinedVector<Loop, 6>* loops) {
    if (loop.size == 1) return;
    if (!loops->empty()) {
      Loop& last = loops->back();
      if (loop.to == last.to * last.size &&
          loop.from == last.from * last.size) {
        last.size *= loop.size;
        return;
      }
    }
    loops->push_back(loop);
  }

  static absl::Status RunRows(const absl::InlinedVector<Loop, 6>& loops,
                              CombinedRow row, Combiner& combiner,
                              WorkMeter* meter) {
    Dims at(loops.size(), 0);
    while (true) {
      HAWSER_RETURN_IF_ERROR(combiner.Run(row, meter));
      size_t i = 1;
      for (; i < loops.size(); ++i) {
        row.to += loops[i].to;
        row.from += loops[i].from;
        if (++at[i] < loops[i].size) break;
        row.to -= loops[i].size * loops[i].to;
        row.from -= loops[i].size * loops[i].from;
        at[i] = 0;
      }
      if (i >= loops.size()) return absl::OkStatus();
    }
  }

  const KernelContext& c_;
  const int n_;  // inputs
  const absl::Span<const int64_t> map_;
  const int64_t vector_axis_;
  int64_t component_stride_ = 0;
  absl::InlinedVector<InputAxis, 6> axes_;
  absl::InlinedVector<OuterAxis, 6> outer_;
};

absl::StatusOr<Literals> RunScatter(const KernelContext& c) {
  return Scatter(c).Run();
}

double ScatterCost(const CostContext& c) {
  const int n = static_cast<int>(c.instruction.operands.size() / 2);
  const double updates = c.elements(c.operand(n + 1));
  const double body =
      c.called[0].lane.value_or(c.called[0].steps + n * kScalarSteps);
  double cost = updates * body + kBoxSteps * c.elements(c.operand(n));
  for (int k = 0; k < n; ++k) cost += c.elements(c.operand(k));  // the copy
  return cost;
}

constexpr CpuKernel kKernels[] = {
    {&kScatter, RunScatter, nullptr, ScatterCost},
};

}  // namespace

absl::Span<const CpuKernel> ScatterKernels() { return kKernels; }

}  // namespace hawser::cpu
