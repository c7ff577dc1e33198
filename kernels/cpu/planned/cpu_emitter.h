// CpuEmitter: the regions of a plan as work of this engine.
#ifndef HAWSER_KERNELS_CPU_PLANNED_CPU_EMITTER_H_
#define HAWSER_KERNELS_CPU_PLANNED_CPU_EMITTER_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/ir/module.h"
#include "core/runtime/client.h"
#include "kernels/cpu/planned/planned_program.h"
#include "kernels/plan/steps/step_builder.h"

namespace hawser::cpu {

class CpuEmitter final : public plan::RegionEmitter {
 public:
  // `module`: the planned one; `rows`: of its instructions. All outlive it.
  CpuEmitter(const Module& module, const CpuProgram& rows,
             runtime::Numerics numerics, std::vector<Work>* works)
      : module_(module), rows_(rows), numerics_(numerics), works_(*works) {}

  absl::Status Add(const plan::Site& site, plan::StepBuilder& steps,
                   plan::Steps* to) override;
  TileOptions options() const;

 private:
  // Errors: kUnimplemented, a region that tiles do not compute.
  absl::StatusOr<TileProgramPtr> TilesOf(const plan::Site& site);
  // Says which of its values are read, and about how long it takes.
  void SetUse(const plan::Site& site, RegionWork& work);
  void SetUse(const plan::Site& site, TileWork& work);
  void SetUse(const plan::Site& site, RowWork& work);
  absl::StatusOr<ProductTailPtr> TailOf(const plan::Site& site);

  const Module& module_;
  const CpuProgram& rows_;
  const runtime::Numerics numerics_;
  std::vector<Work>& works_;
  // Keys are the computations that fusions call: each is one region.
  absl::flat_hash_map<int, absl::StatusOr<TileProgramPtr>> tiles_of_body_;
  absl::flat_hash_map<int, absl::StatusOr<ProductTailPtr>> tail_of_body_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_PLANNED_CPU_EMITTER_H_
