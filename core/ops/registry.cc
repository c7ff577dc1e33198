#include "core/ops/registry.h"

#include <algorithm>
#include <array>

#include "absl/container/flat_hash_map.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/contraction/scan.h"
#include "core/ops/elementwise/bits.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/elementwise/math.h"
#include "core/ops/linalg/fft.h"
#include "core/ops/linalg/linalg.h"
#include "core/ops/movement/gather.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/movement/sort.h"
#include "core/ops/windows/convolution.h"
#include "core/ops/windows/unfold.h"

namespace hawser {
namespace {

// The families' rows, sorted by name.
template <size_t... n>
constexpr auto Joined(const OpDef* const (&... families)[n]) {
  std::array<const OpDef*, (n + ...)> all = {};
  auto end = all.begin();
  ((end = std::copy(families, families + n, end)), ...);
  std::sort(all.begin(), all.end(),
            [](const OpDef* a, const OpDef* b) { return a->name < b->name; });
  return all;
}
constexpr auto kAllOps =
    Joined(kBitsOps, kCompareOps, kControlOps, kConvertOps, kConvolutionOps,
           kDotOps, kElementwiseOps, kFftOps, kGatherOps, kLeafOps, kLinalgOps,
           kMathOps, kReduceOps, kScanOps, kScatterOps, kShapeOps, kSliceOps,
           kSortOps, kUnfoldOps);

// Rules that are missing are registry_test's: under ubsan g++ cannot compare a
// function's address with nullptr in a constant expression.
constexpr bool UniqueAndComplete() {
  absl::string_view last;
  for (const OpDef* op : kAllOps) {
    if (op->name <= last || op->summary.empty() || op->source.empty() ||
        op->since > kOpset) {
      return false;
    }
    last = op->name;
  }
  return true;
}
static_assert(UniqueAndComplete(),
              "every op has a name of its own and all fields filled");

}  // namespace

absl::Span<const OpDef* const> AllOps() { return kAllOps; }

const OpDef* FindOp(absl::string_view name) {
  static const auto& by_name = *[] {
    auto* map = new absl::flat_hash_map<absl::string_view, const OpDef*>();
    for (const OpDef* op : kAllOps) map->emplace(op->name, op);
    return map;
  }();
  const auto at = by_name.find(name);
  return at == by_name.end() ? nullptr : at->second;
}

}  // namespace hawser
