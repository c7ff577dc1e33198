#include "kernels/gpu/compile/kernel_cache.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/digest.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "core/base/trace/trace.h"

namespace hawser::gpu {

KernelCache::KernelCache(std::shared_ptr<Device> device,
                         const KernelCacheOptions& options)
    : device_(std::move(device)),
      options_(options),
      files_(options.folder, options.max_bytes),
      threads_(options.threads) {}

absl::StatusOr<std::vector<LoadedKernel>> KernelCache::Get(
    absl::Span<const EmittedKernel> kernels, const CompileOptions& options,
    const CancelToken& cancel) {
  const std::string compiler = device_->compiler_id();
  std::vector<Future<LoadedKernel>> futures;
  std::vector<Missing> missing;
  for (const EmittedKernel& kernel : kernels) {
    const std::string key = Hasher()
                                .Text(compiler)
                                .Integer(options.strict)
                                .Text(kernel.text)
                                .Finish()
                                .ToHex()
                                .substr(0, 32);
    MutexLock lock(&mu_);
    Entry& entry = kernels_[key];
    if (entry.kernel.valid()) {
      ++counts_.found;
    } else {
      missing.push_back({&kernel, {key, kernel.name}, {}});
      entry.kernel = missing.back().promise.future();
      entry.place = order_.end();
    }
    Touch(entry, key);
    futures.push_back(entry.kernel);
  }
  LoadFromDisk(&missing);
  const size_t per_program = std::max(options_.kernels_per_program, 1);
  const size_t batches = (missing.size() + per_program - 1) / per_program;
  // A batch that is cancelled fails its kernels, for this caller and for those
  // that wait for them; the next caller compiles them again.
  const absl::Status made = ForEachBlock(
      &threads_, static_cast<int64_t>(batches), cancel, [&](int64_t b) {
        Make(absl::MakeSpan(missing).subspan(b * per_program, per_program),
             options);
        return absl::OkStatus();
      });
  if (!made.ok()) {
    for (Missing& m : missing) {
      if (m.promise.Set(made)) Forget(m.key);
    }
  }
  std::vector<LoadedKernel> loaded;
  for (const auto& future : futures) {
    HAWSER_ASSIGN_OR_RETURN(LoadedKernel kernel,
                            future.Await(cancel.deadline()));
    loaded.push_back(std::move(kernel));
  }
  return loaded;
}

void KernelCache::Touch(Entry& entry, const std::string& key) {
  if (entry.place != order_.end()) order_.erase(entry.place);
  entry.place = order_.insert(order_.end(), key);
  while (static_cast<int>(order_.size()) > options_.max_kernels) {
    kernels_.erase(order_.front());
    order_.pop_front();
  }
}

void KernelCache::Forget(const KernelKey& key) {
  MutexLock lock(&mu_);
  const auto at = kernels_.find(key.key);
  if (at == kernels_.end()) return;
  order_.erase(at->second.place);
  kernels_.erase(at);
}

// Sets those of `missing` that a file holds, and takes them out.
void KernelCache::LoadFromDisk(std::vector<Missing>* missing) {
  const auto by_key = [](const Missing& m, const KernelKey& k) {
    return m.key.key == k.key;
  };
  std::vector<Missing> rest = std::move(*missing);
  missing->clear();
  while (!rest.empty()) {
    const auto batch = files_.Read(rest.back().key.key);
    std::vector<Missing> in_batch, others;
    in_batch.push_back(std::move(rest.back()));
    rest.pop_back();
    for (Missing& m : rest) {
      const bool is_in =
          batch.ok() &&
          std::any_of(batch->kernels.begin(), batch->kernels.end(),
                      [&](const KernelKey& k) { return by_key(m, k); });
      (is_in ? in_batch : others).push_back(std::move(m));
    }
    rest = std::move(others);
    if (batch.ok() && Load(*batch, absl::MakeSpan(in_batch)).ok()) {
      MutexLock lock(&mu_);
      counts_.loaded += static_cast<int64_t>(in_batch.size());
      continue;
    }
    std::move(in_batch.begin(), in_batch.end(), std::back_inserter(*missing));
  }
}

absl::StatusOr<KernelBatch> KernelCache::Compile(
    Batch batch, const CompileOptions& options) {
  TraceSpan span("compile", "compile kernels");
  span.Add("kernels", static_cast<int64_t>(batch.size()));
  std::string text;
  KernelBatch made;
  for (const Missing& m : batch) {
    absl::StrAppend(&text, m.kernel->text, "\n");
    made.kernels.push_back(m.key);
  }
  absl::StatusOr<KernelBinary> binary =
      device_->Compile(batch[0].key.name, text, options);
  if (absl::IsInvalidArgument(binary.status())) {
    return Internal("a kernel of ours does not compile: ",
                    binary.status().message());
  }
  HAWSER_RETURN_IF_ERROR(binary);
  made.binary = std::move(binary->bytes);
  MutexLock lock(&mu_);
  ++counts_.programs;
  counts_.compiled += static_cast<int64_t>(batch.size());
  return made;
}

absl::Status KernelCache::Load(const KernelBatch& batch, Batch wanted) {
  HAWSER_ASSIGN_OR_RETURN(const KernelModule handle,
                          device_->LoadModule(batch.binary));
  const auto module = std::make_shared<const LoadedModule>(device_, handle);
  std::vector<LoadedKernel> found;
  for (const Missing& m : wanted) {
    HAWSER_ASSIGN_OR_RETURN(const Kernel kernel,
                            device_->FindKernel(handle, m.key.name));
    found.push_back({module, kernel});
  }
  for (size_t k = 0; k < wanted.size(); ++k) {
    wanted[k].promise.Set(std::move(found[k]));
  }
  return absl::OkStatus();
}

void KernelCache::Make(Batch batch, const CompileOptions& options) {
  absl::StatusOr<KernelBatch> made = Compile(batch, options);
  absl::Status status = made.status();
  if (made.ok()) {
    status = files_.Write(*made);
    if (!status.ok()) {
      HAWSER_LOG(kWarning) << status.message();
    }
    status = Load(*made, batch);
  }
  if (status.ok()) return;
  for (Missing& m : batch) {
    Forget(m.key);
    m.promise.Set(status);
  }
}

KernelCache::Counts KernelCache::counts() const {
  MutexLock lock(&mu_);
  Counts counts = counts_;
  counts.files = files_.counts();
  return counts;
}

}  // namespace hawser::gpu
