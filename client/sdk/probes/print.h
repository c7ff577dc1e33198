// Print: a look at a value, in a function of Jit too.
#ifndef HAWSER_CLIENT_SDK_PROBES_PRINT_H_
#define HAWSER_CLIENT_SDK_PROBES_PRINT_H_

#include "absl/strings/string_view.h"
#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"

namespace hawser {

// Writes a value to stderr, "label = f32[2] {1, 2} (main.cc:12)". In a function
// that is traced, at each of its runs, which then wait for it; else at once,
// which computes x. x: any shape and dtype. label: what it is called.
// In the body of a loop, once behind it: the value of the last turn that came
// there, as "label = f32[] {5} (main.cc:12, turn 6)", turns counted from 0,
// those of loops in loops from the outermost; "label: in no turn (main.cc:12)"
// if none did. It is one more state of the loop, however many turns there are.
// In a condition, the last time it was asked: of the turn that did not follow.
// In a branch, only if that was taken. In the function of a reduction it is
// left out, which a warning says when it is traced.
// Result: x itself.
// Errors: none of its own; outside a trace, the error of computing x is
// printed. Grad: the identity's. Source: Nx print_value
Tensor Print(const Operand& x, absl::string_view label);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_PROBES_PRINT_H_
