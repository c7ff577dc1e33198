// Lowers the instructions of plan/library to calls of the device's library.
#ifndef HAWSER_KERNELS_GPU_PROGRAM_LIBRARY_LOWERING_H_
#define HAWSER_KERNELS_GPU_PROGRAM_LIBRARY_LOWERING_H_

#include <optional>

#include "absl/types/span.h"
#include "core/base/values/shape.h"
#include "core/ir/attributes.h"
#include "core/ir/op_def.h"
#include "core/runtime/client.h"
#include "kernels/gpu/device/library_call.h"

namespace hawser::gpu {

// The call that an instruction of `op` over such operands is; nullopt for other
// ops, and where nothing is to be computed.
std::optional<LibraryCall> LibraryCallOf(const OpDef& op,
                                         absl::Span<const Shape> operands,
                                         const Attributes& attributes,
                                         runtime::Numerics numerics);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_PROGRAM_LIBRARY_LOWERING_H_
