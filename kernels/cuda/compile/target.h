// Chooses the architecture that kernels for a device are compiled for.
#ifndef HAWSER_KERNELS_CUDA_COMPILE_TARGET_H_
#define HAWSER_KERNELS_CUDA_COMPILE_TARGET_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace hawser::cuda {

// The target for a device of `capability` (90 is Hopper's 9.0) among the
// architectures that a compiler knows: the device's own; else the newest older
// one of the same generation; else the newest older one as "compute_NN", which
// the driver translates. Errors: kFailedPrecondition naming both sides.
absl::StatusOr<std::string> ChooseTarget(int capability,
                                         absl::Span<const int> known);

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_COMPILE_TARGET_H_
