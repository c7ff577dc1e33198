// The table of the family.
#include "core/ops/linalg/linalg.h"

#include "kernels/cpu/families.h"
#include "kernels/cpu/linalg/rows.h"

namespace hawser::cpu {
namespace {

constexpr CpuKernel kKernels[] = {
    {&kCholesky, RunCholesky, nullptr, CholeskyCost},
    {&kEig, RunEig, nullptr, EigCost},
    {&kEigh, RunEigh, nullptr, EighCost},
    {&kGeqrf, RunGeqrf, nullptr, GeqrfCost},
    {&kHouseholderProduct, RunHouseholderProduct, nullptr,
     HouseholderProductCost},
    {&kLu, RunLu, nullptr, LuCost},
    {&kQr, RunQr, nullptr, QrCost},
    {&kSvd, RunSvd, nullptr, SvdCost},
    {&kTriangularSolve, RunTriangularSolve, nullptr, TriangularSolveCost},
};

}  // namespace

absl::Span<const CpuKernel> LinalgKernels() { return kKernels; }

}  // namespace hawser::cpu
