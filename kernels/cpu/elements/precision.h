// Floats of fewer bits, in the bits of wider ones.
#ifndef HAWSER_KERNELS_CPU_ELEMENTS_PRECISION_H_
#define HAWSER_KERNELS_CPU_ELEMENTS_PRECISION_H_

#include "kernels/cpu/kernel.h"

namespace hawser::cpu {

// The loop of a `reduce_precision`: one for each number of bits that a dtype
// can be cut to, as a loop is given none.
ElementFn ReducePrecisionElement(const ElementTypes& types);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_ELEMENTS_PRECISION_H_
