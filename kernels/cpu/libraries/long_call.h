// RunLong: a call of a library that takes long and cannot be stopped.
#ifndef HAWSER_KERNELS_CPU_LIBRARIES_LONG_CALL_H_
#define HAWSER_KERNELS_CPU_LIBRARIES_LONG_CALL_H_

#include <functional>

#include "absl/status/status.h"
#include "core/base/threads/cancel.h"

namespace hawser::cpu {

// Runs `call` on a thread of its own, and returns at its end, or at once when
// the token expires; the call then goes on without its caller, so what it uses
// must be its own: memory is held, and charged, until it ends. Errors: what the
// token says; kResourceExhausted, as many calls as there are cores go on so.
absl::Status RunLong(const CancelToken& cancel, std::function<void()> call);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_LIBRARIES_LONG_CALL_H_
