#include "kernels/cpu/tiles/loop_edges.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "kernels/plan/index/index_expr.h"

namespace hawser::cpu {
namespace {

using plan::Bounds;
using plan::IndexExpr;

// Quotients rounded up and down.
int64_t CeilOf(int64_t value, int64_t divisor) {
  return -IndexExpr::Constant(-value).FloorDiv(divisor).constant();
}
int64_t FloorOf(int64_t value, int64_t divisor) {
  return IndexExpr::Constant(value).FloorDiv(divisor).constant();
}

// The iterations i in which coefficient * i + rest is within the bounds for all
// values of the rest.
LaneSpan Within(const Bounds& bounds, int64_t coefficient, const Bounds& rest,
                int64_t extent) {
  const int64_t least = bounds.min - rest.min, most = bounds.max - rest.max;
  const int64_t step = std::abs(coefficient);
  const LaneSpan up =
      coefficient > 0
          ? LaneSpan{CeilOf(least, step), FloorOf(most, step) + 1}
          : LaneSpan{CeilOf(-most, step), FloorOf(-least, step) + 1};
  return {std::clamp<int64_t>(up.begin, 0, extent),
          std::clamp<int64_t>(up.end, 0, extent)};
}

}  // namespace

LaneSpan InnerIterations(const plan::Region& region, int loop) {
  const auto& extents = region.loops.extents;
  const int64_t extent = extents[loop];
  std::vector<IndexExpr> others;
  for (size_t d = 0; d < extents.size(); ++d) {
    const int number = static_cast<int>(d);
    others.push_back(number == loop ? IndexExpr()
                                    : IndexExpr::Dim(number, extents[d]));
  }
  LaneSpan inner = {0, extent};
  for (const plan::Scope& scope : region.scopes) {
    for (const plan::Predicate& p : scope.predicates) {
      const IndexExpr value = p.value.Substitute(region.loops.back);
      const int64_t coefficient = value.CoefficientOf(loop);
      if (coefficient == 0 || value.DividesDim(loop)) continue;
      const LaneSpan own = Within(p.bounds, coefficient,
                                  value.Substitute(others).bounds(), extent);
      const LaneSpan both = {std::max(inner.begin, own.begin),
                             std::min(inner.end, own.end)};
      if (2 * (both.end - both.begin) >= extent) inner = both;
    }
  }
  const bool has_edges = inner.begin > 0 || inner.end < extent;
  return has_edges ? inner : LaneSpan{};
}

}  // namespace hawser::cpu
