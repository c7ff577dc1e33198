// One instruction as a module of its own, for an evaluator on the host.
#ifndef HAWSER_KERNELS_GPU_PROGRAM_HOST_CALL_H_
#define HAWSER_KERNELS_GPU_PROGRAM_HOST_CALL_H_

#include "absl/status/statusor.h"
#include "kernels/gpu/program/program.h"

namespace hawser::gpu {

// Its entry takes the instruction's operands and gives its results.
absl::StatusOr<HostCall> MakeHostCall(const Module& module, int computation,
                                      int instruction);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_PROGRAM_HOST_CALL_H_
