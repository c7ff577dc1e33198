// Products of floats drawn at random: dtypes, axes in any order, transposes
// around them, what follows them.
#ifndef HAWSER_TESTS_KERNELS_GPU_DRAWN_PRODUCTS_H_
#define HAWSER_TESTS_KERNELS_GPU_DRAWN_PRODUCTS_H_

#include <cstdint>
#include <string>

#include "core/ir/module.h"

namespace hawser::gpu {

struct DrawnProduct {
  Module module;
  std::string words;  // "bf16 in f32, bias then f32"
  DType dtype;        // of the product
};
// The same for the same seed. Axes have 1 to `most` elements.
DrawnProduct DrawProduct(uint64_t seed, int64_t most);

}  // namespace hawser::gpu
#endif  // HAWSER_TESTS_KERNELS_GPU_DRAWN_PRODUCTS_H_
