// PointShapes: what each point of a region depends on, and so how many lanes it
// has and how often it is computed; beside it, what uses the points.
#ifndef HAWSER_KERNELS_CPU_POINTS_POINT_SHAPES_H_
#define HAWSER_KERNELS_CPU_POINTS_POINT_SHAPES_H_

#include <cstdint>
#include <vector>

#include "kernels/cpu/tile_steps/tile.h"
#include "kernels/plan/region/region.h"

namespace hawser::cpu {

// Rows of so few iterations are whole in every tile of a region without folds.
inline constexpr int64_t kWholeRow = 32;

// How the reductions of a region are folded, by kind and extents. Columns that
// are short and narrow, as windows are, make no tile: then its lanes are
// results, and tiles of one iteration of the reduced loops follow each other.
FoldWay ChooseFoldWay(const plan::Region& region);

// Which loops are the lanes of tiles, likewise. The last loop is along x, or
// where rows are not folded the last kept one.
LaneLoops ChooseLaneLoops(const plan::Region& region, FoldWay way);

// True if some point is a fold, maybe of one element.
bool HasFolds(const plan::Region& region);

// Immutable. Maps count the region's merged loops.
class PointShapes {
 public:
  // When a point is computed.
  enum class When : uint8_t {
    kOnce,    // for each worker: the same in every tile
    kBefore,  // for each iteration of the kept loops, before any reduction
    kTile,    // for each tile
    kAfter,   // once the reductions of its stage but one are there
  };

  // `region` outlives it. `boxes`: a tile may begin within a row.
  PointShapes(const plan::Region& region, LaneLoops lanes, FoldWay way,
              bool boxes);
  PointShapes(const PointShapes&) = delete;
  PointShapes& operator=(const PointShapes&) = delete;

  LaneShape shape(plan::PointId p) const { return shapes_[p]; }
  When when(plan::PointId p) const { return whens_[p]; }
  // True if lanes of that shape can tell whether the scope holds.
  bool Tells(plan::ScopeId scope, LaneShape shape) const;
  const std::vector<LaneShape>& symbols() const { return symbols_; }
  // The index that the point reads: the offset of a load, the number of an
  // iota; empty for others.
  const plan::IndexExpr& index(plan::PointId p) const { return *indices_[p]; }
  // Over the merged loops.
  plan::IndexExpr Merged(const plan::IndexExpr& e) const;
  // Adds the points, but its operands, that have to be there before it: those
  // of the symbols of its index and scopes.
  void AddNeeded(plan::PointId p, std::vector<plan::PointId>* needed) const;

 private:
  enum Loops : uint8_t { kNone = 0, kAround = 1, kAlongY = 2, kAlongX = 4 };

  uint8_t LoopsOf(const plan::IndexExpr& e) const;
  uint8_t LoopsOfScope(plan::ScopeId scope) const;
  uint8_t LoopsOf(plan::PointId p) const;
  // True if its lanes are the same in every row, and so in every tile.
  bool IsOneRow(plan::PointId p) const;
  LaneShape ShapeOf(uint8_t loops, bool per_result) const;

  const plan::Region& region_;
  const LaneLoops lanes_;
  const FoldWay way_;
  const bool boxes_;
  const bool folds_;
  const plan::IndexExpr nothing_;
  std::vector<plan::IndexExpr> merged_;          // of iotas; never moved
  std::vector<const plan::IndexExpr*> indices_;  // by point
  std::vector<uint8_t> loops_;                   // likewise
  std::vector<LaneShape> shapes_, symbols_;
  std::vector<When> whens_;
};

// How often each point is used, by points and beside them.
std::vector<int> UsesOf(const plan::Region& region);
// Which points' own lanes a result may be.
std::vector<bool> StoredPoints(const plan::Region& region);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_POINTS_POINT_SHAPES_H_
