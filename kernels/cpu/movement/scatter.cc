// Combines windows of updates with parts of tensors, at indices that are
// values. Updates of one element are combined in row-major order, whatever the
// number of threads.
#include "core/ops/movement/scatter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/status.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/movement/combiner.h"
#include "kernels/cpu/movement/scatter_axes.h"
#include "kernels/cpu/movement/scatter_walk.h"
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
// From so many boxes on floats are added up in blocks of so many, as f32 counts
// no further than 2^24 by ones.
constexpr int64_t kManySums = int64_t{1} << 22, kBlockOfSums = int64_t{1} << 20;
// Typical steps if many indices are found at once: of a box, and of an element
// that a known op combines (measured: 0.3 to 0.6).
constexpr double kPlacedBoxSteps = 1, kDirectSteps = 0.5;

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
        return WalkScatter(c, ShareOf(axes, b, blocks), {}, combiner);
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
    return WalkScatter(c, axes, {}, combiner);
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
    return WalkScatter(c, axes, {}, combiner);
  }
  return ForEachBlock(
      c.environment.pool, blocks, c.environment.cancel, [&](int64_t b) {
        Combiner own(c, tensors);
        const ScatterPart part{static_cast<int>(cut), Share(size, b, blocks),
                               Share(size, b + 1, blocks)};
        return WalkScatter(c, axes, part, own);
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

constexpr CpuKernel kScatterKernels[] = {
    {&kScatter, RunScatter, nullptr, ScatterCost},
};

}  // namespace

absl::Span<const CpuKernel> ScatterKernels() { return kScatterKernels; }

}  // namespace hawser::cpu
