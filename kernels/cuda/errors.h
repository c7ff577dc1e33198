// Errors of the CUDA runtime as statuses, and what they mean for the device.
#ifndef HAWSER_KERNELS_CUDA_ERRORS_H_
#define HAWSER_KERNELS_CUDA_ERRORS_H_

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
  // OK, or the error that ended the device.
  absl::Status status() const;

  // What `call` returned. The first fatal error is kept, with `detail` behind
  // it; after that every error is that one. Not for callbacks of the runtime,
  // which may not ask it anything.
  absl::Status Check(cudaError_t error, absl::string_view call,
                     absl::string_view detail = "");
  // The same, and for callbacks.
  absl::Status Judge(cudaError_t error, absl::string_view call,
                     absl::string_view detail = "");

 private:
  std::atomic<bool> is_lost_{false};
  mutable Mutex mu_;
  absl::Status status_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_ERRORS_H_
