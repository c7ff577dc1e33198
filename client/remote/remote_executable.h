// RemoteExecutable: a module a server has compiled, or will again.
#ifndef HAWSER_CLIENT_REMOTE_REMOTE_EXECUTABLE_H_
#define HAWSER_CLIENT_REMOTE_REMOTE_EXECUTABLE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/remote/call_limits.h"
#include "client/remote/session.h"
#include "core/base/digest.h"
#include "core/base/mutex.h"
#include "core/runtime/client.h"

namespace hawser {

class RemoteClient;

// A module as it travels.
struct Program {
  std::string name;
  Signature signature;
  runtime::CompileOptions options;
  std::string bytes;  // of the ModuleProto
  Digest fingerprint;
};

// Survives its session: the first Execute in a new one sends the module along.
class RemoteExecutable final : public runtime::Executable {
 public:
  RemoteExecutable(std::shared_ptr<RemoteClient> client,
                   std::shared_ptr<const Program> program);

  const Signature& signature() const override { return program_->signature; }
  absl::StatusOr<std::vector<runtime::BufferPtr>> Execute(
      absl::Span<const runtime::Argument> arguments,
      const runtime::ExecuteOptions& options) override;
  Future<std::vector<Literal>> Call(
      absl::Span<const runtime::Argument> arguments,
      const runtime::CallOptions& call) override;

  // Blocks until `session` has compiled it. Errors: the server's.
  absl::Status CompileIn(const std::shared_ptr<RemoteSession>& session,
                         const CallLimits& limits);

 private:
  uint64_t NameIn(const std::shared_ptr<RemoteSession>& session);
  absl::Status Check(absl::Span<const runtime::Argument> arguments,
                     const runtime::ExecuteOptions& options) const;
  absl::Status CheckOwner(const runtime::Argument& argument, int index) const;
  absl::Status FillArgument(const std::shared_ptr<RemoteSession>& session,
                            const runtime::Argument& argument,
                            const runtime::CallOptions& call,
                            std::vector<runtime::BufferPtr>* uploads,
                            v1::ArgumentProto* proto);
  absl::Status FillCall(absl::Span<const runtime::Argument> arguments,
                        v1::CallRequest* request) const;

  const std::shared_ptr<RemoteClient> client_;
  const std::shared_ptr<const Program> program_;
  // The server has been given the body at least once.
  std::shared_ptr<std::atomic<bool>> known_;

  Mutex mu_;
  // The session that knows it, and by what name.
  std::shared_ptr<RemoteSession> session_ ABSL_GUARDED_BY(mu_);
  uint64_t name_ ABSL_GUARDED_BY(mu_) = 0;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_REMOTE_EXECUTABLE_H_
