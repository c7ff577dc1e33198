// The arguments of one call of a Jit function, as its client takes them.
#ifndef HAWSER_CLIENT_SDK_JIT_CALL_ARGUMENTS_H_
#define HAWSER_CLIENT_SDK_JIT_CALL_ARGUMENTS_H_

#include <optional>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/sdk/client/client.h"
#include "client/sdk/graph/node.h"
#include "client/sdk/graph/run/evaluate.h"
#include "client/sdk/structure.h"
#include "core/base/values/literal.h"
#include "core/ir/module.h"
#include "core/ir/source_location.h"
#include "core/runtime/client.h"

namespace hawser::sdk {

// `status` of the arguments of a call, with the function made at `where`.
absl::Status InCall(const absl::Status& status, SourceLocation where);

// Notes in `*client` where the arguments of a call of the function made at
// `where` must be computed. Errors: what makes an argument unusable, naming it;
// kFailedPrecondition for two clients.
absl::Status AgreeOn(const Flat& arguments, SourceLocation where,
                     Client* client);

// Runs what the arguments record, in one execution. Errors: Evaluate's.
absl::Status EvaluateRecorded(const Flat& arguments,
                              const Execution& execution);

// The arguments of an execution; large host values are uploaded. After
// EvaluateRecorded. Errors: ToArgument's; kInvalidArgument for a Shape.
absl::StatusOr<std::vector<runtime::Argument>> ToArguments(
    const Flat& arguments, const Execution& execution);

// Arguments that need no session: host values and arrays of datasets, small
// enough together, as the results are. nullopt: this call needs one.
std::optional<std::vector<runtime::Argument>> StatelessArguments(
    const Flat& arguments, const Signature& signature);

// The donated leaves of one call. Between Take and the end of the execution no
// Tensor has their values; GiveBack, when nothing was executed, puts them back.
// Used by one thread, and not longer than `flat` lives.
class Donations {
 public:
  explicit Donations(const Flat& flat) : flat_(flat) {}

  // Errors: those of Surrender, naming the argument; then none is taken.
  absl::Status Take(absl::Span<const runtime::Argument> arguments);
  void GiveBack(absl::Span<const runtime::Argument> arguments);
  // The indices of the arguments that were taken.
  const std::vector<int>& indices() const { return indices_; }

 private:
  void GiveBackLocked(absl::Span<const runtime::Argument> arguments)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(graph_mutex);

  const Flat& flat_;
  std::vector<int> indices_;
  std::vector<Literal> values_;  // of host tensors, one per index
};

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_JIT_CALL_ARGUMENTS_H_
