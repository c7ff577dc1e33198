#include "kernels/cpu/point_steps/step_builder.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "kernels/cpu/chains/op_loops.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {

using plan::Point;
using plan::PointId;
using plan::ScopeId;

absl::Status StepBuilder::AddPoints(absl::Span<const PointId> points,
                                    TileSteps* to) {
  for (const PointId id : points) {
    if (slots_.Has(id, points_.shape(id))) continue;
    HAWSER_RETURN_IF_ERROR(AddPoint(id, to));
    HAWSER_RETURN_IF_ERROR(AddSymbols(id, to));
  }
  chains_.End();
  return absl::OkStatus();
}

absl::Status StepBuilder::AddPoint(PointId id, TileSteps* to) {
  switch (points_.point(id).kind) {
    case Point::kLoad:
      AddLoad(id, to);
      return absl::OkStatus();
    case Point::kMove:
      AddMove(id, to);
      return absl::OkStatus();
    case Point::kChoose:
      AddChoice(id, to);
      return absl::OkStatus();
    case Point::kIota:
      AddIota(id, to);
      return absl::OkStatus();
    case Point::kOp:
      return AddOp(id, to);
    case Point::kReduce:
      break;
  }
  return Internal("a reduction among the points of a pass");
}

void StepBuilder::AddLoad(PointId id, TileSteps* to) {
  const plan::MemoryAccess& access = points_.AccessOf(id);
  const int scope = slots_.ScopeOf(id, points_.shape(id), to);
  slots_.plan().BeginStep();
  LaneIndex index = slots_.LanesOf(access.offset);
  const LaneSlot slot = slots_.Define(id, /*over=*/false);
  if (!HasFolds(points_.region()) && points_.InPlace(id).has_value()) {
    slots_.plan().IsElsewhere(slot.slot);
  }
  // An operand without elements is not loaded, though a list of points may run.
  if (points_.array(id).num_elements() == 0) return;
  slots_.Add(
      std::make_unique<LoadStep>(scope, access.operand, std::move(index), slot,
                                 points_.MovesOf(slot),
                                 points_.MayBeWrittenOver(id, access.operand)),
      to);
}

void StepBuilder::AddMove(PointId id, TileSteps* to) {
  const PointId from = points_.point(id).operands[0];
  if (chains_.AddName(from, id, to)) return;
  // The slot of what it moves is this one's, too.
  const LaneShape shape = points_.shape(id);
  slots_.Set(id, shape, As(from, shape, to));
}

void StepBuilder::AddIota(PointId id, TileSteps* to) {
  const int scope = slots_.ScopeOf(id, points_.shape(id), to);
  if (chains_.AddIota(id, scope, to)) return;
  slots_.plan().BeginStep();
  const LaneIndex index = slots_.LanesOf(points_.shapes().index(id));
  slots_.Add(std::make_unique<IotaStep>(scope, index,
                                        IotaStep::ConvertTo(points_.dtype(id)),
                                        slots_.Define(id, /*over=*/false)),
             to);
}

absl::Status StepBuilder::AddOp(PointId id, TileSteps* to) {
  const Point& p = points_.point(id);
  const Instruction& i = points_.instruction(id);
  const LaneShape shape = points_.shape(id);
  if (i.op == &kConstant) {
    slots_.plan().BeginStep();
    slots_.Add(
        std::make_unique<ConstantStep>(i.attributes.GetLiteral("value"),
                                       slots_.Define(id, /*over=*/false)),
        to);
    return absl::OkStatus();
  }
  if (chains_.AddOp(id, to)) return absl::OkStatus();
  absl::InlinedVector<DType, 3> dtypes;
  for (const PointId o : p.operands) dtypes.push_back(points_.dtype(o));
  const ElementTypes types{dtypes, points_.dtype(id), i.attributes};
  const TileOptions& options = points_.options();
  const bool by_row = options.strict && i.op->ulp > 0;
  ElementFn fn = by_row ? nullptr : FindLoop(*i.op, types, options.isa);
  const CpuKernel* kernel = FindCpuKernel(*i.op);
  if (fn == nullptr && kernel != nullptr && kernel->element != nullptr) {
    fn = kernel->element(types);
  }
  if (fn == nullptr) return Unimplemented(i.op->name, " has no lanes");
  const int scope = slots_.ScopeOf(id, shape, to);
  OpStep::Operands operands;
  for (const PointId o : p.operands) operands.push_back(As(o, shape, to).slot);
  slots_.plan().BeginStep();
  for (const int slot : operands) slots_.plan().Use(slot);
  slots_.Add(std::make_unique<OpStep>(scope, fn, std::move(operands),
                                      slots_.Define(id, /*over=*/true)),
             to);
  return absl::OkStatus();
}

void StepBuilder::AddChoice(PointId id, TileSteps* to) {
  const Point& p = points_.point(id);
  const LaneShape shape = points_.shape(id);
  std::vector<int> cases, from;
  for (const ScopeId s : p.cases) {
    cases.push_back(slots_.AddScope(s, shape, to));
  }
  const int scope = slots_.ScopeOf(id, shape, to);
  for (const PointId o : p.operands) from.push_back(As(o, shape, to).slot);
  SlotPlan& plan = slots_.plan();
  plan.BeginStep();
  const LaneSlot slot = plan.Define(shape, points_.width(id), /*over=*/false);
  plan.BeginStep();
  for (const int s : from) {
    plan.Use(s);
    plan.Share(slot.slot, s);
  }
  slots_.Set(id, shape, slot);
  slots_.Add(
      std::make_unique<ChooseStep>(scope, std::move(cases), std::move(from),
                                   slot, points_.MovesOf(slot)),
      to);
}

absl::Status StepBuilder::AddSymbols(PointId id, TileSteps* to) {
  const auto& symbols = points_.region().symbols;
  for (size_t s = 0; s < symbols.size(); ++s) {
    if (symbols[s].point != id) continue;
    const LaneShape shape = points_.shape(id);
    const auto clamp = SymbolStep::ClampOf(points_.dtype(id));
    if (clamp == nullptr) return Internal("a symbol that is no integer");
    const LaneSlot from = As(id, shape, to);
    const int scope = slots_.ScopeOf(id, shape, to);
    slots_.plan().BeginStep();
    slots_.plan().Use(from.slot);
    const LaneSlot slot =
        slots_.plan().Define(shape, sizeof(int64_t), /*over=*/false);
    const int symbol = static_cast<int>(s);
    slots_.SetSymbol(symbol, slot);
    slots_.Add(std::make_unique<SymbolStep>(scope, symbol, from, clamp,
                                            symbols[s].bounds, slot),
               to);
  }
  return absl::OkStatus();
}

}  // namespace hawser::cpu
