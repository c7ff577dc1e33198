// FallbackExecutable: one module, compiled wherever it is needed.
#ifndef HAWSER_CLIENT_FALLBACK_FALLBACK_EXECUTABLE_H_
#define HAWSER_CLIENT_FALLBACK_FALLBACK_EXECUTABLE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "client/fallback/fallback_client.h"

namespace hawser {

class FallbackExecutable
    : public runtime::Executable,
      public std::enable_shared_from_this<FallbackExecutable> {
 public:
  FallbackExecutable(FallbackClient* client,
                     std::shared_ptr<const Module> module,
                     runtime::CompileOptions options)
      : client_(client),
        gate_(client->gate_),
        module_(std::move(module)),
        options_(options) {}

  // Compiles on the primary, or on the secondary if that has to take over.
  absl::Status Compile(const runtime::CallOptions& call);

  const Signature& signature() const override { return module_->signature(); }
  absl::StatusOr<std::vector<runtime::BufferPtr>> Execute(
      absl::Span<const runtime::Argument> arguments,
      const runtime::ExecuteOptions& options) override;
  Future<runtime::Called> Call(absl::Span<const runtime::Argument> arguments,
                               const runtime::CallOptions& options) override;

 private:
  Future<runtime::Called> CallFor(absl::Span<const runtime::Argument> arguments,
                                  const PatientCall& call);
  using Executables = std::shared_ptr<runtime::Executable>;
  using Called = runtime::Called;

  absl::Status Check(absl::Span<const runtime::Argument> arguments,
                     const std::vector<int>& donated) const;
  // OK, or why the primary is not asked.
  absl::Status WhyNotPrimary(const Attempt& attempt);
  // Gives up as the client does; a thing that the primary cannot do it is never
  // asked again.
  bool GiveUp(const absl::Status& status, const Attempt& attempt);

  // In `epoch` of the breaker, within `bounded`.
  absl::StatusOr<Executables> OnPrimary(uint64_t epoch,
                                        const runtime::CallOptions& bounded);
  absl::StatusOr<Executables> OnSecondary();
  // Recipes call it.
  absl::StatusOr<Executables> CompiledAt(const Place& place);
  absl::StatusOr<std::vector<runtime::Argument>> PrimaryArguments(
      absl::Span<const runtime::Argument> arguments, const Attempt& attempt,
      const runtime::CallOptions& call);
  absl::StatusOr<std::vector<runtime::Argument>> SecondaryArguments(
      absl::Span<const runtime::Argument> arguments);

  absl::StatusOr<std::vector<runtime::BufferPtr>> ExecuteOnPrimary(
      absl::Span<const runtime::Argument> arguments,
      const runtime::ExecuteOptions& options, const Attempt& attempt);
  absl::StatusOr<std::vector<runtime::BufferPtr>> ExecuteOnSecondary(
      absl::Span<const runtime::Argument> arguments,
      const runtime::CallOptions& call, const Attempt& attempt);
  // The primary's results with their recipes.
  std::vector<runtime::BufferPtr> Wrap(
      absl::Span<const runtime::Argument> arguments,
      std::vector<runtime::BufferPtr> primary, const Attempt& attempt);
  void FetchCheckpoint(const runtime::BufferPtr& primary, RecipePtr recipe);

  absl::StatusOr<Future<Called>> CallPrimary(
      absl::Span<const runtime::Argument> arguments, const PatientCall& call,
      const Attempt& attempt);
  // Calls the secondary; if only the primary can do it, waits until that is
  // there, unless it is there and has said why not, which is `primary`.
  Future<Called> CallElsewhere(absl::Span<const runtime::Argument> arguments,
                               const PatientCall& call, const Attempt& attempt,
                               const absl::Status& primary);
  Future<Called> CallSecondary(absl::Span<const runtime::Argument> arguments,
                               const runtime::CallOptions& options,
                               const absl::Status& why);

  FallbackClient* const client_;  // only inside the gate
  const std::shared_ptr<Gate> gate_;
  const std::shared_ptr<const Module> module_;
  const runtime::CompileOptions options_;
  Mutex mu_;
  Executables primary_ ABSL_GUARDED_BY(mu_);
  uint64_t primary_epoch_ ABSL_GUARDED_BY(mu_) = 0;
  Executables secondary_ ABSL_GUARDED_BY(mu_);
  // The primary lacks something this module needs: it is not asked again.
  absl::Status incapable_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_FALLBACK_FALLBACK_EXECUTABLE_H_
