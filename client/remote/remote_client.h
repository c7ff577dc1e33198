// RemoteClient: a runtime::Client whose device is on another machine.
#ifndef HAWSER_CLIENT_REMOTE_REMOTE_CLIENT_H_
#define HAWSER_CLIENT_REMOTE_REMOTE_CLIENT_H_

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/remote/link/options.h"
#include "client/remote/link/transfers.h"
#include "client/remote/link/transport.h"
#include "client/remote/link/watched.h"
#include "client/remote/remote_datasets.h"
#include "client/remote/session/program.h"
#include "client/remote/session/session.h"
#include "core/base/mutex.h"
#include "core/base/threads/cancel.h"
#include "core/base/threads/gate.h"
#include "core/runtime/client.h"

namespace hawser {

// A client over `transport`. Reaches out at its first use, not before.
std::shared_ptr<runtime::Client> MakeRemoteClient(
    std::unique_ptr<Transport> transport, RemoteOptions options);

// Thread-safe. Owned together by the user and by its buffers and executables;
// futures do not keep it: when the last of those goes, what is outstanding
// completes with kCancelled. Executables, dataset tokens and values that have
// come over survive a lost session; other buffers are kUnavailable.
class RemoteClient final : public runtime::Client,
                           public std::enable_shared_from_this<RemoteClient> {
 public:
  RemoteClient(std::unique_ptr<Transport> transport, RemoteOptions options);
  ~RemoteClient() override;  // bounded, whatever the server does

  std::string name() const override { return address_; }
  // Says where values computed here are: "gpu-1:7070 cuda" once a session was
  // open.
  runtime::RanOn ran_on() const;
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

  // The parts of this client use these.
  const std::shared_ptr<Transport>& transport() const { return transport_; }
  const RemoteOptions& options() const { return options_; }
  Transfers* transfers() { return &transfers_; }
  // Returns how many streams one large transfer may use.
  int bulk_streams() const { return std::max(options_.bulk_threads, 1); }
  // Stops `watched` when its token expires. Before what it waits for is begun;
  // costs nothing for a token that cannot.
  void Watch(const std::shared_ptr<Watched>& watched);
  // Stops `watched` when the server says nothing for options().silence from now
  // on, not even to a ping, or does not know its number.
  void WatchSilence(const std::shared_ptr<Watched>& watched);
  // The session that serves now; a new one when there is none or it is lost.
  std::shared_ptr<RemoteSession> Session();
  absl::StatusOr<runtime::BufferPtr> UploadIn(
      const std::shared_ptr<RemoteSession>& session, const Literal& value,
      const runtime::CallOptions& call);

 private:
  absl::Status CompileOnce(const Module& module, RemoteProgram* program,
                           const CancelToken& cancel, const CancelToken& caller,
                           bool* lost);

  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  const std::shared_ptr<Transport> transport_;
  const RemoteOptions options_;
  const std::string address_;
  ProgramCache programs_;
  RemoteDatasets datasets_{this};

  mutable Mutex mu_;
  std::shared_ptr<RemoteSession> session_ ABSL_GUARDED_BY(mu_);
  absl::Time session_started_ ABSL_GUARDED_BY(mu_);
  // Lost, their streams not yet taken down.
  std::vector<std::shared_ptr<RemoteSession>> retired_ ABSL_GUARDED_BY(mu_);
  std::optional<runtime::Capabilities> capabilities_ ABSL_GUARDED_BY(mu_);
  Transfers transfers_;  // last: it uses all of the above
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_REMOTE_CLIENT_H_
