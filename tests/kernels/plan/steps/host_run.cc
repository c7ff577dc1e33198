#include "tests/kernels/plan/steps/host_run.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/base/status.h"
#include "core/ir/builder.h"
#include "core/ir/text/parser.h"
#include "core/ops/registry.h"
#include "kernels/cpu/evaluator.h"
#include "tests/testing/matchers.h"

namespace hawser::plan {
namespace {

constexpr char kPoison = 0x5a;

// A module with the instruction of `work` as its entry.
Module ModuleOf(const Module& module, const RegionWork& work) {
  const Computation& c = module.computation(work.computation);
  const Instruction& i = c.instructions()[work.instruction];
  Module one = module;
  ComputationBuilder b(&one, "one");
  std::vector<ValueId> operands, results;
  for (const ValueId v : i.operands)
    operands.push_back(b.Parameter(c.shape(v)));
  const ValueId first = b.Add(*i.op, operands, i.attributes, i.called);
  for (int r = 0; r < i.num_results; ++r) results.push_back(first + r);
  HAWSER_CHECK(b.Finish(results).ok());
  return one;
}

class HostRun {
 public:
  HostRun(const Stepped& stepped, const std::vector<Literal>& arguments,
          bool donate)
      : stepped_(stepped) {
    const StepProgram& program = stepped.program;
    memory_.resize(program.num_bases());
    memory_[Slot::kArena].assign(program.arena_bytes, kPoison);
    memory_[Slot::kConstants] = program.constants;
    for (size_t a = 0; a < arguments.size(); ++a) {
      const auto bytes = arguments[a].bytes();
      memory_[Slot::kFirstArgument + a].assign(bytes.begin(), bytes.end());
    }
    for (size_t r = 0; r < program.results.size(); ++r) {
      memory_[program.first_result() + r].assign(
          program.signature.results[r].byte_size(), kPoison);
    }
    for (int b = 0; b < program.num_bases(); ++b) bases_.push_back(b);
    if (!donate) return;
    for (const Donation& d : program.donations) {
      bases_[program.first_result() + d.result] =
          Slot::kFirstArgument + d.argument;
    }
  }

  void Run(const Steps& steps) {
    for (const Step& step : steps) {
      std::visit([this](const auto& action) { Do(action); }, step.action);
    }
  }

  std::vector<Literal> Results() {
    const StepProgram& program = stepped_.program;
    std::vector<Literal> results;
    for (size_t r = 0; r < program.results.size(); ++r) {
      const Shape& shape = program.signature.results[r];
      const ResultMemory& place = program.results[r];
      Slot slot{program.first_result() + static_cast<int>(r), 0,
                shape.byte_size()};
      if (place.kind == ResultMemory::kArgument) {
        slot.base = Slot::kFirstArgument + place.index;
      } else if (place.kind == ResultMemory::kResult) {
        slot.base = program.first_result() + place.index;
      }
      results.push_back(Read(slot, shape));
    }
    return results;
  }

 private:
  void Do(const WorkStep& step) {
    const RegionWork& work = stepped_.works[step.work];
    const Module one = ModuleOf(stepped_.plan.module, work);
    std::vector<Literal> operands;
    for (size_t k = 0; k < work.operands.size(); ++k) {
      operands.push_back(Read(work.operands[k], one.signature().parameters[k]));
    }
    const int entry = static_cast<int>(one.computations().size()) - 1;
    const auto values = EvaluateStrictly(one, entry, operands);
    std::fill_n(At(work.scratch), work.scratch.bytes, kPoison);
    for (size_t r = 0; r < work.results.size(); ++r) {
      const auto bytes = values[r].bytes();
      std::copy(bytes.begin(), bytes.end(), At(work.results[r]));
    }
  }
  void Do(const CopyStep& step) {
    HAWSER_CHECK(step.to.bytes == step.from.bytes);
    const std::string bytes(At(step.from), step.from.bytes);
    std::copy(bytes.begin(), bytes.end(), At(step.to));
  }
  void Do(const LoopStep& step) {
    for (int64_t turn = 0; Holds(step, turn); ++turn) Run(step.body);
  }
  bool Holds(const LoopStep& step, int64_t turn) {
    if (step.trips) return turn < *step.trips;
    Run(step.condition);
    return Read(step.predicate, Shape::Scalar(DType::kBool)).data<bool>()[0];
  }
  void Do(const CaseStep& step) {
    const auto which =
        Read(step.index, Shape::Scalar(DType::kS32)).data<int32_t>()[0];
    const auto last = static_cast<int32_t>(step.branches.size()) - 1;
    Run(step.branches[which < 0 || which > last ? last : which]);
  }

  // Of memory that must be there.
  char* At(const Slot& slot) {
    std::string& memory = memory_[bases_[slot.base]];
    HAWSER_CHECK(slot.offset >= 0 && slot.bytes >= 0);
    HAWSER_CHECK(slot.bytes == 0 || slot.offset + slot.bytes <=
                                        static_cast<int64_t>(memory.size()));
    return memory.data() + slot.offset;
  }
  Literal Read(const Slot& slot, const Shape& shape) {
    HAWSER_CHECK(slot.bytes == shape.byte_size());
    Literal value = Literal::Zeros(shape);
    std::copy_n(At(slot), slot.bytes, value.mutable_bytes().begin());
    return value;
  }

  const Stepped& stepped_;
  std::vector<std::string> memory_;
  std::vector<int> bases_;  // whose memory a base has
};

Stepped Noted(absl::StatusOr<Plan> plan) {
  EXPECT_OK(plan);
  HAWSER_CHECK(plan.ok());
  NotingEmitter emitter;
  auto program = MakeSteps(*plan, emitter);
  EXPECT_OK(program);
  HAWSER_CHECK(program.ok());
  return {*std::move(plan), *std::move(program), std::move(emitter.works)};
}

}  // namespace

Module Parse(absl::string_view text) {
  auto module = ParseModule(text, FindOp);
  if (!module.ok()) ADD_FAILURE() << module.status();
  HAWSER_CHECK(module.ok());
  return *std::move(module);
}

absl::Status NotingEmitter::Add(const Site& site, StepBuilder& steps,
                                Steps* to) {
  RegionWork work{.computation = site.plan.computation,
                  .instruction = site.number,
                  .kind = site.region.kind,
                  .scratch = steps.ScratchSlot(site)};
  for (size_t k = 0; k < site.instruction.operands.size(); ++k) {
    work.operands.push_back(steps.OperandSlot(site, static_cast<int>(k)));
  }
  for (int r = 0; r < site.instruction.num_results; ++r) {
    work.results.push_back(steps.ResultSlot(site, r));
  }
  to->push_back({WorkStep{static_cast<int>(works.size())}});
  works.push_back(std::move(work));
  return absl::OkStatus();
}

Target LoopTarget() {
  Target target = GpuTarget();
  target.unrolled_instructions = 0;
  return target;
}

Stepped StepsOf(const Module& module, const Target& target) {
  return Noted(MakePlan(module, target));
}

Stepped UnfusedStepsOf(const Module& module, const Target& target) {
  return Noted(PlanFused(module, target));
}

std::vector<Literal> RunOnHost(const Stepped& stepped,
                               const std::vector<Literal>& arguments,
                               bool donate) {
  HostRun run(stepped, arguments, donate);
  run.Run(stepped.program.steps);
  return run.Results();
}

std::vector<Literal> EvaluateStrictly(const Module& module, int computation,
                                      const std::vector<Literal>& arguments) {
  cpu::CpuEvaluator evaluator({.numerics = runtime::Numerics::kStrict});
  auto values =
      evaluator.Evaluate(module, computation, arguments, CancelToken());
  EXPECT_OK(values);
  HAWSER_CHECK(values.ok());
  return *std::move(values);
}

}  // namespace hawser::plan
