// Handles: a library's handle for each stream that it is called on.
#ifndef HAWSER_KERNELS_CUDA_LIBRARY_CALLS_PLANNED_HANDLES_H_
#define HAWSER_KERNELS_CUDA_LIBRARY_CALLS_PLANNED_HANDLES_H_

#include <cuda_runtime_api.h>

#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "core/base/mutex.h"
#include "core/base/status.h"

namespace hawser::cuda {

// A handle keeps memory that its queued work uses, so each stream has its own;
// a stream is used from one thread at a time. H: a pointer of the library.
// Thread-safe.
template <typename H>
class Handles {
 public:
  using Make = std::function<absl::StatusOr<H>(cudaStream_t)>;
  using Destroy = std::function<void(H)>;

  Handles(Make make, Destroy destroy)
      : make_(std::move(make)), destroy_(std::move(destroy)) {}
  ~Handles() {
    for (const auto& [stream, handle] : handles_) destroy_(handle);
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  absl::StatusOr<H> Of(cudaStream_t stream) const {
    MutexLock lock(&mu_);
    const auto found = handles_.find(stream);
    if (found != handles_.end()) return found->second;
    HAWSER_ASSIGN_OR_RETURN(const H made, make_(stream));
    handles_.emplace(stream, made);
    return made;
  }

 private:
  const Make make_;
  const Destroy destroy_;
  mutable Mutex mu_;
  mutable std::map<cudaStream_t, H> handles_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::cuda
#endif  // HAWSER_KERNELS_CUDA_LIBRARY_CALLS_PLANNED_HANDLES_H_
