#include "kernels/gpu/emit/emit.h"

#include "core/base/status.h"
#include "kernels/gpu/emit/blocks/blocks.h"
#include "kernels/gpu/emit/emitters.h"
#include "kernels/gpu/emit/reductions/reductions.h"

namespace hawser::gpu {
namespace {

using plan::RegionKind;

struct EmitterRow {
  RegionKind kind;
  Kernels (*emit)(const RegionSource& source);
};
constexpr EmitterRow kEmitters[] = {
    {RegionKind::kLoop, EmitLoop},
    {RegionKind::kTiledTranspose, EmitTiledTranspose},
    {RegionKind::kRow, EmitRow},
    {RegionKind::kFullReduction, EmitRow},
    {RegionKind::kColumnReduction, EmitColumns},
    {RegionKind::kLibraryDot, EmitDot},
    {RegionKind::kUpdate, EmitUpdate},
    {RegionKind::kBlock, EmitBlocks},
};

bool HasElements(const Module& module, const plan::Region& region) {
  const Computation& c = module.computation(region.computation);
  const Instruction& i = c.instructions()[region.instruction];
  for (int k = 0; k < i.num_results; ++k) {
    if (c.shape(i.first_result + k).num_elements() > 0) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::vector<EmittedKernel>> EmitRegion(
    const Module& module, const plan::Region& region,
    const EmitOptions& options) {
  for (const EmitterRow& row : kEmitters) {
    if (row.kind != region.kind) continue;
    if (!HasElements(module, region)) return std::vector<EmittedKernel>();
    return row.emit({module, region, options});
  }
  return Unimplemented("no kernel runs a region of kind ",
                       plan::RegionKindName(region.kind));
}

bool CanEmit(const Module& module, const plan::Region& region) {
  return !absl::IsUnimplemented(EmitRegion(module, region, {}).status());
}

}  // namespace hawser::gpu
