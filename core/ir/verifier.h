// The verifier: limits on a module's size, and a check that every claim in it
// still holds.
#ifndef HAWSER_CORE_IR_VERIFIER_H_
#define HAWSER_CORE_IR_VERIFIER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "core/ir/module.h"

namespace hawser {

// The limits of what one end accepts from the other. The defaults bound decode
// time and memory: 65,536 instructions verify in tens of milliseconds.
struct ModuleLimits {
  int64_t bytes = int64_t{16} << 20;          // encoded
  int64_t instructions = int64_t{1} << 16;    // all computations together
  int64_t computations = int64_t{1} << 12;
  int64_t operands = int64_t{1} << 20;        // all instructions together
  int nesting = 64;                           // calls inside calls
  int64_t elements = int64_t{1} << 40;        // of any one value
  int64_t constant_bytes = int64_t{8} << 20;  // all constants together
};

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
