// The kernels of the family's rows, each in the file of its name.
#ifndef HAWSER_KERNELS_CPU_LINALG_ROWS_H_
#define HAWSER_KERNELS_CPU_LINALG_ROWS_H_

#include "absl/status/statusor.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {

absl::StatusOr<Literals> RunCholesky(const KernelContext& context);
double CholeskyCost(const CostContext& context);

absl::StatusOr<Literals> RunLu(const KernelContext& context);
double LuCost(const CostContext& context);

absl::StatusOr<Literals> RunQr(const KernelContext& context);
double QrCost(const CostContext& context);
absl::StatusOr<Literals> RunGeqrf(const KernelContext& context);
double GeqrfCost(const CostContext& context);
absl::StatusOr<Literals> RunHouseholderProduct(const KernelContext& context);
double HouseholderProductCost(const CostContext& context);

absl::StatusOr<Literals> RunEig(const KernelContext& context);
double EigCost(const CostContext& context);
absl::StatusOr<Literals> RunEigh(const KernelContext& context);
double EighCost(const CostContext& context);
absl::StatusOr<Literals> RunSvd(const KernelContext& context);
double SvdCost(const CostContext& context);

absl::StatusOr<Literals> RunTriangularSolve(const KernelContext& context);
double TriangularSolveCost(const CostContext& context);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LINALG_ROWS_H_
