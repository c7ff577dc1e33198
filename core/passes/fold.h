// Constant folding.
#ifndef HAWSER_CORE_PASSES_FOLD_H_
#define HAWSER_CORE_PASSES_FOLD_H_

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/values/literal.h"
#include "core/ir/module.h"

namespace hawser {

// Runs computation `computation` of `module`, which takes no parameters, and
// gives its results. The evaluator of kernels/cpu does; core does not know it.
using ConstantEvaluator = std::function<absl::StatusOr<std::vector<Literal>>(
    const Module& module, int computation)>;

// Replaces instructions that depend on constants alone by their values. Left
// alone are: iota and other ops without operands; one element, repeated;
// `while`, `case` and whatever calls them, which may take for ever; inputs
// above 64 KiB; results above 4 KiB, or larger than 64 bytes and than what they
// are made from (a broadcast says in a few bytes what its value says in many).
// Instructions that the evaluator refuses are left alone too. Sets `*changed`
// when it folded any.
absl::StatusOr<Module> FoldConstants(Module module,
                                     const ConstantEvaluator& evaluate,
                                     bool* changed);

}  // namespace hawser
#endif  // HAWSER_CORE_PASSES_FOLD_H_
