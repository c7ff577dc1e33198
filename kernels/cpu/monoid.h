// Reductions whose body is one known op: add, multiply, maximum, minimum, and,
// or. Sums and products of f16 and bf16 accumulate in f32, those of f32 in
// f64, and are rounded once.
#ifndef HAWSER_KERNELS_CPU_MONOID_H_
#define HAWSER_KERNELS_CPU_MONOID_H_

#include "kernels/cpu/kernel.h"

namespace hawser::cpu {

// Runs a `reduce` of one input.
using MonoidFn = absl::StatusOr<Literals> (*)(const KernelContext&);

// nullptr when `op` (which may be nullptr) is none of them for this dtype.
MonoidFn FindMonoid(const OpDef* op, DType dtype);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_MONOID_H_
