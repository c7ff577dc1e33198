// Matrix products by their definition.
#ifndef HAWSER_KERNELS_EMU_GEMM_H_
#define HAWSER_KERNELS_EMU_GEMM_H_

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/gpu/device/device_api.h"

namespace hawser::emu {

// Whether the emulated library has a routine for it: what cuBLASLt has, so
// that an engine meets the same refusals here. Errors: kInvalidArgument for
// sizes or layouts that make no sense, kUnimplemented otherwise.
absl::Status CheckGemm(const gpu::GemmSpec& spec);

// Bytes from a matrix's address to the end of its last one, if it has
// `rows` x `columns` and `layout`.
int64_t SpanBytes(const gpu::MatrixLayout& layout, int64_t batch, int64_t rows,
                  int64_t columns);

// Of a checked spec, over addresses of this process. Sums in order of k, in
// f32 for halves and f32, in f64 for f64, and rounds once.
void RunGemm(const gpu::GemmSpec& spec, const gpu::GemmOperands& operands);

}  // namespace hawser::emu
#endif  // HAWSER_KERNELS_EMU_GEMM_H_
