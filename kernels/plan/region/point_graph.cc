#include "kernels/plan/region/point_graph.h"

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "kernels/plan/region/node_table.h"

namespace hawser::plan {
// Whether a turn of the reduced loops changes it.
bool PointGraph::Reduced(const IndexExpr& e) const {
  if (num_kept_ == static_cast<int>(domain_.size())) return false;
  for (size_t d = num_kept_; d < domain_.size(); ++d) {
    if (e.UsesDim(static_cast<int>(d))) return true;
  }
  if (!e.UsesSymbol()) return false;
  std::vector<int> used;
  e.CollectSymbols(&used);
  return std::any_of(used.begin(), used.end(), [&](int s) {
    const Point& p = points_[symbols_[s].point];
    return map_reduced_[p.map] || scope_reduced_[p.scope];
  });
}

bool PointGraph::Reduced(const IndexMap& map) const {
  return std::any_of(map.axes.begin(), map.axes.end(),
                     [&](const IndexExpr& e) { return Reduced(e); });
}

bool PointGraph::Reduced(const Scope& scope) const {
  return (scope.parent > 0 && scope_reduced_[scope.parent]) ||
         std::any_of(scope.predicates.begin(), scope.predicates.end(),
                     [&](const Predicate& p) { return Reduced(p.value); });
}

PointGraph::PointGraph(const Computation& computation, Dims domain,
                       int num_kept)
    : computation_(computation) {
  ChangeDomain(std::move(domain), num_kept, {});
}

MapId PointGraph::AddMap(IndexMap map) {
  const auto known = std::find(maps_.begin(), maps_.end(), map);
  const auto id = static_cast<MapId>(known - maps_.begin());
  if (known == maps_.end()) {
    map_reduced_.push_back(Reduced(map));
    maps_.push_back(std::move(map));
  }
  return id;
}

ScopeId PointGraph::AddScope(ScopeId parent,
                             std::vector<Predicate> predicates) {
  predicates.erase(
      std::remove_if(predicates.begin(), predicates.end(),
                     [](const Predicate& p) { return p.AlwaysHolds(); }),
      predicates.end());
  if (predicates.empty()) return parent;
  for (size_t s = 1; s < scopes_.size(); ++s) {
    if (scopes_[s].parent == parent && scopes_[s].predicates == predicates) {
      return static_cast<ScopeId>(s);
    }
  }
  scopes_.push_back({.parent = parent,
                     .predicates = std::move(predicates),
                     .depth = scopes_[parent].depth + 1});
  scope_reduced_.push_back(Reduced(scopes_.back()));
  return static_cast<ScopeId>(scopes_.size()) - 1;
}

IndexExpr PointGraph::AddSymbol(PointId point, Bounds bounds) {
  symbols_.push_back({point, bounds});
  return IndexExpr::Symbol(static_cast<int>(symbols_.size()) - 1, bounds);
}

bool PointGraph::PerResult(MapId map, ScopeId scope) const {
  return !map_reduced_[map] && !scope_reduced_[scope];
}

PointId PointGraph::Demand(ValueId value, MapId map, ScopeId scope,
                           PointId user) {
  PointIds& ids = by_value_[value];
  const auto known = std::find_if(ids.begin(), ids.end(), [&](PointId other) {
    return points_[other].map == map && points_[other].scope == scope;
  });
  if (known != ids.end()) {
    if (user >= 0 && !points_[user].per_result) per_turn_[*known] = true;
    return *known;
  }
  if (ids.empty() && demanded_ != nullptr) demanded_->push_back(value);
  const auto id = static_cast<PointId>(points_.size());
  ids.push_back(id);
  Point& p = points_.emplace_back();
  p.kind = Point::kLoad;
  p.value = value;
  p.instruction = computation_.producer(value);
  p.result = value - computation_.instructions()[p.instruction].first_result;
  p.map = map;
  p.scope = scope;
  p.per_result = PerResult(map, scope);
  per_turn_.push_back(user >= 0 && !points_[user].per_result);
  return id;
}

void PointGraph::Expand(int instruction, std::vector<ValueId>* demanded) {
  const Instruction& i = computation_.instructions()[instruction];
  const NodeRow& row = NodeOf(*i.op);
  demanded_ = demanded;
  for (int k = 0; k < i.num_results; ++k) {
    const auto found = by_value_.find(i.first_result + k);
    if (found == by_value_.end()) continue;
    const PointIds ids = found->second;  // Demand may move the table
    for (const PointId id : ids) {
      Point p = points_[id];
      p.kind = Point::kOp;
      row.expand(*this, i, id, &p);
      points_[id] = std::move(p);
    }
  }
  demanded_ = nullptr;
}

void PointGraph::ChangeDomain(Dims domain, int num_kept,
                              absl::Span<const IndexExpr> back) {
  domain_ = std::move(domain);
  num_kept_ = num_kept;
  turns_kept_ = turns_all_ = 1;
  for (size_t d = 0; d < domain_.size(); ++d) {
    turns_all_ *= static_cast<double>(domain_[d]);
    if (static_cast<int>(d) < num_kept)
      turns_kept_ *= static_cast<double>(domain_[d]);
  }
  // Maps that become equal keep their numbers: points stay what they are.
  for (IndexMap& map : maps_) map = map.Substitute(back);
  for (Scope& scope : scopes_) {
    for (Predicate& p : scope.predicates) p.value = p.value.Substitute(back);
  }
  FindReduced();
  for (Point& p : points_) p.per_result = PerResult(p.map, p.scope);
  per_turn_.assign(points_.size(), false);
  for (const Point& p : points_) {
    if (p.per_result) continue;
    for (const PointId o : p.operands) per_turn_[o] = true;
  }
}

// Maps and scopes reach each other through symbols: until nothing changes,
// which is soon, as a symbol's own map is older than those that use it.
void PointGraph::FindReduced() {
  map_reduced_.assign(maps_.size(), false);
  scope_reduced_.assign(scopes_.size(), false);
  bool changed = true;
  while (changed) {
    changed = false;
    for (size_t m = 0; m < maps_.size(); ++m) {
      if (map_reduced_[m] || !Reduced(maps_[m])) continue;
      map_reduced_[m] = changed = true;
    }
    for (size_t s = 1; s < scopes_.size(); ++s) {
      if (scope_reduced_[s] || !Reduced(scopes_[s])) continue;
      scope_reduced_[s] = changed = true;
    }
  }
}

absl::Span<const PointId> PointGraph::PointsOf(ValueId value) const {
  const auto found = by_value_.find(value);
  return found == by_value_.end() ? absl::Span<const PointId>()
                                  : absl::MakeConstSpan(found->second);
}

double PointGraph::Evaluations(const Point& point) const {
  const auto& axes = maps_[point.map].axes;
  const bool uniform = point.scope == 0 && std::all_of(axes.begin(), axes.end(),
                                                       [](const IndexExpr& e) {
                                                         return e.IsConstant();
                                                       });
  // Computed before the loops.
  if (uniform && point.kind != Point::kReduce) return 1;
  return point.per_result ? turns_kept_ : turns_all_;
}

double PointGraph::Evaluations(ValueId value) const {
  double total = 0;
  for (const PointId p : PointsOf(value)) total += Evaluations(points_[p]);
  return total;
}

int PointGraph::ScopeDepth(ValueId value) const {
  int depth = 0;
  for (const PointId p : PointsOf(value)) {
    depth = std::max(depth, scopes_[points_[p].scope].depth);
  }
  return depth;
}

}  // namespace hawser::plan
