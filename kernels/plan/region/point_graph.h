// PointGraph: a region's points while they are being found. The walk goes from
// results to operands: all that users need of a value is known before the
// value's own instruction is met, so one pass over the instructions, backwards,
// finds every point without recursion.
#ifndef HAWSER_KERNELS_PLAN_REGION_POINT_GRAPH_H_
#define HAWSER_KERNELS_PLAN_REGION_POINT_GRAPH_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "core/ir/module.h"
#include "kernels/plan/region/region.h"

namespace hawser::plan {

class PointGraph {
 public:
  using PointIds = absl::InlinedVector<PointId, 2>;

  // Loops over `domain`, of which the first `num_kept` are not reduced.
  // `computation` outlives the graph.
  PointGraph(const Computation& computation, Dims domain, int num_kept);

  // Room for so many points.
  void Reserve(size_t points) {
    points_.reserve(points);
    per_turn_.reserve(points);
    by_value_.reserve(points);
    maps_.reserve(kUsualMaps);
  }
  // Returns the point of `value` there; it is made when it is new. `user` is
  // the point that needs it, -1 for a result.
  PointId Demand(ValueId value, MapId map, ScopeId scope, PointId user);
  MapId AddMap(IndexMap map);
  // Returns the scope in which `parent` and `predicates` hold; predicates that
  // always hold are left out.
  ScopeId AddScope(ScopeId parent, std::vector<Predicate> predicates);
  // Returns the symbol for the integer at `point`, clamped.
  IndexExpr AddSymbol(PointId point, Bounds bounds);

  // Makes evaluations of the loads of the instruction's results that were
  // demanded, and demands their operands. Fills `*demanded`, when given, with
  // values that nothing had demanded before.
  void Expand(int instruction, std::vector<ValueId>* demanded = nullptr);

  // Every loop index i becomes `back[i]`, over other loops.
  void ChangeDomain(Dims domain, int num_kept,
                    absl::Span<const IndexExpr> back);

  absl::Span<const PointId> PointsOf(ValueId value) const;
  bool Demanded(ValueId value) const { return by_value_.contains(value); }

  const Computation& computation() const { return computation_; }
  const Dims& domain() const { return domain_; }
  int num_kept() const { return num_kept_; }
  const std::vector<Point>& points() const { return points_; }
  const Point& point(PointId p) const { return points_[p]; }
  const IndexMap& map(MapId m) const { return maps_[m]; }
  const std::vector<IndexMap>& maps() const { return maps_; }
  const std::vector<Scope>& scopes() const { return scopes_; }
  const std::vector<Symbol>& symbols() const { return symbols_; }
  // A region takes these over. The graph is of no use afterwards.
  std::vector<Point> TakePoints() && { return std::move(points_); }
  std::vector<IndexMap> TakeMaps() && { return std::move(maps_); }
  std::vector<Scope> TakeScopes() && { return std::move(scopes_); }
  std::vector<Symbol> TakeSymbols() && { return std::move(symbols_); }
  // True if what is done for every iteration of the reduced loops needs it,
  // maybe by way of what is done once per result.
  bool NeededPerTurn(PointId p) const { return per_turn_[p]; }
  // Returns how often points of `value` are evaluated in all.
  double Evaluations(ValueId value) const;
  double Evaluations(const Point& point) const;
  // Deepest scope of its points.
  int ScopeDepth(ValueId value) const;

 private:
  bool IsDonePerTurn(PointId p) const {
    return !points_[p].per_result || per_turn_[p];
  }
  static constexpr size_t kUsualMaps = 4;

  // Finds values among many by digests; if there are few, looks through them
  // one by one.
  class Places {
   public:
    // The first of `size` values that is the same as the one with `digest`; -1:
    // none is. Earlier values have not changed.
    template <typename DigestOf, typename Same>
    int Find(size_t size, uint64_t digest, DigestOf digest_of, Same same) {
      for (size_t i = 0; size <= kFew && i < size; ++i) {
        if (same(i)) return static_cast<int>(i);
      }
      if (size <= kFew) return -1;
      for (; known_ < size; ++known_) {
        by_digest_[digest_of(known_)].push_back(static_cast<int>(known_));
      }
      for (const int i : by_digest_[digest]) {
        if (same(static_cast<size_t>(i))) return i;
      }
      return -1;
    }
    void Clear() {
      by_digest_.clear();
      known_ = 0;
    }

   private:
    static constexpr size_t kFew = 64;
    absl::flat_hash_map<uint64_t, std::vector<int>> by_digest_;
    size_t known_ = 0;
  };

  bool PerResult(MapId map, ScopeId scope) const;
  bool Reduced(const IndexExpr& e) const;
  bool Reduced(const IndexMap& map) const;
  bool Reduced(const Scope& scope) const;
  void FindReduced();

  const Computation& computation_;
  Dims domain_;
  int num_kept_;
  double turns_kept_ = 1, turns_all_ = 1;
  std::vector<IndexMap> maps_;
  Places map_places_, scope_places_;
  absl::InlinedVector<bool, 8> map_reduced_;  // uses a reduced loop index
  absl::InlinedVector<bool, 8> scope_reduced_;
  std::vector<Scope> scopes_ = {Scope{}};
  std::vector<Symbol> symbols_;
  std::vector<Point> points_;
  absl::InlinedVector<bool, 16> per_turn_;
  absl::flat_hash_map<ValueId, PointIds> by_value_;
  std::vector<ValueId>* demanded_ = nullptr;  // of the Expand at hand
};

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_REGION_POINT_GRAPH_H_
