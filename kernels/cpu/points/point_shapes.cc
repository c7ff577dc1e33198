#include "kernels/cpu/points/point_shapes.h"

#include <algorithm>

namespace hawser::cpu {
namespace {

using plan::IndexExpr;
using plan::Point;
using plan::PointId;
using plan::Region;
using plan::ScopeId;

// Fewer lanes than these leave a tile's steps idle.
constexpr int64_t kFewLanes = 512;
// So many results beside each other are stored one by one.
constexpr int64_t kFewResults = 8;
// More elements for a result are folded where they lie.
constexpr int64_t kMostFolded = 1024;

// The loop of a load that the next element in memory is along, if that is not
// loop x.
int CrossingLoop(const Region& region, int x) {
  for (const plan::MemoryAccess& a : region.accesses) {
    const bool is_row = !a.offset.UsesDim(x);
    if (a.operand < 0 || is_row || a.offset.CoefficientOf(x) == 1) continue;
    for (int d = 0; d < x; ++d) {
      if (a.offset.CoefficientOf(d) == 1) return d;
    }
  }
  return -1;
}

// The last loop; the one before it if most bytes lie along that, as where a few
// results lie beside each other for each element of several operands.
int InnermostLoop(const Region& region) {
  const int last = static_cast<int>(region.loops.extents.size()) - 1;
  if (last < 1 || region.loops.extents[last] > kFewResults) return last;
  int64_t along_last = 0, along_other = 0;
  for (const plan::MemoryAccess& a : region.accesses) {
    if (a.offset.CoefficientOf(last - 1) == 1) {
      along_other += a.bytes;
    } else if (a.offset.CoefficientOf(last) == 1 &&
               a.offset.UsesDim(last - 1)) {
      along_last += a.bytes;
    }
  }
  return along_other >= along_last && along_other > 0 ? last - 1 : last;
}

// The last of loops [0, end) that makes enough lanes, or where none does the
// longest one.
int RowLoop(const Region& region, int end, int64_t along_x) {
  if (end < 1) return -1;
  const auto& extents = region.loops.extents;
  for (int d = end - 1; d >= 0; --d) {
    if (extents[d] * along_x >= kFewLanes) return d;
  }
  const auto longest = std::max_element(extents.begin(), extents.begin() + end);
  return static_cast<int>(longest - extents.begin());
}

}  // namespace

FoldWay ChooseFoldWay(const Region& region) {
  if (region.kind != plan::RegionKind::kColumnReduction) return FoldWay::kRows;
  const auto& extents = region.loops.extents;
  const int kept = region.num_kept_loops;
  if (kept < 2 || kept == static_cast<int>(extents.size())) {
    return FoldWay::kColumns;
  }
  int64_t folded = 1;
  for (size_t d = kept; d < extents.size(); ++d) {
    folded = std::min(folded * extents[d], kMostFolded + 1);
  }
  const bool many = extents.back() * extents[kept - 1] >= kFewLanes;
  return many || folded > kMostFolded ? FoldWay::kColumns : FoldWay::kTiles;
}

LaneLoops ChooseLaneLoops(const Region& region, FoldWay way) {
  const auto& extents = region.loops.extents;
  const int loops = static_cast<int>(extents.size());
  const int kept = region.num_kept_loops;
  if (way == FoldWay::kColumns) {
    return {kept < loops ? loops - 1 : -1, kept - 1};
  }
  if (way == FoldWay::kTiles) {
    return {RowLoop(region, kept - 1, extents[kept - 1]), kept - 1};
  }
  if (HasFolds(region)) {
    const int x = kept < loops ? loops - 1 : -1;
    return {RowLoop(region, kept, x < 0 ? 1 : extents[x]), x};
  }
  if (loops == 0) return {};
  const int x = InnermostLoop(region);
  const int crossing = CrossingLoop(region, x);
  return {crossing >= 0 ? crossing : RowLoop(region, x, extents[x]), x};
}

bool HasFolds(const Region& region) {
  return std::any_of(region.points.begin(), region.points.end(),
                     [](const Point& p) { return p.kind == Point::kReduce; });
}

PointShapes::PointShapes(const Region& region, LaneLoops lanes, FoldWay way,
                         bool boxes)
    : region_(region),
      lanes_(lanes),
      way_(way),
      boxes_(boxes),
      folds_(HasFolds(region)),
      symbols_(region.symbols.size(), LaneShape::kOne) {
  indices_.resize(region.points.size(), &nothing_);
  for (const plan::MemoryAccess& a : region.accesses) {
    if (a.operand >= 0) indices_[a.point] = &a.offset;
  }
  merged_.reserve(
      std::count_if(region.points.begin(), region.points.end(),
                    [](const Point& p) { return p.kind == Point::kIota; }));
  loops_.reserve(region.points.size());
  shapes_.reserve(region.points.size());
  whens_.reserve(region.points.size());
  for (size_t n = 0; n < region.points.size(); ++n) {
    const Point& p = region.points[n];
    if (p.kind == Point::kIota) {
      merged_.push_back(Merged(region.maps[p.map].axes[p.axis]));
      indices_[n] = &merged_.back();
    }
    loops_.push_back(LoopsOf(static_cast<PointId>(n)));
    const bool folded = folds_ && (p.per_result || p.kind == Point::kReduce);
    shapes_.push_back(ShapeOf(loops_.back(), folded));
    When when = When::kTile;
    if (p.kind == Point::kReduce) {
      when = When::kAfter;
    } else if (folded && p.stage > 0) {
      when = When::kAfter;
    } else if (loops_.back() == kNone || IsOneRow(static_cast<PointId>(n))) {
      when = When::kOnce;
    } else if (folded) {
      when = When::kBefore;
    }
    whens_.push_back(when);
    for (size_t s = 0; s < region.symbols.size(); ++s) {
      if (region.symbols[s].point == static_cast<PointId>(n)) {
        symbols_[s] = shapes_.back();
      }
    }
  }
}

IndexExpr PointShapes::Merged(const IndexExpr& e) const {
  return e.Substitute(region_.loops.back);
}

uint8_t PointShapes::LoopsOf(const IndexExpr& e) const {
  uint8_t loops = kNone;
  for (int d = 0; d < static_cast<int>(region_.loops.extents.size()); ++d) {
    if (!e.UsesDim(d)) continue;
    loops |= d == lanes_.x ? kAlongX : d == lanes_.y ? kAlongY : kAround;
  }
  std::vector<int> symbols;
  e.CollectSymbols(&symbols);
  for (const int s : symbols) loops |= loops_[region_.symbols[s].point];
  return loops;
}

uint8_t PointShapes::LoopsOfScope(ScopeId scope) const {
  uint8_t loops = kNone;
  for (; scope > 0; scope = region_.scopes[scope].parent) {
    for (const plan::Predicate& p : region_.scopes[scope].predicates) {
      loops |= LoopsOf(Merged(p.value));
    }
  }
  return loops;
}

uint8_t PointShapes::LoopsOf(PointId id) const {
  const Point& p = region_.points[id];
  if (p.kind == Point::kReduce) {
    // All of the kept loops.
    switch (way_) {
      case FoldWay::kRows:
        return kAlongY | kAround;
      case FoldWay::kColumns:
        return kAlongX | kAround;
      case FoldWay::kTiles:
        return kAlongX | kAlongY | kAround;
    }
  }
  uint8_t loops = LoopsOf(index(id));
  // A load is not done in tiles where its scope does not hold; anything else is
  // done in vain.
  if (p.kind == Point::kLoad) loops |= LoopsOfScope(p.scope);
  for (const PointId o : p.operands) loops |= loops_[o];
  for (const ScopeId s : p.cases) loops |= LoopsOfScope(s);
  return loops;
}

bool PointShapes::IsOneRow(PointId id) const {
  const Point& p = region_.points[id];
  if (folds_ || boxes_ || loops_[id] != kAlongX || p.scope != 0 ||
      !p.cases.empty() || region_.loops.extents[lanes_.x] > kWholeRow) {
    return false;
  }
  std::vector<PointId> needed(p.operands.begin(), p.operands.end());
  AddNeeded(id, &needed);
  return std::all_of(needed.begin(), needed.end(), [this](PointId other) {
    return whens_[other] == When::kOnce;
  });
}

LaneShape PointShapes::ShapeOf(uint8_t loops, bool per_result) const {
  if (loops == kNone) return LaneShape::kOne;
  if (per_result && way_ == FoldWay::kColumns) return LaneShape::kColumns;
  if (per_result && way_ == FoldWay::kRows) return LaneShape::kRows;
  if ((loops & kAlongX) == 0) return LaneShape::kRows;
  const bool one_row = lanes_.y >= 0 && (loops & kAlongY) == 0;
  return one_row ? LaneShape::kColumns : LaneShape::kFull;
}

bool PointShapes::Tells(ScopeId scope, LaneShape shape) const {
  const uint8_t loops = LoopsOfScope(scope);
  const bool rows = shape == LaneShape::kRows || shape == LaneShape::kFull;
  const bool columns =
      shape == LaneShape::kColumns || shape == LaneShape::kFull;
  return (rows || (loops & kAlongY) == 0) &&
         (columns || (loops & kAlongX) == 0) &&
         (shape != LaneShape::kOne || loops == kNone);
}

void PointShapes::AddNeeded(PointId id, std::vector<PointId>* needed) const {
  if (region_.symbols.empty()) return;
  const Point& p = region_.points[id];
  std::vector<int> symbols;
  index(id).CollectSymbols(&symbols);
  std::vector<ScopeId> scopes(p.cases.begin(), p.cases.end());
  scopes.push_back(p.scope);
  for (ScopeId s : scopes) {
    for (; s > 0; s = region_.scopes[s].parent) {
      for (const plan::Predicate& q : region_.scopes[s].predicates) {
        q.value.CollectSymbols(&symbols);
      }
    }
  }
  for (const int s : symbols) needed->push_back(region_.symbols[s].point);
}

std::vector<int> UsesOf(const Region& region) {
  std::vector<int> uses(region.points.size(), 0);
  for (const Point& p : region.points) {
    for (const PointId o : p.operands) ++uses[o];
  }
  for (const PointId r : region.results) ++uses[r];
  for (const plan::Symbol& s : region.symbols) ++uses[s.point];
  return uses;
}

std::vector<bool> StoredPoints(const Region& region) {
  std::vector<bool> is_stored(region.points.size(), false);
  for (const PointId r : region.results) is_stored[r] = true;
  for (size_t n = region.points.size(); n-- > 0;) {
    const Point& p = region.points[n];
    if (!is_stored[n]) continue;
    if (p.kind != Point::kMove && p.kind != Point::kChoose) continue;
    for (const PointId o : p.operands) is_stored[o] = true;
  }
  return is_stored;
}

}  // namespace hawser::cpu
