#include "kernels/gpu/uploaded_arrays.h"

#include <algorithm>
#include <vector>

namespace hawser::gpu {

std::shared_ptr<GpuBuffer> UploadedArrays::Get(
    const std::shared_ptr<Engine>& engine, absl::string_view token,
    absl::string_view array, const Literal& value) {
  MutexLock lock(&mu_);
  std::shared_ptr<GpuBuffer>& buffer =
      arrays_[{std::string(token), std::string(array)}];
  if (buffer == nullptr) buffer = std::make_shared<GpuBuffer>(engine, value);
  return buffer;
}

void UploadedArrays::Drop(absl::string_view token) {
  std::vector<std::shared_ptr<GpuBuffer>> gone;  // die after the lock
  MutexLock lock(&mu_);
  for (auto it = arrays_.begin(); it != arrays_.end();) {
    if (it->first.first != token) {
      ++it;
      continue;
    }
    gone.push_back(std::move(it->second));
    it = arrays_.erase(it);
  }
}

void UploadedArrays::DropUnused() {
  std::vector<std::shared_ptr<GpuBuffer>> gone;
  MutexLock lock(&mu_);
  for (auto it = arrays_.begin(); it != arrays_.end();) {
    if (it->second.use_count() > 1) {
      ++it;
      continue;
    }
    gone.push_back(std::move(it->second));
    it = arrays_.erase(it);
  }
}

void UploadedArrays::Clear() {
  Arrays gone;
  MutexLock lock(&mu_);
  gone.swap(arrays_);
}

int64_t UploadedArrays::kept() const {
  MutexLock lock(&mu_);
  return std::count_if(arrays_.begin(), arrays_.end(), [](const auto& entry) {
    return entry.second.use_count() == 1;
  });
}

}  // namespace hawser::gpu
