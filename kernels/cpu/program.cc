#include "kernels/cpu/program.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ir/leaves.h"

namespace hawser::cpu {
namespace {

// An instruction takes about as long as so many elements, however small its
// values.
constexpr double kInstructionSteps = 256;

}  // namespace

absl::StatusOr<CpuProgram> CpuProgram::Make(const Module& module, int entry) {
  CpuProgram program;
  program.module_ = &module;
  program.computations_.reserve(entry + 1);
  for (int i = 0; i <= entry; ++i) {
    HAWSER_ASSIGN_OR_RETURN(
        Prepared prepared,
        Prepare(module, module.computation(i), program.computations_));
    program.computations_.push_back(std::move(prepared));
  }
  return program;
}

absl::StatusOr<CpuProgram::Prepared> CpuProgram::Prepare(
    const Module& module, const Computation& computation,
    const std::vector<Prepared>& before) {
  Prepared p{.computation = &computation};
  p.used.resize(computation.num_values(), false);
  const size_t count = computation.instructions().size();
  p.steps.reserve(count);
  p.step_of.reserve(count);
  p.last_uses.reserve(2 * count);
  for (const Instruction& i : computation.instructions()) {
    p.step_of.push_back(i.op == &kParameter ? -1
                                            : static_cast<int>(p.steps.size()));
    if (i.op == &kParameter) continue;
    const CpuKernel* kernel = FindCpuKernel(*i.op);
    if (kernel == nullptr || kernel->run == nullptr) {
      return Unimplemented("op ", i.op->name, " has no CPU kernel");
    }
    absl::InlinedVector<CalledCost, 2> called;
    absl::InlinedVector<const LaneProgram*, 1> lanes;
    for (int callee : i.called) {
      const Prepared& prepared = before[callee];
      called.push_back(prepared.cost);
      lanes.push_back(prepared.lanes ? &*prepared.lanes : nullptr);
    }
    const double cost = kInstructionSteps +
                        cpu::CostOf({*kernel, module, computation, i, called});
    p.steps.push_back(
        {kernel, &i, static_cast<int>(p.last_uses.size()), cost, lanes,
         kernel->form == nullptr ? nullptr : kernel->form(computation, i)});
    p.last_uses.resize(p.last_uses.size() + i.operands.size(), false);
    p.cost.steps += cost;
  }
  p.lanes = LaneProgram::Make(computation);
  if (p.lanes) p.cost.lane = p.lanes->cost();
  // From the end: the first use met is the last one.
  p.last_results.resize(computation.results().size(), false);
  for (size_t k = computation.results().size(); k-- > 0;) {
    const ValueId v = computation.results()[k];
    p.last_results[k] = !p.used[v];
    p.used[v] = true;
  }
  for (size_t s = p.steps.size(); s-- > 0;) {
    const Step& step = p.steps[s];
    for (size_t k = step.instruction->operands.size(); k-- > 0;) {
      const ValueId v = step.instruction->operands[k];
      p.last_uses[step.first_use + k] = !p.used[v];
      p.used[v] = true;
    }
  }
  return p;
}

double CpuProgram::CostOf(int computation, int instruction) const {
  const Prepared& p = computations_[computation];
  return p.steps[p.step_of[instruction]].cost;
}

const KernelForm* CpuProgram::FormOf(int computation, int instruction) const {
  const Prepared& p = computations_[computation];
  return p.steps[p.step_of[instruction]].form.get();
}

// One run. Computations call only earlier ones, so recursion is as deep as the
// module is nested, which the verifier bounds.
class Evaluation {
 public:
  Evaluation(const CpuProgram& program, const Environment& environment)
      : program_(program), environment_(environment) {}

  absl::StatusOr<std::vector<Literal>> Run(int index,
                                           std::vector<Literal> arguments) {
    const CpuProgram::Prepared& p = program_.computations_[index];
    std::vector<Literal> values(p.computation->num_values());
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (p.used[i]) values[i] = std::move(arguments[i]);
    }
    arguments.clear();  // lets go of parameters that no step uses
    absl::InlinedVector<Literal, 4> operands;
    for (const CpuProgram::Step& step : p.steps) {
      absl::Status status = RunStep(p, step, &values, &operands);
      if (!status.ok()) return InInstruction(status, index, step);
    }
    std::vector<Literal> results;
    results.reserve(p.last_results.size());
    for (size_t k = 0; k < p.last_results.size(); ++k) {
      Literal& value = values[p.computation->results()[k]];
      results.push_back(p.last_results[k] ? std::move(value) : value);
    }
    return results;
  }

  absl::StatusOr<Literals> RunOne(int index, int instruction,
                                  absl::Span<Literal> operands,
                                  absl::Span<Literal> given,
                                  const ValueUse& use) {
    const CpuProgram::Prepared& p = program_.computations_[index];
    const CpuProgram::Step& step = p.steps[p.step_of[instruction]];
    auto call = [&](int which, std::vector<Literal> arguments) {
      return Run(step.instruction->called[which], std::move(arguments));
    };
    return step.kernel->run({*step.kernel, *program_.module_, *p.computation,
                             *step.instruction, operands, environment_, call,
                             given, use, step.lanes, step.form.get()});
  }

 private:
  absl::Status RunStep(const CpuProgram::Prepared& p,
                       const CpuProgram::Step& step,
                       std::vector<Literal>* values,
                       absl::InlinedVector<Literal, 4>* operands) {
    HAWSER_RETURN_IF_ERROR(environment_.Look(kInstructionSteps));
    const Instruction& i = *step.instruction;
    for (size_t k = 0; k < i.operands.size(); ++k) {
      Literal& value = (*values)[i.operands[k]];
      const bool dies = p.last_uses[step.first_use + k];
      operands->push_back(dies ? std::move(value) : value);
    }
    auto call = [&](int which, std::vector<Literal> arguments) {
      return Run(i.called[which], std::move(arguments));
    };
    const KernelContext context{*step.kernel,
                                *program_.module_,
                                *p.computation,
                                i,
                                absl::MakeSpan(*operands),
                                environment_,
                                call,
                                /*given=*/{},
                                /*use=*/{},
                                step.lanes,
                                step.form.get()};
    absl::StatusOr<Literals> results = step.kernel->run(context);
    operands->clear();
    if (!results.ok()) return results.status();
    HAWSER_CHECK(static_cast<int>(results->size()) == i.num_results);
    for (int k = 0; k < i.num_results; ++k) {
      const ValueId v = i.first_result + k;
      if (p.used[v]) (*values)[v] = std::move((*results)[k]);
    }
    return absl::OkStatus();
  }

  // Names where an error arose. A caller's own cancel or deadline is not the
  // instruction's fault and stays as it is.
  absl::Status InInstruction(const absl::Status& status, int index,
                             const CpuProgram::Step& step) const {
    if (absl::IsCancelled(status) || absl::IsDeadlineExceeded(status)) {
      return status;
    }
    const CpuProgram::Prepared& p = program_.computations_[index];
    const bool entry =
        index + 1 == static_cast<int>(program_.computations_.size());
    return Annotate(status, absl::StrCat(entry ? "" : "computation ",
                                         entry ? "" : p.computation->name(),
                                         entry ? "" : ", ", "instruction %",
                                         step.instruction->first_result, " (",
                                         step.instruction->op->name, ")"));
  }

  const CpuProgram& program_;
  const Environment& environment_;
};

absl::StatusOr<Literals> CpuProgram::RunInstruction(
    int computation, int instruction, absl::Span<Literal> operands,
    absl::Span<Literal> given, const ValueUse& use,
    const Environment& environment) const {
  return Evaluation(*this, environment)
      .RunOne(computation, instruction, operands, given, use);
}

absl::StatusOr<std::vector<Literal>> CpuProgram::Run(
    std::vector<Literal> arguments, const Environment& environment) const {
  for (Literal& argument : arguments) {
    HAWSER_ASSIGN_OR_RETURN(
        argument,
        environment.allocator->Aligned(std::move(argument), environment.cancel,
                                       environment.memory));
  }
  return Evaluation(*this, environment)
      .Run(static_cast<int>(computations_.size()) - 1, std::move(arguments));
}

}  // namespace hawser::cpu
