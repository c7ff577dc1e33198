// Fourier transforms by their definition.
#ifndef HAWSER_KERNELS_EMU_LIBRARY_CALLS_FFT_H_
#define HAWSER_KERNELS_EMU_LIBRARY_CALLS_FFT_H_

#include "absl/status/status.h"
#include "kernels/gpu/device/library_call.h"

namespace hawser::emu {

// Transforms; operands are addresses of this process. Sums in f64 for c64, in
// long double for c128, and rounds once. kRealInverse leaves NaN in its
// operand. Errors: kInternal where that is not the transform of real numbers.
absl::Status RunCall(const gpu::FftSpec& spec,
                     const gpu::CallOperands& operands);

}  // namespace hawser::emu
#endif  // HAWSER_KERNELS_EMU_LIBRARY_CALLS_FFT_H_
