// Reductions by a monoid, in an order that sizes alone decide: in strict
// numerics, where the order shows, the number of reduced elements alone.
#ifndef HAWSER_KERNELS_CPU_FOLDS_MONOID_H_
#define HAWSER_KERNELS_CPU_FOLDS_MONOID_H_

#include "kernels/cpu/elements/folds.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {

// The row of the monoid that is all of a body, or nullptr.
const CpuKernel* MonoidKernel(const Computation& body);

// Runs a `reduce` of one input, of the dtype of `reduction`.
absl::StatusOr<Literals> RunReduction(const KernelContext& context,
                                      const Reduction& reduction);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_FOLDS_MONOID_H_
