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
// Result: x itself; no op of the graph. What is printed in the body of a loop
// or a branch is left out, which a warning says once, when it is traced.
// Errors: none of its own; outside a trace, the error of computing x is
// printed. Grad: the identity's. Source: Nx print_value
Tensor Print(const Operand& x, absl::string_view label);

}  // namespace hawser
#endif  // HAWSER_CLIENT_SDK_PROBES_PRINT_H_
