// sort: tiles in shared memory, then what makes one order of a run's tiles.
#include "core/base/status.h"
#include "kernels/gpu/emit/blocks/blocks.h"
#include "kernels/gpu/emit/blocks/sort_values.h"

namespace hawser::gpu {
namespace {

absl::Status AddMerges(const Sort& sort, std::vector<EmittedKernel>* kernels) {
  const int merges = sort.layout.doublings();
  int64_t part = sort.layout.tile;
  for (int n = 0; n < merges; ++n, part *= 2) {
    // The last one leaves everything in the results.
    const bool to_results = (merges - n) % 2 == 1;
    HAWSER_ASSIGN_OR_RETURN(
        EmittedKernel kernel,
        EmitMerge(sort, part,
                  to_results ? SortSide::kScratch : SortSide::kResults,
                  to_results ? SortSide::kResults : SortSide::kScratch,
                  n + 1 == merges));
    kernels->push_back(std::move(kernel));
  }
  return absl::OkStatus();
}

absl::Status AddNetwork(const Sort& sort, std::vector<EmittedKernel>* kernels) {
  const plan::SortLayout& layout = sort.layout;
  for (int64_t half = layout.tile; half < layout.padded; half *= 2) {
    for (int64_t d = half; d >= layout.tile; d /= 2) {
      HAWSER_ASSIGN_OR_RETURN(EmittedKernel kernel,
                              EmitExchange(sort, d, d == half));
      kernels->push_back(std::move(kernel));
    }
    HAWSER_ASSIGN_OR_RETURN(EmittedKernel kernel,
                            EmitTileExchanges(sort, 2 * half == layout.padded));
    kernels->push_back(std::move(kernel));
  }
  return absl::OkStatus();
}

}  // namespace

Kernels EmitSort(const RegionSource& source) {
  const Sort sort(source);
  if (sort.layout.tile == 0) {
    return Unimplemented("no kernel sorts runs or keys so large");
  }
  const bool in_scratch =
      sort.layout.merges && sort.layout.doublings() % 2 == 1;
  std::vector<EmittedKernel> kernels;
  HAWSER_ASSIGN_OR_RETURN(
      EmittedKernel tiles,
      EmitTiles(sort, in_scratch ? SortSide::kScratch : SortSide::kResults));
  kernels.push_back(std::move(tiles));
  HAWSER_RETURN_IF_ERROR(sort.layout.merges ? AddMerges(sort, &kernels)
                                            : AddNetwork(sort, &kernels));
  return kernels;
}

}  // namespace hawser::gpu
