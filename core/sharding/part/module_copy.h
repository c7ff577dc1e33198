// ModuleCopy: copies computations of one module to another.
#ifndef HAWSER_CORE_SHARDING_PART_MODULE_COPY_H_
#define HAWSER_CORE_SHARDING_PART_MODULE_COPY_H_

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "core/ops/expression.h"

namespace hawser {

// Each computation is copied once, with those it calls. Both modules outlive
// it; `to` only grows. Not thread-safe.
class ModuleCopy {
 public:
  ModuleCopy(const Module& from, Module* to) : from_(from), to_(to) {}

  // Returns the number of the copy.
  absl::StatusOr<int> Of(int computation);
  Module* to() { return to_; }
  Monoids& monoids() { return monoids_; }

 private:
  const Module& from_;
  Module* const to_;
  absl::flat_hash_map<int, int> known_;
  Monoids monoids_;
};

}  // namespace hawser
#endif  // HAWSER_CORE_SHARDING_PART_MODULE_COPY_H_
