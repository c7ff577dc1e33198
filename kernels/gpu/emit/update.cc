// kUpdate: dynamic_update_slice as a loop over the update, whose stores are at
// run-time places; scatter is scatter.cc's.
#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/slice.h"
#include "kernels/gpu/emit/emitters.h"
#include "kernels/gpu/emit/text/launch.h"

namespace hawser::gpu {
namespace {

using plan::IndexExpr;
using plan::IndexMap;
using plan::Point;
using plan::PointId;

// The region of a loop that copies operand 1 to where operands 2... say.
class SliceLoop {
 public:
  explicit SliceLoop(const RegionSource& source)
      : c_(source.module.computation(source.region.computation)),
        i_(c_.instructions()[source.region.instruction]),
        r_(source.region) {
    r_.domain = c_.shape(i_.operands[1]).dims();
    r_.num_kept = static_cast<int>(r_.domain.size());
    r_.scopes.emplace_back();
    r_.maps = {IndexMap::Identity(r_.domain), IndexMap::Identity(r_.domain),
               IndexMap()};
  }

  plan::Region Lower() {
    const Dims& whole = c_.shape(i_.first_result).dims();
    for (size_t a = 0; a < whole.size(); ++a) {
      const int64_t room = whole[a] - r_.domain[a];
      if (room == 0) continue;
      const PointId start = AddLoad(2 + static_cast<int>(a), 2);
      r_.symbols.push_back({start, {0, room}});
      r_.maps[1].axes[a] =
          r_.maps[1].axes[a] +
          IndexExpr::Symbol(static_cast<int>(r_.symbols.size()) - 1,
                            {0, room});
    }
    const PointId update = AddLoad(1, 0);
    const PointId moved = AddPoint(
        {.kind = Point::kMove, .value = i_.first_result, .map = 1});
    r_.points[moved].operands = {update};
    r_.results = {moved};
    r_.accesses.push_back({.point = moved,
                           .result = 0,
                           .offset = r_.maps[1].Linear(whole)});
    Merge();
    return std::move(r_);
  }

 private:
  PointId AddPoint(Point p) {
    p.instruction = r_.instruction;
    r_.points.push_back(std::move(p));
    return static_cast<PointId>(r_.points.size()) - 1;
  }

  PointId AddLoad(int operand, int map) {
    const ValueId value = i_.operands[operand];
    const PointId id =
        AddPoint({.kind = Point::kLoad, .value = value, .map = map});
    r_.accesses.push_back(
        {.point = id,
         .operand = operand,
         .offset = r_.maps[map].Linear(c_.shape(value).dims())});
    return id;
  }

  void Merge() {
    std::vector<IndexExpr> offsets;
    for (const plan::MemoryAccess& a : r_.accesses) offsets.push_back(a.offset);
    r_.loops = plan::CollapseLoops(r_.domain, offsets, {});
    const int inner = static_cast<int>(r_.loops.extents.size()) - 1;
    r_.num_kept_loops = inner + 1;
    for (plan::MemoryAccess& a : r_.accesses) {
      a.offset = a.offset.Substitute(r_.loops.back);
      r_.fits_u32 &= a.offset.bounds().max < int64_t{1} << 31;
    }
    // The store's is the least: the last axis that is not whole moves by its
    // start, so where that keeps vectors aligned neighbours are neighbours.
    const int64_t aligned =
        plan::AlignmentOf(r_.accesses.back().offset, inner);
    int64_t width = std::min<int64_t>(
        aligned, 16 / ByteWidth(c_.shape(i_.first_result).dtype()));
    if (inner < 0) width = 1;
    while (width > 1 && r_.loops.extents[inner] % width != 0) width /= 2;
    r_.vector_width = static_cast<int>(width);
    for (plan::MemoryAccess& a : r_.accesses) {
      if (a.result == 0 || a.operand == 1) a.vector_width = r_.vector_width;
    }
  }

  const Computation& c_;
  const Instruction& i_;
  plan::Region r_;
};

}  // namespace

Kernels EmitUpdate(const RegionSource& source) {
  const Computation& c = source.module.computation(source.region.computation);
  const Instruction& i = c.instructions()[source.region.instruction];
  if (i.op == &kScatter) return EmitScatter(source);
  if (i.op != &kDynamicUpdateSlice) {
    return Unimplemented("no kernel updates by ", i.op->name);
  }
  if (c.shape(i.operands[1]).num_elements() == 0) {
    return std::vector<EmittedKernel>();
  }
  const plan::Region loop = SliceLoop(source).Lower();
  return EmitLoop({source.module, loop, source.options});
}

}  // namespace hawser::gpu
