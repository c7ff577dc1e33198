// RemoteClient: a runtime::Client whose device is on another machine.
#ifndef HAWSER_CLIENT_REMOTE_REMOTE_CLIENT_H_
#define HAWSER_CLIENT_REMOTE_REMOTE_CLIENT_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "client/remote/link/options.h"
#include "client/remote/link/transport.h"
#include "client/remote/remote_datasets.h"
#include "client/remote/session/program.h"
#include "client/remote/session/remote_link.h"
#include "core/base/threads/cancel.h"
#include "core/runtime/client.h"

namespace hawser {

// A client over `transport`. Reaches out at its first use, not before.
std::shared_ptr<runtime::Client> MakeRemoteClient(
    std::unique_ptr<Transport> transport, RemoteOptions options);

// Thread-safe. Owned together by the user and by its buffers and executables;
// futures do not keep it: when the last of those goes, what is outstanding
// completes with kCancelled. Executables, dataset tokens and values that have
// come over survive a lost session; other buffers are kUnavailable.
class RemoteClient final : public runtime::Client {
 public:
  std::string name() const override { return link_.name(); }
  // Blocks until the server was reached once.
  absl::StatusOr<runtime::Capabilities> capabilities() override;
  // One round trip on the session. Errors: kUnavailable when it is lost or has
  // no stream for the connect timeout; the next Ping asks a new session.
  absl::Status Ping(const runtime::CallOptions& call) override;
  absl::StatusOr<std::shared_ptr<runtime::Executable>> Compile(
      std::shared_ptr<const Module> module,
      const runtime::CompileOptions& options,
      const runtime::CallOptions& call) override;
  absl::StatusOr<runtime::BufferPtr> Upload(
      const Literal& value, const runtime::CallOptions& call) override;

  runtime::Datasets& datasets() override { return datasets_; }

 private:
  friend std::shared_ptr<runtime::Client> MakeRemoteClient(
      std::unique_ptr<Transport> transport, RemoteOptions options);
  RemoteClient(std::unique_ptr<Transport> transport, RemoteOptions options)
      : link_(std::move(transport), std::move(options)) {}

  absl::Status CompileOnce(const Module& module, RemoteProgram* program,
                           const CancelToken& cancel, const CancelToken& caller,
                           bool* lost);

  ProgramCache programs_;
  RemoteDatasets datasets_{&link_};
  RemoteLink link_;  // last: its threads use all of the above
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_REMOTE_CLIENT_H_
