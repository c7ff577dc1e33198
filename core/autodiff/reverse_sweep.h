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

namespace hawser::autodiff {

// Whether a value of this shape has derivatives: floats and complex numbers.
bool IsDifferentiable(const Shape& shape);

// The pull-backs of a module's computations, each added to it once. See
// GradientContext::pull_back.
class PullBacks {
 public:
  explicit PullBacks(Module* module) : module_(module) {}

  absl::StatusOr<int> Find(int computation, absl::Span<const int> wanted,
                           absl::Span<const int> seeded);
  Module* module() const { return module_; }
  Monoids& monoids() { return monoids_; }

 private:
  using Key = std::tuple<int, std::vector<int>, std::vector<int>>;

  Module* const module_;
  Monoids monoids_;
  absl::flat_hash_map<Key, int> known_;
};

// A new computation that starts as a copy of another one, with the same value
// numbers, and grows cotangents behind it. Iterative: a chain of any length
// costs no stack.
class ReverseSweep {
 public:
  // `where`: of each instruction, or empty. What is given outlives the sweep;
  // `from` is copied.
  ReverseSweep(PullBacks* shared, const Computation& from,
               absl::Span<const SourceLocation> where);

  // The order of calls: DifferentiateBy, Seed..., Run, CotangentOf, Finish.
  void DifferentiateBy(absl::Span<const int> parameters);
  // Result `result` has the cotangent one everywhere, or a new parameter.
  void SeedWithOnes(int result);
  void SeedWithParameter(int result);
  // Errors: kInvalidArgument, kUnimplemented naming op and place.
  absl::Status Run();
  // Zeros where nothing came back.
  Expression CotangentOf(ValueId value);
  absl::StatusOr<int> Finish(absl::Span<const ValueId> results);

  const Computation& from() const { return from_; }

 private:
  absl::Status Visit(const Instruction& instruction);
  absl::Status ApplyRule(const Instruction& instruction,
                         absl::Span<const bool> wanted);
  void Accumulate(ValueId value, const Expression& cotangent);

  PullBacks* const shared_;
  const Computation from_;
  const absl::Span<const SourceLocation> where_;
  ComputationBuilder builder_;
  ExpressionScope scope_;
  std::vector<bool> depends_;          // on what is differentiated by
  std::vector<Expression> cotangents_;  // by value
};

}  // namespace hawser::autodiff
#endif  // HAWSER_CORE_AUTODIFF_REVERSE_SWEEP_H_
