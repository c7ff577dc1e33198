// Matrix products by their definition.
#ifndef HAWSER_KERNELS_EMU_GEMM_H_
#define HAWSER_KERNELS_EMU_GEMM_H_

#include <cstdint>

#include "absl/status/status.h"
#include "kernels/gpu/device/gemm_check.h"

namespace hawser::emu {

// Refuses the products that cuBLASLt refuses, so that an engine meets the same
// errors here. Errors: kInvalidArgument for inconsistent sizes or layouts,
// kUnimplemented otherwise.
absl::Status CheckGemm(const gpu::GemmSpec& spec);

// Bytes from the address of a batch of `rows` x `columns` matrices of `layout`
// to the end of the last one.
int64_t SpanBytes(const gpu::MatrixLayout& layout, int64_t batch, int64_t rows,
                  int64_t columns);

// Computes the product of a checked spec; operands are addresses of this
// process. Sums in order of k, in f32 for halves and f32, in f64 for f64, and
// rounds once.
void RunGemm(const gpu::GemmSpec& spec, const gpu::GemmOperands& operands);

}  // namespace hawser::emu
#endif  // HAWSER_KERNELS_EMU_GEMM_H_
