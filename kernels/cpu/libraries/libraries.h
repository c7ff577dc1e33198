// Libraries: what products of matrices are given to on this machine.
#ifndef HAWSER_KERNELS_CPU_LIBRARIES_LIBRARIES_H_
#define HAWSER_KERNELS_CPU_LIBRARIES_LIBRARIES_H_

#include <string>

#include "core/base/values/dtype.h"
#include "kernels/cpu/libraries/blas.h"
#include "kernels/cpu/libraries/dnnl.h"

namespace hawser::cpu {

// Value type; nullptr: not there.
struct Libraries {
  const Blas* blas = nullptr;
  const Dnnl* dnnl = nullptr;  // for products of bf16: if it is the faster one
  const Dnnl* convolutions = nullptr;
  const Dnnl* bytes = nullptr;  // for products of s8 or u8: if it is exact

  // The libraries that this process found, once.
  static Libraries OfProcess();
  // The name of that which large products of fast numerics use; "": own loops.
  std::string ProductsOf(DType dtype) const;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LIBRARIES_LIBRARIES_H_
