// Scatters by sorted places, for engines on which many threads write at once.
#ifndef HAWSER_CORE_OPS_SCATTERS_SORTED_SCATTERS_H_
#define HAWSER_CORE_OPS_SCATTERS_SORTED_SCATTERS_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "core/ir/module.h"

namespace hawser {

// Says of a scatter if it has a better form.
using SkipsScatter =
    std::function<bool(const Computation&, const Instruction&)>;

// True if WithSortedScatters would change a scatter of the module.
bool HasLongScatters(const Module& module, int64_t vectors,
                     const SkipsScatter& skips = nullptr);

// A module that gives the same but for the order of floats' sums, which sizes
// decide: each scatter of one input with at least so many index vectors that
// is not skipped, whose computation is a monoid or takes the update, and whose
// windows are whole along the axes that they do not move along, becomes a sort
// of the index vectors by the places they name, a scan of the updates in that
// order that begins anew at each place, and for each place a search for its
// last update. Work grows with the updates and the places, never with their
// product.
absl::StatusOr<Module> WithSortedScatters(const Module& module, int64_t vectors,
                                          const SkipsScatter& skips = nullptr);

}  // namespace hawser
#endif  // HAWSER_CORE_OPS_SCATTERS_SORTED_SCATTERS_H_
