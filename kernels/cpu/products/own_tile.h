// RunOwnTile: a tile of a product by own loops.
#ifndef HAWSER_KERNELS_CPU_PRODUCTS_OWN_TILE_H_
#define HAWSER_KERNELS_CPU_PRODUCTS_OWN_TILE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/products/gemm.h"

namespace hawser::cpu {

// The most rows and columns of a tile: its accumulators and the packed part of
// b stay in the second cache.
inline constexpr int64_t kOwnRows = 64;
inline constexpr int64_t kOwnColumns = 256;

// Computes a box of the result. Errors: the token's; kUnimplemented, a product
// of bool.
absl::Status RunOwnTile(const GemmProblem& problem, const GemmBox& box,
                        const Environment& environment);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_PRODUCTS_OWN_TILE_H_
