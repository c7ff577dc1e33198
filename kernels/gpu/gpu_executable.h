// GpuExecutable: a compiled module, queued on the device by the thread that
// executes it, or by a thread of the engine where it has to wait.
#ifndef HAWSER_KERNELS_GPU_GPU_EXECUTABLE_H_
#define HAWSER_KERNELS_GPU_GPU_EXECUTABLE_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/client.h"
#include "kernels/gpu/compile/compiled.h"
#include "kernels/gpu/engine/engine.h"
#include "kernels/gpu/run/graph_cache.h"

namespace hawser::gpu {

struct GivenArgument;

// One argument of a run.
struct RunArgument {
  DeviceValue value;
  // The run is the memory's only holder: a result may have it.
  bool is_given = false;
};

class GpuExecutable : public runtime::Executable,
                      public std::enable_shared_from_this<GpuExecutable> {
 public:
  // If `with_graphs`, runs that need not wait are captured.
  GpuExecutable(std::shared_ptr<Engine> engine,
                std::shared_ptr<const Module> module, Compiled compiled,
                runtime::Numerics numerics, bool with_graphs);
  ~GpuExecutable() override;

  const Signature& signature() const override { return module_->signature(); }
  double seconds() const override { return compiled_.program.seconds; }
  absl::StatusOr<std::vector<runtime::BufferPtr>> Execute(
      absl::Span<const runtime::Argument> arguments,
      const runtime::ExecuteOptions& options) override;

  // Queues a run over values that are queued themselves; blocks as
  // Program::blocks says. It uses the token and the sharing of `call`.
  absl::StatusOr<std::vector<DeviceValue>> Queue(
      std::vector<RunArgument> arguments, const runtime::CallOptions& call);
  // True if some result may have the memory of argument `i`.
  bool MayTake(int i) const { return may_take_[i]; }
  bool blocks() const { return compiled_.program.blocks; }

  // Explains what runs, where results live, and which steps need the host.
  const std::string& Explain() const { return compiled_.program.explanation; }
  GraphCache::Counts graph_counts();

 private:
  using Results = std::vector<DeviceValue>;

  absl::Status Check(absl::Span<const runtime::Argument> arguments,
                     const runtime::ExecuteOptions& options) const;
  // The results of a run over arguments that are all ready, or its error.
  std::vector<Future<DeviceValue>> QueueNow(std::vector<GivenArgument>& given,
                                            const runtime::CallOptions& call);
  absl::StatusOr<std::vector<Future<DeviceValue>>> QueueLater(
      std::vector<GivenArgument> given, const runtime::CallOptions& call);
  absl::Status AwaitArguments(WorkStream* work_stream,
                              const std::vector<RunArgument>& arguments);
  std::string NoMemoryFor(size_t result) const;
  // Memory of the results' own, given or new.
  absl::Status PlaceResults(const std::shared_ptr<WorkStream>& work_stream,
                            std::vector<RunArgument>& arguments,
                            Results* results);
  absl::Status RunSteps(const std::shared_ptr<WorkStream>& work_stream,
                        const std::vector<RunArgument>& arguments,
                        const Results& results,
                        const runtime::CallOptions& call);

  const std::shared_ptr<Engine> engine_;
  const std::shared_ptr<const Module> module_;
  const Compiled compiled_;
  runtime::HostEvaluator* const host_;
  std::vector<bool> may_take_;  // by argument
  GraphCache graphs_;           // used by the holder of the main stream
};

}  // namespace hawser::gpu
#endif  // HAWSER_KERNELS_GPU_GPU_EXECUTABLE_H_
