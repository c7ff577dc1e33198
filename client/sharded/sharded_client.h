// ShardedClient: one Client made of several. Work is cut into tasks that run on
// all of them.
#ifndef HAWSER_CLIENT_SHARDED_SHARDED_CLIENT_H_
#define HAWSER_CLIENT_SHARDED_SHARDED_CLIENT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/sharded/places/shard_place.h"
#include "client/sharded/shard_runner.h"
#include "client/sharded/sharded_datasets.h"
#include "core/runtime/client.h"

namespace hawser {

// Results stay where they were computed. A place that is gone costs what only
// it had, which is made again elsewhere; without one left, work is kUnavailable.
// Thread-safe. Buffers and executables may outlive it; then they say
// kFailedPrecondition.
class ShardedClient : public runtime::Client {
 public:
  ShardedClient(std::vector<std::shared_ptr<runtime::Client>> places,
                const ShardedPolicy& policy);
  ~ShardedClient() override { runner_->Close(); }

  std::string name() const override { return name_; }
  // Returns the capabilities that all places have that can be reached. Errors:
  // the first place's, where none can.
  absl::StatusOr<runtime::Capabilities> capabilities() override;
  // OK when one of the places answers.
  absl::Status Ping(const runtime::CallOptions& call) override;
  absl::StatusOr<std::shared_ptr<runtime::Executable>> Compile(
      std::shared_ptr<const Module> module,
      const runtime::CompileOptions& options,
      const runtime::CallOptions& call) override;
  // Goes to a place when a task there takes it, and only that part.
  absl::StatusOr<runtime::BufferPtr> Upload(
      const Literal& value, const runtime::CallOptions& call) override;
  runtime::Datasets& datasets() override { return datasets_; }

  // Begins to measure the places, for the first work that is cut by cost.
  void StartMeasuring();
  ShardedStats stats() const { return runner_->stats(); }

 private:
  const std::shared_ptr<ShardRunner> runner_;
  const std::string name_;
  ShardedDatasets datasets_;
};

// Errors: kInvalidArgument without a place.
absl::StatusOr<std::shared_ptr<ShardedClient>> MakeShardedClient(
    std::vector<std::shared_ptr<runtime::Client>> places,
    const ShardedPolicy& policy = {});

}  // namespace hawser
#endif  // HAWSER_CLIENT_SHARDED_SHARDED_CLIENT_H_
