#include "kernels/cpu/linalg/matrices.h"

#include <limits>

namespace hawser::cpu {

const Lapack* LapackFor(const KernelContext& context, int64_t rows,
                        int64_t longest, int64_t own_rows) {
  if (rows <= own_rows || longest > std::numeric_limits<int32_t>::max() ||
      context.environment.numerics == runtime::Numerics::kStrict) {
    return nullptr;
  }
  return Lapack::OfProcess();
}

double ProductSteps(DType dtype, int64_t rows, int64_t own_rows) {
  const bool own = rows <= own_rows || Lapack::OfProcess() == nullptr;
  const double complex = IsComplex(dtype) ? 4 : 1;
  const auto bytes = static_cast<double>(ByteWidth(RealPart(dtype)));
  return complex * bytes / (own ? 16 : 256);
}

}  // namespace hawser::cpu
