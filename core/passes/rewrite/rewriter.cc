#include "core/passes/rewrite/rewriter.h"

#include <numeric>
#include <utility>

#include "core/ir/leaves.h"

namespace hawser {

Rewriter::Rewriter(const Computation& from, const Module& module,
                   absl::Span<const int> called)
    : from_(from),
      module_(module),
      called_(called),
      to_(from.name()),
      mapped_(from.num_values(), kNoValue) {
  to_.Reserve(from.instructions().size(), from.num_values());
}

absl::InlinedVector<ValueId, 3> Rewriter::MappedOperands(
    const Instruction& i) const {
  absl::InlinedVector<ValueId, 3> operands;
  for (ValueId v : i.operands) operands.push_back(mapped_[v]);
  return operands;
}

absl::InlinedVector<int, 1> Rewriter::MappedCalls(
    const Instruction& i) const {
  absl::InlinedVector<int, 1> called;
  for (int c : i.called) called.push_back(called_[c]);
  return called;
}

absl::Status Rewriter::Keep(const Instruction& instruction) {
  HAWSER_ASSIGN_OR_RETURN(
      const ValueId first,
      Append(*instruction.op, MappedOperands(instruction),
             instruction.attributes, MappedCalls(instruction)));
  Replace(instruction, first);
  return absl::OkStatus();
}

void Rewriter::Replace(const Instruction& instruction, ValueId first) {
  for (int k = 0; k < instruction.num_results; ++k) {
    mapped_[instruction.first_result + k] =
        first == kNoValue ? kNoValue : first + k;
  }
}

void Rewriter::Replace(const Instruction& instruction,
                       absl::Span<const ValueId> values) {
  for (int k = 0; k < instruction.num_results; ++k) {
    mapped_[instruction.first_result + k] = values[k];
  }
}

absl::StatusOr<ValueId> Rewriter::Append(const OpDef& op,
                                         absl::Span<const ValueId> operands,
                                         Attributes attributes,
                                         absl::Span<const int> called) {
  return to_.Append(module_, op, operands, std::move(attributes), called);
}

absl::StatusOr<Computation> Rewriter::Finish() {
  std::vector<ValueId> results;
  for (ValueId r : from_.results()) results.push_back(mapped_[r]);
  return FinishWith(results);
}

absl::StatusOr<Computation> Rewriter::FinishWith(
    absl::Span<const ValueId> results) {
  HAWSER_RETURN_IF_ERROR(to_.SetResults(results));
  return std::move(to_);
}

absl::StatusOr<Module> RewriteModule(Module module, RewriteRule rule,
                                     bool* changed) {
  Module to(module.name());
  std::vector<int> same(module.computations().size());
  std::iota(same.begin(), same.end(), 0);
  bool any = false;
  for (const Computation& c : module.computations()) {
    Rewriter rewriter(c, to, same);
    for (const Instruction& i : c.instructions()) {
      bool replaced = false;
      if (i.op != &kParameter) {
        HAWSER_ASSIGN_OR_RETURN(replaced, rule(rewriter, i));
      }
      if (!replaced) HAWSER_RETURN_IF_ERROR(rewriter.Keep(i));
      any = any || replaced;
    }
    HAWSER_ASSIGN_OR_RETURN(Computation rebuilt, rewriter.Finish());
    to.Add(std::move(rebuilt));
  }
  *changed = *changed || any;
  return any ? std::move(to) : std::move(module);
}

}  // namespace hawser
