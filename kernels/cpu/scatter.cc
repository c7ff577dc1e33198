// Combining windows of updates with parts of tensors, at places that are
// values. What meets in one element is combined in row-major order of the
// updates, whatever the number of threads.
#include "core/ops/movement/scatter.h"

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
struct ScatterAxes {
  // An axis of the inputs as windows see it.
  struct Input {
    int64_t size = 0;    // of the input
    int64_t stride = 0;  // in the input
    int component = -1;  // of index vectors; -1: windows start at 0
    int64_t window = 1;  // size of windows
    int64_t update = 0;  // stride in the updates
    bool inner = false;  // boxes run through it
  };
  // An axis of the updates that is walked box by box.
  struct Outer {
    int64_t size;
    int64_t update;  // stride in the updates
    int64_t index;   // stride in the indices; 0: of a window
    int input = -1;  // the input's axis; -1: of the indices
  };

  int64_t boxes() const {
    int64_t boxes = 1;
    for (const Outer& a : outer) boxes *= a.size;
    return boxes;
  }

  absl::InlinedVector<Input, 6> inputs;
  absl::InlinedVector<Outer, 6> outer;
  int64_t component_stride = 0;  // in the indices
};

// Windows whose moving axes have size 1 meet only at the same places of
// theirs, so they may be walked one after another as a whole. Others are
// walked as the updates lie.
ScatterAxes SortAxes(const KernelContext& c) {
  const int n = static_cast<int>(c.operands.size() / 2);
  const Shape& input = c.shape(0);
  const Shape& indices = c.shape(n);
  const Shape& updates = c.shape(n + 1);
  const auto inserted = c.attributes().GetInts("inserted_window_dims");
  const auto window = c.attributes().GetInts("update_window_dims");
  const auto map = c.attributes().GetInts("scatter_dims_to_operand_dims");
  const int64_t vector_axis = c.attributes().GetInt("index_vector_dim");
  const Dims strides = input.Strides();
  const Dims index_strides = indices.Strides();
  const Dims update_strides = updates.Strides();
  ScatterAxes sorted;
  if (vector_axis < indices.rank()) {
    sorted.component_stride = index_strides[vector_axis];
  }
  for (int i = 0; i < input.rank(); ++i) {
    sorted.inputs.push_back({.size = input.dim(i), .stride = strides[i]});
  }
  for (size_t k = 0; k < map.size(); ++k) {
    sorted.inputs[map[k]].component = static_cast<int>(k);
  }
  Dims input_of(updates.rank(), -1);
  for (int i = 0, next = 0; i < input.rank(); ++i) {
    if (Contains(inserted, i)) continue;
    const int64_t at = window[next++];
    input_of[at] = i;
    sorted.inputs[i].window = updates.dim(at);
    sorted.inputs[i].update = update_strides[at];
  }
  bool any_order = true;
  for (const ScatterAxes::Input& a : sorted.inputs) {
    any_order &= a.component < 0 || a.window <= 1;
  }
  int trailing = updates.rank();
  while (trailing > 0 && input_of[trailing - 1] >= 0) --trailing;
  for (int i = 0, next = 0; i < updates.rank(); ++i) {
    const int64_t size = updates.dim(i);
    const int axis = static_cast<int>(input_of[i]);
    if (axis < 0) {
      if (next == vector_axis) ++next;
      sorted.outer.push_back({size, update_strides[i], index_strides[next++]});
    } else if (any_order || i >= trailing) {
      sorted.inputs[axis].inner = true;
    } else {
      sorted.outer.push_back({size, update_strides[i], 0, axis});
    }
  }
  return sorted;
}

// Elements of one axis of the inputs that a walk writes to; axis -1: all.
struct Part {
  int axis;
  int64_t begin, end;
};

// One loop over a box: turns, and strides in the result and in the updates.
struct BoxLoop {
  int64_t size, to, from;
};
using BoxLoops = absl::InlinedVector<BoxLoop, 6>;  // the innermost first

// Drops axes of size 1 and merges those that run on into the one before.
void AddLoop(const BoxLoop& loop, BoxLoops* loops) {
  if (loop.size == 1) return;
  if (!loops->empty()) {
    BoxLoop& last = loops->back();
    if (loop.to == last.to * last.size && loop.from == last.from * last.size) {
      last.size *= loop.size;
      return;
    }
  }
  loops->push_back(loop);
}

absl::Status RunRows(const BoxLoops& loops, CombinedRow row, Combiner& combiner,
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

// Walks all index vectors and combines what falls into one part of the inputs.
// Used by one thread.
class ScatterWalk {
 public:
  // All arguments outlive this object.
  ScatterWalk(const KernelContext& c, const ScatterAxes& axes, const Part& part,
              Combiner* combiner)
      : indices_(c.operands[c.operands.size() / 2]),
        axes_(axes),
        part_(part),
        combiner_(*combiner),
        meter_(c.environment),
        inside_(axes.inputs.size(), 0) {}

  absl::Status Run() {
    Dims at(axes_.outer.size(), 0);
    int64_t index = 0, update = 0;
    while (true) {
      HAWSER_RETURN_IF_ERROR(meter_.Begin(kBoxSteps));
      HAWSER_RETURN_IF_ERROR(RunBox(index, update));
      size_t i = axes_.outer.size();
      while (i-- > 0) {
        const ScatterAxes::Outer& axis = axes_.outer[i];
        const bool end = ++at[i] == axis.size;
        const int64_t step = end ? 1 - axis.size : 1;
        if (end) at[i] = 0;
        index += step * axis.index;
        update += step * axis.update;
        if (axis.input >= 0) inside_[axis.input] = at[i];
        if (!end) break;
      }
      if (i == static_cast<size_t>(-1)) return meter_.End();
    }
  }

 private:
  // What of the box falls inside, row by row.
  absl::Status RunBox(int64_t index, int64_t update) {
    BoxLoops loops;
    CombinedRow row{0, 1, update, 1, 1};
    for (size_t i = axes_.inputs.size(); i-- > 0;) {
      const ScatterAxes::Input& a = axes_.inputs[i];
      int64_t start = 0;
      if (a.component >= 0) {
        const int64_t from = index + a.component * axes_.component_stride;
        // Nothing that starts at either end or beyond is inside.
        start = std::clamp(ReadIndex(indices_, from), -a.size, a.size);
      }
      start += inside_[i];
      const bool cut = static_cast<int>(i) == part_.axis;
      const int64_t low = std::max(start, cut ? part_.begin : int64_t{0});
      const int64_t high =
          std::min(start + (a.inner ? a.window : 1), cut ? part_.end : a.size);
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
    return RunRows(loops, row, combiner_, &meter_);
  }

  const Literal& indices_;
  const ScatterAxes& axes_;
  const Part part_;
  Combiner& combiner_;
  WorkMeter meter_;
  Dims inside_;  // place in the window, of outer axes
};

// b / blocks of size, rounded down, without overflow.
int64_t Share(int64_t size, int64_t b, int64_t blocks) {
  return size / blocks * b + size % blocks * b / blocks;
}

// Inputs may have moved to where the results are: `axes` alone knows them.
absl::Status Combine(const KernelContext& c, const ScatterAxes& axes,
                     int64_t updates, const CombinedTensors& tensors) {
  size_t cut = 0;
  while (cut < axes.inputs.size() && axes.inputs[cut].size == 1) ++cut;
  Combiner combiner(c, tensors);
  int64_t blocks = 1;
  if (cut < axes.inputs.size() && combiner.parallel() &&
      c.environment.pool != nullptr &&
      updates / axes.boxes() >= kSmallestWindow) {
    blocks = std::min(
        {kMostBlocks, updates / kParallelElements, axes.inputs[cut].size});
  }
  if (blocks <= 1) return ScatterWalk(c, axes, {-1, 0, 0}, &combiner).Run();
  const int64_t size = axes.inputs[cut].size;
  return ForEachBlock(
      c.environment.pool, blocks, c.environment.cancel, [&](int64_t b) {
        Combiner own(c, tensors);
        const Part part{static_cast<int>(cut), Share(size, b, blocks),
                        Share(size, b + 1, blocks)};
        return ScatterWalk(c, axes, part, &own).Run();
      });
}

absl::StatusOr<Literals> RunScatter(const KernelContext& c) {
  const int n = static_cast<int>(c.operands.size() / 2);
  const ScatterAxes axes = SortAxes(c);
  Literals out;
  CombinedTensors tensors;
  for (int k = 0; k < n; ++k) {
    tensors.dtypes.push_back(c.shape(k).dtype());
    tensors.from.push_back(c.data(n + 1 + k));
  }
  const int64_t updates = c.shape(n + 1).num_elements();
  for (int k = 0; k < n; ++k) {
    HAWSER_ASSIGN_OR_RETURN(Literal result, WritableCopy(c, k));
    tensors.to.push_back(result.mutable_bytes().data());
    out.push_back(std::move(result));
  }
  if (updates > 0 && out[0].shape().num_elements() > 0) {
    HAWSER_RETURN_IF_ERROR(Combine(c, axes, updates, tensors));
  }
  return out;
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
