// HostDatasets: datasets in this process's memory, by token. What an engine
// keeps them in; where their arrays go to be used is the engine's own affair.
#ifndef HAWSER_CORE_RUNTIME_HOST_DATASETS_H_
#define HAWSER_CORE_RUNTIME_HOST_DATASETS_H_

#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/mutex.h"
#include "core/runtime/client.h"
#include "core/runtime/dataset.h"

namespace hawser::runtime {

// Thread-safe. Errors (all): kInvalidArgument for what is no token, kNotFound
// for one that is unknown here, and whatever the call's token says.
class HostDatasets {
 public:
  // What is kept of a value: itself, or a copy placed as an engine needs it.
  using Keep = absl::FunctionRef<absl::StatusOr<Literal>(const Literal&)>;

  // `owner` stands in errors.
  explicit HostDatasets(std::string owner) : owner_(std::move(owner)) {}

  // Hashes on up to `threads` threads.
  absl::StatusOr<DatasetInfo> Put(const DatasetSource& source,
                                  const CallOptions& call, int threads,
                                  Keep keep);
  absl::StatusOr<DatasetInfo> Stat(absl::string_view token,
                                   const CallOptions& call);
  // Shares the bytes, as Rows does.
  absl::StatusOr<Literal> Array(absl::string_view token,
                                absl::string_view array,
                                const CallOptions& call);
  absl::StatusOr<Literal> Rows(absl::string_view token,
                               absl::string_view array, const RowRange& rows,
                               const CallOptions& call);
  absl::StatusOr<DatasetPage> List(const DatasetQuery& query,
                                   const CallOptions& call);
  absl::Status Delete(absl::string_view token, const CallOptions& call);
  // Nothing is evicted here; a pin is remembered and no more.
  absl::StatusOr<DatasetInfo> Pin(absl::string_view token, absl::Duration ttl,
                                  const CallOptions& call);
  absl::Status Tag(const DatasetTag& tag, const CallOptions& call);
  absl::StatusOr<DatasetUsage> Usage(const CallOptions& call);

 private:
  struct Dataset {
    DatasetInfo info;
    std::vector<Literal> values;  // in the order of info.arrays
  };
  // `name`: a token or a tag.
  absl::StatusOr<Dataset*> Find(absl::string_view name)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string owner_;
  Mutex mu_;
  absl::flat_hash_map<std::string, Dataset> datasets_ ABSL_GUARDED_BY(mu_);
  absl::btree_map<std::string, std::string> tags_ ABSL_GUARDED_BY(mu_);
};

// The values of `arrays`, of which buffers must live on `client`. Blocks until
// they are there.
absl::StatusOr<DatasetSource> FetchSource(
    Client* client, absl::Span<const NamedArgument> arrays,
    const CallOptions& call);

}  // namespace hawser::runtime
#endif  // HAWSER_CORE_RUNTIME_HOST_DATASETS_H_
