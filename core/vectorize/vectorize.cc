#include "core/vectorize/vectorize.h"

#include "core/base/status.h"
#include "core/vectorize/vectorized_calls.h"

namespace hawser {

absl::StatusOr<Module> Vectorize(Module module,
                                 const VectorizeOptions& options) {
  if (module.empty()) return InvalidArgument("the module is empty");
  const size_t parameters = module.signature().parameters.size();
  if (options.batched.size() != parameters) {
    return InvalidArgument("of ", options.batched.size(),
                           " parameters it is said whether they are batched, "
                           "there are ",
                           parameters);
  }
  if (options.size < 0) {
    return InvalidArgument("a batch cannot have ", options.size, " entries");
  }
  VectorizedCalls calls(&module, options.size);
  const int entry = static_cast<int>(module.computations().size()) - 1;
  const BatchFlags all(module.signature().results.size(), true);
  HAWSER_RETURN_IF_ERROR(
      calls.Make(entry, options.batched, all, options.where, options.origins)
          .status());
  return module;
}

}  // namespace hawser
