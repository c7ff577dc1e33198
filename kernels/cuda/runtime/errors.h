// Errors of the CUDA runtime as statuses, and what they mean for the device.
#ifndef HAWSER_KERNELS_CUDA_RUNTIME_ERRORS_H_
#define HAWSER_KERNELS_CUDA_RUNTIME_ERRORS_H_

#include <driver_types.h>

#include <atomic>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/base/mutex.h"

namespace hawser::cuda {

// By the table of device_api.h, as "<call>: <the runtime's words> (<name>)".
absl::Status ToStatus(cudaError_t error, absl::string_view call);

// Whether this process can use the device no more after `error`.
bool IsFatal(cudaError_t error);

// Whether a device can still be used. Thread-safe.
class DeviceHealth {
 public:
  // OK, or kUnavailable with the words of what ended the device.
  absl::Status status() const;

  // What `call` returned. The first fatal error, with `detail` behind it, is
  // returned as it is, to the run it came from, and ends the device; from then
  // on every error is status(). Not for callbacks of the runtime, which may not
  // ask it anything.
  absl::Status Check(cudaError_t error, absl::string_view call,
                     absl::string_view detail = "");
  // The same, and for callbacks.
  absl::Status Judge(cudaError_t error, absl::string_view call,
                     absl::string_view detail = "");
  // The same for a call whose error no run is told: a fatal one ends the device
  // only where the next call meets it.
  absl::Status Peek(cudaError_t error, absl::string_view call) const;
  // Ends the device for `why`, and returns that; status() where it has ended.
  absl::Status End(const absl::Status& why);

 private:
  std::atomic<bool> is_lost_{false};
  mutable Mutex mu_;
  absl::Status status_ ABSL_GUARDED_BY(mu_);  // kUnavailable once it is lost
};

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_RUNTIME_ERRORS_H_
