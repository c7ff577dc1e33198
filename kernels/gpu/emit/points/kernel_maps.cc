#include "kernels/gpu/emit/points/kernel_maps.h"

#include <algorithm>

#include "kernels/gpu/emit/text/index_text.h"

namespace hawser::gpu {

using plan::IndexExpr;
using plan::IndexMap;
using plan::Point;
using plan::PointId;
using plan::Predicate;
using plan::Scope;
using plan::ScopeId;

KernelMaps::KernelMaps(const RegionSource& source,
                       absl::Span<const IndexExpr> back)
    : source_(source),
      scopes_(source.region.scopes),
      fits_u32_(source.region.fits_u32) {
  int64_t turns = 1;
  for (const int64_t e : source.region.domain) turns *= std::max<int64_t>(e, 1);
  fits_u32_ &= turns < int64_t{1} << 31;
  for (const IndexMap& m : source.region.maps) {
    maps_.push_back(m.Substitute(back));
    for (const IndexExpr& e : maps_.back().axes) fits_u32_ &= FitsU32(e);
  }
  for (Scope& scope : scopes_) {
    for (Predicate& p : scope.predicates) {
      p.value = p.value.Substitute(back);
      fits_u32_ &= FitsU32(p.value);
    }
  }
}

IndexExpr KernelMaps::OffsetOf(PointId id) const {
  return MapOf(source_.point(id)).Linear(source_.shape(id).dims());
}

bool KernelMaps::IsUniform(const Point& p) const {
  const IndexMap& map = MapOf(p);
  return p.scope == 0 &&
         std::all_of(map.axes.begin(), map.axes.end(),
                     [](const IndexExpr& e) { return e.IsConstant(); });
}

void KernelMaps::AddNeeds(PointId id, std::vector<bool>* needed) const {
  const Point& p = source_.point(id);
  for (const PointId o : p.operands) (*needed)[o] = true;
  std::vector<int> symbols;
  for (const IndexExpr& e : MapOf(p).axes) e.CollectSymbols(&symbols);
  std::vector<ScopeId> scopes(p.cases.begin(), p.cases.end());
  scopes.push_back(p.scope);
  for (ScopeId s : scopes) {
    for (; s > 0; s = scopes_[s].parent) {
      for (const Predicate& q : scopes_[s].predicates) {
        q.value.CollectSymbols(&symbols);
      }
    }
  }
  for (const int s : symbols) {
    (*needed)[source_.region.symbols[s].point] = true;
  }
}

}  // namespace hawser::gpu
