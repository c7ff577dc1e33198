// Rig: a GpuClient on an emulated device, and the CPU to compare it with.
#ifndef HAWSER_TESTS_KERNELS_GPU_RIG_H_
#define HAWSER_TESTS_KERNELS_GPU_RIG_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/base/values/literal.h"
#include "core/runtime/client.h"
#include "kernels/emu/emu_device.h"
#include "kernels/gpu/gpu_client.h"
#include "kernels/gpu/gpu_executable.h"

namespace hawser::gpu {

using Values = std::vector<Literal>;
using ExecutablePtr = std::shared_ptr<GpuExecutable>;

struct RigOptions {
  emu::EmuOptions device = {.seed = 1};
  GpuClientOptions client;
  bool has_host = true;
};

class Rig {
 public:
  explicit Rig(RigOptions options = {});
  // On a device of the test's own making.
  Rig(std::shared_ptr<Device> device, GpuClientOptions options,
      bool has_host = true);
  // Over a client of the test's own making.
  Rig(std::shared_ptr<GpuClient> client, std::shared_ptr<Device> device)
      : device_(std::move(device)), client_(std::move(client)) {}

  Device& device() { return *device_; }
  GpuClient& client() { return *client_; }
  void DropClient() { client_.reset(); }

  // Dies where the text is no module: that is the test's own mistake.
  absl::StatusOr<ExecutablePtr> Compile(
      absl::string_view text,
      runtime::Numerics numerics = runtime::Numerics::kFast);
  absl::StatusOr<ExecutablePtr> Compile(
      Module module, runtime::Numerics numerics = runtime::Numerics::kFast);
  // Fails the test, and is null, where it does not upload.
  runtime::BufferPtr Put(const Literal& value);

 private:
  std::shared_ptr<Device> device_;
  std::shared_ptr<GpuClient> client_;
};

Module Parse(absl::string_view text);
// The values of all results.
absl::StatusOr<Values> Fetch(const std::vector<runtime::BufferPtr>& buffers);
absl::StatusOr<Values> RunOn(const ExecutablePtr& executable,
                             const std::vector<runtime::Argument>& arguments,
                             const runtime::ExecuteOptions& options = {});
// What the CPU says.
absl::StatusOr<Values> Reference(
    const Module& module, const Values& arguments,
    runtime::Numerics numerics = runtime::Numerics::kFast);

Literal F32(std::vector<float> values);
Literal F32(std::vector<float> values, const Dims& dims);

// (x, y: f32[4]) -> x + y
extern const char kAddText[];
// (i, limit: s32[]) -> i counted up to limit
extern const char kCountText[];
// (x: s32[]) -> -x, 10 in a loop from -x: a fusion that no planner makes and no
// kernel runs
extern const char kHostText[];

}  // namespace hawser::gpu
#endif  // HAWSER_TESTS_KERNELS_GPU_RIG_H_
