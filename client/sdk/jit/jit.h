// JitCore: a Jit function without its C++ types, for exactly the shapes it is
// given.
#ifndef HAWSER_CLIENT_SDK_JIT_JIT_H_
#define HAWSER_CLIENT_SDK_JIT_JIT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/sdk/client/options.h"
#include "client/sdk/graph/run/evaluate.h"
#include "client/sdk/graph/run/lru_map.h"
#include "client/sdk/jit/traced_module.h"
#include "client/sdk/jit/untyped_call.h"
#include "client/sdk/probes/probes.h"
#include "client/sdk/structure.h"
#include "core/base/digest.h"
#include "core/base/mutex.h"
#include "core/base/threads/future.h"
#include "core/ir/source_location.h"
#include "core/runtime/client.h"
#include "core/sharding/shard_spec.h"

namespace hawser::sdk {

// Signatures whose executables one function keeps (house, section 4).
inline constexpr size_t kSignaturesKept = 64;

// Executables by signature: client, dtype and sizes of every leaf, sizes of
// vectors, marked cuts. Thread-safe; a signature is traced once, also when
// several threads come with it at the same time.
class JitCore {
 public:
  JitCore(bool strict_cuts, SourceLocation where)
      : strict_cuts_(strict_cuts), where_(where) {}

  // Queues one execution.
  absl::StatusOr<CallResult> Run(Flat arguments, const RunOptions& options,
                                 TraceFn fn);
  // One request and its answer; the results are host values. Stateless where
  // all arguments have a meaning outside a session and it is small enough, else
  // an execution in the session.
  absl::StatusOr<CallResult> Call(Flat arguments, const RunOptions& options,
                                  TraceFn fn);
  // Traces and compiles.
  absl::Status Warm(Flat arguments, const RunOptions& options, TraceFn fn);
  // Traces alone: the module's text.
  absl::StatusOr<std::string> ToText(Flat arguments, TraceFn fn) const;

 private:
  struct Entry {
    Client client;  // keeps the key's address its own
    std::shared_ptr<runtime::Executable> executable;
    std::shared_ptr<const void> prototype;
    Digest digest;  // of the module as traced
    Probes probes;
  };
  using EntryPtr = std::shared_ptr<const Entry>;
  using Key = absl::InlinedVector<int64_t, 32>;
  struct Prepared;

  absl::Status Prepare(const Flat& arguments, const RunOptions& options,
                       TraceFn fn, Prepared* call);
  // Prepares as Prepare does, then runs what the arguments record.
  absl::Status PrepareValues(const Flat& arguments, const RunOptions& options,
                             TraceFn fn, Prepared* call);
  absl::StatusOr<std::vector<runtime::BufferPtr>> Execute(
      const Flat& arguments, const Prepared& call) const;
  absl::StatusOr<runtime::Called> Ask(const Flat& arguments,
                                      const Prepared& call) const;
  // Takes the hidden results off `results` and waits for them. Errors: what
  // they tell; of an execution that failed.
  absl::Status Tell(const Prepared& call,
                    std::vector<runtime::BufferPtr>* results) const;
  // For an error of a call: with its deadline named, if that is what it is.
  absl::Status Explain(const absl::Status& error, const Prepared& call,
                       const RunOptions& options) const;
  // The entry of a signature, traced by the first caller.
  absl::StatusOr<EntryPtr> Find(const Flat& arguments, const Key& key,
                                const Execution& execution, TraceFn fn);
  // Checks, with HAWSER_CHECK_JIT, that the function still makes what the entry
  // holds.
  absl::Status CheckSame(const Flat& arguments, const Entry& entry,
                         TraceFn fn) const;
  absl::StatusOr<EntryPtr> Build(const Flat& arguments,
                                 const Execution& execution, TraceFn fn) const;
  // The module the function makes of arguments like these.
  absl::StatusOr<TracedModule> TraceFor(const Flat& arguments,
                                        TraceFn fn) const;
  // Says which of the cuts come out whole there. Errors: kInvalidArgument with
  // that, where cuts are strict.
  absl::Status CheckCuts(const TracedModule& traced, const ShardSpec& cuts,
                         const Client& client) const;

  const bool strict_cuts_;
  const SourceLocation where_;  // of the Jit
  Mutex mu_;
  LruMap<Key, Future<EntryPtr>> entries_ ABSL_GUARDED_BY(mu_){kSignaturesKept};
};

}  // namespace hawser::sdk
#endif  // HAWSER_CLIENT_SDK_JIT_JIT_H_
