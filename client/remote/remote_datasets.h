// RemoteDatasets: the datasets of a RemoteClient.
#ifndef HAWSER_CLIENT_REMOTE_REMOTE_DATASETS_H_
#define HAWSER_CLIENT_REMOTE_REMOTE_DATASETS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "client/remote/datasets/dataset_get.h"
#include "client/remote/session/remote_link.h"
#include "core/base/mutex.h"
#include "core/runtime/datasets.h"
#include "proto/datasets.pb.h"

namespace hawser {

// Asks the server, and keeps what never changes: of a token its arrays, and
// the digests of their chunks. Both are bounded and asked for again; neither
// says that the dataset is still there. Thread-safe.
class RemoteDatasets final : public runtime::Datasets {
 public:
  // `link` outlives it.
  explicit RemoteDatasets(RemoteLink* link) : link_(link) {}

  absl::StatusOr<DatasetInfo> Put(const DatasetSource& source,
                                  const runtime::CallOptions& call) override;
  absl::StatusOr<runtime::BufferPtr> Open(
      const DatasetPart& part, const runtime::CallOptions& call) override;
  // Straight from the streams.
  absl::Status FetchInto(const DatasetPart& part, absl::Span<char> into,
                         const runtime::CallOptions& call) override;
  absl::StatusOr<DatasetInfo> Freeze(
      absl::Span<const runtime::NamedArgument> arrays,
      const runtime::CallOptions& call) override;
  absl::StatusOr<DatasetAnswer> Answer(
      const DatasetVerb& verb, const runtime::CallOptions& call) override;

 private:
  // Takes an answer: whether it is one, and what it means for the infos and
  // manifests that are kept.
  struct Heard;

  // Returns the shape of an array, and asks for it when it is not known here.
  absl::StatusOr<Shape> ShapeOf(const DatasetPart& part,
                                const runtime::CallOptions& call);
  absl::StatusOr<std::shared_ptr<const DatasetManifest>> Manifest(
      absl::string_view name, const runtime::CallOptions& call);
  // The part as it is on the server. Errors: kNotFound, kInvalidArgument for
  // rows that are not there.
  absl::StatusOr<CheckedPart> Find(const DatasetPart& part,
                                   const runtime::CallOptions& call);
  void Learn(const DatasetInfo& info);
  void Forget(absl::string_view token);
  template <typename Verb>
  absl::StatusOr<typename Verb::Answer> AskServer(
      const Verb& verb, const runtime::CallOptions& call);

  RemoteLink* const link_;
  Mutex mu_;
  // Keyed by token.
  absl::flat_hash_map<std::string, DatasetInfo> infos_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, std::shared_ptr<const DatasetManifest>>
      manifests_ ABSL_GUARDED_BY(mu_);
  int64_t digests_kept_ ABSL_GUARDED_BY(mu_) = 0;  // of manifests_
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_REMOTE_DATASETS_H_
