// GivenArgument: an argument of an execution as its caller gives it.
#ifndef HAWSER_KERNELS_GPU_GIVEN_ARGUMENT_H_
#define HAWSER_KERNELS_GPU_GIVEN_ARGUMENT_H_

#include <vector>

#include "core/runtime/client.h"
#include "kernels/gpu/gpu_executable.h"

namespace hawser::gpu {

// A buffer, or a value on its way.
struct GivenArgument {
  runtime::BufferPtr buffer;  // null: a value of the call itself
  Future<DeviceValue> value;
  bool is_donated = false;
};

// The values of `arguments`, which are all ready, with the memory of donated
// ones that have no other holder: the call itself holds each buffer `holders`
// times. Errors: the first argument's.
absl::StatusOr<std::vector<RunArgument>> TakeArguments(
    const GpuExecutable& executable, std::vector<GivenArgument>& arguments,
    int holders);

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_GIVEN_ARGUMENT_H_
