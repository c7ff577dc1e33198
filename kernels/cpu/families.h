// The tables the registry joins, one a family, each in the file of that name.
#ifndef HAWSER_KERNELS_CPU_FAMILIES_H_
#define HAWSER_KERNELS_CPU_FAMILIES_H_

#include "absl/types/span.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {

// The row of an op that has an element loop.
constexpr CpuKernel ElementRow(const OpDef* op,
                               ElementFn (*element)(const ElementTypes&),
                               ElementSteps steps = {}) {
  return {.op = op, .run = RunElementwise, .element = element, .steps = steps};
}

absl::Span<const CpuKernel> ArgExtremeKernels();
absl::Span<const CpuKernel> CompareKernels();
absl::Span<const CpuKernel> ControlKernels();
absl::Span<const CpuKernel> ConvertKernels();
absl::Span<const CpuKernel> ConvolutionKernels();
absl::Span<const CpuKernel> DotKernels();
absl::Span<const CpuKernel> ElementwiseKernels();
absl::Span<const CpuKernel> FftKernels();
absl::Span<const CpuKernel> GatherKernels();
absl::Span<const CpuKernel> JoinedKernels();
absl::Span<const CpuKernel> LinalgKernels();
absl::Span<const CpuKernel> ReduceKernels();
absl::Span<const CpuKernel> ScanKernels();
absl::Span<const CpuKernel> ScatterKernels();
absl::Span<const CpuKernel> ShapeKernels();
absl::Span<const CpuKernel> SliceKernels();
absl::Span<const CpuKernel> SortKernels();

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_FAMILIES_H_
