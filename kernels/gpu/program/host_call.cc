#include "kernels/gpu/program/host_call.h"

#include <utility>
#include <vector>

#include "core/base/status.h"
#include "core/ir/leaves.h"
#include "kernels/plan/steps/step_builder.h"

namespace hawser::gpu {
namespace {

using Calls = absl::InlinedVector<int, 2>;

// Copies computations of one module to another, callees first, each once.
class ComputationCopier {
 public:
  ComputationCopier(const Module& from, Module* to)
      : from_(from), to_(to), copied_(from.computations().size(), -1) {}

  // Computation `index` calls smaller ones only.
  absl::Status CopyNeededBy(absl::Span<const int> roots) {
    std::vector<bool> needed(copied_.size(), false);
    for (const int c : roots) needed[c] = true;
    for (size_t c = needed.size(); c-- > 0;) {
      if (!needed[c]) continue;
      const auto index = static_cast<int>(c);
      for (const Instruction& i : from_.computation(index).instructions()) {
        for (const int callee : i.called) needed[callee] = true;
      }
    }
    for (size_t c = 0; c < needed.size(); ++c) {
      if (needed[c]) HAWSER_RETURN_IF_ERROR(Copy(static_cast<int>(c)));
    }
    return absl::OkStatus();
  }

  Calls Renumbered(absl::Span<const int> called) const {
    Calls calls;
    for (const int c : called) calls.push_back(copied_[c]);
    return calls;
  }

 private:
  absl::Status Copy(int index) {
    const Computation& from = from_.computation(index);
    Computation to(from.name());
    for (const Instruction& i : from.instructions()) {
      HAWSER_RETURN_IF_ERROR(to.Append(*to_, *i.op, i.operands, i.attributes,
                                       Renumbered(i.called)));
    }
    HAWSER_RETURN_IF_ERROR(to.SetResults(from.results()));
    copied_[index] = to_->Add(std::move(to));
    return absl::OkStatus();
  }

  const Module& from_;
  Module* const to_;
  std::vector<int> copied_;
};

}  // namespace

absl::StatusOr<HostCall> MakeHostCall(const Module& module, int computation,
                                      int instruction) {
  const Computation& c = module.computation(computation);
  const Instruction& i = c.instructions()[instruction];
  HostCall call;
  call.name = plan::NameOf(module, i);
  ComputationCopier copier(module, &call.module);
  HAWSER_RETURN_IF_ERROR(copier.CopyNeededBy(i.called));
  Computation entry("host_call");
  std::vector<ValueId> operands, results;
  for (const ValueId v : i.operands) {
    const Shape& shape = c.shape(v);
    HAWSER_ASSIGN_OR_RETURN(
        const ValueId parameter,
        entry.Append(call.module, kParameter, {},
                     {{"dims", shape.dims()}, {"dtype", shape.dtype()}}));
    operands.push_back(parameter);
  }
  HAWSER_ASSIGN_OR_RETURN(
      const ValueId first,
      entry.Append(call.module, *i.op, operands, i.attributes,
                   copier.Renumbered(i.called)));
  for (int k = 0; k < i.num_results; ++k) results.push_back(first + k);
  HAWSER_RETURN_IF_ERROR(entry.SetResults(results));
  call.module.Add(std::move(entry));
  return call;
}

}  // namespace hawser::gpu
