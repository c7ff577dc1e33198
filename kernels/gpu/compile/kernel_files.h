// KernelFiles: compiled kernels in a folder, a batch to a file, found by the
// keys of the kernels in it.
#ifndef HAWSER_KERNELS_GPU_COMPILE_KERNEL_FILES_H_
#define HAWSER_KERNELS_GPU_COMPILE_KERNEL_FILES_H_

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/mutex.h"

namespace hawser::gpu {

// Names a kernel by everything that decides about its binary.
struct KernelKey {
  std::string key;   // hex
  std::string name;  // of the function
  auto operator<=>(const KernelKey&) const = default;
};

// The contents of one file.
struct KernelBatch {
  std::vector<KernelKey> kernels;
  std::string binary;
};

// Thread-safe. Processes may share a folder: files are complete or not there;
// each process counts what it has met itself.
class KernelFiles {
 public:
  struct Counts {
    int64_t read = 0, written = 0;
    int64_t broken = 0;  // found to be so, and removed
    int64_t evicted = 0;
    int64_t bytes = 0;  // of all files now
  };

  // "": keeps nothing. The folder is made when it is not there; at more than
  // `max_bytes`, the files that were used longest ago go.
  KernelFiles(std::string folder, int64_t max_bytes);

  // The batch that holds a kernel. Errors: kNotFound; also for a file that is
  // broken or gone, which is forgotten.
  absl::StatusOr<KernelBatch> Read(const std::string& key);
  // Errors: kFailedPrecondition naming the file.
  absl::Status Write(const KernelBatch& batch);
  Counts counts() const;

 private:
  struct File {
    std::string path;
    int64_t bytes = 0;
    std::vector<std::string> keys;
  };
  using Files = std::list<File>;  // used last at the end

  void Scan();
  void Add(File file) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Forget(Files::iterator file) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Evict() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  std::string folder_;
  const int64_t max_bytes_;
  mutable Mutex mu_;
  Files files_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, Files::iterator> by_key_ ABSL_GUARDED_BY(mu_);
  Counts counts_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_COMPILE_KERNEL_FILES_H_
