// The kernels of the family's rows, each in the file of its name.
#ifndef HAWSER_KERNELS_CPU_LINALG_ROWS_H_
#define HAWSER_KERNELS_CPU_LINALG_ROWS_H_

#include "absl/status/statusor.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {

absl::StatusOr<Literals> RunCholesky(const KernelContext& context);
double CholeskyCost(const CostContext& context);

absl::StatusOr<Literals> RunTriangularSolve(const KernelContext& context);
double TriangularSolveCost(const CostContext& context);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LINALG_ROWS_H_
