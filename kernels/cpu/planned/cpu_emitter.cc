#include "kernels/cpu/planned/cpu_emitter.h"

#include <utility>

#include "core/base/status.h"
#include "core/ops/contraction/control.h"
#include "kernels/cpu/tiles/tile_program.h"

namespace hawser::cpu {
namespace {

using plan::RegionKind;

// Of beginning a region's work, however small its values.
constexpr double kRegionSteps = 256;

bool MayBeTiles(RegionKind kind) {
  return kind == RegionKind::kLoop || kind == RegionKind::kTiledTranspose ||
         kind == RegionKind::kRow || kind == RegionKind::kColumnReduction ||
         kind == RegionKind::kFullReduction;
}

RegionWork WorkOf(const plan::Site& site, plan::StepBuilder& steps) {
  RegionWork work{.computation = site.region.computation,
                  .instruction = site.region.instruction,
                  .bytes = site.region.bytes_read + site.region.bytes_written,
                  .lanes = site.region.lane_operations};
  for (size_t k = 0; k < site.instruction.operands.size(); ++k) {
    work.operands.push_back(steps.OperandSlot(site, static_cast<int>(k)));
  }
  for (int r = 0; r < site.instruction.num_results; ++r) {
    work.results.push_back(steps.ResultSlot(site, r));
  }
  return work;
}

}  // namespace

absl::StatusOr<TileProgramPtr> CpuEmitter::TilesOf(const plan::Site& site) {
  if (!MayBeTiles(site.region.kind)) {
    return Unimplemented("no loops are planned");
  }
  const auto make = [&]() -> absl::StatusOr<TileProgramPtr> {
    HAWSER_ASSIGN_OR_RETURN(
        TileProgram program,
        MakeTileProgram(module_, site.region,
                        {.isa = ProcessIsa(),
                         .strict = numerics_ == runtime::Numerics::kStrict}));
    return std::make_shared<const TileProgram>(std::move(program));
  };
  if (site.instruction.op != &kFusion) return make();
  const auto [at, is_new] = tiles_of_body_.try_emplace(site.region.body);
  if (is_new) at->second = make();
  return at->second;
}

absl::Status CpuEmitter::Add(const plan::Site& site, plan::StepBuilder& steps,
                             plan::Steps* to) {
  absl::StatusOr<TileProgramPtr> program = TilesOf(site);
  if (!program.ok() && !absl::IsUnimplemented(program.status())) {
    return program.status();
  }
  RegionWork work = WorkOf(site, steps);
  to->push_back({plan::WorkStep{static_cast<int>(works_.size())}});
  if (program.ok()) {
    work.steps = kRegionSteps + StepsOf(site.region);
    works_.push_back(TileWork{std::move(work), *std::move(program)});
  } else {
    work.steps =
        rows_.CostOf(site.region.computation, site.region.instruction);
    works_.push_back(RowWork{std::move(work)});
  }
  return absl::OkStatus();
}

}  // namespace hawser::cpu
