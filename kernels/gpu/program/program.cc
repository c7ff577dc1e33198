#include "kernels/gpu/program/program.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "core/base/status.h"
#include "kernels/gpu/emit/emit.h"
#include "kernels/gpu/program/gemm_lowering.h"
#include "kernels/gpu/program/host_call.h"
#include "kernels/gpu/program/library_lowering.h"
#include "kernels/plan/steps/step_builder.h"

namespace hawser::gpu {
namespace {

using plan::RegionKind;
using plan::Site;
using plan::Slot;
using plan::StepBuilder;
using plan::Steps;

// Makes the work of a plan's regions, and what it needs, in a program.
class WorkEmitter final : public plan::RegionEmitter {
 public:
  WorkEmitter(const Module& module, const ProgramOptions& options,
              Program* program)
      : module_(module), options_(options), program_(*program) {}

  absl::Status Add(const Site& site, StepBuilder& steps, Steps* to) override;

 private:
  absl::Status AddKernels(const Site& site, StepBuilder& steps, Steps* to);
  absl::Status AddKernelsOrHost(const Site& site, StepBuilder& steps,
                                Steps* to);
  absl::Status AddProduct(const Site& site, StepBuilder& steps, Steps* to);
  void AddCalls(const Site& site, const Product& product, StepBuilder& steps,
                Steps* to);
  absl::Status AddLibraryCall(const Site& site, StepBuilder& steps, Steps* to);
  absl::Status AddUpdate(const Site& site, StepBuilder& steps, Steps* to);
  absl::Status AddHost(const Site& site, StepBuilder& steps, Steps* to);
  void AddWork(Work work, Steps* to);
  int KernelNumber(EmittedKernel kernel);

  const Module& module_;
  const ProgramOptions& options_;
  Program& program_;
  std::map<std::string, int> kernels_;  // by name
};

absl::Status WorkEmitter::Add(const Site& site, StepBuilder& steps, Steps* to) {
  switch (site.region.kind) {
    case RegionKind::kLibraryDot:
      return AddProduct(site, steps, to);
    case RegionKind::kLibraryCall:
      return AddLibraryCall(site, steps, to);
    case RegionKind::kUpdate:
      return AddUpdate(site, steps, to);
    case RegionKind::kHost:
      return AddHost(site, steps, to);
    default:
      return AddKernelsOrHost(site, steps, to);
  }
}

void WorkEmitter::AddWork(Work work, Steps* to) {
  to->push_back({plan::WorkStep{static_cast<int>(program_.works.size())}});
  program_.works.push_back(std::move(work));
}

int WorkEmitter::KernelNumber(EmittedKernel kernel) {
  const auto [entry, is_new] = kernels_.try_emplace(
      kernel.name, static_cast<int>(program_.kernels.size()));
  if (is_new) program_.kernels.push_back(std::move(kernel));
  return entry->second;
}

absl::Status WorkEmitter::AddKernels(const Site& site, StepBuilder& steps,
                                     Steps* to) {
  const bool strict = options_.numerics == runtime::Numerics::kStrict;
  const EmitOptions options{
      .strict = strict,
      .multiprocessors =
          strict ? kStrictMultiprocessors : options_.multiprocessors,
      .matrix_units = options_.matrix_units,
      .tf32 = options_.numerics == runtime::Numerics::kTf32};
  HAWSER_ASSIGN_OR_RETURN(std::vector<EmittedKernel> kernels,
                          EmitRegion(module_, site.region, options));
  for (EmittedKernel& kernel : kernels) {
    LaunchStep launch{.shape = kernel.shape,
                      .work_streams = site.region.lane_operations};
    for (const KernelParameter& p : kernel.parameters) {
      Slot slot =
          p.kind == KernelParameter::kOperand ? steps.OperandSlot(site, p.index)
          : p.kind == KernelParameter::kResult ? steps.ResultSlot(site, p.index)
                                               : steps.ScratchSlot(site);
      slot.offset += p.offset;
      slot.bytes = p.bytes;
      launch.parameters.emplace_back(slot, p.access);
    }
    launch.kernel = KernelNumber(std::move(kernel));
    AddWork(std::move(launch), to);
  }
  return absl::OkStatus();
}

absl::Status WorkEmitter::AddKernelsOrHost(const Site& site, StepBuilder& steps,
                                           Steps* to) {
  const absl::Status added = AddKernels(site, steps, to);
  return absl::IsUnimplemented(added) ? AddHost(site, steps, to) : added;
}

absl::Status WorkEmitter::AddProduct(const Site& site, StepBuilder& steps,
                                     Steps* to) {
  const auto product = LowerProduct(module_, site.region, options_.numerics);
  absl::Status takes = Unimplemented("no library product");
  if (product && options_.plan_call) {
    takes = options_.plan_call(product->spec);
  }
  if (takes.ok()) {
    AddCalls(site, *product, steps, to);
    program_.library_calls.push_back(product->spec);
    return absl::OkStatus();
  }
  if (!absl::IsUnimplemented(takes)) return takes;
  return AddKernelsOrHost(site, steps, to);
}

// Adds the calls of the next of Program::library_calls.
void WorkEmitter::AddCalls(const Site& site, const Product& product,
                           StepBuilder& steps, Steps* to) {
  const auto behind = [](Slot slot, int64_t bytes) {
    slot.offset += bytes;
    slot.bytes -= bytes;
    return slot;
  };
  for (const Product::Offset& o : product.calls) {
    LibraryStep step{.call = static_cast<int>(program_.library_calls.size()),
                     .work_streams = site.region.lane_operations};
    step.operands = {behind(steps.OperandSlot(site, product.a), o.a),
                     behind(steps.OperandSlot(site, product.b), o.b)};
    if (product.c >= 0) {
      step.operands.push_back(behind(steps.OperandSlot(site, product.c), o.d));
    }
    if (product.bias >= 0) {
      step.operands.push_back(steps.OperandSlot(site, product.bias));
    }
    step.results = {behind(steps.ResultSlot(site, 0), o.d)};
    AddWork(std::move(step), to);
  }
}

// The planner has asked the library about it (plan::Target::takes_call).
absl::Status WorkEmitter::AddLibraryCall(const Site& site, StepBuilder& steps,
                                         Steps* to) {
  const Instruction& i = site.instruction;
  std::vector<Shape> shapes;
  for (const ValueId v : i.operands) {
    shapes.push_back(site.computation.shape(v));
  }
  const std::optional<LibraryCall> call =
      LibraryCallOf(*i.op, shapes, i.attributes, options_.numerics);
  if (!call || !options_.plan_call) return Internal("no call of a library");
  HAWSER_RETURN_IF_ERROR(options_.plan_call(*call));
  LibraryStep step{.call = static_cast<int>(program_.library_calls.size()),
                   .work_streams = site.region.lane_operations};
  for (size_t k = 0; k < i.operands.size(); ++k) {
    step.operands.push_back(steps.OperandSlot(site, static_cast<int>(k)));
  }
  for (int r = 0; r < i.num_results; ++r) {
    step.results.push_back(steps.ResultSlot(site, r));
  }
  AddWork(std::move(step), to);
  program_.library_calls.push_back(*call);
  return absl::OkStatus();
}

absl::Status WorkEmitter::AddUpdate(const Site& site, StepBuilder& steps,
                                    Steps* to) {
  Steps update;
  for (int r = 0; r < site.instruction.num_results; ++r) {
    steps.AddCopy(steps.ResultSlot(site, r), steps.OperandSlot(site, r),
                  &update);
  }
  const absl::Status added = AddKernels(site, steps, &update);
  if (absl::IsUnimplemented(added)) return AddHost(site, steps, to);
  std::move(update.begin(), update.end(), std::back_inserter(*to));
  return added;
}

absl::Status WorkEmitter::AddHost(const Site& site, StepBuilder& steps,
                                  Steps* to) {
  if (!options_.has_host) {
    return Unimplemented(
        "no kernel does this, and there is no evaluator on "
        "the host");
  }
  HostStep step{.call = static_cast<int>(program_.calls.size())};
  HAWSER_ASSIGN_OR_RETURN(
      HostCall call, MakeHostCall(module_, site.plan.computation, site.number));
  steps.Note(site, "runs on the host");
  program_.calls.push_back(std::move(call));
  for (size_t k = 0; k < site.instruction.operands.size(); ++k) {
    step.operands.push_back(steps.OperandSlot(site, static_cast<int>(k)));
  }
  for (int r = 0; r < site.instruction.num_results; ++r) {
    step.results.push_back(steps.ResultSlot(site, r));
  }
  AddWork(std::move(step), to);
  return absl::OkStatus();
}

// Steps that one run of `steps` queues, loops of unknown length once.
int64_t CountQueued(const Steps& steps) {
  int64_t count = 0;
  for (const plan::Step& step : steps) {
    if (const auto* loop = std::get_if<plan::LoopStep>(&step.action)) {
      const int64_t turn =
          CountQueued(loop->condition) + CountQueued(loop->body);
      const int64_t trips =
          std::min(loop->trips.value_or(1), 2 * kMaxQueuedSteps);
      count += turn * trips;
    } else if (const auto* choice = std::get_if<plan::CaseStep>(&step.action)) {
      int64_t most = 0;
      for (const Steps& branch : choice->branches) {
        most = std::max(most, CountQueued(branch));
      }
      count += most;
    } else {
      ++count;
    }
    count = std::min(count, 2 * kMaxQueuedSteps);
  }
  return count;
}

// True if some step has to wait for the device.
bool MustBlock(const Program& program, const Steps& steps) {
  if (CountQueued(steps) > kMaxQueuedSteps) return true;
  return std::any_of(steps.begin(), steps.end(), [&](const plan::Step& step) {
    if (const auto* loop = std::get_if<plan::LoopStep>(&step.action)) {
      return !loop->trips || MustBlock(program, loop->body);
    }
    if (const auto* own = std::get_if<plan::WorkStep>(&step.action)) {
      const Work& work = program.works[own->work];
      const auto* library = std::get_if<LibraryStep>(&work);
      return std::holds_alternative<HostStep>(work) ||
             (library != nullptr &&
              MayBlock(program.library_calls[library->call]));
    }
    return std::holds_alternative<plan::CaseStep>(step.action);
  });
}

}  // namespace

absl::StatusOr<Program> MakeProgram(const plan::Plan& plan,
                                    const ProgramOptions& options) {
  Program program;
  WorkEmitter emitter(plan.module, options, &program);
  HAWSER_ASSIGN_OR_RETURN(static_cast<plan::StepProgram&>(program),
                          plan::MakeSteps(plan, emitter));
  program.workspace_offset = program.arena_bytes;
  program.queued_steps = CountQueued(program.steps);
  program.blocks = MustBlock(program, program.steps);
  return program;
}

}  // namespace hawser::gpu
