#include "kernels/cpu/folds/tiles/fold_of.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "kernels/cpu/chains/op_loops.h"
#include "kernels/cpu/folds/lanes/fold_lanes.h"
#include "kernels/cpu/folds/tiles/body_fold.h"
#include "kernels/cpu/kernel.h"
#include "kernels/cpu/lane_program.h"

namespace hawser::cpu {
namespace {

using Fold = std::unique_ptr<const LaneFold>;

absl::StatusOr<Fold> IndexOfExtreme(const Instruction& i, DType dtype,
                                    DType index, Isa isa) {
  const ExtremeKind kind{
      .largest = i.op == &kArgMax,
      .last = i.attributes.GetString("tie", "low") == "high"};
  const ExtremeFolds* folds = FindExtremes(kind, dtype, isa);
  if (folds == nullptr) return Unimplemented(i.op->name, " has no lanes");
  return std::make_unique<ExtremeFold>(*folds, kind, dtype, index, isa);
}

// Ops whose floats are among those that they are given, or exact.
constexpr const OpDef* kExact[] = {&kParameter, &kConstant, &kMaximum,
                                   &kMinimum,   &kSelect,   &kAbs,
                                   &kNegate,    &kClamp};

// True if another order of folding by it gives other bits.
bool Rounds(const Computation& body) {
  return absl::c_any_of(body.instructions(), [&](const Instruction& i) {
    const DType dtype = body.shape(i.first_result).dtype();
    return (IsFloat(dtype) || IsComplex(dtype)) &&
           !absl::c_linear_search(kExact, i.op);
  });
}

absl::StatusOr<Fold> ByBody(const Computation& body, std::vector<DType> dtypes,
                            const TileOptions& options) {
  auto program =
      LaneProgram::Make(body, [&](const OpDef& op, const ElementTypes& types) {
        const bool by_row = options.strict && op.ulp > 0;
        const ElementFn fn =
            by_row ? nullptr : FindLoop(op, types, options.isa);
        return fn != nullptr ? fn : LaneProgram::LoopOfRow(op, types);
      });
  if (!program.has_value()) {
    return Unimplemented("a reduction by what is no lane program");
  }
  return std::make_unique<BodyFold>(*std::move(program), std::move(dtypes),
                                    Rounds(body), options.isa);
}

Fold ByMonoid(const OpDef& monoid, Reduction reduction, Isa isa) {
  for (Folds* folds : {&reduction.elements, &reduction.parts}) {
    *folds = FindFolds(monoid, *folds, isa);
  }
  return std::make_unique<MonoidFold>(reduction, isa);
}

}  // namespace

absl::StatusOr<Fold> FoldOf(const Module& module, const plan::Region& region,
                            plan::PointId reduce, const PointShapes& shapes,
                            const TileOptions& options) {
  const Computation& body = module.computation(region.body);
  const plan::Point& p = region.points[reduce];
  const Instruction& i = body.instructions()[p.instruction];
  const auto dtype_of = [&](plan::PointId id) {
    return body.shape(region.points[id].value).dtype();
  };
  if (i.op != &kReduce) {
    return IndexOfExtreme(i, dtype_of(p.operands[0]), dtype_of(reduce),
                          options.isa);
  }
  const size_t n = p.operands.size() / 2;
  std::vector<DType> dtypes;
  for (size_t k = 0; k < n; ++k) {
    if (shapes.shape(p.operands[k]) != LaneShape::kOne) {
      return Unimplemented("a reduction from more than one value");
    }
    dtypes.push_back(dtype_of(p.operands[n + k]));
  }
  const Computation& called = module.computation(i.called[0]);
  const OpDef* monoid =
      n == 1 && called.instructions().size() == 3 ? MonoidOf(called) : nullptr;
  const CpuKernel* kernel =
      monoid == nullptr ? nullptr : FindCpuKernel(*monoid);
  if (kernel == nullptr) return ByBody(called, std::move(dtypes), options);
  return ByMonoid(*monoid, *kernel->reduction(dtypes[0]), options.isa);
}

}  // namespace hawser::cpu
