// KernelMaps: a region's index maps and predicates over the loops of a kernel.
#ifndef HAWSER_KERNELS_GPU_EMIT_POINTS_KERNEL_MAPS_H_
#define HAWSER_KERNELS_GPU_EMIT_POINTS_KERNEL_MAPS_H_

#include <vector>

#include "absl/types/span.h"
#include "kernels/gpu/emit/points/region_source.h"

namespace hawser::gpu {

// Invariant: every map and every predicate counts the kernel's loops, which
// may be others than the region's. Never changes.
class KernelMaps {
 public:
  // `back` gives each loop of the region's domain in loops of the kernel.
  KernelMaps(const RegionSource& source,
             absl::Span<const plan::IndexExpr> back);

  // True if u32 holds every index and all it is made of.
  bool fits_u32() const { return fits_u32_; }
  const plan::IndexMap& MapOf(const plan::Point& p) const {
    return maps_[p.map];
  }
  const plan::Scope& scope(plan::ScopeId scope) const { return scopes_[scope]; }
  // Returns where the point's value is in memory, in elements.
  plan::IndexExpr OffsetOf(plan::PointId id) const;
  // True if the point depends on no loop.
  bool IsUniform(const plan::Point& p) const;
  // Marks the points that the point reads, or whose values are in its indices
  // and predicates.
  void AddNeeds(plan::PointId id, std::vector<bool>* needed) const;

 private:
  const RegionSource source_;
  std::vector<plan::IndexMap> maps_;
  std::vector<plan::Scope> scopes_;
  bool fits_u32_;
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_POINTS_KERNEL_MAPS_H_
