// Checks that a product's spec makes sense, on any device.
#ifndef HAWSER_KERNELS_GPU_DEVICE_GEMM_CHECK_H_
#define HAWSER_KERNELS_GPU_DEVICE_GEMM_CHECK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/gpu/device/library_call.h"

namespace hawser::gpu {

// Elements from one line to the next of `rows` x `columns`: at least 1.
int64_t LeadingOf(const MatrixLayout& layout, int64_t rows, int64_t columns);

// Errors: kInvalidArgument for sizes, strides and results that overlap,
// kUnimplemented for a c unlike d and for a bias or activation of what is no
// float or column-major. The device says which dtypes there are.
absl::Status CheckGemm(const GemmSpec& spec);

// The operands of a product by their names.
struct GemmOperands {
  DeviceAddress a, b, d;
  DeviceAddress c, bias;  // where the spec has them
  DeviceAddress workspace;
};
// Errors: kInvalidArgument for another number of addresses than the spec's.
absl::StatusOr<GemmOperands> GemmOperandsOf(const GemmSpec& spec,
                                            const CallOperands& operands);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_DEVICE_GEMM_CHECK_H_
