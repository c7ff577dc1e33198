#include "kernels/cpu/planned/cpu_emitter.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ops/contraction/control.h"
#include "kernels/cpu/libraries/libraries.h"
#include "kernels/cpu/tile_steps/chain_step.h"

namespace hawser::cpu {
namespace {

using plan::RegionKind;

bool MayBeTiles(RegionKind kind) {
  return kind == RegionKind::kLoop || kind == RegionKind::kTiledTranspose ||
         kind == RegionKind::kRow || kind == RegionKind::kColumnReduction ||
         kind == RegionKind::kFullReduction;
}

RegionWork WorkOf(const Module& module, const plan::Site& site,
                  plan::StepBuilder& steps) {
  RegionWork work{.name = plan::NameOf(module, site.instruction),
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

// What a region's tiles are made of, in words.
std::string Described(const TileProgram& program) {
  size_t steps = 0, chains = 0;
  for (const TileProgram::Pass& pass : program.passes) {
    steps += pass.tile.size();
    chains +=
        std::count_if(pass.tile.begin(), pass.tile.end(), [](const auto& step) {
          return dynamic_cast<const ChainStep*>(step.get()) != nullptr;
        });
  }
  std::string text =
      absl::StrCat("runs by tiles of ", program.ny, " x ", program.nx, ", ",
                   steps, steps == 1 ? " step" : " steps");
  if (chains > 0) {
    absl::StrAppend(&text, ", ", chains, " of them ",
                    chains == 1 ? "a chain" : "chains", " of ops");
  }
  return text;
}

// By which row, and over which library where its products have one.
std::string RowDescribed(const plan::Site& site) {
  const DType dtype =
      site.computation.shape(site.instruction.first_result).dtype();
  const std::string library = site.region.kind == RegionKind::kLibraryDot
                                  ? Libraries::OfProcess().ProductsOf(dtype)
                                  : "";
  if (!library.empty()) return absl::StrCat("runs by its row, over ", library);
  return "runs by its row";
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
  RegionWork work = WorkOf(module_, site, steps);
  to->push_back({plan::WorkStep{static_cast<int>(works_.size())}});
  if (program.ok()) {
    steps.Note(site, Described(**program));
    works_.push_back(TileWork{std::move(work), *std::move(program)});
  } else {
    steps.Note(site, RowDescribed(site));
    works_.push_back(RowWork{std::move(work), site.region.computation,
                             site.region.instruction});
  }
  return absl::OkStatus();
}

}  // namespace hawser::cpu
