// Factorizations and triangular solves by their definition.
#ifndef HAWSER_KERNELS_EMU_LIBRARY_CALLS_LINALG_H_
#define HAWSER_KERNELS_EMU_LIBRARY_CALLS_LINALG_H_

#include "absl/status/status.h"
#include "kernels/gpu/device/library_call.h"

namespace hawser::emu {

// Factors; operands are addresses of this process. Computes in f64 for f32, in
// long double for f64, and rounds once. What a spec leaves unspecified is NaN.
// Errors: kInternal for eigenvalues of a matrix that is not finite: the
// library's loops might never end.
absl::Status RunCall(const gpu::FactorizationSpec& spec,
                     const gpu::CallOperands& operands);
absl::Status RunCall(const gpu::TriangularSolveSpec& spec,
                     const gpu::CallOperands& operands);
absl::Status RunCall(const gpu::QrSpec& spec,
                     const gpu::CallOperands& operands);

}  // namespace hawser::emu
#endif  // HAWSER_KERNELS_EMU_LIBRARY_CALLS_LINALG_H_
