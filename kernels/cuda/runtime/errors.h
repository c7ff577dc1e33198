// Errors of the CUDA runtime as statuses, and whether they end the device.
#ifndef HAWSER_KERNELS_CUDA_RUNTIME_ERRORS_H_
#define HAWSER_KERNELS_CUDA_RUNTIME_ERRORS_H_

#include <driver_types.h>

#include <atomic>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/base/mutex.h"

namespace hawser::cuda {

// A status by the table of device_api.h: "<call>: <text of the runtime>
// (<name>)".
absl::Status ToStatus(cudaError_t error, absl::string_view call);

// True if `error` makes the device unusable for this process.
bool IsFatal(cudaError_t error);

// Knows if a device can still be used. After a fatal error has ended it,
// status() is kUnavailable for ever. Thread-safe.
class DeviceHealth {
 public:
  // OK, or kUnavailable with the text of the error that ended the device.
  absl::Status status() const;

  // The status of `error`, which `call` returned. The first fatal error ends
  // the device and is returned with its own code and `detail` after it, to the
  // run it came from; every later error is status(). Not for callbacks of the
  // runtime, which must not call it.
  absl::Status Check(cudaError_t error, absl::string_view call,
                     absl::string_view detail = "");
  // The same without clearing the runtime's last error: for callbacks, too.
  absl::Status Judge(cudaError_t error, absl::string_view call,
                     absl::string_view detail = "");
  // The same for a call whose error is returned to no run: a fatal error does
  // not end the device here, but at the next call that meets it.
  absl::Status Peek(cudaError_t error, absl::string_view call) const;
  // Ends the device with `why` and returns `why`; returns status() when the
  // device has ended before.
  absl::Status End(const absl::Status& why);

 private:
  std::atomic<bool> is_lost_{false};
  mutable Mutex mu_;
  absl::Status status_ ABSL_GUARDED_BY(mu_);  // kUnavailable once it is lost
};

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_RUNTIME_ERRORS_H_
