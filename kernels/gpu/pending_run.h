// PendingRun: an execution that waits for its arguments, or whose program waits
// for the device.
#ifndef HAWSER_KERNELS_GPU_PENDING_RUN_H_
#define HAWSER_KERNELS_GPU_PENDING_RUN_H_

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/cancel.h"
#include "core/runtime/client.h"
#include "kernels/gpu/gpu_executable.h"

namespace hawser::gpu {

// An argument as a caller gives it: a buffer, or a value on its way.
struct GivenArgument {
  runtime::BufferPtr buffer;  // null: a value of the call itself
  Future<DeviceValue> value;
  bool is_donated = false;
};

// The values of `arguments`, which are all ready, with the memory of donated
// ones that nobody else holds: the call itself holds each buffer `holders`
// times. Errors: the first argument's.
absl::StatusOr<std::vector<RunArgument>> TakeArguments(
    const GpuExecutable& executable, std::vector<GivenArgument>& arguments,
    int holders);

// The futures, callbacks and tasks that lead to it keep it alive.
class PendingRun : public std::enable_shared_from_this<PendingRun> {
 public:
  PendingRun(std::shared_ptr<GpuExecutable> executable,
             std::shared_ptr<Engine> engine,
             std::vector<GivenArgument> arguments,
             const runtime::CallOptions& call);

  // In the order of the module's results.
  std::vector<Future<DeviceValue>> results() const;
  // Once. Ends with Engine::End. When the token expires, callers get their
  // answer at once; the work ends at its next look.
  void Start();

 private:
  void ArgumentReady();
  void Run();
  absl::StatusOr<std::vector<DeviceValue>> Queue();
  void SetAll(const absl::Status& status);

  const std::shared_ptr<GpuExecutable> executable_;
  const std::shared_ptr<Engine> engine_;
  std::vector<GivenArgument> arguments_;
  const runtime::CallOptions call_;
  std::vector<Promise<DeviceValue>> promises_;  // Set is thread-safe
  std::atomic<int> missing_{1};  // 1 for Start: no early start in between
  CancelToken::Registration expiry_;
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_PENDING_RUN_H_
