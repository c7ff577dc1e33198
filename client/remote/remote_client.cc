#include "client/remote/remote_client.h"

#include <utility>

#include "client/remote/capability_check.h"
#include "client/remote/remote_buffer.h"
#include "client/remote/remote_executable.h"
#include "client/remote/session/ping.h"
#include "core/base/process/forked.h"
#include "core/base/status.h"
#include "core/runtime/attempt.h"
#include "core/runtime/drain.h"

namespace hawser {
namespace {

// The destructor waits for the client's own threads, so it cannot run on one.
void Destroy(RemoteClient* client) {
  // Its threads and its connection are the parent's.
  if (IsForked()) return;
  runtime::DrainClient(CallbackScope::Active(), [client] { delete client; });
}

}  // namespace

std::shared_ptr<runtime::Client> MakeRemoteClient(
    std::unique_ptr<Transport> transport, RemoteOptions options) {
  const std::shared_ptr<RemoteClient> client(
      new RemoteClient(std::move(transport), std::move(options)), Destroy);
  client->link_.SetClient(client);
  return client;
}

absl::StatusOr<runtime::Capabilities> RemoteClient::capabilities() {
  if (auto known = link_.capabilities()) return *std::move(known);
  // Ends by itself: a session opens or is given up.
  return link_.AwaitOpen(link_.Session(), CancelToken());
}

absl::Status RemoteClient::Ping(const runtime::CallOptions& call) {
  return PingSession(link_.Session(), runtime::AttemptToken(call),
                     link_.options().connect_timeout, link_.name());
}

absl::Status RemoteClient::CompileOnce(const Module& module,
                                       RemoteProgram* program,
                                       const CancelToken& cancel,
                                       const CancelToken& caller, bool* lost) {
  const std::shared_ptr<RemoteSession> session = link_.Session();
  if (program->KnownIn(session.get())) return absl::OkStatus();
  HAWSER_ASSIGN_OR_RETURN(const runtime::Capabilities capabilities,
                          link_.AwaitOpen(session, cancel));
  HAWSER_RETURN_IF_ERROR(CheckCapabilities(module, capabilities, link_.name()));
  if (static_cast<int64_t>(program->bytes().size()) >
      capabilities.limits.bytes) {
    return ResourceExhausted(link_.name(), ": the module has ",
                             program->bytes().size(), " bytes, the most is ",
                             capabilities.limits.bytes);
  }
  const absl::Status status =
      program->CompileIn(session, cancel, caller, link_.name());
  *lost = session->lost();
  return status;
}

absl::StatusOr<std::shared_ptr<runtime::Executable>> RemoteClient::Compile(
    std::shared_ptr<const Module> module,
    const runtime::CompileOptions& options, const runtime::CallOptions& call) {
  if (module == nullptr || module->empty()) {
    return InvalidArgument("there is no module to compile");
  }
  const CancelToken cancel = runtime::AttemptToken(call);
  const std::shared_ptr<RemoteProgram> program = programs_.Get(module, options);
  bool lost = false;
  absl::Status status =
      CompileOnce(*module, program.get(), cancel, call.cancel, &lost);
  // A session that turned out to be lost says nothing about the server.
  if (absl::IsUnavailable(status) && lost) {
    status = CompileOnce(*module, program.get(), cancel, call.cancel, &lost);
  }
  HAWSER_RETURN_IF_ERROR(status);
  return std::make_shared<RemoteExecutable>(link_.Shared(), program);
}

absl::StatusOr<runtime::BufferPtr> RemoteClient::Upload(
    const Literal& value, const runtime::CallOptions& call) {
  if (!value.valid()) return InvalidArgument("there is no value to upload");
  return UploadIn(link_.Shared(), link_.Session(), value, call);
}

}  // namespace hawser
