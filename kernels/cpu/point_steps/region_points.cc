#include "kernels/cpu/point_steps/region_points.h"

#include <algorithm>
#include <utility>

namespace hawser::cpu {

using plan::Point;
using plan::PointId;

RegionPoints::RegionPoints(const Module& module, const plan::Region& region,
                           const TileOptions& options)
    : module_(module),
      region_(region),
      body_(module.computation(region.body)),
      options_(options),
      way_(ChooseFoldWay(region)),
      lanes_(ChooseLaneLoops(region, way_)),
      shapes_(region, lanes_, way_, options.boxes),
      is_stored_(StoredPoints(region)) {}

const plan::MemoryAccess& RegionPoints::AccessOf(PointId load) const {
  return *std::find_if(region_.accesses.begin(), region_.accesses.end(),
                       [&](const plan::MemoryAccess& a) {
                         return a.operand >= 0 && a.point == load;
                       });
}

std::optional<FoldInput> RegionPoints::InPlace(PointId id) const {
  const Point& p = point(id);
  if (p.kind != Point::kLoad || p.scope != 0 || shape(id) != LaneShape::kFull ||
      way_ == FoldWay::kTiles) {
    return std::nullopt;
  }
  const plan::MemoryAccess& access = AccessOf(id);
  std::vector<int> symbols;
  access.offset.CollectSymbols(&symbols);
  if (!symbols.empty() || MayBeWrittenOver(id, access.operand)) {
    return std::nullopt;
  }
  LaneIndex index(access.offset, lanes_, shapes_.symbols());
  if (!index.steps_along_x() || !index.steps_along_y() || index.step_x() != 1) {
    return std::nullopt;
  }
  return FoldInput(access.operand, std::move(index), width(id));
}

bool RegionPoints::MayBeWrittenOver(PointId load, int operand) const {
  if (region_.results.size() < 2 || !is_stored_[load]) return false;
  const Computation& c = module_.computation(region_.computation);
  const Instruction& i = c.instructions()[region_.instruction];
  const int64_t bytes = c.shape(i.operands[operand]).byte_size();
  for (int k = 0; k < i.num_results; ++k) {
    if (BytesOfResult(k) == bytes) return true;
  }
  return false;
}

int64_t RegionPoints::BytesOfResult(int result) const {
  const Computation& c = module_.computation(region_.computation);
  const Instruction& i = c.instructions()[region_.instruction];
  return c.shape(i.first_result + result).byte_size();
}

}  // namespace hawser::cpu
