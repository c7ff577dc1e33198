// UploadedArrays: arrays of datasets that were used, kept for the next use.
#ifndef HAWSER_KERNELS_GPU_UPLOADED_ARRAYS_H_
#define HAWSER_KERNELS_GPU_UPLOADED_ARRAYS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "core/base/mutex.h"
#include "kernels/gpu/gpu_buffer.h"

namespace hawser::gpu {

// Thread-safe. Invariant: there is at most one buffer for each array of each
// dataset.
class UploadedArrays {
 public:
  // Returns the array's buffer; if there is none yet, it is made of `value`.
  std::shared_ptr<GpuBuffer> Get(const std::shared_ptr<Engine>& engine,
                                 absl::string_view token,
                                 absl::string_view array, const Literal& value);
  void Drop(absl::string_view token);
  // Drops the buffers that have no other holder.
  void DropUnused();
  void Clear();
  // Returns how many buffers have no other holder.
  int64_t kept() const;

 private:
  using Arrays =
      std::map<std::pair<std::string, std::string>, std::shared_ptr<GpuBuffer>>;

  mutable Mutex mu_;
  Arrays arrays_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_UPLOADED_ARRAYS_H_
