// Compiled: a program with what it needs on the device.
#ifndef HAWSER_KERNELS_GPU_COMPILE_COMPILED_H_
#define HAWSER_KERNELS_GPU_COMPILE_COMPILED_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/gpu/compile/kernel_cache.h"
#include "kernels/gpu/engine/engine.h"
#include "kernels/gpu/program/program.h"

namespace hawser::gpu {

// A plan of the device's library, destroyed with its holder.
class OwnedCallPlan {
 public:
  OwnedCallPlan(std::shared_ptr<Device> device, CallPlan plan)
      : device_(std::move(device)), plan_(plan) {}
  ~OwnedCallPlan() { device_->DestroyCall(plan_).IgnoreError(); }
  OwnedCallPlan(const OwnedCallPlan&) = delete;
  OwnedCallPlan& operator=(const OwnedCallPlan&) = delete;

  CallPlan plan() const { return plan_; }
  int64_t workspace_bytes() const { return device_->WorkspaceBytes(plan_); }

 private:
  const std::shared_ptr<Device> device_;
  const CallPlan plan_;
};

// Queued work uses it: it lives until that is done.
struct DeviceCode {
  std::vector<LoadedKernel> kernels;  // of Program::kernels
  // The plans of Program::library_calls; equal ones share a plan.
  std::vector<std::shared_ptr<const OwnedCallPlan>> library_calls;
};

// Immutable.
struct Compiled {
  Program program;
  std::shared_ptr<const DeviceCode> code;
  std::shared_ptr<DeviceMemory> constants;  // null: none
};

// Plans a module for `device`, emits its kernels, and plans its library calls,
// which go to `code`. Errors: kUnimplemented naming an instruction that no kernel
// does, without a host to do it.
absl::StatusOr<Program> LowerModule(const Module& module,
                                    runtime::Numerics numerics, bool has_host,
                                    const std::shared_ptr<Device>& device,
                                    DeviceCode* code);

// Lowers, compiles, and puts constants on the device. `module` must be
// verified. Blocks. Errors: kResourceExhausted, with the sizes, for what does
// not fit the device; kUnimplemented naming an instruction; as
// KernelCache::Get.
absl::StatusOr<Compiled> CompileModule(const Module& module,
                                       runtime::Numerics numerics,
                                       Engine* engine, KernelCache* cache,
                                       const CancelToken& cancel);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_COMPILE_COMPILED_H_
