// GraphCache: a program's steps as device graphs, one per set of addresses.
#ifndef HAWSER_KERNELS_GPU_RUN_GRAPH_CACHE_H_
#define HAWSER_KERNELS_GPU_RUN_GRAPH_CACHE_H_

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/gpu/device/device_api.h"
#include "kernels/gpu/streams/work_stream.h"

namespace hawser::gpu {

// An executable graph, destroyed with its last holder.
class OwnedGraphExec {
 public:
  OwnedGraphExec(std::shared_ptr<Device> device, GraphExec exec)
      : device_(std::move(device)), exec_(exec) {}
  ~OwnedGraphExec() { device_->DestroyGraphExec(exec_).IgnoreError(); }
  OwnedGraphExec(const OwnedGraphExec&) = delete;
  OwnedGraphExec& operator=(const OwnedGraphExec&) = delete;

  GraphExec exec() const { return exec_; }

 private:
  const std::shared_ptr<Device> device_;
  const GraphExec exec_;
};

// Used by the thread that holds the stream. Steps are captured once they have
// been queued twice, and not at all if the addresses change with nearly every
// run.
class GraphCache {
 public:
  struct Counts {
    int64_t queued = 0;    // runs step by step
    int64_t launched = 0;  // runs by a graph
    int64_t captured = 0;
    int64_t updated = 0;       // graphs given other addresses
    int64_t instantiated = 0;  // made, also where an update was refused
  };

  GraphCache(std::shared_ptr<Device> device, bool is_on)
      : device_(std::move(device)), is_on_(is_on) {}

  // Does what `queue` queues on the stream, over the addresses `bases`.
  absl::Status Run(WorkStream* work_stream,
                   const std::vector<DeviceAddress>& bases,
                   absl::FunctionRef<absl::Status()> queue);
  // Returns what has to live until queued launches are done; empty afterwards.
  std::shared_ptr<const void> Release();
  const Counts& counts() const { return counts_; }

 private:
  struct Entry {
    std::vector<DeviceAddress> bases;
    std::shared_ptr<const OwnedGraphExec> exec;
  };
  using Entries = std::list<Entry>;  // used last in front

  bool IsWorthIt() const;
  absl::StatusOr<Graph> Capture(WorkStream* work_stream,
                                absl::FunctionRef<absl::Status()> queue);
  // An entry in front that launches `graph`.
  absl::Status Put(WorkStream* work_stream,
                   const std::vector<DeviceAddress>& bases, Graph graph);
  absl::Status Launch(WorkStream* work_stream);

  const std::shared_ptr<Device> device_;
  bool is_on_;
  Entries entries_;
  Counts counts_;
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_RUN_GRAPH_CACHE_H_
