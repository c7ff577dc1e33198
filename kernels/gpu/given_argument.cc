#include "kernels/gpu/given_argument.h"

#include "core/base/status.h"
#include "kernels/gpu/gpu_buffer.h"

namespace hawser::gpu {

absl::StatusOr<std::vector<RunArgument>> TakeArguments(
    const GpuExecutable& executable, std::vector<GivenArgument>& arguments,
    int holders) {
  std::vector<RunArgument> taken(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    GivenArgument& given = arguments[i];
    HAWSER_ASSIGN_OR_RETURN(taken[i].value, given.value.Await());
    given.value = {};
    // A value of the call itself has no other holder.
    bool is_last = given.buffer == nullptr;
    if (given.is_donated && given.buffer.use_count() == holders &&
        executable.MayTake(static_cast<int>(i))) {
      is_last = static_cast<GpuBuffer&>(*given.buffer).Take().has_value();
    }
    taken[i].is_given = is_last && taken[i].value.memory.use_count() == 1;
  }
  return taken;
}

}  // namespace hawser::gpu
