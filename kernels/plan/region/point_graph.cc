#include "kernels/plan/region/point_graph.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/status.h"
#include "kernels/plan/region/node_table.h"

namespace hawser::plan {
namespace {

// Mixes a number into a digest.
uint64_t Mixed(uint64_t digest, int64_t number) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;
  digest = (digest ^ static_cast<uint64_t>(number)) * kOdd;
  return digest ^ (digest >> 29);
}

// Equal forms have equal digests; of those that differ few do, as most differ
// in numbers.
uint64_t DigestOf(const IndexExpr& e, uint64_t digest) {
  digest = Mixed(digest, e.constant());
  for (const IndexExpr::Term& term : e.terms()) {
    digest = Mixed(digest, term.coefficient);
  }
  return digest;
}
uint64_t DigestOf(const IndexMap& map) {
  uint64_t digest = map.axes.size();
  for (const IndexExpr& axis : map.axes) digest = DigestOf(axis, digest);
  return digest;
}
uint64_t DigestOf(ScopeId parent, const std::vector<Predicate>& predicates) {
  uint64_t digest = Mixed(predicates.size(), parent);
  for (const Predicate& p : predicates) {
    digest = DigestOf(p.value, Mixed(digest, p.bounds.max));
  }
  return digest;
}

}  // namespace

// True if an iteration of the reduced loops changes it.
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
  const int known = map_places_.Find(
      maps_.size(), DigestOf(map), [&](size_t m) { return DigestOf(maps_[m]); },
      [&](size_t m) { return maps_[m] == map; });
  if (known >= 0) return known;
  map_reduced_.push_back(Reduced(map));
  maps_.push_back(std::move(map));
  return static_cast<MapId>(maps_.size()) - 1;
}

ScopeId PointGraph::AddScope(ScopeId parent,
                             std::vector<Predicate> predicates) {
  predicates.erase(
      std::remove_if(predicates.begin(), predicates.end(),
                     [](const Predicate& p) { return p.AlwaysHolds(); }),
      predicates.end());
  if (predicates.empty()) return parent;
  const int known = scope_places_.Find(
      scopes_.size(), DigestOf(parent, predicates),
      [&](size_t s) {
        return DigestOf(scopes_[s].parent, scopes_[s].predicates);
      },
      [&](size_t s) {
        return scopes_[s].parent == parent &&
               scopes_[s].predicates == predicates;
      });
  if (known >= 0) return known;
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
  const bool per_turn = user >= 0 && IsDonePerTurn(user);
  if (known != ids.end()) {
    if (per_turn) per_turn_[*known] = true;
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
  per_turn_.push_back(per_turn);
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
  map_places_.Clear();
  scope_places_.Clear();
  // Maps that become equal keep their numbers: points stay what they are.
  for (IndexMap& map : maps_) map = map.Substitute(back);
  for (Scope& scope : scopes_) {
    for (Predicate& p : scope.predicates) p.value = p.value.Substitute(back);
  }
  FindReduced();
  for (Point& p : points_) p.per_result = PerResult(p.map, p.scope);
  per_turn_.assign(points_.size(), false);
  // Most points are older than their operands.
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t id = 0; id < points_.size(); ++id) {
      if (!IsDonePerTurn(static_cast<PointId>(id))) continue;
      for (const PointId o : points_[id].operands) {
        changed |= !per_turn_[o];
        per_turn_[o] = true;
      }
    }
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
