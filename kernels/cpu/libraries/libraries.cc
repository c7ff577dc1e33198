#include "kernels/cpu/libraries/libraries.h"

namespace hawser::cpu {

Libraries Libraries::OfProcess() {
  Libraries libraries{FindBlas(), Dnnl::OfProcess()};
  const bool serves = libraries.blas == nullptr ||
                      (libraries.dnnl != nullptr && libraries.dnnl->is_fast());
  if (!serves) libraries.dnnl = nullptr;
  return libraries;
}

std::string Libraries::ProductsOf(DType dtype) const {
  if (dtype == DType::kBF16 && dnnl != nullptr) return dnnl->name();
  switch (dtype) {
    case DType::kBF16:
    case DType::kF16:
    case DType::kF32:
    case DType::kF64:
      return blas == nullptr ? "" : blas->name;
    default:
      return "";
  }
}

}  // namespace hawser::cpu
