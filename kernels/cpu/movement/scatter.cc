// Combines windows of updates with parts of tensors, at indices that are
// values. Updates of one element are combined in row-major order, whatever the
// number of threads.
#include "core/ops/movement/scatter.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/base/status.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/movement/combiner.h"
#include "kernels/cpu/movement/indices.h"
#include "kernels/cpu/movement/strided.h"

namespace hawser::cpu {
namespace {

// The most parts the inputs are cut into, one for each thread, which walks all
// index vectors for what falls into it, and the smallest windows for which that
// pays. All updates of an element are in one part: any cut gives the same bits.
constexpr int64_t kMostBlocks = 8;
constexpr int64_t kSmallestWindow = 16;
// Updates for each element of memory that a thread has of its own.
constexpr int64_t kShareOfUpdates = 16 * kCombineTables;
// Steps to find where one box goes, in memory that no cache holds.
constexpr double kBoxSteps = 16;
// From so many boxes on floats are added up in blocks of so many, as f32 counts
// no further than 2^24 by ones.
constexpr int64_t kManySums = int64_t{1} << 22, kBlockOfSums = int64_t{1} << 20;
// Typical steps if many indices are found at once: of a box, and of an element
// that a known op combines (measured: 0.3 to 0.6).
constexpr double kPlacedBoxSteps = 1, kDirectSteps = 0.5;

// The most boxes whose offsets are found before they are combined, their steps
// at most, and the longest of their rows.
constexpr int64_t kMostOffsets = 512;
constexpr double kPlacedSteps = 1 << 20;
constexpr int64_t kLongestRow = 4096;

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

  // The elements of an input.
  int64_t elements() const {
    int64_t elements = 1;
    for (const Input& a : inputs) elements *= a.size;
    return elements;
  }

  absl::InlinedVector<Input, 6> inputs;
  absl::InlinedVector<Outer, 6> outer;
  int64_t component_stride = 0;  // in the indices
  int64_t first_index = 0, first_update = 0;  // of the first box
};

// Windows whose moving axes have size 1 meet only at the same offsets of
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

// One loop over a box: its extent, and strides in the result and the updates.
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

// Boxes of which all that is inside is a dense row that depends on no index:
// the windows have one element along the axes that indices count.
struct PlacedBoxes {
  int64_t to = 0, from = 0;  // of the row, in the result and in the updates
  int64_t size = 0;
  int32_t end = 0;  // the result's elements
};

// Nothing where boxes are not so.
std::optional<PlacedBoxes> FindPlacedBoxes(const ScatterAxes& axes,
                                           const Part& part) {
  for (const ScatterAxes::Outer& a : axes.outer) {
    if (a.input >= 0) return std::nullopt;
  }
  const int64_t elements = axes.elements();
  if (elements > std::numeric_limits<int32_t>::max()) return std::nullopt;
  PlacedBoxes boxes{.end = static_cast<int32_t>(elements)};
  BoxLoops loops;
  bool empty = false;
  for (size_t i = axes.inputs.size(); i-- > 0;) {
    const ScatterAxes::Input& a = axes.inputs[i];
    if (a.component >= 0) {
      if (a.window != 1) return std::nullopt;
      continue;
    }
    const bool cut = static_cast<int>(i) == part.axis;
    const int64_t low = cut ? part.begin : 0;
    const int64_t high = std::min(a.window, cut ? part.end : a.size);
    empty |= low >= high;
    boxes.to += low * a.stride;
    boxes.from += low * a.update;
    AddLoop({high - low, a.stride, a.update}, &loops);
  }
  if (empty) return boxes;
  if (loops.size() > 1) return std::nullopt;
  if (loops.size() == 1 && (loops[0].to != 1 || loops[0].from != 1)) {
    return std::nullopt;
  }
  boxes.size = loops.empty() ? 1 : loops[0].size;
  if (boxes.size > kLongestRow) return std::nullopt;
  return boxes;
}

// An axis that indices count: `size` of them from `low` on are inside.
struct IndexedAxis {
  uint32_t low, size, stride;
};

// Adds what n indices make along the axis to each offset; -1: outside. kFirst:
// all offsets are `first` before.
template <bool kFirst, typename T>
void AddOffsets(const T* from, int64_t step, int64_t n, IndexedAxis axis,
                int32_t first, int32_t* offsets) {
  using Index = std::conditional_t<sizeof(T) < 8, uint32_t, uint64_t>;
  for (int64_t k = 0; k < n; ++k) {
    // An index below 0 is above all sizes here.
    const auto at = static_cast<Index>(from[k * step]);
    const int32_t before = kFirst ? first : offsets[k];
    const bool is_in = at - axis.low < axis.size && before >= 0;
    const uint32_t offset =
        static_cast<uint32_t>(before) + static_cast<uint32_t>(at) * axis.stride;
    offsets[k] = is_in ? static_cast<int32_t>(offset) : -1;
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
        inside_(axes.inputs.size(), 0) {
    if (!axes.outer.empty()) last_ = axes.outer.back();
    if (combiner_.direct_cost() > 0) placed_ = FindPlacedBoxes(axes, part);
  }

  absl::Status Run() {
    const size_t loops = axes_.outer.empty() ? 0 : axes_.outer.size() - 1;
    Dims at(loops, 0);
    int64_t index = axes_.first_index, update = axes_.first_update;
    while (true) {
      HAWSER_RETURN_IF_ERROR(placed_.has_value() ? RunPlaced(index, update)
                                                 : RunBoxes(index, update));
      size_t i = loops;
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
  // All boxes along the last outer axis.
  absl::Status RunBoxes(int64_t index, int64_t update) {
    for (int64_t k = 0; k < last_.size; ++k) {
      if (last_.input >= 0) inside_[last_.input] = k;
      HAWSER_RETURN_IF_ERROR(meter_.Begin(kBoxSteps));
      HAWSER_RETURN_IF_ERROR(
          RunBox(index + k * last_.index, update + k * last_.update));
    }
    return absl::OkStatus();
  }

  // The same where they are placed_.
  absl::Status RunPlaced(int64_t index, int64_t update) {
    const double steps = kBoxSteps + combiner_.direct_cost() *
                                         static_cast<double>(placed_->size);
    const int64_t most = std::clamp<int64_t>(
        static_cast<int64_t>(kPlacedSteps / steps), 1, kMostOffsets);
    int32_t found[kMostOffsets];
    for (int64_t k = 0; k < last_.size; k += most) {
      const int64_t n = std::min(most, last_.size - k);
      HAWSER_RETURN_IF_ERROR(meter_.Begin(steps * static_cast<double>(n)));
      if (placed_->size == 0) continue;
      const int64_t first = index + k * last_.index;
      const int32_t* const given = GivenOffsets(first);
      if (given == nullptr) FindOffsets(first, n, found);
      combiner_.Run(
          {.offsets = {given == nullptr ? found : given,
                       static_cast<size_t>(n)},
           .end = placed_->end,
           .from = update + k * last_.update + placed_->from,
           .step = last_.update,
           .size = placed_->size});
    }
    return absl::OkStatus();
  }

  // The indices themselves, if they need no computing; else null.
  const int32_t* GivenOffsets(int64_t index) const {
    const bool given = axes_.inputs.size() == 1 &&
                       axes_.inputs[0].component == 0 && part_.axis < 0 &&
                       last_.index == 1 &&
                       indices_.shape().dtype() == DType::kS32;
    return given ? indices_.data<int32_t>().data() + index : nullptr;
  }

  // Finds the offsets of n boxes, from index vector `index` on; -1: outside.
  void FindOffsets(int64_t index, int64_t n, int32_t* offsets) const {
    const auto to = static_cast<int32_t>(placed_->to);
    bool is_first = true;
    for (size_t i = 0; i < axes_.inputs.size(); ++i) {
      const ScatterAxes::Input& a = axes_.inputs[i];
      if (a.component < 0) continue;
      const bool cut = static_cast<int>(i) == part_.axis;
      const int64_t low = cut ? part_.begin : 0;
      const IndexedAxis axis{
          static_cast<uint32_t>(low),
          static_cast<uint32_t>((cut ? part_.end : a.size) - low),
          static_cast<uint32_t>(a.stride)};
      const int64_t begin = index + a.component * axes_.component_stride;
      VisitDType(indices_.shape().dtype(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        if constexpr (kIsInteger<T>) {
          auto* add = is_first ? AddOffsets<true, T> : AddOffsets<false, T>;
          add(indices_.data<T>().data() + begin, last_.index, n, axis, to,
              offsets);
        }
      });
      is_first = false;
    }
    if (is_first) std::fill_n(offsets, n, to);
  }

  // Combines the part of the box that is inside, row by row.
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
  Dims inside_;  // offset in the window, of outer axes
  ScatterAxes::Outer last_{1, 0, 0};
  std::optional<PlacedBoxes> placed_;
};

// b / blocks of size, rounded down, without overflow.
int64_t Share(int64_t size, int64_t b, int64_t blocks) {
  return size / blocks * b + size % blocks * b / blocks;
}

// The boxes of one share of the first axis that is walked box by box.
ScatterAxes ShareOf(const ScatterAxes& axes, int64_t b, int64_t blocks) {
  ScatterAxes share = axes;
  ScatterAxes::Outer& first = share.outer[0];
  const int64_t begin = Share(first.size, b, blocks);
  share.first_index = begin * first.index;
  share.first_update = begin * first.update;
  first.size = Share(first.size, b + 1, blocks) - begin;
  return share;
}

// The op of which each thread may combine a share of the boxes by itself, in
// tables of its own, however many threads there are: of integers, where the
// order of updates does not show. Null: none.
const OpDef* SharedOp(const KernelContext& c, const Combiner& combiner,
                      const CombinedTensors& tensors) {
  if (combiner.direct_cost() == 0 || IsFloat(tensors.dtypes[0]) ||
      IsComplex(tensors.dtypes[0])) {
    return nullptr;
  }
  return MonoidOf(c.module.computation(c.instruction.called[0]));
}

// How many blocks of boxes an f32 sum is made of, by sizes alone; 0: it is not
// made in blocks.
int64_t BlocksOfSums(const KernelContext& c, const ScatterAxes& axes,
                     const Combiner& combiner, const CombinedTensors& tensors) {
  if (combiner.direct_cost() == 0 || tensors.dtypes[0] != DType::kF32 ||
      axes.outer.empty() || axes.boxes() < kManySums ||
      axes.elements() > kBlockOfSums / kShareOfUpdates ||
      MonoidOf(c.module.computation(c.instruction.called[0])) != &kAdd) {
    return 0;
  }
  return std::min(axes.outer[0].size, axes.boxes() / kBlockOfSums);
}

// Adds up tables of f32 in f64, and that to `to`.
void AddTables(const char* memory, int64_t tables, int64_t elements, char* to) {
  const float* const from = reinterpret_cast<const float*>(memory);
  float* const sums = reinterpret_cast<float*>(to);
  for (int64_t i = 0; i < elements; ++i) {
    double sum = sums[i];
    for (int64_t t = 0; t < tables; ++t) sum += from[t * elements + i];
    sums[i] = static_cast<float>(sum);
  }
}

absl::Status CombineShares(const KernelContext& c, const ScatterAxes& axes,
                           const OpDef& op, int64_t blocks,
                           const CombinedTensors& tensors) {
  const int64_t elements = axes.elements();
  const int64_t bytes = elements * ByteWidth(tensors.dtypes[0]);
  HAWSER_ASSIGN_OR_RETURN(
      Literal own, c.Allocate(Shape::Of(tensors.dtypes[0],
                                        {blocks * kCombineTables, elements})));
  const Literal neutral = NeutralOf(op, tensors.dtypes[0]);
  char* const memory = own.mutable_bytes().data();
  HAWSER_RETURN_IF_ERROR(ForEachBlock(
      c.environment.pool, blocks, c.environment.cancel, [&](int64_t b) {
        CombinedTensors to = tensors;
        to.apart = elements;
        to.to[0] = memory + b * kCombineTables * bytes;
        const int64_t all = kCombineTables * bytes;
        for (int64_t at = 0; at < all; at += neutral.bytes().size()) {
          std::memcpy(to.to[0] + at, neutral.bytes().data(),
                      neutral.bytes().size());
        }
        Combiner combiner(c, to);
        return ScatterWalk(c, ShareOf(axes, b, blocks), {-1, 0, 0}, &combiner)
            .Run();
      }));
  if (tensors.dtypes[0] == DType::kF32) {
    AddTables(memory, blocks * kCombineTables, elements, tensors.to[0]);
    return absl::OkStatus();
  }
  WorkMeter meter(c.environment);
  for (int64_t t = 0; t < blocks * kCombineTables; ++t) {
    CombinedTensors from = tensors;
    from.from[0] = memory + t * bytes;
    HAWSER_RETURN_IF_ERROR(
        Combiner(c, from).Run(CombinedRow{0, 1, 0, 1, elements}, &meter));
  }
  return meter.End();
}

// Inputs may have moved to where the results are: `axes` alone knows them.
absl::Status Combine(const KernelContext& c, const ScatterAxes& axes,
                     int64_t updates, const CombinedTensors& tensors) {
  size_t cut = 0;
  while (cut < axes.inputs.size() && axes.inputs[cut].size == 1) ++cut;
  Combiner combiner(c, tensors);
  if (const int64_t blocks = BlocksOfSums(c, axes, combiner, tensors)) {
    return CombineShares(c, axes, kAdd, blocks, tensors);
  }
  if (cut == axes.inputs.size() || !combiner.parallel()) {
    return ScatterWalk(c, axes, {-1, 0, 0}, &combiner).Run();
  }
  const ThreadPool* const pool = c.environment.pool;
  const int64_t most =
      std::min({kMostBlocks, pool == nullptr ? int64_t{1} : pool->size(),
                updates / kParallelElements});
  const int64_t shares =
      std::min(most, updates / kShareOfUpdates / axes.elements());
  const OpDef* const op = SharedOp(c, combiner, tensors);
  if (shares > 0 && op != nullptr && axes.outer[0].size >= shares) {
    return CombineShares(c, axes, *op, shares, tensors);
  }
  const int64_t size = axes.inputs[cut].size;
  const int64_t blocks = std::min(most, size);
  if (blocks <= 1 || updates / axes.boxes() < kSmallestWindow) {
    return ScatterWalk(c, axes, {-1, 0, 0}, &combiner).Run();
  }
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
  const double boxes = c.elements(c.operand(n));
  // True if offsets are found at once, as Combiner does.
  const bool direct = n == 1 && c.called[0].lane.has_value();
  double cost = direct ? updates * kDirectSteps + boxes * kPlacedBoxSteps
                       : updates * body + boxes * kBoxSteps;
  for (int k = 0; k < n; ++k) cost += c.elements(c.operand(k));  // the copy
  return cost;
}

constexpr CpuKernel kKernels[] = {
    {&kScatter, RunScatter, nullptr, ScatterCost},
};

}  // namespace

absl::Span<const CpuKernel> ScatterKernels() { return kKernels; }

}  // namespace hawser::cpu
