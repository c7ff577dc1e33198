// Says which factors a product takes, and how many steps it has.
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/libraries/libraries.h"
#include "kernels/cpu/products/byte_product.h"
#include "kernels/cpu/products/gemm.h"

namespace hawser::cpu {
namespace {

// Rounded down to powers of two, so that a full tile is kLookSteps.
constexpr ElementSteps kProduct32nds = {
    .integer = 8, .half = 8, .f32 = 8, .f64 = 8, .complex = 32};

}  // namespace

double GemmSteps(DType dtype) {
  const Libraries libraries = Libraries::OfProcess();
  if (dtype == DType::kBF16 && libraries.dnnl != nullptr) return 1.0 / 128;
  if (libraries.blas != nullptr) {
    if (dtype == DType::kF32) return 1.0 / 64;
    if (dtype == DType::kF64 || dtype == DType::kF16 || dtype == DType::kBF16) {
      return 1.0 / 32;
    }
    if (dtype == DType::kC64) return 1.0 / 16;
    if (dtype == DType::kC128) return 1.0 / 8;
  }
  return kProduct32nds.Of(dtype) / 32.0;
}

double GemmSteps(DType factors, DType dtype) {
  if (factors == DType::kBF16) return GemmSteps(factors);
  return kByteProductSteps;
}

bool IsWorthConverting(double products, double elements) {
  constexpr double kFewProducts = 16;  // for each element
  return products >= kFewProducts * elements;
}

bool TakesFactors(DType factors, DType dtype, const Libraries& libraries) {
  switch (factors) {
    case DType::kBF16:
      return dtype == DType::kF32 && libraries.dnnl != nullptr;
    case DType::kS8:
      return dtype == DType::kS32 && libraries.bytes != nullptr;
    case DType::kU8:
      return dtype == DType::kU32 && libraries.bytes != nullptr;
    default:
      return false;
  }
}

}  // namespace hawser::cpu
