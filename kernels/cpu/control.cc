// Constants, loops and branches, and what only passes its operand on.
#include "core/ops/contraction/control.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "kernels/cpu/families.h"

namespace hawser::cpu {
namespace {

absl::StatusOr<Literals> RunConstant(const KernelContext& c) {
  return Literals{c.attributes().GetLiteral("value")};
}

// The state moves into the body, so a body can work on it in place. Between
// the condition and the body it has no other holder.
absl::StatusOr<Literals> RunWhile(const KernelContext& c) {
  const size_t count = c.operands.size();
  const size_t invariant = c.attributes().GetInt("num_invariant");
  std::vector<Literal> state(std::make_move_iterator(c.operands.begin()),
                             std::make_move_iterator(c.operands.end()));
  const std::vector<Literal> fixed(state.end() - invariant, state.end());
  while (true) {
    HAWSER_RETURN_IF_ERROR(c.environment.cancel.Check());
    c.environment.BetweenIterations();
    HAWSER_ASSIGN_OR_RETURN(std::vector<Literal> again, c.call(0, state));
    if (!again[0].data<bool>()[0]) break;
    HAWSER_ASSIGN_OR_RETURN(state, c.call(1, std::move(state)));
    state.insert(state.end(), fixed.begin(), fixed.end());
  }
  return Literals(std::make_move_iterator(state.begin()),
                  std::make_move_iterator(state.begin() + count - invariant));
}

absl::StatusOr<Literals> RunCase(const KernelContext& c) {
  const int32_t index = c.operands[0].data<int32_t>()[0];
  const int branches = static_cast<int>(c.instruction.called.size());
  const int branch = index >= 0 && index < branches ? index : branches - 1;
  std::vector<Literal> arguments(
      std::make_move_iterator(c.operands.begin() + 1),
      std::make_move_iterator(c.operands.end()));
  HAWSER_ASSIGN_OR_RETURN(std::vector<Literal> results,
                          c.call(branch, std::move(arguments)));
  return Literals(std::make_move_iterator(results.begin()),
                  std::make_move_iterator(results.end()));
}

// A fusion or a call means what its first computation computes.
absl::StatusOr<Literals> RunFirst(const KernelContext& c) {
  std::vector<Literal> arguments(
      std::make_move_iterator(c.operands.begin()),
      std::make_move_iterator(c.operands.end()));
  HAWSER_ASSIGN_OR_RETURN(std::vector<Literal> results,
                          c.call(0, std::move(arguments)));
  return Literals(std::make_move_iterator(results.begin()),
                  std::make_move_iterator(results.end()));
}

absl::StatusOr<Literals> RunStopGradient(const KernelContext& c) {
  return Literals{std::move(c.operands[0])};
}

template <int64_t kBytes>
void CopyElements(const char* const* in, char* out, int64_t n) {
  std::memmove(out, in[0], n * kBytes);
}

ElementFn Copy(const ElementTypes& types) {
  return VisitWidth(ByteWidth(types.result), [](auto tag) -> ElementFn {
    return CopyElements<sizeof(typename decltype(tag)::type)>;
  });
}

// How many iterations a loop takes is not known.
double Endless(const CostContext&) {
  return std::numeric_limits<double>::infinity();
}

// One of them runs.
double MostOfCalled(const CostContext& c) {
  double most = 0;
  for (const CalledCost& called : c.called) {
    most = std::max(most, called.steps);
  }
  return most;
}

constexpr CpuKernel kKernels[] = {
    {&kCall, RunFirst, nullptr, MostOfCalled},
    {&kCase, RunCase, nullptr, MostOfCalled},
    {&kConstant, RunConstant, nullptr, NoCost},
    {&kFusion, RunFirst, nullptr, MostOfCalled},
    {&kParameter, nullptr, nullptr, NoCost},
    {&kStopGradient, RunStopGradient, Copy, NoCost},
    {&kWhile, RunWhile, nullptr, Endless},
};

}  // namespace

absl::Span<const CpuKernel> ControlKernels() { return kKernels; }

}  // namespace hawser::cpu
