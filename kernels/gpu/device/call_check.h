// Checks that calls other than products make sense, and says how many bytes
// they read and write, on any device.
#ifndef HAWSER_KERNELS_GPU_DEVICE_CALL_CHECK_H_
#define HAWSER_KERNELS_GPU_DEVICE_CALL_CHECK_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "kernels/gpu/device/library_call.h"

namespace hawser::gpu {

// Errors: kInvalidArgument for sizes below 1 and for more than 3 lengths;
// kUnimplemented for dtypes that no library takes. Of a convolution's axes also
// kInvalidArgument for y that has not the size which x and w give, and
// kUnimplemented for numbers beyond 2^31, which no library takes.
absl::Status CheckCall(const FftSpec& spec);
absl::Status CheckCall(const FactorizationSpec& spec);
absl::Status CheckCall(const TriangularSolveSpec& spec);
absl::Status CheckCall(const QrSpec& spec);
absl::Status CheckCall(const ConvolutionSpec& spec);

// The bytes of each operand and result, in the order of the spec.
struct CallBytes {
  absl::InlinedVector<int64_t, 4> operands;
  absl::InlinedVector<int64_t, 3> results;
};
CallBytes BytesOf(const FftSpec& spec);
CallBytes BytesOf(const FactorizationSpec& spec);
CallBytes BytesOf(const TriangularSolveSpec& spec);
CallBytes BytesOf(const QrSpec& spec);
CallBytes BytesOf(const ConvolutionSpec& spec);

// Errors: kInvalidArgument unless there are as many addresses as `bytes` has
// entries.
absl::Status CheckOperands(const CallBytes& bytes,
                           const CallOperands& operands);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_DEVICE_CALL_CHECK_H_
