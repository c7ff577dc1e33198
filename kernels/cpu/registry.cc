#include "absl/container/flat_hash_map.h"
#include "kernels/cpu/families.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {

const CpuKernel* FindCpuKernel(const OpDef& op) {
  static const auto& by_op = *[] {
    auto* map = new absl::flat_hash_map<const OpDef*, const CpuKernel*>();
    for (absl::Span<const CpuKernel> family :
         {ArgExtremeKernels(), CompareKernels(), ControlKernels(),
          ConvertKernels(), ConvolutionKernels(), DotKernels(),
          ElementwiseKernels(), GatherKernels(), ReduceKernels(), ScanKernels(),
          ScatterKernels(), LinalgKernels(), ShapeKernels(), SliceKernels(),
          SortKernels(), FftKernels(), JoinedKernels()}) {
      for (const CpuKernel& kernel : family) map->emplace(kernel.op, &kernel);
    }
    return map;
  }();
  const auto at = by_op.find(&op);
  return at == by_op.end() ? nullptr : at->second;
}

}  // namespace hawser::cpu
