#include "kernels/gpu/program/program_builder.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "kernels/gpu/emit/emit.h"
#include "kernels/gpu/program/gemm_lowering.h"
#include "kernels/gpu/program/host_call.h"

namespace hawser::gpu {
namespace {

using plan::Place;
using plan::RegionKind;

constexpr int64_t kAlignment = 256;

int64_t Aligned(int64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

absl::StatusOr<Program> ProgramBuilder::Build() {
  const plan::ComputationPlan& entry = plan_.entry();
  program_.signature = plan_.module.signature();
  Frame frame;
  int base = Slot::kFirstArgument;
  for (const Shape& shape : program_.signature.parameters) {
    frame.arguments.push_back({base++, 0, shape.byte_size()});
  }
  for (const Shape& shape : program_.signature.results) {
    frame.results.push_back({base++, 0, shape.byte_size()});
  }
  HAWSER_RETURN_IF_ERROR(
      AddComputation(entry.computation, frame, &program_.steps));
  DescribeResults();
  // Constants that leave are copied: a caller may keep them for ever.
  for (size_t r = 0; r < program_.results.size(); ++r) {
    const ValueId v = plan_.module.entry().results()[r];
    if (entry.buffers.values[v].kind != Place::kConstant) continue;
    AddCopy(frame.results[r], SlotOf(entry, frame, v), &program_.steps);
  }
  program_.donations = entry.buffers.donations;
  program_.workspace_offset = Aligned(entry.buffers.arena_bytes) + most_extra_;
  program_.arena_bytes = program_.workspace_offset;
  program_.queued_steps = CountQueued(program_.steps);
  program_.blocks = MustBlock(program_.steps);
  return std::move(program_);
}

void ProgramBuilder::DescribeResults() {
  const plan::BufferPlan& buffers = plan_.entry().buffers;
  const auto results = plan_.module.entry().results();
  program_.results.resize(results.size());
  for (const int r : buffers.aliased_results) {
    const Place& place = buffers.values[results[r]];
    if (place.kind == Place::kArgument) {
      program_.results[r] = {ResultMemory::kArgument, place.index};
    } else if (place.kind == Place::kResult) {
      program_.results[r] = {ResultMemory::kResult, place.index};
    }
  }
}

// ---- memory -----------------------------------------------------------------

Slot ProgramBuilder::ConstantSlot(int computation, int instruction) {
  const auto [entry, is_new] =
      constants_.try_emplace(std::make_pair(computation, instruction));
  if (is_new) {
    const Literal& value = plan_.module.computation(computation)
                               .instructions()[instruction]
                               .attributes.GetLiteral("value");
    const auto bytes = value.bytes();
    program_.constants.resize(Aligned(program_.constants.size()));
    entry->second = {Slot::kConstants,
                     static_cast<int64_t>(program_.constants.size()),
                     static_cast<int64_t>(bytes.size())};
    program_.constants.append(bytes.data(), bytes.size());
  }
  return entry->second;
}

Slot ProgramBuilder::SlotOf(const plan::ComputationPlan& plan,
                            const Frame& frame, ValueId value) {
  const Place& place = plan.buffers.values[value];
  if (place.kind == Place::kArgument) return frame.arguments[place.index];
  if (place.kind == Place::kResult) return frame.results[place.index];
  if (place.kind == Place::kConstant) {
    return ConstantSlot(plan.computation, place.index);
  }
  return {Slot::kArena, frame.arena + place.offset, place.bytes};
}

int64_t ProgramBuilder::CalleeArena(const Site& site) const {
  const int64_t offset = site.plan.buffers.scratch[site.region.instruction];
  return site.frame.arena + std::max<int64_t>(offset, 0);
}

Slot ProgramBuilder::TakeExtra(int64_t bytes) {
  const Slot slot{Slot::kArena,
                  Aligned(plan_.entry().buffers.arena_bytes) + extra_, bytes};
  extra_ += Aligned(bytes);
  most_extra_ = std::max(most_extra_, extra_);
  return slot;
}

void ProgramBuilder::AddCopy(const Slot& to, const Slot& from, Steps* steps) {
  if (to == from || to.bytes == 0) return;
  steps->push_back({CopyStep{to, from}});
}

// ---- instructions -----------------------------------------------------------

absl::Status ProgramBuilder::AddComputation(int computation, const Frame& frame,
                                            Steps* to) {
  const plan::ComputationPlan& planned = plan_.computations[computation];
  const Computation& c = plan_.module.computation(computation);
  for (const plan::Region& region : planned.regions) {
    const Site site{planned, c, region, c.instructions()[region.instruction],
                    frame};
    HAWSER_RETURN_IF_ERROR(Annotate(AddInstruction(site, to),
                                    NameOf(plan_.module, site.instruction)));
  }
  return absl::OkStatus();
}

absl::Status ProgramBuilder::AddInstruction(const Site& site, Steps* to) {
  using Add = absl::Status (ProgramBuilder::*)(const Site&, Steps*);
  // What is not here has kernels, if it has anything to do.
  static constexpr struct {
    RegionKind kind;
    Add add;
  } kRows[] = {
      {RegionKind::kNone, nullptr},
      {RegionKind::kConstant, nullptr},
      {RegionKind::kView, nullptr},
      {RegionKind::kLibraryDot, &ProgramBuilder::AddProduct},
      {RegionKind::kUpdate, &ProgramBuilder::AddUpdate},
      {RegionKind::kHost, &ProgramBuilder::AddHost},
      {RegionKind::kControl, &ProgramBuilder::AddControl},
  };
  for (const auto& row : kRows) {
    if (row.kind != site.region.kind) continue;
    return row.add == nullptr ? absl::OkStatus() : (this->*row.add)(site, to);
  }
  const absl::Status added = AddKernels(site, to);
  return absl::IsUnimplemented(added) ? AddHost(site, to) : added;
}

int ProgramBuilder::KernelNumber(EmittedKernel kernel) {
  const auto [entry, is_new] = kernels_.try_emplace(
      kernel.name, static_cast<int>(program_.kernels.size()));
  if (is_new) program_.kernels.push_back(std::move(kernel));
  return entry->second;
}

absl::Status ProgramBuilder::AddKernels(const Site& site, Steps* to) {
  const bool strict = options_.numerics == runtime::Numerics::kStrict;
  const EmitOptions options{.strict = strict,
                            .multiprocessors = strict
                                                   ? kStrictMultiprocessors
                                                   : options_.multiprocessors};
  HAWSER_ASSIGN_OR_RETURN(std::vector<EmittedKernel> kernels,
                          EmitRegion(plan_.module, site.region, options));
  const int64_t scratch = CalleeArena(site);
  for (EmittedKernel& kernel : kernels) {
    LaunchStep launch{.shape = kernel.shape};
    for (const KernelParameter& p : kernel.parameters) {
      Slot slot =
          p.kind == KernelParameter::kOperand  ? OperandSlot(site, p.index)
          : p.kind == KernelParameter::kResult ? ResultSlot(site, p.index)
                                               : Slot{Slot::kArena, scratch, 0};
      slot.offset += p.offset;
      slot.bytes = p.bytes;
      launch.parameters.emplace_back(slot, p.access);
    }
    launch.kernel = KernelNumber(std::move(kernel));
    to->push_back({std::move(launch)});
  }
  return absl::OkStatus();
}

absl::Status ProgramBuilder::AddProduct(const Site& site, Steps* to) {
  const auto product =
      LowerProduct(plan_.module, site.region, options_.numerics);
  absl::Status takes = Unimplemented("no library product");
  if (product && options_.plan_product) {
    takes = options_.plan_product(product->spec);
  }
  if (takes.ok()) {
    AddCalls(site, *product, to);
    program_.products.push_back(product->spec);
    return absl::OkStatus();
  }
  if (!absl::IsUnimplemented(takes)) return takes;
  const absl::Status added = AddKernels(site, to);
  return absl::IsUnimplemented(added) ? AddHost(site, to) : added;
}

// Of the next of Program::products.
void ProgramBuilder::AddCalls(const Site& site, const Product& product,
                              Steps* to) {
  const auto behind = [](Slot slot, int64_t bytes) {
    slot.offset += bytes;
    slot.bytes -= bytes;
    return slot;
  };
  for (const Product::Offset& o : product.calls) {
    GemmStep step{.product = static_cast<int>(program_.products.size()),
                  .a = behind(OperandSlot(site, product.a), o.a),
                  .b = behind(OperandSlot(site, product.b), o.b),
                  .d = behind(ResultSlot(site, 0), o.d)};
    if (product.c >= 0) {
      step.c = behind(OperandSlot(site, product.c), o.d);
    }
    if (product.bias >= 0) step.bias = OperandSlot(site, product.bias);
    to->push_back({std::move(step)});
  }
}

absl::Status ProgramBuilder::AddUpdate(const Site& site, Steps* to) {
  Steps steps;
  for (int r = 0; r < site.instruction.num_results; ++r) {
    AddCopy(ResultSlot(site, r), OperandSlot(site, r), &steps);
  }
  const absl::Status added = AddKernels(site, &steps);
  if (absl::IsUnimplemented(added)) return AddHost(site, to);
  std::move(steps.begin(), steps.end(), std::back_inserter(*to));
  return added;
}

absl::Status ProgramBuilder::AddHost(const Site& site, Steps* to) {
  if (!options_.has_host) {
    return Unimplemented(
        "no kernel does this, and there is no evaluator on "
        "the host");
  }
  HostStep step{.call = static_cast<int>(program_.calls.size())};
  HAWSER_ASSIGN_OR_RETURN(HostCall call,
                          MakeHostCall(plan_.module, site.region.computation,
                                       site.region.instruction));
  Note(site, "runs on the host");
  program_.calls.push_back(std::move(call));
  for (size_t k = 0; k < site.instruction.operands.size(); ++k) {
    step.operands.push_back(OperandSlot(site, static_cast<int>(k)));
  }
  for (int r = 0; r < site.instruction.num_results; ++r) {
    step.results.push_back(ResultSlot(site, r));
  }
  to->push_back({std::move(step)});
  return absl::OkStatus();
}

void ProgramBuilder::Note(const Site& site, absl::string_view what) {
  absl::StrAppend(&program_.explanation, site.computation.name(), " ",
                  NameOf(plan_.module, site.instruction), " ", what, "\n");
}

absl::StatusOr<Program> MakeProgram(const plan::Plan& plan,
                                    const ProgramOptions& options) {
  return ProgramBuilder(plan, options).Build();
}

}  // namespace hawser::gpu
