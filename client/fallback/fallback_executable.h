// FallbackExecutable: one module, compiled wherever it is needed.
#ifndef HAWSER_CLIENT_FALLBACK_FALLBACK_EXECUTABLE_H_
#define HAWSER_CLIENT_FALLBACK_FALLBACK_EXECUTABLE_H_

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
      : client_(client), module_(std::move(module)), options_(options) {}

  // Compiles on the primary, or on the secondary if that has to take over.
  absl::Status Compile(const runtime::CallOptions& call);

  const Signature& signature() const override { return module_->signature(); }
  absl::StatusOr<std::vector<runtime::BufferPtr>> Execute(
      absl::Span<const runtime::Argument> arguments,
      const runtime::ExecuteOptions& options) override;
  Future<std::vector<Literal>> Call(
      absl::Span<const runtime::Argument> arguments,
      const runtime::CallOptions& options) override;

 private:
  using Executables = std::shared_ptr<runtime::Executable>;
  absl::Status CheckOwn(absl::Span<const runtime::Argument> arguments) const;
  absl::StatusOr<Executables> OnPrimary(const runtime::CallOptions& call);
  absl::StatusOr<Executables> OnSecondary();
  absl::StatusOr<std::vector<runtime::BufferPtr>> ExecuteOnPrimary(
      absl::Span<const runtime::Argument> arguments,
      const runtime::ExecuteOptions& options, uint64_t epoch);
  std::vector<runtime::BufferPtr> Wrap(
      absl::Span<const runtime::Argument> arguments,
      std::vector<runtime::BufferPtr> primary, uint64_t epoch,
      const runtime::CallOptions& call);
  absl::StatusOr<std::vector<runtime::Argument>> PrimaryArguments(
      absl::Span<const runtime::Argument> arguments, uint64_t epoch,
      const runtime::CallOptions& call);
  Future<std::vector<Literal>> CallSecondary(
      const std::vector<runtime::Argument>& arguments,
      const runtime::CallOptions& options);

  FallbackClient* const client_;
  const std::shared_ptr<const Module> module_;
  const runtime::CompileOptions options_;
  Mutex mu_;
  Executables primary_ ABSL_GUARDED_BY(mu_);
  Executables secondary_ ABSL_GUARDED_BY(mu_);
  // The primary lacks something this module needs: it is not asked again.
  bool only_secondary_ ABSL_GUARDED_BY(mu_) = false;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_FALLBACK_FALLBACK_EXECUTABLE_H_
