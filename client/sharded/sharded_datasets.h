// ShardedDatasets: the datasets of a sharded client. Every place has all of
// one.
#ifndef HAWSER_CLIENT_SHARDED_SHARDED_DATASETS_H_
#define HAWSER_CLIENT_SHARDED_SHARDED_DATASETS_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/sharded/shard_runner.h"
#include "core/runtime/datasets.h"

namespace hawser {

// A dataset that is put goes to every place that is there; a task that needs
// rows of it reads them where it runs, or has them sent from a place that has
// them. A change of a dataset is made at every place; a question is answered by
// the first place that knows the answer. Thread-safe.
class ShardedDatasets final : public runtime::Datasets {
 public:
  // Both outlive it.
  ShardedDatasets(runtime::Client* client, ShardRunner* runner)
      : client_(client), runner_(runner) {}

  absl::StatusOr<DatasetInfo> Put(const DatasetSource& source,
                                  const runtime::CallOptions& call) override;
  absl::StatusOr<runtime::BufferPtr> Open(
      const DatasetPart& part, const runtime::CallOptions& call) override;
  // Fetches the values and puts them.
  absl::StatusOr<DatasetInfo> Freeze(
      absl::Span<const runtime::NamedArgument> arrays,
      const runtime::CallOptions& call) override;
  absl::StatusOr<DatasetAnswer> Answer(
      const DatasetVerb& verb, const runtime::CallOptions& call) override;

 private:
  // Asks the places that are there in turn: all, or until one says OK. Errors:
  // the first that one gave, of all of them; kUnavailable where none is there.
  absl::Status Ask(bool all,
                   absl::FunctionRef<absl::Status(runtime::Datasets&)> ask);

  runtime::Client* const client_;
  ShardRunner* const runner_;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_SHARDED_SHARDED_DATASETS_H_
