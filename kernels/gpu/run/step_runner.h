// StepRunner: queues a program's steps on a stream.
#ifndef HAWSER_KERNELS_GPU_RUN_STEP_RUNNER_H_
#define HAWSER_KERNELS_GPU_RUN_STEP_RUNNER_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "core/base/threads/cancel.h"
#include "core/runtime/client.h"
#include "kernels/gpu/compile/compiled.h"
#include "kernels/gpu/engine/engine.h"
#include "kernels/plan/steps/steps.h"

namespace hawser::gpu {

class StepRunner {
 public:
  // `bases`: the addresses that slots count from. The caller holds the stream.
  StepRunner(const Compiled& compiled, runtime::HostEvaluator* host,
             Engine* engine, WorkStream* work_stream,
             std::vector<DeviceAddress> bases, const runtime::CallOptions& call)
      : compiled_(compiled),
        host_(host),
        engine_(engine),
        device_(engine->device()),
        work_stream_(work_stream),
        bases_(std::move(bases)),
        cancel_(call.cancel),
        sharing_(call.sharing) {}

  const std::vector<DeviceAddress>& bases() const { return bases_; }

  // Returns when they are queued; waits for the device only where
  // Program::blocks says so, and looks at the token then.
  absl::Status Run(const plan::Steps& steps);

 private:
  absl::Status Do(const plan::WorkStep& step);
  absl::Status Do(const plan::CopyStep& step);
  absl::Status Do(const plan::LoopStep& step);
  absl::Status Do(const plan::CaseStep& step);
  absl::Status Do(const LaunchStep& step);
  absl::Status Do(const LibraryStep& step);
  absl::Status Do(const HostStep& step);
  absl::Status DoKnownLoop(const plan::LoopStep& step);
  // Between two iterations of a loop, when the device has done the first.
  void MakeWay();

  DeviceAddress At(const plan::Slot& slot) const {
    return bases_[slot.base] + slot.offset;
  }

  const Compiled& compiled_;
  runtime::HostEvaluator* const host_;
  Engine* const engine_;
  Device& device_;
  WorkStream* const work_stream_;
  const std::vector<DeviceAddress> bases_;
  const CancelToken cancel_;
  const std::shared_ptr<runtime::Sharing> sharing_;
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_RUN_STEP_RUNNER_H_
