// Every pass, until nothing changes.
#ifndef HAWSER_CORE_PASSES_OPTIMIZE_H_
#define HAWSER_CORE_PASSES_OPTIMIZE_H_

#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "core/passes/fold.h"

namespace hawser {

struct OptimizeOptions {
  // Folds constants with it; without one they stay.
  ConstantEvaluator evaluate;
  // Verifies the module after every pass; a failure names the pass.
#ifndef NDEBUG
  bool verify = true;
#else
  bool verify = false;
#endif
};

// A module with the same signature that computes the same values, in fewer or
// equally many instructions. `module` must be verified. Errors: kInternal.
absl::StatusOr<Module> Optimize(Module module,
                                const OptimizeOptions& options = {});

}  // namespace hawser
#endif  // HAWSER_CORE_PASSES_OPTIMIZE_H_
