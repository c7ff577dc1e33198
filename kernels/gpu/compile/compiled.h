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
class ProductPlan {
 public:
  ProductPlan(std::shared_ptr<Device> device, GemmPlan plan)
      : device_(std::move(device)), plan_(plan) {}
  ~ProductPlan() { device_->DestroyGemmPlan(plan_).IgnoreError(); }
  ProductPlan(const ProductPlan&) = delete;
  ProductPlan& operator=(const ProductPlan&) = delete;

  GemmPlan plan() const { return plan_; }
  int64_t workspace_bytes() const { return device_->WorkspaceBytes(plan_); }

 private:
  const std::shared_ptr<Device> device_;
  const GemmPlan plan_;
};

// Queued work uses it: it lives until that is done.
struct DeviceCode {
  std::vector<LoadedKernel> kernels;  // of Program::kernels
  // The plans of Program::products; equal ones share a plan.
  std::vector<std::shared_ptr<const ProductPlan>> products;
};

// Immutable.
struct Compiled {
  Program program;
  std::shared_ptr<const DeviceCode> code;
  std::shared_ptr<DeviceMemory> constants;  // null: none
};

// Plans a module for `device`, emits its kernels, and plans its products, which
// go to `code`. Errors: kUnimplemented naming an instruction that no kernel
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
