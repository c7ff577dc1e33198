// The verifier: a check that every claim in a module still holds.
#ifndef HAWSER_CORE_IR_VERIFIER_H_
#define HAWSER_CORE_IR_VERIFIER_H_

#include "absl/status/status.h"
#include "core/ir/types/limits.h"
#include "core/ir/module.h"

namespace hawser {

// Checks limits, that calls go to smaller indices, and every shape anew.
// Numbering needs no check: Computation::Append lets no other come about. Never
// recurses. Errors: kInvalidArgument naming computation and instruction,
// kResourceExhausted naming the limit.
absl::Status Verify(const Module& module, const ModuleLimits& limits = {});

// The limits alone, for a computation about to join `module` (the decoder
// builds through Append, which has inferred everything already).
absl::Status CheckLimits(const Module& module, const ModuleLimits& limits);

}  // namespace hawser
#endif  // HAWSER_CORE_IR_VERIFIER_H_
