#include "kernels/cpu/libraries/libraries.h"

namespace hawser::cpu {

Libraries Libraries::OfProcess() {
  const Blas* const blas = FindBlas();
  const Dnnl* const dnnl = Dnnl::OfProcess();
  const bool multiplies = dnnl != nullptr && dnnl->has_bf16() &&
                          (blas == nullptr || dnnl->is_fast());
  const bool is_exact = dnnl != nullptr && dnnl->has_exact_bytes();
  return {blas, multiplies ? dnnl : nullptr, dnnl, is_exact ? dnnl : nullptr};
}

std::string Libraries::ProductsOf(DType dtype) const {
  if (dtype == DType::kBF16 && dnnl != nullptr) return dnnl->name();
  switch (dtype) {
    case DType::kBF16:
    case DType::kF16:
    case DType::kF32:
    case DType::kF64:
    case DType::kC64:
    case DType::kC128:
      return blas == nullptr ? "" : blas->name;
    default:
      return "";
  }
}

}  // namespace hawser::cpu
