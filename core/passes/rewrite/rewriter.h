// Rewriter: builds a new computation out of an old one, instruction by
// instruction, keeping track of which new value stands for which old one.
#ifndef HAWSER_CORE_PASSES_REWRITE_REWRITER_H_
#define HAWSER_CORE_PASSES_REWRITE_REWRITER_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ir/module.h"

namespace hawser {

class Rewriter {
 public:
  // `called` maps the computations `from` calls to those of `module`, into
  // which the result will be added. All outlive the Rewriter.
  Rewriter(const Computation& from, const Module& module,
           absl::Span<const int> called);

  // The instruction as it is, with operands and computations renumbered.
  absl::Status Keep(const Instruction& instruction);
  // Its results are the new values from `first` on, or, where they are to be
  // found elsewhere, `values` in order. kNoValue: it is not used.
  void Replace(const Instruction& instruction, ValueId first);
  void Replace(const Instruction& instruction,
               absl::Span<const ValueId> values);
  // A new instruction; returns its first result.
  absl::StatusOr<ValueId> Append(const OpDef& op,
                                 absl::Span<const ValueId> operands,
                                 Attributes attributes = {},
                                 absl::Span<const int> called = {});

  // The new value that stands for the old one.
  ValueId Mapped(ValueId old) const { return mapped_[old]; }
  absl::InlinedVector<ValueId, 3> MappedOperands(const Instruction& i) const;
  absl::InlinedVector<int, 1> MappedCalls(const Instruction& i) const;

  // The module the computation will be in: what it calls is there.
  const Module& module() const { return module_; }
  const Computation& from() const { return from_; }
  // The computation that has been built so far.
  const Computation& to() const { return to_; }
  const Shape& shape(ValueId value) const { return to_.shape(value); }
  // The instruction that makes new value `value`; good until the next Append.
  const Instruction& producer(ValueId value) const {
    return to_.instructions()[to_.producer(value)];
  }

  // The computation with its results. Call it once, after every instruction.
  absl::StatusOr<Computation> Finish();
  // Finishes with these new values as results.
  absl::StatusOr<Computation> FinishWith(absl::Span<const ValueId> results);

 private:
  const Computation& from_;
  const Module& module_;
  absl::Span<const int> called_;
  Computation to_;
  std::vector<ValueId> mapped_;
};

// Decides about one instruction: true when it was replaced, false to keep it.
using RewriteRule =
    absl::FunctionRef<absl::StatusOr<bool>(Rewriter&, const Instruction&)>;

// Rewrites every computation of `module`; computations keep their numbers.
// Parameters are kept without asking. Sets `*changed` when any instruction was
// replaced, else returns `module` itself.
absl::StatusOr<Module> RewriteModule(Module module, RewriteRule rule,
                                     bool* changed);

}  // namespace hawser
#endif  // HAWSER_CORE_PASSES_REWRITE_REWRITER_H_
