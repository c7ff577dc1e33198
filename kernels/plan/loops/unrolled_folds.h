// UnrolledFolds: reductions over very few elements, as elementwise work.
#ifndef HAWSER_KERNELS_PLAN_LOOPS_UNROLLED_FOLDS_H_
#define HAWSER_KERNELS_PLAN_LOOPS_UNROLLED_FOLDS_H_

#include <optional>

#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "kernels/plan/target/target.h"

namespace hawser::plan {

// Returns `module` with its large reductions of one value over at most
// `target.unrolled_folds` elements written out, the initial value first, in the
// order of the axes: such a value is then computed where it is read. nullopt:
// there are none. Sums may differ in the order of their elements.
absl::StatusOr<std::optional<Module>> UnrolledFolds(const Module& module,
                                                    const Target& target);

}  // namespace hawser::plan
#endif  // HAWSER_KERNELS_PLAN_LOOPS_UNROLLED_FOLDS_H_
