// InProcessStream: one session stream between a RemoteSession and a
// SessionLink, as bytes, with the faults of a network in between.
#ifndef HAWSER_TESTS_TESTING_IN_PROCESS_STREAM_H_
#define HAWSER_TESTS_TESTING_IN_PROCESS_STREAM_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/remote/link/transport.h"
#include "core/base/mutex.h"
#include "server/service/stream/session_link.h"
#include "tests/testing/in_process/event_loop.h"
#include "tests/testing/in_process/faults.h"
#include "tests/testing/in_process/server.h"

namespace hawser {

// The last messages that a client's streams brought over, which a reattached
// stream may bring again. Thread-safe.
class RecentFrames {
 public:
  void Clear();
  void Add(const std::string& frame);
  std::deque<std::string> frames();

 private:
  Mutex mu_;
  std::deque<std::string> frames_ ABSL_GUARDED_BY(mu_);
};

// Thread-safe. Its client's callbacks run on the client's loop; the server's
// link is called on both of the server's.
class InProcessStream final
    : public server::SessionWire,
      public std::enable_shared_from_this<InProcessStream> {
 public:
  InProcessStream(InProcessServer* server, std::shared_ptr<EventLoop> client,
                  std::shared_ptr<FaultPlan> plan,
                  std::shared_ptr<RecentFrames> recent,
                  SessionCallbacks callbacks);

  // Reaches the server, or finds that it refuses. Once.
  void Connect();

  // ---- the client's end
  void Send(std::shared_ptr<const v1::ClientMessage> message);
  void AllowBatches();
  void Finish(absl::Time deadline);
  void HangUp();  // returns after the last callback

  // ---- the server's end
  void Read(v1::ClientMessage* into) override;
  void Write(const v1::ServerMessage& message) override;
  void Finish(const absl::Status& status) override;

  // The link breaks; each end hears of it so much later.
  void Cut(absl::Duration client_hears, absl::Duration server_hears);

 private:
  using Self = std::shared_ptr<InProcessStream>;
  using LinkCall = std::function<void(server::SessionLink&)>;

  void Accept(std::shared_ptr<ServerCore> core);
  void CutLocked(absl::Duration client_hears, absl::Duration server_hears)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Calls the link on the server's loop `loop`; it is done when all are.
  void CallLink(int loop, absl::Duration after, LinkCall call)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void LinkReturned();

  // Client to server.
  void KickLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void SendNext();
  std::string NextFrame() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void PumpLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void HandOver(server::SessionLink& link);

  // Server to client, on the client's loop.
  void Deliver(const std::string& frame);
  void CallBack(const std::string& frame);
  void DeliverHeld();
  void CloseClient(const StreamEnd& end);

  InProcessServer* const server_;
  const std::shared_ptr<EventLoop> client_;
  const std::shared_ptr<FaultPlan> plan_;
  const std::shared_ptr<RecentFrames> recent_;
  const SessionCallbacks callbacks_;
  StreamFaults faults_;

  Mutex mu_;
  CondVar changed_;
  Random to_server_ ABSL_GUARDED_BY(mu_);
  Random to_client_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<ServerCore> core_ ABSL_GUARDED_BY(mu_);
  std::shared_ptr<server::SessionLink> link_ ABSL_GUARDED_BY(mu_);
  Self alive_ ABSL_GUARDED_BY(mu_);  // while the server has it
  bool cut_ ABSL_GUARDED_BY(mu_) = false;
  int under_way_ ABSL_GUARDED_BY(mu_) = 0;  // calls of the link

  bool reattaches_ ABSL_GUARDED_BY(mu_) = false;
  bool may_batch_ ABSL_GUARDED_BY(mu_) = false;
  bool sending_ ABSL_GUARDED_BY(mu_) = false;
  bool finishing_ ABSL_GUARDED_BY(mu_) = false;  // by the client
  bool half_closed_ ABSL_GUARDED_BY(mu_) = false;
  int64_t sent_ ABSL_GUARDED_BY(mu_) = 0;
  std::deque<std::shared_ptr<const v1::ClientMessage>> outgoing_
      ABSL_GUARDED_BY(mu_);
  std::deque<std::string> inbox_ ABSL_GUARDED_BY(mu_);
  v1::ClientMessage* reading_ ABSL_GUARDED_BY(mu_) = nullptr;

  bool finished_ ABSL_GUARDED_BY(mu_) = false;  // by the server
  bool delivered_ ABSL_GUARDED_BY(mu_) = false;
  bool client_done_ ABSL_GUARDED_BY(mu_) = false;
  bool wrote_ ABSL_GUARDED_BY(mu_) = false;
  int64_t received_ ABSL_GUARDED_BY(mu_) = 0;
  absl::Time due_ ABSL_GUARDED_BY(mu_) = absl::InfinitePast();

  // Of the client's loop alone.
  bool client_closed_ = false;
  int callbacks_made_ = 0;
  std::string held_;  // overtaken by the next
};

}  // namespace hawser
#endif  // HAWSER_TESTS_TESTING_IN_PROCESS_STREAM_H_
