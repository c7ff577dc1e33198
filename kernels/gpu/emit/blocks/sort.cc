// sort: by digits, or by a network; one launch after the other.
#include "core/base/status.h"
#include "kernels/gpu/emit/blocks/blocks.h"
#include "kernels/gpu/emit/blocks/sort_values.h"

namespace hawser::gpu {
namespace {

absl::Status AddDigits(const Sort& sort, std::vector<EmittedKernel>* kernels) {
  const auto add = [&](absl::StatusOr<EmittedKernel> kernel) {
    HAWSER_RETURN_IF_ERROR(kernel.status());
    kernels->push_back(*std::move(kernel));
    return absl::OkStatus();
  };
  if (sort.layout.one_tile()) return add(EmitDigitTiles(sort));
  const int passes = sort.layout.passes;
  SortSide from = SortSide::kOperands;
  for (int n = 0; n < passes; ++n) {
    // The last one leaves everything in the results.
    const SortSide to =
        (passes - n) % 2 == 1 ? SortSide::kResults : SortSide::kScratch;
    HAWSER_RETURN_IF_ERROR(add(EmitDigitCounts(sort, n, from)));
    if (sort.layout.sums_apart()) {
      HAWSER_RETURN_IF_ERROR(add(EmitDigitSums(sort)));
    }
    HAWSER_RETURN_IF_ERROR(add(EmitDigitMoves(sort, n, from, to)));
    from = to;
  }
  return absl::OkStatus();
}

absl::Status AddNetwork(const Sort& sort, std::vector<EmittedKernel>* kernels) {
  const plan::SortLayout& layout = sort.layout;
  HAWSER_ASSIGN_OR_RETURN(EmittedKernel tiles, EmitTiles(sort));
  kernels->push_back(std::move(tiles));
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
  std::vector<EmittedKernel> kernels;
  HAWSER_RETURN_IF_ERROR(sort.layout.by_digits() ? AddDigits(sort, &kernels)
                                                 : AddNetwork(sort, &kernels));
  return kernels;
}

}  // namespace hawser::gpu
