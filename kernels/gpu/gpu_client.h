// GpuClient: a device behind the runtime interface.
#ifndef HAWSER_KERNELS_GPU_GPU_CLIENT_H_
#define HAWSER_KERNELS_GPU_GPU_CLIENT_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/ir/verifier.h"
#include "core/runtime/client.h"
#include "core/runtime/host_dataset_client.h"
#include "kernels/gpu/compile/kernel_cache.h"
#include "kernels/gpu/device/device_api.h"
#include "kernels/gpu/engine/engine.h"

namespace hawser::gpu {

class UploadedArrays;

struct GpuClientOptions {
  ModuleLimits limits;
  KernelCacheOptions kernels;
  // They evaluate instructions that no kernel runs; without them such modules
  // are kUnimplemented.
  HostEvaluators host;
  // Runs that repeat are captured as device graphs.
  bool graphs = true;
};

// Thread-safe. Nothing blocks but Compile, PutDataset, FreezeDataset and the
// destructor, which waits for work in progress. Buffers and executables may
// outlive the client: values can still be fetched, nothing new runs.
class GpuClient : public runtime::HostDatasetClient {
 public:
  // Errors: what the device says when it is asked for its streams.
  static absl::StatusOr<std::shared_ptr<GpuClient>> Make(
      std::shared_ptr<Device> device, const GpuClientOptions& options);
  ~GpuClient() override;

  std::string name() const override { return engine_->platform(); }
  absl::StatusOr<runtime::Capabilities> capabilities() override;
  // The device's health.
  absl::Status Ping(const runtime::CallOptions& call) override;
  absl::StatusOr<std::shared_ptr<runtime::Executable>> Compile(
      std::shared_ptr<const Module> module,
      const runtime::CompileOptions& options,
      const runtime::CallOptions& call) override;
  absl::StatusOr<runtime::BufferPtr> Upload(
      const Literal& value, const runtime::CallOptions& call) override;

  // Buffers of this client that exist; arrays of datasets that it keeps on the
  // device itself are not counted.
  int64_t live_buffers() const;
  KernelCache::Counts kernel_counts() const { return kernels_.counts(); }
  // Gives the device's memory back that is kept for reuse: arenas, arrays.
  void TrimMemory() { engine_->heap().Trim(); }

 private:
  GpuClient(std::shared_ptr<Device> device, const GpuClientOptions& options);

  // Datasets live in host memory; arrays that are used go to the device and
  // stay there while it has room.
  runtime::BufferPtr MakeBuffer(Literal value) override;
  runtime::BufferPtr ArrayBuffer(const std::string& token,
                                 absl::string_view array,
                                 Literal value) override;
  void OnDeleted(const std::string& token) override;

  const GpuClientOptions options_;
  std::shared_ptr<Engine> engine_;
  KernelCache kernels_;
  std::shared_ptr<UploadedArrays> arrays_;
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_GPU_CLIENT_H_
