// BucketedFunction: a Jit function without its C++ types, with batch buckets
// where it has any.
#ifndef HAWSER_CLIENT_SDK_JIT_BUCKETED_FUNCTION_H_
#define HAWSER_CLIENT_SDK_JIT_BUCKETED_FUNCTION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/sdk/client/options.h"
#include "client/sdk/jit/untyped_call.h"
#include "client/sdk/structure.h"
#include "core/ir/source_location.h"

namespace hawser::sdk {

class JitCore;

// Stands above a JitCore, which runs exactly the shapes it is given. If there
// are no buckets, a call goes straight there. If there are, marked arguments
// are padded to one of a few numbers of rows before, and the results that have
// the batch are cut back after; which ones have it is found when the JitCore
// traces a signature, and is kept with what it made of it. Thread-safe.
class BucketedFunction {
 public:
  BucketedFunction(JitOptions options, SourceLocation where);
  ~BucketedFunction();

  // Queues one execution.
  absl::StatusOr<CallResult> Run(Flat arguments, const RunOptions& options,
                                 TraceFn fn);
  // One request and its answer; the results are host values.
  absl::StatusOr<CallResult> Call(Flat arguments, const RunOptions& options,
                                  TraceFn fn);
  // Traces and compiles.
  absl::Status Warm(Flat arguments, const RunOptions& options, TraceFn fn);
  // Traces alone: the module's text.
  absl::StatusOr<std::string> ToText(Flat arguments, TraceFn fn) const;

 private:
  using Below = absl::StatusOr<CallResult> (JitCore::*)(Flat, const RunOptions&,
                                                        TraceFn);
  // Runs padded arguments below and cuts what comes back.
  absl::StatusOr<CallResult> RunPadded(Flat arguments,
                                       const RunOptions& options, TraceFn fn,
                                       Below below) const;
  // Returns fn's results, and which of them have the batch. marks: of its
  // parameters, those that have it.
  CallResult TraceBatched(const std::vector<bool>& marks, TraceFn fn,
                          std::vector<Tensor> parameters) const;

  const std::vector<int64_t> buckets_;
  const SourceLocation where_;  // of the Jit
  const std::unique_ptr<JitCore> core_;
};

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_JIT_BUCKETED_FUNCTION_H_
