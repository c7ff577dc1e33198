// Convolutions by their definition.
#ifndef HAWSER_KERNELS_EMU_LIBRARY_CALLS_CONVOLUTION_H_
#define HAWSER_KERNELS_EMU_LIBRARY_CALLS_CONVOLUTION_H_

#include "absl/status/status.h"
#include "kernels/gpu/device/library_call.h"

namespace hawser::emu {

// Convolves; operands are addresses of this process. Sums in f64, of f64 in
// long double, and rounds once. What lies outside of x is left out.
absl::Status RunCall(const gpu::ConvolutionSpec& spec,
                     const gpu::CallOperands& operands);

}  // namespace hawser::emu
#endif  // HAWSER_KERNELS_EMU_LIBRARY_CALLS_CONVOLUTION_H_
