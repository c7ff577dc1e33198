// HostDatasetClient: the part of an engine's Client that keeps datasets: in
// this process's memory, by token. The engine decides where their arrays go to
// be used.
#ifndef HAWSER_CORE_RUNTIME_HOST_DATASET_CLIENT_H_
#define HAWSER_CORE_RUNTIME_HOST_DATASET_CLIENT_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/mutex.h"
#include "core/runtime/client.h"
#include "core/runtime/datasets.h"

namespace hawser::runtime {

// Thread-safe. Nothing is evicted: a pin is remembered and no more.
class HostDatasetClient : public Client, private Datasets {
 public:
  Datasets& datasets() final { return *this; }

 protected:
  // Hashes what is put on up to `hash_threads` threads.
  explicit HostDatasetClient(int hash_threads) : hash_threads_(hash_threads) {}

 private:
  // Answers each verb.
  struct Verbs;
  struct Dataset {
    DatasetInfo info;
    std::vector<Literal> values;  // in the order of info.arrays
  };
  struct Found {
    std::string token;  // also where a tag was asked for
    Literal value;
  };

  // Returns what is kept for a value that is put: itself, or a copy placed as
  // the engine needs it.
  virtual absl::StatusOr<Literal> Keep(const Literal& value) { return value; }
  // A value of this client's.
  virtual BufferPtr MakeBuffer(Literal value) = 0;
  // The same for an array that is likely to be asked for again.
  virtual BufferPtr ArrayBuffer(const std::string& token,
                                absl::string_view array, Literal value) {
    return MakeBuffer(std::move(value));
  }
  virtual void OnDeleted(const std::string& token) {}

  absl::StatusOr<DatasetInfo> Put(const DatasetSource& source,
                                  const CallOptions& call) final;
  // Shares the array's bytes.
  absl::StatusOr<BufferPtr> Open(const DatasetPart& part,
                                 const CallOptions& call) final;
  absl::StatusOr<DatasetInfo> Freeze(absl::Span<const NamedArgument> arrays,
                                     const CallOptions& call) final;
  absl::StatusOr<DatasetAnswer> Answer(const DatasetVerb& verb,
                                       const CallOptions& call) final;

  absl::StatusOr<Literal> KeptOf(const DatasetSource::Array& array);
  // True if info->token is kept, which counts as a use; then fills all of
  // `info`.
  bool FindUsed(DatasetInfo* info);
  // Unless it is there already.
  DatasetInfo Add(Dataset dataset);
  // Finds a dataset by token or tag.
  absl::StatusOr<Dataset*> Find(absl::string_view asked)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::StatusOr<Found> FindArray(absl::string_view asked,
                                  absl::string_view array);
  absl::StatusOr<DatasetSource> FetchSource(
      absl::Span<const NamedArgument> arrays, const CallOptions& call);

  const int hash_threads_;
  Mutex mu_;
  absl::flat_hash_map<std::string, Dataset> datasets_ ABSL_GUARDED_BY(mu_);
  absl::btree_map<std::string, std::string> tags_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::runtime
#endif  // HAWSER_CORE_RUNTIME_HOST_DATASET_CLIENT_H_
