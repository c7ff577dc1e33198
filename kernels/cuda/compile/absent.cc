// NVRTC in a build without the toolkit: it cannot be opened.
#include "core/base/status.h"
#include "kernels/cuda/compile/nvrtc.h"

namespace hawser::cuda {
namespace {

constexpr absl::string_view kAbsent = "this build of hawser has no CUDA";

}  // namespace

struct Nvrtc::Functions {};
Nvrtc::~Nvrtc() = default;

absl::StatusOr<std::unique_ptr<Nvrtc>> Nvrtc::Open(
    const LibraryPlaces& places) {
  return Unavailable(kAbsent);
}

absl::StatusOr<gpu::KernelBinary> Nvrtc::Compile(
    absl::string_view name, const std::string& source, absl::string_view target,
    const gpu::CompileOptions& options) const {
  return Unavailable(kAbsent);
}

}  // namespace hawser::cuda
