// ProductTail: what a region does with a product of its own, box by box, while
// each box is in the caches.
#ifndef HAWSER_KERNELS_CPU_PLANNED_PRODUCT_TAIL_H_
#define HAWSER_KERNELS_CPU_PLANNED_PRODUCT_TAIL_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ir/module.h"
#include "kernels/cpu/products/gemm.h"
#include "kernels/cpu/tiles/tile_program.h"
#include "kernels/cpu/tiles/tile_runner.h"
#include "kernels/plan/region/region.h"

namespace hawser::cpu {

// Immutable and thread-safe.
class ProductTail {
 public:
  // `region`: a fusion of kLibraryDot. Errors: kUnimplemented, it does not read
  // its product element by element, or what tiles do not compute.
  static absl::StatusOr<ProductTail> Make(const Module& module,
                                          const plan::Region& region,
                                          const TileOptions& options);

  int body() const { return body_; }  // the region's computation
  int dot() const { return dot_; }    // an instruction of it
  // The dot's factors: operands of the region.
  absl::Span<const int> factors() const { return factors_; }
  const TileProgram& program() const { return program_; }
  // True if the result's elements are as wide as the product's, which may then
  // be in the result's memory.
  bool in_place() const { return in_place_; }
  // True if a box of the product is a box of the tail's loops.
  bool by_boxes() const { return by_boxes_; }
  // Only then: the iterations of each loop.
  absl::InlinedVector<LoopRange, 3> LoopsOf(const GemmBox& box) const;

 private:
  ProductTail() = default;
  // Finds out which loops are rows and columns.
  void FindLoops(const plan::Region& region, const Instruction& dot);

  TileProgram program_;  // the product is its last operand
  int body_ = -1, dot_ = -1;
  absl::InlinedVector<int, 2> factors_;
  bool in_place_ = false, by_boxes_ = false;
  int num_loops_ = 0;
  int batch_ = -1, row_ = -1, column_ = -1;  // loops; -1: there is none
  int64_t rows_of_a_batch_ = 1;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_PLANNED_PRODUCT_TAIL_H_
