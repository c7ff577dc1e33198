// The walk backwards over one computation, and the pull-backs of those it
// calls.
#ifndef HAWSER_CORE_AUTODIFF_REVERSE_SWEEP_H_
#define HAWSER_CORE_AUTODIFF_REVERSE_SWEEP_H_

#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ir/builder.h"
#include "core/ir/module.h"
#include "core/ops/expression.h"
#include "core/ops/gradient/gradient.h"

namespace hawser::autodiff {

// True if a value of this shape has derivatives: floats and complex numbers.
bool IsDifferentiable(const Shape& shape);

// The pull-backs of a module's computations, each added to it once. See
// GradientContext::pull_back.
class PullBacks {
 public:
  explicit PullBacks(Module* module) : module_(module) {}

  // Finds the pull-back of a loop's body. `loop`: see LoopRecord; its pull_back
  // is not read.
  absl::StatusOr<int> Find(int computation, const LoopRecord& loop);
  absl::StatusOr<int> Find(int computation, absl::Span<const int> wanted,
                           absl::Span<const int> seeded) {
    LoopRecord record;
    record.wanted.assign(wanted.begin(), wanted.end());
    record.seeded.assign(seeded.begin(), seeded.end());
    return Find(computation, record);
  }
  Module* module() const { return module_; }
  Monoids& monoids() { return monoids_; }

 private:
  using Key = std::tuple<int, std::vector<int>, std::vector<int>,
                         std::vector<int>, std::vector<int>, std::vector<int>>;

  Module* const module_;
  Monoids monoids_;
  absl::flat_hash_map<Key, int> known_;
};

// A new computation that starts as a copy of another one, but that loops with a
// known number of iterations keep what these begin with, and grows cotangents
// after it. Iterative: a chain of any length costs no stack.
class ReverseSweep {
 public:
  // `computation`: of the shared module. `where`: of each instruction, or
  // empty. The arguments outlive the sweep.
  ReverseSweep(PullBacks* shared, int computation,
               absl::Span<const SourceLocation> where);

  // The order of calls: DifferentiateBy, Seed..., Begin..., Know..., Run,
  // CotangentOf, Finish.
  // Errors: as Run's, of a loop's body.
  absl::Status DifferentiateBy(absl::Span<const int> parameters);
  // Result `result` has the cotangent one everywhere, or a new parameter, which
  // may have the dtype of sums (SumDType).
  void SeedWithOnes(int result);
  void SeedWithParameter(int result, bool is_sum);
  // A new parameter is what a parameter of the computation was given so far,
  // in the dtype of sums.
  void BeginWithParameter(int parameter);
  // A new parameter is what rules see of a result, in place of the copy.
  void KnowByParameter(int result);
  // Errors: kInvalidArgument, kUnimplemented naming op and place.
  absl::Status Run();
  // Zeros where nothing came back. `parameter`: of the computation. In its
  // dtype, or that of sums.
  Expression CotangentOf(int parameter, bool is_sum = false);
  // The results of the computation, as values of the copy.
  std::vector<ValueId> results() const;
  // For each instruction of the copy, in order, the number of the one it was,
  // or -1 if a loop brings it along; those after the copy are left out.
  const std::vector<int>& origins() const { return origins_; }
  absl::StatusOr<int> Finish(absl::Span<const ValueId> results);

  const Computation& from() const { return from_; }

 private:
  // Finds the values that depend on what is differentiated by.
  void FindDependents(absl::Span<const int> parameters);
  absl::Status Copy(int instruction);
  // The loop, which keeps what the record says. Errors: of its body.
  absl::StatusOr<ValueId> CopyLoop(const Instruction& loop, int64_t turns,
                                   absl::Span<const ValueId> operands,
                                   LoopRecord* record);
  absl::Status Visit(const Instruction& instruction);
  absl::Status ApplyRule(const Instruction& instruction,
                         absl::Span<const bool> wanted);
  // `cotangent`: of the value's dtype or that of its sums.
  void Accumulate(ValueId value, const Expression& cotangent);
  // Returns one sum of what was given so far, in the dtype of sums; may be
  // nothing.
  Expression SumOf(ValueId value);
  // The same, rounded once.
  Expression RoundedSumOf(ValueId value);

  PullBacks* const shared_;
  const int computation_;
  const Computation from_;  // by value: the module may move its computations
  const absl::Span<const SourceLocation> where_;
  ComputationBuilder builder_;
  ExpressionScope scope_;
  std::vector<ValueId> moved_;  // of each value of `from_`, in the builder
  std::vector<int> origins_;
  // Indexed by values of `from_`.
  std::vector<bool> depends_;  // on what is differentiated by
  // The cotangents that users give to a value are added up in the dtype of
  // sums. One or two halves wait: their sum in f32, rounded once, is their sum.
  struct Cotangent {
    Expression sum;
    absl::InlinedVector<Expression, 2> waiting;
    bool present() const { return sum.present() || !waiting.empty(); }
  };
  std::vector<Cotangent> cotangents_;
  absl::flat_hash_map<ValueId, LoopRecord> loops_;  // by their first results
};

}  // namespace hawser::autodiff
#endif  // HAWSER_CORE_AUTODIFF_REVERSE_SWEEP_H_
