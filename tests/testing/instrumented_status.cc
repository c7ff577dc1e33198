// For tsan alone. Debian's Abseil counts the references of an absl::Status down
// in a function that tsan does not see, so that the last holder on one thread
// seems to free what another is still reading: a false report for every error
// that two threads have held. This is the same function, instrumented; the
// program's own definition comes before the shared library's.
#if defined(__SANITIZE_THREAD__)

#include <atomic>
#include <cstdint>

#include "absl/status/status.h"

namespace absl {
ABSL_NAMESPACE_BEGIN

void Status::UnrefNonInlined(uintptr_t rep) {
  status_internal::StatusRep* shared = RepToPointer(rep);
  if (shared->ref.fetch_sub(1, std::memory_order_acq_rel) == 1) delete shared;
}

ABSL_NAMESPACE_END
}  // namespace absl

#endif  // __SANITIZE_THREAD__
