// KernelCache: kernels by their text, compiled once: in memory, then on disk.
#ifndef HAWSER_KERNELS_GPU_COMPILE_KERNEL_CACHE_H_
#define HAWSER_KERNELS_GPU_COMPILE_KERNEL_CACHE_H_

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "core/base/mutex.h"
#include "core/base/threads/cancel.h"
#include "core/base/threads/future.h"
#include "core/base/threads/thread_pool.h"
#include "kernels/gpu/compile/kernel_files.h"
#include "kernels/gpu/device/device_api.h"
#include "kernels/gpu/emit/text/emitted_kernel.h"

namespace hawser::gpu {

// A module on the device, unloaded with its last holder: keep it until what
// runs its kernels is done.
class LoadedModule {
 public:
  LoadedModule(std::shared_ptr<Device> device, KernelModule module)
      : device_(std::move(device)), module_(module) {}
  ~LoadedModule() { device_->UnloadModule(module_).IgnoreError(); }
  LoadedModule(const LoadedModule&) = delete;
  LoadedModule& operator=(const LoadedModule&) = delete;

  KernelModule module() const { return module_; }

 private:
  const std::shared_ptr<Device> device_;
  const KernelModule module_;
};
struct LoadedKernel {
  std::shared_ptr<const LoadedModule> module;
  Kernel kernel;
};

struct KernelCacheOptions {
  std::string folder;                    // "": memory only
  int64_t max_bytes = int64_t{1} << 30;  // of files
  int threads = 2;
  // Compiled together: a compiler call costs four times what one more kernel
  // in it does, and a program is compiled by one thread.
  int kernels_per_program = 8;
  // Beyond so many, the kernels that were asked for longest ago are forgotten;
  // executables that run them keep them.
  int max_kernels = 8192;
};

// Thread-safe.
class KernelCache {
 public:
  struct Counts {
    int64_t found = 0;     // in memory, or being compiled for another caller
    int64_t loaded = 0;    // kernels read from disk
    int64_t compiled = 0;  // kernels
    int64_t programs = 0;  // compiler calls
    KernelFiles::Counts files;
  };

  KernelCache(std::shared_ptr<Device> device,
              const KernelCacheOptions& options);

  // One for each of `kernels`, in order. Blocks. Another caller that asks for
  // the same kernel meanwhile waits for this call. Errors: kInternal for text
  // that does not compile, with the compiler's log; the device's; the token's.
  absl::StatusOr<std::vector<LoadedKernel>> Get(
      absl::Span<const EmittedKernel> kernels, const CompileOptions& options,
      const CancelToken& cancel);
  Counts counts() const;

 private:
  struct Entry {
    Future<LoadedKernel> kernel;
    std::list<std::string>::iterator place;  // in order_
  };
  // Kernels that this call has to make, in batches of one program each.
  struct Missing {
    const EmittedKernel* kernel;
    KernelKey key;
    Promise<LoadedKernel> promise;
  };
  using Batch = absl::Span<Missing>;

  void Make(Batch batch, const CompileOptions& options);
  absl::StatusOr<KernelBatch> Compile(Batch batch,
                                      const CompileOptions& options);
  absl::Status Load(const KernelBatch& batch, Batch wanted);
  void LoadFromDisk(std::vector<Missing>* missing);
  void Forget(const KernelKey& key);
  void Touch(Entry& entry, const std::string& key)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::shared_ptr<Device> device_;
  const KernelCacheOptions options_;
  KernelFiles files_;
  mutable Mutex mu_;
  std::map<std::string, Entry> kernels_ ABSL_GUARDED_BY(mu_);
  std::list<std::string> order_ ABSL_GUARDED_BY(mu_);  // used last at the end
  Counts counts_ ABSL_GUARDED_BY(mu_);
  ThreadPool threads_;
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_COMPILE_KERNEL_CACHE_H_
