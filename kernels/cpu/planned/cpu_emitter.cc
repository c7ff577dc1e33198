#include "kernels/cpu/planned/cpu_emitter.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/control.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/sort.h"
#include "kernels/cpu/tiles/tile_program.h"

namespace hawser::cpu {
namespace {

using plan::RegionKind;

// Steps to begin a region's work, however small its values.
constexpr double kRegionSteps = 256;

RegionWork WorkOf(const plan::Site& site, plan::StepBuilder& steps) {
  RegionWork work{.computation = site.plan.computation,
                  .instruction = site.number,
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

// Work of kind W, or where that is kUnimplemented the row's.
template <typename W, typename Part>
absl::StatusOr<Work> WorkBy(absl::StatusOr<Part> part, RegionWork work) {
  if (part.ok()) return W{std::move(work), *std::move(part)};
  if (!absl::IsUnimplemented(part.status())) return part.status();
  const int computation = work.computation, instruction = work.instruction;
  return RowWork{std::move(work), {}, computation, instruction, {}};
}

// True if it is its operand's bytes, seen as another shape.
bool KeepsBytes(const Computation& c, const Instruction& i) {
  if (i.op == &kReshape) return true;
  const auto dims = i.attributes.GetInts("broadcast_dimensions");
  return i.op == &kBroadcastInDim &&
         c.shape(i.first_result).num_elements() ==
             c.shape(i.operands[0]).num_elements() &&
         std::is_sorted(dims.begin(), dims.end());
}

// The value whose bytes these are, as far back as shapes alone change.
ValueId Unshaped(const Computation& c, ValueId value) {
  while (true) {
    const Instruction& i = c.instructions()[c.producer(value)];
    if (!KeepsBytes(c, i)) return value;
    value = i.operands[0];
  }
}

// True if the op's row is to run an instruction with so many bytes of results.
bool IsForRow(const Instruction& i, int64_t bytes) {
  const CpuKernel* row = FindCpuKernel(*i.op);
  return row != nullptr && bytes >= row->alone_from;
}

// The work of a fusion that is one instruction for its row, of parameters and
// constants, but for shapes. nullopt: there is more.
std::optional<RowWork> RowOfFusion(const Computation& body, int number,
                                   const plan::Region& region,
                                   const RegionWork& fusion) {
  if (body.results().size() != 1) return std::nullopt;
  const ValueId result = Unshaped(body, body.results()[0]);
  const Instruction& i = body.instructions()[body.producer(result)];
  if (!IsForRow(i, region.bytes_written)) return std::nullopt;
  RowWork work{fusion, {}, number, body.producer(result), {}};
  work.operands.clear();
  for (const ValueId operand : i.operands) {
    const ValueId value = Unshaped(body, operand);
    const Instruction& from = body.instructions()[body.producer(value)];
    if (from.op == &kParameter) {
      work.operands.push_back(fusion.operands[value]);
      work.constants.emplace_back();
    } else if (from.op == &kConstant && value == operand) {
      work.operands.emplace_back();
      work.constants.emplace_back(from.attributes.GetLiteral("value"));
    } else {
      return std::nullopt;
    }
  }
  return work;
}

}  // namespace

TileOptions CpuEmitter::options() const {
  return {.isa = ProcessIsa(),
          .strict = numerics_ == runtime::Numerics::kStrict};
}

absl::StatusOr<TileProgramPtr> CpuEmitter::TilesOf(const plan::Site& site) {
  if (!plan::IsOfPoints(site.region.kind)) {
    return Unimplemented("no loops are planned");
  }
  const auto make = [&]() -> absl::StatusOr<TileProgramPtr> {
    HAWSER_ASSIGN_OR_RETURN(TileProgram program,
                            MakeTileProgram(module_, site.region, options()));
    return std::make_shared<const TileProgram>(std::move(program));
  };
  if (site.instruction.op != &kFusion) {
    if (IsForRow(site.instruction, site.region.bytes_written)) {
      return Unimplemented("the row is faster");
    }
    return make();
  }
  const auto [at, is_new] = tiles_of_body_.try_emplace(site.region.body);
  if (is_new) at->second = make();
  return at->second;
}

absl::StatusOr<ProductTailPtr> CpuEmitter::TailOf(const plan::Site& site) {
  const auto make = [&]() -> absl::StatusOr<ProductTailPtr> {
    HAWSER_ASSIGN_OR_RETURN(ProductTail tail,
                            ProductTail::Make(module_, site.region, options()));
    return std::make_shared<const ProductTail>(std::move(tail));
  };
  const auto [at, is_new] = tail_of_body_.try_emplace(site.region.body);
  if (is_new) at->second = make();
  return at->second;
}

absl::Status CpuEmitter::Add(const plan::Site& site, plan::StepBuilder& steps,
                             plan::Steps* to) {
  RegionWork work = WorkOf(site, steps);
  work.number = static_cast<int>(works_.size());
  const bool has_tail = site.region.kind == RegionKind::kLibraryDot &&
                        site.instruction.op == &kFusion;
  to->push_back({plan::WorkStep{work.number}});
  if (site.instruction.op == &kFusion && plan::IsOfPoints(site.region.kind)) {
    auto row = RowOfFusion(module_.computation(site.region.body),
                           site.region.body, site.region, work);
    if (row.has_value()) {
      SetUse(site, static_cast<RegionWork&>(*row));
      works_.push_back(*std::move(row));
      return absl::OkStatus();
    }
  }
  HAWSER_ASSIGN_OR_RETURN(
      Work made, has_tail ? WorkBy<ProductWork>(TailOf(site), std::move(work))
                          : WorkBy<TileWork>(TilesOf(site), std::move(work)));
  std::visit([&](auto& made_work) { SetUse(site, made_work); }, made);
  works_.push_back(std::move(made));
  return absl::OkStatus();
}

void CpuEmitter::SetUse(const plan::Site& site, RegionWork& work) {
  work.steps = rows_.CostOf(site.plan.computation, site.number);
}

void CpuEmitter::SetUse(const plan::Site& site, TileWork& work) {
  work.steps = kRegionSteps + StepsOf(site.region);
}

void CpuEmitter::SetUse(const plan::Site& site, RowWork& work) {
  const Instruction& i = site.instruction;
  SetUse(site, static_cast<RegionWork&>(work));
  if (i.op == &kSort) work.use.wanted = site.plan.wanted[site.number];
}

}  // namespace hawser::cpu
