// A computation in the making, as the proposers of random_proposals.cc see it.
#ifndef HAWSER_TESTS_TESTING_RANDOM_RANDOM_DRAFT_H_
#define HAWSER_TESTS_TESTING_RANDOM_RANDOM_DRAFT_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "core/ir/module.h"
#include "tests/testing/random/random_literal.h"
#include "tests/testing/random/random_module.h"

namespace hawser {

// An instruction that may or may not pass InferShapes.
struct Proposal {
  absl::InlinedVector<ValueId, 3> operands;
  Attributes attributes;
  absl::InlinedVector<int, 2> called;
};

class Draft {
 public:
  Draft(Module* module, Random* random, const RandomModuleOptions* options,
        std::string name)
      : module_(module),
        random_(random),
        options_(options),
        computation_(std::move(name)) {}

  Module* module() const { return module_; }
  Random& random() { return *random_; }
  const RandomModuleOptions& options() const { return *options_; }
  const Computation& computation() const { return computation_; }
  const Shape& shape(ValueId v) const { return computation_.shape(v); }

  // All of these add to the computation when they find nothing there.
  ValueId Parameter(const Shape& shape);
  ValueId Constant(Literal value);
  ValueId Any() { return AnyOf(kAnyDType, 0); }
  // A value with one of `dtypes` and at least `min_rank` axes.
  ValueId AnyOf(DTypeSet dtypes, int min_rank);
  // kNoValue, which Append refuses, where `shape` would be too large.
  ValueId AnyOfShape(const Shape& shape);

  // Appends unless the proposal is refused or gives values that are too large.
  bool Append(const OpDef& op, Proposal proposal);
  // Proposes instructions with ops of `ops` until one passes.
  void Grow(absl::Span<const OpDef* const> ops);
  int Finish(absl::Span<const ValueId> results);

 private:
  template <typename Fits>
  ValueId Find(Fits fits);

  Module* const module_;
  Random* const random_;
  const RandomModuleOptions* const options_;
  Computation computation_;
};

// Operands, attributes and called computations for `op`.
Proposal Propose(const OpDef& op, Draft& draft);
// Those of factorizations (linalg_proposals.cc).
Proposal ProposeCholesky(const OpDef& op, Draft& draft);
Proposal ProposeTriangularSolve(const OpDef& op, Draft& draft);
Proposal ProposeFactors(const OpDef& op, Draft& draft);
Proposal ProposeHouseholderProduct(const OpDef& op, Draft& draft);

}  // namespace hawser
#endif  // HAWSER_TESTS_TESTING_RANDOM_RANDOM_DRAFT_H_
