#include "kernels/plan/parallel/scatter_way.h"

#include <algorithm>

#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/scatters/scatter_rows.h"

namespace hawser::plan {
namespace {

// Threads that meet in fewer places wait for each other: a sort of the index
// vectors takes less.
constexpr int64_t kFewPlaces = 4096;

// Updates of more elements are sorted by their places as a whole: on an H200,
// 64 elements a row took 1.1 times as long by integers, 16 took 0.5.
constexpr int64_t kWideRow = 32;

bool IsExtreme(const OpDef* monoid) {
  return monoid == &kMaximum || monoid == &kMinimum;
}

// True if each index vector names one place along the axes it moves along.
bool MovesByOne(const Computation& c, const Instruction& scatter) {
  const Dims sizes = WindowSizes(scatter, c.shape(scatter.operands[0]),
                                 c.shape(scatter.operands[2]));
  const auto map = scatter.attributes.GetInts("scatter_dims_to_operand_dims");
  return std::all_of(map.begin(), map.end(),
                     [&](int64_t axis) { return sizes[axis] == 1; });
}

}  // namespace

ScatterWay WayOfScatter(const Module& module, const Computation& c,
                        const Instruction& scatter, const Target& target) {
  if (target.atomic_scatters <= 0 || scatter.operands.size() != 3) {
    return ScatterWay::kOwners;
  }
  const Shape& input = c.shape(scatter.operands[0]);
  const int64_t vectors = VectorsOf(scatter, c.shape(scatter.operands[1]));
  const int64_t updates = c.shape(scatter.operands[2]).num_elements();
  const OpDef* const monoid = MonoidOf(module.computation(scatter.called[0]));
  const int64_t places = input.num_elements();
  if (monoid == nullptr || vectors < target.atomic_scatters ||
      places < kFewPlaces || !MovesByOne(c, scatter)) {
    return ScatterWay::kOwners;
  }
  const DType dtype = input.dtype();
  if (IsInteger(dtype)) {
    const bool takes = monoid == &kAdd || IsExtreme(monoid);
    return takes && ByteWidth(dtype) >= 4 ? ScatterWay::kIntegers
                                          : ScatterWay::kOwners;
  }
  // All of the input is gone through, and sums have scratch memory.
  if (dtype != DType::kF32 || places > updates ||
      updates > kWideRow * vectors) {
    return ScatterWay::kOwners;
  }
  if (IsExtreme(monoid)) return ScatterWay::kOrdered;
  return monoid == &kAdd ? ScatterWay::kFixedPoint : ScatterWay::kOwners;
}

int LaunchesOf(ScatterWay way) {
  switch (way) {
    case ScatterWay::kOwners:
    case ScatterWay::kIntegers:
      return 1;
    case ScatterWay::kOrdered:
      return 3;
    case ScatterWay::kFixedPoint:
      return 4;
  }
  return 1;
}

int64_t ScratchBytesOf(ScatterWay way, int64_t elements) {
  return way == ScatterWay::kFixedPoint ? elements * 12 : 0;
}

}  // namespace hawser::plan
