// RemoteLink: what the parts of a RemoteClient share of its server.
#ifndef HAWSER_CLIENT_REMOTE_SESSION_REMOTE_LINK_H_
#define HAWSER_CLIENT_REMOTE_SESSION_REMOTE_LINK_H_

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
#include "client/remote/session/session.h"
#include "core/base/mutex.h"
#include "core/base/threads/cancel.h"
#include "core/base/threads/gate.h"
#include "core/runtime/client.h"

namespace hawser {

// At most one session serves; one that is lost is replaced at the next use and
// kept until its streams are down. A call that is watched ends with its token,
// or when the server says nothing, and no such end is told after the link dies.
// Its client owns it and holds all that its threads use. Thread-safe.
class RemoteLink {
 public:
  RemoteLink(std::unique_ptr<Transport> transport, RemoteOptions options);
  ~RemoteLink();  // bounded, whatever the server does
  RemoteLink(const RemoteLink&) = delete;
  RemoteLink& operator=(const RemoteLink&) = delete;

  // The client that owns it from now on. Called once, before all below.
  void SetClient(const std::shared_ptr<runtime::Client>& client);
  runtime::Client* client() const { return client_; }
  // Keeps the client.
  std::shared_ptr<RemoteLink> Shared() { return {owner_.lock(), this}; }

  const std::string& name() const { return address_; }
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
  // Blocks until `session` is open. Returns the abilities of the server.
  absl::StatusOr<runtime::Capabilities> AwaitOpen(
      const std::shared_ptr<RemoteSession>& session, const CancelToken& cancel);
  // The abilities that AwaitOpen has returned last, if it has.
  std::optional<runtime::Capabilities> capabilities() const;
  // Says where values computed here are: "gpu-1:7070 cuda" once the abilities
  // are known.
  runtime::RanOn ran_on() const;

 private:
  const std::shared_ptr<Gate> gate_ = std::make_shared<Gate>();
  const std::shared_ptr<Transport> transport_;
  const RemoteOptions options_;
  const std::string address_;
  runtime::Client* client_ = nullptr;
  std::weak_ptr<runtime::Client> owner_;  // client_

  mutable Mutex mu_;
  std::shared_ptr<RemoteSession> session_ ABSL_GUARDED_BY(mu_);
  absl::Time session_started_ ABSL_GUARDED_BY(mu_);
  // Lost, their streams not yet taken down.
  std::vector<std::shared_ptr<RemoteSession>> retired_ ABSL_GUARDED_BY(mu_);
  std::optional<runtime::Capabilities> capabilities_ ABSL_GUARDED_BY(mu_);
  Transfers transfers_;  // last: it uses all of the above
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_SESSION_REMOTE_LINK_H_
