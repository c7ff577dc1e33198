// CpuEvaluator: runs a computation on this machine, one instruction after
// another. The reference every other engine is compared with.
#ifndef HAWSER_KERNELS_CPU_EVALUATOR_H_
#define HAWSER_KERNELS_CPU_EVALUATOR_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/threads/thread_pool.h"
#include "core/runtime/client.h"
#include "kernels/cpu/host_allocator.h"

namespace hawser::cpu {

// Thread-safe. Other engines get one for the ops they have no row for.
class CpuEvaluator : public runtime::HostEvaluator {
 public:
  struct Options {
    // Which helps the calling thread; nullptr: that works alone.
    ThreadPool* pool = nullptr;
    // Bytes of values alive at once; 0: three quarters of the machine's.
    int64_t memory_limit = 0;
    runtime::Numerics numerics = runtime::Numerics::kFast;
  };

  CpuEvaluator() : CpuEvaluator(Options()) {}
  explicit CpuEvaluator(const Options& options);

  // `module`: verified. Errors: kInvalidArgument for arguments that are not
  // the computation's, kUnimplemented naming an op, kResourceExhausted naming
  // the instruction that found no memory, kCancelled, kDeadlineExceeded.
  absl::StatusOr<std::vector<Literal>> Evaluate(
      const Module& module, int computation,
      absl::Span<const Literal> arguments, const CancelToken& cancel) override;

  // Bytes of values alive that came from here.
  int64_t live_bytes() const { return allocator_->live_bytes(); }

 private:
  const std::shared_ptr<HostAllocator> allocator_;
  const runtime::Numerics numerics_;
  ThreadPool* const pool_;
};

// Runs a computation that takes no parameters, in strict numerics, on the calling
// thread: the evaluator that clients fold constants with (core/passes/fold.h).
absl::StatusOr<std::vector<Literal>> EvaluateConstants(const Module& module,
                                                       int computation);

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_EVALUATOR_H_
