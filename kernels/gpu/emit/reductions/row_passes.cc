#include "kernels/gpu/emit/reductions/row_passes.h"

#include <algorithm>

#include "core/ir/leaves.h"
#include "kernels/gpu/emit/text/launch.h"

namespace hawser::gpu {
namespace {

using plan::Point;
using plan::PointId;

// True if the point is cheaper to compute again than to keep.
bool IsFree(const RegionSource& source, const Point& p) {
  return p.kind == Point::kIota || p.kind == Point::kMove ||
         (p.kind == Point::kOp && source.instruction(p).op == &kConstant);
}

// Goes from what pass `s` needs back to loads, or to what an earlier pass has
// computed. `made_in` is the pass that computes each point, -1 for none.
void FindLeaves(const RegionSource& source, const KernelMaps& maps, int s,
                std::vector<RowPass>* passes, std::vector<int>* made_in) {
  std::vector<bool> needed(source.region.points.size(), false);
  for (const PointId root : (*passes)[s].roots) needed[root] = true;
  for (size_t n = needed.size(); n-- > 0;) {
    const PointId id = static_cast<PointId>(n);
    if (!needed[n] || source.point(id).per_result) continue;
    const int maker = (*made_in)[n];
    if (maker >= 0 && !IsFree(source, source.point(id))) {
      auto& leaves = (*passes)[maker].leaves;
      if (std::find(leaves.begin(), leaves.end(), id) == leaves.end()) {
        leaves.push_back(id);
      }
      continue;
    }
    (*made_in)[n] = s;
    maps.AddNeeds(id, &needed);
  }
}

bool FitsRegisters(const RegionSource& source, const RowShape& shape,
                   const std::vector<RowPass>& passes) {
  int64_t bytes = 0;
  for (const RowPass& pass : passes) {
    for (const PointId id : pass.leaves) {
      bytes += std::max<int64_t>(4, ByteWidth(source.shape(id).dtype()));
    }
  }
  // Half of a thread's registers.
  const int64_t room = std::min<int64_t>(64, 32768 / shape.threads) * 4;
  return bytes > 0 && bytes * shape.turns * shape.width <= room &&
         shape.elements % shape.width == 0;
}

}  // namespace

RowShape ShapeOfRows(const plan::Region& region, const EmitOptions& options) {
  const auto extents = absl::MakeConstSpan(region.loops.extents);
  const auto kept = static_cast<size_t>(region.num_kept_loops);
  RowShape s;
  s.rows = ProductOf(extents.subspan(0, kept));
  s.elements = ProductOf(extents.subspan(kept));
  s.width = extents.size() > kept ? region.vector_width : 1;
  s.units = s.elements / s.width;
  // A block for rows that keep its threads busy for a few turns each, or that
  // are too few for the device by the warp.
  const int64_t busy = int64_t{options.multiprocessors} * 8;
  s.is_block = s.units > 256 || (s.units > 64 && s.rows < busy);
  if (s.is_block) {
    s.lanes = std::clamp<int64_t>(PowerOfTwo(CeilDivide(s.units, 4)), 64, 1024);
    s.threads = s.lanes;
  } else {
    s.lanes = std::min<int64_t>(PowerOfTwo(s.units), 32);
    s.threads = kThreads;
  }
  s.rows_at_once = s.threads / s.lanes;
  s.turns = CeilDivide(s.units, s.lanes);
  return s;
}

RowPasses PlanRowPasses(const RegionSource& source, const KernelMaps& maps,
                        const RowShape& shape, absl::Span<const Fold> folds) {
  const plan::Region& r = source.region;
  RowPasses plan;
  plan.passes.resize(r.stages);
  for (const Fold& fold : folds) {
    RowPass& pass = plan.passes[fold.stage];
    pass.folds.push_back(&fold);
    pass.roots.insert(pass.roots.end(), fold.inputs.begin(), fold.inputs.end());
  }
  for (size_t k = 0; k < r.results.size(); ++k) {
    if (source.point(r.results[k]).per_result) continue;
    plan.passes.back().results.push_back(static_cast<int>(k));
    plan.passes.back().roots.push_back(r.results[k]);
  }
  std::vector<int> made_in(r.points.size(), -1);
  for (int s = 0; s < r.stages; ++s) {
    FindLeaves(source, maps, s, &plan.passes, &made_in);
  }
  plan.stays = FitsRegisters(source, shape, plan.passes);
  if (!plan.stays) {
    for (RowPass& pass : plan.passes) pass.leaves.clear();
  }
  return plan;
}

}  // namespace hawser::gpu
