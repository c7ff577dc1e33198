// Sorts of which only the first elements are read, without sorting the others.
#ifndef HAWSER_KERNELS_PLAN_SELECTION_SELECTIONS_H_
#define HAWSER_KERNELS_PLAN_SELECTION_SELECTIONS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "kernels/plan/target/target.h"

namespace hawser::plan {

// A module that gives the same: each sort along a last axis of which slices
// alone read, and of each row few elements from the first on, becomes
// first_places and gathers. Long rows of which there are few are cut in parts
// first, so that the device is busy. Nullopt where there is none, or where
// Target::selected is 0.
absl::StatusOr<std::optional<Module>> WithSelections(const Module& module,
                                                     const Target& target);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_SELECTION_SELECTIONS_H_
