// ProductLoops: a region's product as four loops over its two factors.
#ifndef HAWSER_KERNELS_GPU_EMIT_PRODUCT_LOOPS_H_
#define HAWSER_KERNELS_GPU_EMIT_PRODUCT_LOOPS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/gpu/emit/points/point_writer.h"
#include "kernels/gpu/emit/points/region_source.h"
#include "kernels/gpu/emit/text/emitted_kernel.h"

namespace hawser::gpu {

// The loops of a product's kernel. Each stands for as many axes as the product
// has of its kind.
enum ProductLoop { kBatch, kRow, kColumn, kSummed, kNumLoops };
// They have these names in a kernel.
inline constexpr const char* kProductLoopNames[] = {"b", "m", "n", "k"};

struct ProductLoops {
  struct Factor {
    const Shape* shape = nullptr;
    int operand = -1;        // of the region
    plan::IndexExpr offset;  // over the loops
  };

  plan::PointId point = -1;  // the product's
  Factor factors[2];
  int64_t sizes[kNumLoops] = {};
  // The region's loops in the product's.
  std::vector<plan::IndexExpr> back;
  bool fits_u32 = true;  // the factors' offsets
};

// Takes a kLibraryDot region. Errors: kUnimplemented for a product at two
// places of the region, or whose factors are not the region's operands.
absl::StatusOr<ProductLoops> FindProductLoops(const RegionSource& source);

// A product's kernel whose blocks make square tiles of results. It names the
// loops, says where a block's tile begins (b, m0, n0), and counts the blocks.
class ProductTiles {
 public:
  // All outlive it.
  ProductTiles(const ProductLoops& product, int64_t tile, PointWriter* writer)
      : product_(product), tile_(tile), writer_(*writer) {}

  void NameLoops();
  void WriteCorner();
  // Ends the kernel, which all was written to. Errors: the writer's; too many
  // blocks.
  Kernels Finish();

 private:
  int64_t Tiles(int loop) const;

  const ProductLoops& product_;
  const int64_t tile_;
  PointWriter& writer_;
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_PRODUCT_LOOPS_H_
