// Evaluator: computes a module by its meaning, one element after another.
#ifndef HAWSER_TESTS_REFERENCE_EVALUATOR_H_
#define HAWSER_TESTS_REFERENCE_EVALUATOR_H_

#include <vector>

#include "core/runtime/client.h"

namespace hawser::reference {

// Stateless and thread-safe. Values are of this process's memory.
class Evaluator final : public runtime::HostEvaluator {
 public:
  // `module`: verified. Errors: kInvalidArgument for arguments that are not
  // the computation's, kUnimplemented naming an op, kResourceExhausted naming
  // the instruction that found no memory, kCancelled, kDeadlineExceeded.
  absl::StatusOr<std::vector<Literal>> Evaluate(
      const Module& module, int computation,
      absl::Span<const Literal> arguments, const CancelToken& cancel) override;
};

}  // namespace hawser::reference
#endif  // HAWSER_TESTS_REFERENCE_EVALUATOR_H_
