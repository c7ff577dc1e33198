// Partials: the partial results of a reduction, between its two kernels.
#ifndef HAWSER_KERNELS_GPU_EMIT_REDUCTIONS_PARTIALS_H_
#define HAWSER_KERNELS_GPU_EMIT_REDUCTIONS_PARTIALS_H_

#include <string>
#include <vector>

#include "kernels/gpu/emit/reductions/folds.h"
#include "kernels/gpu/emit/text/emitted_kernel.h"

namespace hawser::gpu {

// True if the region is to be split, and its scratch memory holds what its
// folds need.
bool SplitsInto(const RegionSource& source, absl::Span<const Fold> folds);

// The results that are stored once for each result of a reduction, or those of
// the reduction's whole domain.
std::vector<int> ResultsOf(const plan::Region& region, bool per_result);

// Returns where part `split` of `splits` begins: `size` dealt out evenly.
std::string PartBegin(int64_t size, int64_t splits, const std::string& split,
                      const IndexNames& names);

// Stores `part` of `fold` as number `index` of those in scratch memory.
void StorePartial(const RegionSource& source, absl::Span<const Fold> folds,
                  const Fold& fold, const std::string& part,
                  const std::string& index, KernelBuilder* kernel);

// The second kernel: folds parts s * kept + k over s by `lanes` lanes for each
// of the `kept` results k, then does what is done once per result. The first
// kernel stores the results of the whole domain.
absl::StatusOr<EmittedKernel> EmitCombination(const RegionSource& source,
                                              absl::Span<const Fold> folds,
                                              int64_t lanes);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_REDUCTIONS_PARTIALS_H_
