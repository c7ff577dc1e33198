// CpuExecutable: a verified module and its plan, run on a CpuClient's pool
// or, when that costs less, by the caller.
#ifndef HAWSER_KERNELS_CPU_CLIENT_CPU_EXECUTABLE_H_
#define HAWSER_KERNELS_CPU_CLIENT_CPU_EXECUTABLE_H_

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/runtime/client.h"
#include "kernels/cpu/client/client_state.h"
#include "kernels/cpu/planned/planned_program.h"

namespace hawser::cpu {

class CpuExecutable : public runtime::Executable,
                      public std::enable_shared_from_this<CpuExecutable> {
 public:
  CpuExecutable(std::shared_ptr<ClientState> state,
                std::shared_ptr<const Module> module, PlannedProgram program,
                double cost, runtime::Numerics numerics)
      : state_(std::move(state)),
        module_(std::move(module)),
        program_(std::move(program)),
        cost_(cost),
        numerics_(numerics) {}

  const Signature& signature() const override { return module_->signature(); }
  // A simple operation on an element takes a nanosecond, or less.
  double seconds() const override { return cost_ * 1e-9; }
  absl::StatusOr<std::vector<runtime::BufferPtr>> Execute(
      absl::Span<const runtime::Argument> arguments,
      const runtime::ExecuteOptions& options) override;
  Future<runtime::Called> Call(absl::Span<const runtime::Argument> arguments,
                               const runtime::CallOptions& options) override;

  // Runs on this thread; `pool` may help.
  absl::StatusOr<std::vector<Literal>> Run(std::vector<Literal> arguments,
                                           ThreadPool* pool,
                                           const CancelToken& cancel,
                                           const runtime::CallOptions& call)
      const;

 private:
  absl::Status Check(absl::Span<const runtime::Argument> arguments,
                     const runtime::ExecuteOptions& options) const;
  // The results where running here and now is the fastest way: a small
  // program, all arguments there. The first argument's error is the results'.
  std::optional<absl::StatusOr<std::vector<Literal>>> RunAtOnce(
      absl::Span<const runtime::Argument> arguments,
      const runtime::CallOptions& call) const;
  std::vector<runtime::BufferPtr> Ready(
      absl::StatusOr<std::vector<Literal>> results) const;
  absl::StatusOr<std::vector<runtime::BufferPtr>> Start(
      absl::Span<const runtime::Argument> arguments,
      const runtime::ExecuteOptions& options);

  const std::shared_ptr<ClientState> state_;
  const std::shared_ptr<const Module> module_;
  const PlannedProgram program_;
  const double cost_;  // steps of a run, about; infinite with a loop
  const runtime::Numerics numerics_;
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_CLIENT_CPU_EXECUTABLE_H_
