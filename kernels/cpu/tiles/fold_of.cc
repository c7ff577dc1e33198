#include "kernels/cpu/tiles/fold_of.h"

#include "core/base/status.h"
#include "core/ops/contraction/reduce.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {
namespace {

absl::StatusOr<std::unique_ptr<const LaneFold>> PlaceOfExtreme(
    const Instruction& i, DType dtype, DType index, Isa isa) {
  const ExtremeKind kind{
      .largest = i.op == &kArgMax,
      .last = i.attributes.GetString("tie", "low") == "high"};
  const ExtremeFolds* folds = FindExtremes(kind, dtype, isa);
  if (folds == nullptr) return Unimplemented(i.op->name, " has no lanes");
  return std::make_unique<ExtremeFold>(*folds, kind, dtype, index);
}

}  // namespace

absl::StatusOr<std::unique_ptr<const LaneFold>> FoldOf(
    const Module& module, const plan::Region& region, plan::PointId reduce,
    const PointShapes& shapes, Isa isa) {
  const Computation& body = module.computation(region.body);
  const plan::Point& p = region.points[reduce];
  const Instruction& i = body.instructions()[p.instruction];
  const auto dtype_of = [&](plan::PointId id) {
    return body.shape(region.points[id].value).dtype();
  };
  if (i.op == &kArgMax || i.op == &kArgMin) {
    return PlaceOfExtreme(i, dtype_of(p.operands[0]),
                          dtype_of(reduce), isa);
  }
  const Computation& called = module.computation(i.called[0]);
  const bool plain =
      i.operands.size() == 2 && called.instructions().size() == 3;
  const OpDef* monoid = plain ? MonoidOf(called) : nullptr;
  const CpuKernel* kernel =
      monoid == nullptr ? nullptr : FindCpuKernel(*monoid);
  if (kernel == nullptr) {
    return Unimplemented("a reduction by more than one op");
  }
  if (shapes.shape(p.operands[0]) != LaneShape::kOne) {
    return Unimplemented("a reduction from more than one value");
  }
  Reduction reduction = *kernel->reduction(dtype_of(p.operands[1]));
  for (Folds* folds : {&reduction.elements, &reduction.parts}) {
    *folds = FindFolds(*monoid, *folds, isa);
  }
  return std::make_unique<MonoidFold>(reduction);
}

}  // namespace hawser::cpu
