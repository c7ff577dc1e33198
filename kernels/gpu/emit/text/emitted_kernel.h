// EmittedKernel: a kernel as text, with all that a launch of it takes.
// FIXED: the engine (kernels/gpu) and the emitters are both written over this
// header; fields may be added.
#ifndef HAWSER_KERNELS_GPU_EMIT_TEXT_EMITTED_KERNEL_H_
#define HAWSER_KERNELS_GPU_EMIT_TEXT_EMITTED_KERNEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/gpu/device/device_types.h"

namespace hawser::gpu {

// A kernel's parameter points at this.
struct KernelParameter {
  enum Kind : uint8_t {
    kOperand,  // operand `index` of the region's instruction
    kResult,   // result `index` of it
    kScratch,  // the region's scratch memory (Region::scratch_bytes)
  };
  Kind kind = kOperand;
  int index = 0;
  int64_t offset = 0;  // in bytes, into what it points at
  int64_t bytes = 0;
  Access access = Access::kRead;

  bool operator==(const KernelParameter&) const = default;
};

// One launch. All numbers are in the text: a kernel takes addresses alone, so
// that it can be captured, and so that the same kernel of any graph is the same
// text.
struct EmittedKernel {
  // "<kind>_<16 hex digits of the text's hash>": one name, one text.
  std::string name;
  // One function of that name.
  std::string text;
  LaunchShape shape;
  std::vector<KernelParameter> parameters;  // in order
};

// The options besides the region that decide about text.
struct EmitOptions {
  // Halves are rounded after each op, not once per kernel (house.md, Numerics).
  bool strict = false;
  // Blocks that keep the device busy; loops run over what is more.
  int multiprocessors = 132;
  // The device has the dialect's WarpMma: the host, and GPUs from sm_80 on.
  bool matrix_units = true;
  // Products of f32 may be TF32's (runtime::Numerics::kTf32).
  bool tf32 = false;
};

// An emitter returns the launches of a region, in order.
using Kernels = absl::StatusOr<std::vector<EmittedKernel>>;

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_EMIT_TEXT_EMITTED_KERNEL_H_
