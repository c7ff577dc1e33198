#include "kernels/cpu/evaluator.h"

#include "core/base/status.h"
#include "core/ops/formulas/wide_sums.h"
#include "kernels/cpu/program.h"

namespace hawser::cpu {

CpuEvaluator::CpuEvaluator(const Options& options)
    : allocator_(HostAllocator::Make(options.memory_limit)),
      numerics_(options.numerics),
      pool_(options.pool) {}

absl::StatusOr<std::vector<Literal>> CpuEvaluator::Evaluate(
    const Module& module, int computation, absl::Span<const Literal> arguments,
    const CancelToken& cancel) {
  if (computation < 0 ||
      computation >= static_cast<int>(module.computations().size())) {
    return InvalidArgument("the module has no computation ", computation);
  }
  std::vector<runtime::Argument> given(arguments.begin(), arguments.end());
  HAWSER_RETURN_IF_ERROR(
      runtime::CheckArguments(module.signature(computation), given));
  given.clear();
  Module widened;
  if (ScattersHalves(module, computation)) {
    std::vector<int> numbers;
    HAWSER_ASSIGN_OR_RETURN(widened, WithWideScatters(module, &numbers));
    computation = numbers[computation];
  }
  HAWSER_ASSIGN_OR_RETURN(
      const CpuProgram program,
      CpuProgram::Make(widened.empty() ? module : widened, computation));
  return program.Run({arguments.begin(), arguments.end()},
                     {.pool = pool_,
                      .allocator = allocator_.get(),
                      .numerics = numerics_,
                      .cancel = cancel});
}

absl::StatusOr<std::vector<Literal>> EvaluateConstants(const Module& module,
                                                       int computation) {
  CpuEvaluator evaluator({.numerics = runtime::Numerics::kStrict});
  return evaluator.Evaluate(module, computation, {}, {});
}

}  // namespace hawser::cpu
