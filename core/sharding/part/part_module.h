// PartModule: boxes of a module's results as a module of their own.
#ifndef HAWSER_CORE_SHARDING_PART_PART_MODULE_H_
#define HAWSER_CORE_SHARDING_PART_PART_MODULE_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ir/types/box.h"
#include "core/ir/module.h"
#include "core/ops/part/part.h"

namespace hawser {

struct PartModule {
  // Its entry takes `takes`, then `offsets` as scalars s64[], and returns the
  // pieces that it was made for.
  Module module;
  std::vector<Piece> takes;
  // The first index of the part on each axis. Parts of equal sizes are equal
  // modules with other pieces and offsets.
  std::vector<int64_t> offsets;
};

// Returns the part of `module` that gives these pieces of the entry's results,
// in this order. Errors: kInternal, an op without a part rule.
absl::StatusOr<PartModule> PartOf(const Module& module,
                                  absl::Span<const Piece> gives);

}  // namespace hawser
#endif  // HAWSER_CORE_SHARDING_PART_PART_MODULE_H_
