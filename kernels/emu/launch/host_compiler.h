// Kernels in the dialect, compiled by g++ into a shared object, and loaded.
#ifndef HAWSER_KERNELS_EMU_LAUNCH_HOST_COMPILER_H_
#define HAWSER_KERNELS_EMU_LAUNCH_HOST_COMPILER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kernels/dialect/host_context.h"
#include "kernels/gpu/device/device_api.h"

namespace hawser::emu {

// Keeps shared objects in a folder by the hash of their text, flags and
// compiler, so that another process with the same text compiles nothing.
// Thread-safe.
class HostCompiler {
 public:
  // `folder` is created when it does not exist. `compiler`: "g++" or a path.
  HostCompiler(std::string folder, std::string compiler);

  // The compiler's version, the flags and the prelude.
  const std::string& id() const { return id_; }
  // Errors: kInvalidArgument with the text of g++; kFailedPrecondition without
  // a g++.
  absl::StatusOr<gpu::KernelBinary> Compile(absl::string_view name,
                                            absl::string_view text,
                                            const gpu::CompileOptions& options);
  // The path of a binary's file, for HostModule.
  absl::StatusOr<std::string> FileOf(absl::string_view binary);

 private:
  absl::StatusOr<std::string> Build(const std::string& stem,
                                    const std::string& source);
  absl::Status PrepareFolder();

  const std::string folder_;
  const std::string compiler_;
  std::string id_;
};

// A loaded shared object. Thread-safe.
class HostModule {
 public:
  static absl::StatusOr<std::unique_ptr<HostModule>> Open(
      const std::string& file);
  ~HostModule();
  HostModule(const HostModule&) = delete;
  HostModule& operator=(const HostModule&) = delete;

  absl::StatusOr<hk::HostKernelInfo> Find(const std::string& kernel) const;
  // Sets the context that the module's kernels ask.
  void Enter(hk::HostContext* context) const { enter_(context); }

 private:
  explicit HostModule(void* library) : library_(library) {}

  void* library_;
  void (*enter_)(hk::HostContext*) = nullptr;
};

}  // namespace hawser::emu
#endif  // HAWSER_KERNELS_EMU_LAUNCH_HOST_COMPILER_H_
