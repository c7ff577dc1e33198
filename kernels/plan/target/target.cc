#include "kernels/plan/target/target.h"

namespace hawser::plan {

Target GpuTarget() {
  return {.name = "gpu",
          .bytes_per_second = 4.3e12,
          .lanes_per_second = 33e12,
          .launch_seconds = 2e-6,
          .joined_elements = int64_t{1} << 16,
          .least_transposed = 16,
          .tile_bytes = int64_t{128} << 20,
          .unrolled_instructions = 320,
          .unrolled_folds = 4,
          .parallel_units = 132,
          .block_kernels = true,
          .split_above_elements = 1024,
          .epilogues = EpilogueSupport::kTable,
          .atomic_scatters = 1024,
          .sorted_scatters = 1024,
          .selected = 1024,
          .strided_products = true,
          .slow_byte_products = 1.25e14,  // an H200's; others reach 7e14
          .matrix_products = DTypeSet::Of(DType::kBF16) |
                             DTypeSet::Of(DType::kF16) |
                             DTypeSet::Of(DType::kF64)};
}

Target CpuTarget() {
  return {.name = "cpu",
          .bytes_per_second = 2e10,
          .lanes_per_second = 4e10,
          .launch_seconds = 2e-7,
          .op_seconds = 2e-8,
          .max_concatenated = 4,
          .joined_elements = 1024,
          .cached_bytes = int64_t{1} << 20,
          .tile_bytes = int64_t{1} << 20,
          .unrolled_instructions = 320,
          .unrolled_elements = 4096,
          .max_row_bytes = int64_t{1} << 18,
          .vector_bytes = 32,
          .parallel_units = 2,
          .epilogues = EpilogueSupport::kAny,
          .splits_loops = true,
          .convolutions = true,
          .alignment = 64};
}

}  // namespace hawser::plan
