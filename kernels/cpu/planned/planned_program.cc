#include "kernels/cpu/planned/planned_program.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/base/trace/trace.h"
#include "kernels/cpu/costs/lane_costs.h"
#include "kernels/cpu/libraries/libraries.h"
#include "kernels/cpu/planned/boxed_loops.h"
#include "kernels/cpu/planned/cpu_emitter.h"
#include "kernels/cpu/planned/planned_run.h"
#include "kernels/cpu/tile_steps/chain_step.h"
#include "kernels/plan/steps/step_builder.h"

namespace hawser::cpu {

using plan::ResultMemory;
using plan::Slot;

namespace {

// How a region's tiles run, in words.
std::string DescribedTiles(const TileProgram& program) {
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

std::string LibraryOf(DType dtype) {
  return Libraries::OfProcess().ProductsOf(dtype);
}

}  // namespace

absl::StatusOr<PlannedProgram> PlannedProgram::Make(
    const Module& module, runtime::Numerics numerics) {
  TraceSpan span("compile", "compile for cpu");
  span.Add("instructions", module.num_instructions());
  PlannedProgram program;
  HAWSER_ASSIGN_OR_RETURN(plan::Plan plan,
                          plan::MakePlan(module, MeasuredTarget()));
  program.plan_ = std::make_unique<const plan::Plan>(std::move(plan));
  const Module& planned = program.plan_->module;
  HAWSER_ASSIGN_OR_RETURN(
      program.rows_,
      CpuProgram::Make(planned,
                       static_cast<int>(planned.computations().size()) - 1));
  program.works_.reserve(program.plan_->entry().regions.size());
  CpuEmitter emitter(planned, program.rows_, numerics, &program.works_);
  HAWSER_ASSIGN_OR_RETURN(program.steps_,
                          plan::MakeSteps(*program.plan_, emitter));
  BoxLoops(*program.plan_, emitter.options(), &program.steps_.steps,
           &program.works_);
  std::string& constants = program.steps_.constants;
  program.constants_.resize(constants.size() / sizeof(Line) + 1);
  std::memcpy(program.constants_.data(), constants.data(), constants.size());
  std::string().swap(constants);
  return program;
}

double PlannedProgram::StepsOf(const plan::Steps& steps) const {
  struct Visitor {
    const PlannedProgram& program;
    double operator()(const plan::WorkStep& step) const {
      return std::visit([](const auto& work) { return work.steps; },
                        program.works_[step.work]);
    }
    double operator()(const plan::CopyStep& step) const {
      return CopySteps(step);
    }
    double operator()(const plan::LoopStep& step) const {
      if (!step.trips) return std::numeric_limits<double>::infinity();
      return static_cast<double>(*step.trips) *
             (kIterationSteps + program.StepsOf(step.body));
    }
    double operator()(const plan::CaseStep& step) const {
      double most = 0;
      for (const plan::Steps& branch : step.branches) {
        most = std::max(most, program.StepsOf(branch));
      }
      return most;
    }
  };
  double total = 0;
  for (const plan::Step& step : steps) {
    total += std::visit(Visitor{*this}, step.action);
  }
  return total;
}

std::string PlannedProgram::MakerOf(size_t result) const {
  const Computation& c = plan_->module.entry();
  return absl::StrCat(
      "instruction ",
      plan::NameOf(plan_->module,
                   c.instructions()[c.producer(c.results()[result])]));
}

std::string PlannedProgram::Described(const TileWork& work) const {
  return DescribedTiles(*work.program);
}

std::string PlannedProgram::Described(const ProductWork& work) const {
  const Computation& body = plan_->module.computation(work.tail->body());
  const std::string library = LibraryOf(
      body.shape(body.instructions()[work.tail->dot()].first_result).dtype());
  return absl::StrCat(
      library.empty() ? "runs by a product" : "runs over ", library,
      work.tail->by_boxes() ? "; each box of it at once" : "; then all of it",
      ", ", DescribedTiles(work.tail->program()));
}

std::string PlannedProgram::Described(const LoopWork& work) const {
  return absl::StrCat("iterates ", work.trips, " times by ",
                      LoopBoxes(work).count(), " boxes, each up to ",
                      work.iterations, " iterations before the next, ",
                      DescribedTiles(*work.program));
}

std::string PlannedProgram::Described(const RowWork& work) const {
  const plan::ComputationPlan& planned = plan_->computations[work.computation];
  const Computation& c = plan_->module.computation(work.computation);
  const DType dtype =
      c.shape(c.instructions()[work.instruction].first_result).dtype();
  const bool is_product =
      planned.regions[work.instruction].kind == plan::RegionKind::kLibraryDot;
  const std::string library = is_product ? LibraryOf(dtype) : "";
  if (!library.empty()) return absl::StrCat("runs by its row, over ", library);
  return "runs by its row";
}

std::string PlannedProgram::Explain() const {
  std::string text;
  for (const Work& any : works_) {
    std::visit(
        [&](const auto& work) {
          const Computation& c = plan_->module.computation(work.computation);
          absl::StrAppend(
              &text, c.name(), " ",
              plan::NameOf(plan_->module, c.instructions()[work.instruction]),
              " ", Described(work), "\n");
        },
        any);
  }
  return absl::StrCat(text, steps_.explanation,
                      plan::Explain(*plan_, MeasuredTarget()));
}

absl::StatusOr<std::vector<Literal>> PlannedProgram::OwnResults(
    std::vector<Literal>& arguments, const Environment& environment) const {
  const auto& shapes = steps_.signature.results;
  std::vector<Literal> results(shapes.size());
  for (const plan::Donation& d : steps_.donations) {
    Literal& argument = arguments[d.argument];
    if (steps_.results[d.result].kind != ResultMemory::kOwn ||
        !argument.unique() ||
        argument.shape().byte_size() != shapes[d.result].byte_size()) {
      continue;
    }
    // unique() reads the count without ordering; this read-modify-write of it
    // makes all reads of the last other holder come before our writes.
    { const Literal acquire = argument; }
    results[d.result] = argument.Reinterpret(shapes[d.result]);
  }
  for (size_t r = 0; r < results.size(); ++r) {
    if (steps_.results[r].kind != ResultMemory::kOwn || results[r].valid()) {
      continue;
    }
    auto memory =
        environment.allocator->Allocate(shapes[r], environment.memory);
    if (!memory.ok()) return Annotate(memory.status(), MakerOf(r));
    results[r] = *std::move(memory);
  }
  return results;
}

absl::StatusOr<std::vector<Literal>> PlannedProgram::Run(
    std::vector<Literal> arguments, const Environment& environment) const {
  const TraceSpan span("run", "execution");
  for (Literal& argument : arguments) {
    HAWSER_ASSIGN_OR_RETURN(
        argument,
        environment.allocator->Aligned(std::move(argument), environment.cancel,
                                       environment.memory));
  }
  Literal arena;
  if (steps_.arena_bytes > 0) {
    auto memory = environment.allocator->Allocate(
        Shape::Of(DType::kU8, {steps_.arena_bytes}), environment.memory);
    if (!memory.ok()) return Annotate(memory.status(), "temporary values");
    arena = *std::move(memory);
  }
  HAWSER_ASSIGN_OR_RETURN(std::vector<Literal> results,
                          OwnResults(arguments, environment));
  // Work writes no memory that it reads, except where the plan says so.
  const auto address = [](const Literal& value) {
    return const_cast<char*>(value.bytes().data());
  };
  std::vector<char*> bases(steps_.num_bases());
  if (arena.valid()) bases[Slot::kArena] = arena.mutable_bytes().data();
  bases[Slot::kConstants] = const_cast<char*>(constants_.data()->bytes);
  for (size_t k = 0; k < arguments.size(); ++k) {
    bases[Slot::kFirstArgument + k] = address(arguments[k]);
  }
  for (size_t r = 0; r < results.size(); ++r) {
    if (results[r].valid()) {
      bases[steps_.first_result() + r] = address(results[r]);
    }
  }
  HAWSER_RETURN_IF_ERROR(
      PlannedRun(works_, rows_, plan_->module, std::move(bases), environment)
          .RunAll(steps_.steps));
  for (size_t r = 0; r < results.size(); ++r) {
    const ResultMemory& memory = steps_.results[r];
    if (memory.kind == ResultMemory::kOwn) continue;
    const Literal& whose = memory.kind == ResultMemory::kArgument
                               ? arguments[memory.index]
                               : results[memory.index];
    results[r] = whose.Reinterpret(steps_.signature.results[r]);
  }
  return results;
}

}  // namespace hawser::cpu
