// Nvrtc: the compiler of kernels for NVIDIA GPUs, found at run time. Needs no
// GPU.
#ifndef HAWSER_KERNELS_CUDA_COMPILE_NVRTC_H_
#define HAWSER_KERNELS_CUDA_COMPILE_NVRTC_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/cuda/runtime/library.h"
#include "kernels/gpu/device/device_api.h"

namespace hawser::cuda {

// Thread-safe; several threads may compile at the same time.
class Nvrtc {
 public:
  // Errors: kFailedPrecondition naming the files that were looked for.
  static absl::StatusOr<std::unique_ptr<Nvrtc>> Open(
      const LibraryPlaces& places);
  ~Nvrtc();

  // "nvrtc 13.0" and the size of the file, which tells builds of one version
  // apart.
  const std::string& version() const { return version_; }
  const std::string& path() const { return path_; }
  // The flags for both values of CompileOptions. The flags with text and target
  // decide the machine code, so they are a part of every cache key.
  static std::string flags();
  // The architectures it knows: 90 is sm_90.
  const std::vector<int>& architectures() const { return architectures_; }

  // Compiles `source` (see dialect::DeviceSource) to machine code for a target
  // "sm_NN", to PTX for "compute_NN". Errors: kInvalidArgument with the log.
  absl::StatusOr<gpu::KernelBinary> Compile(
      absl::string_view name, const std::string& source,
      absl::string_view target, const gpu::CompileOptions& options) const;

 private:
  struct Functions;
  Nvrtc();

  std::unique_ptr<Functions> functions_;
  std::string version_, path_;
  std::vector<int> architectures_;
};

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_COMPILE_NVRTC_H_
