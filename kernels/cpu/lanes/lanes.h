// FindConvert: conversions of lanes in the instructions of this machine.
#ifndef HAWSER_KERNELS_CPU_LANES_LANES_H_
#define HAWSER_KERNELS_CPU_LANES_LANES_H_

#include "kernels/cpu/isa/isa.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {

// The locality for __builtin_prefetch of memory that is read some time later.
inline constexpr int kSecondCache = 2;

// The loop of `convert`, which gives the bits of the row's element loop; null:
// there is none for these dtypes.
ElementFn FindConvert(const ElementTypes& types, Isa isa);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LANES_LANES_H_
