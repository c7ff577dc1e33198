#include "kernels/gpu/program/library_target.h"

#include "kernels/gpu/program/library_lowering.h"

namespace hawser::gpu {

plan::Target TargetWithLibraries() {
  plan::Target target = plan::GpuTarget();
  target.takes_call = [](const OpDef& op, absl::Span<const Shape> operands,
                         const Attributes& attributes) {
    return LibraryCallOf(op, operands, attributes, runtime::Numerics::kFast)
        .has_value();
  };
  return target;
}

}  // namespace hawser::gpu
