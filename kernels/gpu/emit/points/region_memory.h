// RegionMemory: the loads and stores of a region as parameters of a kernel.
#ifndef HAWSER_KERNELS_GPU_EMIT_POINTS_REGION_MEMORY_H_
#define HAWSER_KERNELS_GPU_EMIT_POINTS_REGION_MEMORY_H_

#include <map>
#include <string>
#include <vector>

#include "kernels/gpu/emit/points/region_source.h"
#include "kernels/gpu/emit/text/kernel_builder.h"

namespace hawser::gpu {

// Invariant: each result of the region has one store, each kLoad point one
// load. Never changes; the kernel gets a parameter when it is asked for.
class RegionMemory {
 public:
  // `kernel` outlives this object.
  RegionMemory(const RegionSource& source, KernelBuilder* kernel);

  // nullptr: the point is no load.
  const plan::MemoryAccess* FindLoad(plan::PointId id) const;
  const plan::MemoryAccess& StoreOf(int result) const {
    return *stores_[result];
  }
  // True if the result has no elements: nothing is stored.
  bool IsEmpty(int result) const;

  // The names of the parameters.
  std::string LoadParameter(const plan::MemoryAccess& load) const;
  std::string StoreParameter(const plan::MemoryAccess& store) const;

 private:
  const RegionSource source_;
  KernelBuilder* const kernel_;
  std::map<plan::PointId, const plan::MemoryAccess*> loads_;
  std::vector<const plan::MemoryAccess*> stores_;  // by result
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_POINTS_REGION_MEMORY_H_
