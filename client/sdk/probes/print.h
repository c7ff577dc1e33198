// Print: a look at a value, in a function of Jit too.
#ifndef HAWSER_CLIENT_SDK_PROBES_PRINT_H_
#define HAWSER_CLIENT_SDK_PROBES_PRINT_H_

#include "absl/strings/string_view.h"
#include "client/sdk/operand.h"
#include "client/sdk/tensor.h"

namespace hawser {

// Writes a value to stderr, "label = f32[2] {1, 2} (main.cc:12)". A function
// that is traced writes it at each of its runs, which then wait for it; outside
// of a trace it is computed and written at once. x: any shape and dtype. label:
// the name that is written. A loop's body writes once, after the loop: the
// value of the last turn that came there, as "label = f32[] {5} (main.cc:12,
// turn 6)"; turns are iterations counted from 0, those of loops in loops from
// the outermost; "label: in no turn (main.cc:12)" if none did. The value is one
// more state of the loop, however many turns there are. A condition writes what
// it was asked last, of the turn that did not follow. A branch writes only if
// it was taken. The function of a reduction leaves it out, and a warning says
// so when it is traced.
// Result: x itself.
// Errors: none of its own; outside a trace, the error of computing x is
// printed. Grad: the identity's. Source: Nx print_value
Tensor Print(const Operand& x, absl::string_view label);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_PROBES_PRINT_H_
