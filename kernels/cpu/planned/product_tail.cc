#include "kernels/cpu/planned/product_tail.h"

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/dot.h"

namespace hawser::cpu {
namespace {

using plan::Point;
using plan::Region;

// The region with its product as one more operand.
absl::StatusOr<Region> WithProductRead(const Module& module, Region region) {
  const Computation& body = module.computation(region.body);
  const Instruction& i =
      module.computation(region.computation).instructions()[region.instruction];
  const auto dot = region.epilogue.dot_point;
  if (dot < 0) return Unimplemented("a product that is not read");
  for (size_t n = 0; n < region.points.size(); ++n) {
    if (static_cast<plan::PointId>(n) != dot &&
        region.points[n].instruction == region.points[dot].instruction) {
      return Unimplemented("a product that is read at two places");
    }
  }
  Point& p = region.points[dot];
  if (region.maps[p.map] != plan::IndexMap::Identity(region.domain) ||
      p.scope != 0) {
    return Unimplemented("a product that is read in another order");
  }
  p.kind = Point::kLoad;
  region.kind = plan::RegionKind::kLoop;
  region.accesses.push_back({.point = dot,
                             .operand = static_cast<int>(i.operands.size()),
                             .offset = region.maps[p.map]
                                           .Linear(body.shape(p.value).dims())
                                           .Substitute(region.loops.back)});
  return region;
}

int64_t Iterations(absl::Span<const int64_t> extents) {
  int64_t iterations = 1;
  for (const int64_t extent : extents) iterations *= extent;
  return iterations;
}

}  // namespace

absl::StatusOr<ProductTail> ProductTail::Make(const Module& module,
                                              const Region& region,
                                              const TileOptions& options) {
  const Computation& body = module.computation(region.body);
  ProductTail tail;
  tail.body_ = region.body;
  tail.dot_ = region.epilogue.dot_instruction;
  if (tail.dot_ < 0 || region.body == region.computation) {
    return Unimplemented("no tail");
  }
  const Instruction& dot = body.instructions()[tail.dot_];
  for (const ValueId v : dot.operands) {
    if (v >= body.num_parameters()) {
      return Unimplemented("a product of what the region computes");
    }
    tail.factors_.push_back(v);
  }
  HAWSER_ASSIGN_OR_RETURN(const Region reads, WithProductRead(module, region));
  TileOptions with_boxes = options;
  with_boxes.boxes = true;
  HAWSER_ASSIGN_OR_RETURN(tail.program_,
                          MakeTileProgram(module, reads, with_boxes));
  tail.in_place_ = body.shape(body.results()[0]).byte_size() ==
                   body.shape(dot.first_result).byte_size();
  tail.FindLoops(region, dot);
  return tail;
}

void ProductTail::FindLoops(const Region& region, const Instruction& dot) {
  const auto extents = absl::MakeConstSpan(region.loops.extents);
  const auto domain = absl::MakeConstSpan(region.domain);
  num_loops_ = static_cast<int>(extents.size());
  const size_t batches =
      dot.op != &kDotGeneral
          ? 0
          : dot.attributes.GetInts("lhs_batching_dimensions").size();
  const int64_t columns =
      Iterations(domain.subspan(region.epilogue.first_column));
  const int64_t batch = Iterations(domain.subspan(0, batches));
  if (Iterations(domain) == 0) return;
  rows_of_a_batch_ = Iterations(domain) / columns / batch;
  int rows = num_loops_;
  if (columns > 1) {
    column_ = --rows;
    if (extents[column_] != columns) return;
  }
  const int64_t iterations[] = {batch, rows_of_a_batch_};
  if (rows == 2 && extents.subspan(0, 2) == absl::MakeConstSpan(iterations)) {
    batch_ = 0;
    row_ = 1;
  } else if (rows == 1) {
    row_ = 0;
  }
  by_boxes_ = rows == (batch_ < 0 ? 0 : 1) + (row_ < 0 ? 0 : 1);
}

absl::InlinedVector<LoopRange, 3> ProductTail::LoopsOf(
    const GemmBox& box) const {
  absl::InlinedVector<LoopRange, 3> loops(num_loops_);
  if (batch_ >= 0) loops[batch_] = {box.batch, 1};
  if (row_ >= 0) {
    // Batches that have no loop of their own are rows, too.
    const int64_t before = batch_ < 0 ? box.batch * rows_of_a_batch_ : 0;
    loops[row_] = {before + box.row, box.rows};
  }
  if (column_ >= 0) loops[column_] = {box.column, box.columns};
  return loops;
}

}  // namespace hawser::cpu
