#include "kernels/gpu/emit/points/region_memory.h"

#include <algorithm>

#include "kernels/gpu/emit/text/value_text.h"

namespace hawser::gpu {

RegionMemory::RegionMemory(const RegionSource& source, KernelBuilder* kernel)
    : source_(source), kernel_(kernel), stores_(source.region.results.size()) {
  for (const plan::MemoryAccess& a : source.region.accesses) {
    if (a.result >= 0) {
      stores_[a.result] = &a;
    } else {
      loads_[a.point] = &a;
    }
  }
}

const plan::MemoryAccess* RegionMemory::FindLoad(plan::PointId id) const {
  const auto at = loads_.find(id);
  return at == loads_.end() ? nullptr : at->second;
}

bool RegionMemory::IsEmpty(int result) const {
  return source_.shape(source_.region.results[result]).num_elements() == 0;
}

std::string RegionMemory::LoadParameter(const plan::MemoryAccess& load) const {
  const Shape& shape = source_.shape(load.point);
  // A result that is written in place has as many bytes
  // (kernels/plan/memory/lifetimes.cc).
  const bool alone = std::none_of(
      stores_.begin(), stores_.end(), [&](const plan::MemoryAccess* store) {
        return source_.shape(store->point).byte_size() == shape.byte_size();
      });
  return kernel_->Parameter({KernelParameter::kOperand, load.operand, 0,
                             shape.byte_size(), Access::kRead},
                            TypeName(shape.dtype()), alone);
}

std::string RegionMemory::StoreParameter(
    const plan::MemoryAccess& store) const {
  const Shape& shape = source_.shape(store.point);
  const bool update = source_.region.kind == plan::RegionKind::kUpdate;
  return kernel_->Parameter(
      {KernelParameter::kResult, store.result, 0, shape.byte_size(),
       update ? Access::kUpdate : Access::kWrite},
      TypeName(shape.dtype()), false);
}

}  // namespace hawser::gpu
