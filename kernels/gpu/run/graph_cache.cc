#include "kernels/gpu/run/graph_cache.h"

#include <algorithm>
#include <utility>

#include "core/base/status.h"

namespace hawser::gpu {
namespace {

constexpr int64_t kRunsBefore = 2;
// A training loop that gives its state away alternates between two.
constexpr size_t kMaxGraphs = 4;
// Captures that are not used again: then it is no loop over the same memory.
constexpr int64_t kPatience = 32;

}  // namespace

bool GraphCache::IsWorthIt() const {
  return is_on_ && counts_.queued >= kRunsBefore &&
         counts_.captured < kPatience + counts_.launched / 2;
}

absl::Status GraphCache::Run(WorkStream* work_stream,
                             const std::vector<DeviceAddress>& bases,
                             absl::FunctionRef<absl::Status()> queue) {
  const auto found =
      std::find_if(entries_.begin(), entries_.end(),
                   [&](const Entry& e) { return e.bases == bases; });
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
    return Launch(work_stream);
  }
  if (IsWorthIt()) {
    const absl::StatusOr<Graph> graph = Capture(work_stream, queue);
    if (graph.ok()) {
      const absl::Status put = Put(work_stream, bases, *graph);
      device_->DestroyGraph(*graph).IgnoreError();
      HAWSER_RETURN_IF_ERROR(put);
      return Launch(work_stream);
    }
    // Nothing was queued; step by step the device may take it.
    is_on_ = false;
  }
  ++counts_.queued;
  return queue();
}

absl::StatusOr<Graph> GraphCache::Capture(
    WorkStream* work_stream, absl::FunctionRef<absl::Status()> queue) {
  ++counts_.captured;
  HAWSER_RETURN_IF_ERROR(device_->BeginCapture(work_stream->stream()));
  const absl::Status queued = queue();
  absl::StatusOr<Graph> graph = device_->EndCapture(work_stream->stream());
  if (queued.ok() || !graph.ok()) return graph;
  device_->DestroyGraph(*graph).IgnoreError();
  return queued;
}

absl::Status GraphCache::Put(WorkStream* work_stream,
                             const std::vector<DeviceAddress>& bases,
                             Graph graph) {
  if (entries_.size() >= kMaxGraphs) {
    Entry& oldest = entries_.back();
    HAWSER_ASSIGN_OR_RETURN(const bool updated,
                            device_->Update(oldest.exec->exec(), graph));
    if (updated) {
      ++counts_.updated;
      oldest.bases = bases;
      entries_.splice(entries_.begin(), entries_, std::prev(entries_.end()));
      return absl::OkStatus();
    }
    work_stream->KeepUntilDone(oldest.exec);
    entries_.pop_back();
  }
  HAWSER_ASSIGN_OR_RETURN(const GraphExec exec, device_->Instantiate(graph));
  ++counts_.instantiated;
  entries_.push_front(
      {bases, std::make_shared<const OwnedGraphExec>(device_, exec)});
  return absl::OkStatus();
}

absl::Status GraphCache::Launch(WorkStream* work_stream) {
  ++counts_.launched;
  return device_->LaunchGraph(work_stream->stream(),
                              entries_.front().exec->exec());
}

std::shared_ptr<const void> GraphCache::Release() {
  auto all = std::make_shared<Entries>();
  all->swap(entries_);
  return all;
}

}  // namespace hawser::gpu
