// RemoteExecutable: runs a RemoteProgram.
#ifndef HAWSER_CLIENT_REMOTE_REMOTE_EXECUTABLE_H_
#define HAWSER_CLIENT_REMOTE_REMOTE_EXECUTABLE_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/remote/session/program.h"
#include "client/remote/session/remote_link.h"
#include "client/remote/session/session.h"
#include "core/runtime/client.h"
#include "proto/executor.pb.h"

namespace hawser {

// Survives its session: the first Execute in a new one sends the module along.
class RemoteExecutable final : public runtime::Executable {
 public:
  RemoteExecutable(std::shared_ptr<RemoteLink> link,
                   std::shared_ptr<RemoteProgram> program);

  const Signature& signature() const override { return program_->signature(); }
  absl::StatusOr<std::vector<runtime::BufferPtr>> Execute(
      absl::Span<const runtime::Argument> arguments,
      const runtime::ExecuteOptions& options) override;
  Future<runtime::Called> Call(absl::Span<const runtime::Argument> arguments,
                               const runtime::CallOptions& call) override;

 private:
  absl::Status Check(absl::Span<const runtime::Argument> arguments) const;
  absl::Status FillExecute(absl::Span<const runtime::Argument> arguments,
                           const runtime::ExecuteOptions& options,
                           const std::shared_ptr<RemoteSession>& session,
                           std::vector<runtime::BufferPtr>* uploads,
                           v1::ExecuteRequest* execute) const;
  absl::Status FillCall(absl::Span<const runtime::Argument> arguments,
                        v1::CallRequest* request) const;

  const std::shared_ptr<RemoteLink> link_;
  const std::shared_ptr<RemoteProgram> program_;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_REMOTE_EXECUTABLE_H_
