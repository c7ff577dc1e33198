// JitCore: what Jit does that does not depend on the function's types.
#ifndef HAWSER_CLIENT_SDK_GRAPH_JIT_H_
#define HAWSER_CLIENT_SDK_GRAPH_JIT_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/sdk/graph/evaluate.h"
#include "client/sdk/graph/lru_map.h"
#include "client/sdk/graph/row_wise.h"
#include "client/sdk/options.h"
#include "client/sdk/structure.h"
#include "core/base/digest.h"
#include "core/base/future.h"
#include "core/base/mutex.h"
#include "core/ir/source_location.h"
#include "core/runtime/client.h"

namespace hawser::sdk {

// Signatures whose executables one function keeps (house, section 4).
inline constexpr size_t kSignaturesKept = 64;

// The user's function, called once with traced tensors.
struct TracedCall {
  std::vector<Tensor> results;
  std::shared_ptr<const void> prototype;  // the result's structure
};
using TraceFn = absl::FunctionRef<TracedCall(std::vector<Tensor> parameters)>;

struct CallResult {
  std::vector<Tensor> tensors;
  std::shared_ptr<const void> prototype;
};

// Executables by signature: client, dtype and sizes of every leaf, sizes of
// vectors. Thread-safe; a signature is traced once, also when several threads
// come with it at the same time.
class JitCore {
 public:
  JitCore(JitOptions options, SourceLocation where)
      : options_(std::move(options)), where_(where) {}

  // Queues one execution.
  absl::StatusOr<CallResult> Run(Flat arguments, const RunOptions& options,
                                 TraceFn fn);
  // One stateless request and its answer; the results are host values.
  absl::StatusOr<CallResult> Call(Flat arguments, const RunOptions& options,
                                  TraceFn fn);
  // Traces and compiles.
  absl::Status Warm(Flat arguments, const RunOptions& options, TraceFn fn);

 private:
  struct Entry {
    Client client;  // keeps the key's address its own
    std::shared_ptr<runtime::Executable> executable;
    std::shared_ptr<const void> prototype;
    Digest digest;              // of the module as traced
    std::vector<bool> batched;  // with buckets: results to cut back
  };
  using EntryPtr = std::shared_ptr<const Entry>;
  using Key = absl::InlinedVector<int64_t, 32>;
  struct Prepared;

  // Arguments with the batch get the shapes of their bucket.
  absl::Status Prepare(Flat* arguments, const RunOptions& options, TraceFn fn,
                       Prepared* call);
  // As Prepare, then the values: evaluated, padded, on the client.
  absl::Status PrepareValues(Flat* arguments, const RunOptions& options,
                             TraceFn fn, Prepared* call);
  // The entry of a signature, traced by the first caller.
  absl::StatusOr<EntryPtr> Find(const Flat& arguments, const Key& key,
                                const Execution& execution, TraceFn fn);
  // With HAWSER_CHECK_JIT: the function still makes what the entry holds.
  absl::Status CheckSame(const Flat& arguments, const Entry& entry,
                         TraceFn fn) const;
  absl::StatusOr<EntryPtr> Build(const Flat& arguments,
                                 const Execution& execution, TraceFn fn) const;
  // The module the function makes of arguments like these.
  absl::StatusOr<TracedModule> TraceCall(
      const Flat& arguments, TraceFn fn,
      std::shared_ptr<const void>* prototype) const;
  // Which results have the batch, for arguments with the shapes of a bucket.
  absl::StatusOr<std::vector<bool>> FindBatched(const Flat& arguments,
                                                TraceFn fn) const;
  static absl::Status EvaluateRecorded(const Flat& arguments,
                                       const Execution& execution);

  const JitOptions options_;
  const SourceLocation where_;  // of the Jit
  Mutex mu_;
  LruMap<Key, Future<EntryPtr>> entries_ ABSL_GUARDED_BY(mu_){kSignaturesKept};
};

// Whether a trace is being built on this thread.
bool Tracing();
// An invalid tensor that keeps `error`.
Tensor FailedTensor(const absl::Status& error);
// A leaf as a tensor, for calling the function inside another trace.
Tensor ToTensor(const Leaf& leaf, SourceLocation where);

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_GRAPH_JIT_H_
