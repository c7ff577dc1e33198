// FakeServer: a server in this process behind the Transport interface, with
// every fault a link and a server can have. No gRPC, so tsan sees all of it.
#ifndef HAWSER_TESTS_CLIENT_REMOTE_FAKE_SERVER_H_
#define HAWSER_TESTS_CLIENT_REMOTE_FAKE_SERVER_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/remote/link/transport.h"
#include "core/base/digest.h"
#include "core/base/mutex.h"
#include "core/base/values/literal.h"
#include "core/ir/module.h"
#include "core/runtime/client.h"
#include "core/runtime/dataset.h"
#include "proto/executor.pb.h"

namespace hawser {

// (f32 of `dims`, as many as `parameters`) -> the same. What a FakeServer
// makes of it: result i is argument i plus one, and an argument below zero
// makes the step fail with kInvalidArgument "below zero".
std::shared_ptr<const Module> PlusOneModule(const Dims& dims,
                                            int parameters = 1);

// Requests are applied by one thread, in order. Outlives its transports.
class FakeServer {
 public:
  explicit FakeServer(absl::Duration lease = absl::Seconds(60),
                      std::string address = "fake:1");
  ~FakeServer();
  std::unique_ptr<Transport> NewTransport();

  // ---- faults
  void CutStreams();                    // every stream breaks; sessions stay
  void CloseStreams(absl::Status why);  // as the server's own decision
  void Freeze(bool frozen);             // takes everything, does nothing
  void Refuse(bool refuse);      // as a closed port: streams break, calls fail
  void Restart();                // forgets sessions and modules, keeps datasets
  void SwallowReplies(int n);    // applied and answered, but lost on the way
  void HoldExecutes(bool hold);  // applied, answered once this ends
  void FailUploads(int n);       // side streams that break before they end
  // Reading an array from this row on fails, once another reads; from others
  // nothing comes.
  void FailGetAt(int64_t row);
  // The next `times` times that this byte of an array of bytes is read, or
  // digests are asked for, one bit of it arrives wrong.
  void FlipGetAt(int64_t byte, int times);
  void FlipDigests(int times);
  void set_capabilities(runtime::Capabilities capabilities);
  void LoseChunkBeforeCommit();  // evicts one chunk, once

  // Datasets in one answer to List.
  static constexpr int kPage = 2;

  // ---- what it has seen
  struct Counts {
    int opens = 0, reattaches = 0, executes = 0, compiles = 0, bodies = 0;
    int pings = 0, fetches = 0, repeats = 0, gaps = 0, calls = 0, downloads = 0;
    int goodbyes = 0, freezes = 0, cancelled_gets = 0;
    int64_t put_bytes = 0;
  };
  Counts counts();
  int live_handles();
  // Blocks until `live_handles()` is n, up to some seconds.
  bool WaitForHandles(int n);
  bool WaitForGoodbyes(int n);
  // Blocks until so many Executes have been applied.
  bool WaitForExecutes(int n);
  // Blocks until so many tasks wait for a frozen server, up to some seconds.
  bool WaitForTasks(int n);
  // Sequence numbers in the order they were applied.
  std::vector<uint64_t> applied();

 private:
  friend class FakeTransport;
  friend class FakeStream;
  // One stream's callbacks.
  struct Link {
    Mutex mu;
    SessionCallbacks callbacks;
    bool closed ABSL_GUARDED_BY(mu) = false;
    uint64_t session = 0;  // server's mu_
  };
  using LinkPtr = std::shared_ptr<Link>;
  struct Slot {
    bool ready = false;
    absl::Status status;
    Literal value;
    Shape shape;
  };
  using SlotPtr = std::shared_ptr<Slot>;
  struct Session {
    std::string secret;
    uint64_t applied = 0;
    uint64_t acknowledged = 0;
    LinkPtr link;
    std::map<uint64_t, v1::ServerMessage> kept;
    absl::flat_hash_map<uint64_t, SlotPtr> slots;
    absl::flat_hash_map<uint64_t, Signature> executables;
  };
  // Waits for its arguments.
  struct Deferred {
    uint64_t session;
    std::vector<SlotPtr> needs;
    std::function<void()> run;
  };
  using ClientMessagePtr = std::shared_ptr<const v1::ClientMessage>;

  void Loop();
  void Post(std::function<void()> task);
  // On a thread of its own, which the destructor waits for.
  void Spawn(std::function<void()> call);
  // Everything below runs with mu_ held; answers are collected in `out_` and
  // delivered without it.
  void Handle(const LinkPtr& link, const v1::ClientMessage& message);
  void Open(const LinkPtr& link, const v1::ClientMessage& message)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Apply(uint64_t id, const v1::ClientMessage& message)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Compile(uint64_t id, const v1::ClientMessage& message)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Execute(uint64_t id, const v1::ClientMessage& message)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Upload(uint64_t id, const v1::ClientMessage& message)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Fetch(uint64_t id, const v1::ClientMessage& message)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Freeze(uint64_t id, const v1::ClientMessage& message)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RunDeferred() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Answer(uint64_t id, uint64_t sequence, const absl::Status& status,
              v1::ServerMessage reply = {}) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Send(const LinkPtr& link, v1::ServerMessage message)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void DeliverOut();
  absl::StatusOr<SlotPtr> ArgumentSlot(uint64_t id,
                                       const v1::ArgumentProto& argument)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::StatusOr<Literal> DatasetValue(absl::string_view token,
                                       absl::string_view array)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::vector<LinkPtr> Links();
  static void CloseLink(const LinkPtr& link, const StreamEnd& end);
  // Waits while frozen. Errors: kUnavailable while it refuses.
  absl::Status EnterCall(const runtime::CallOptions& o, bool executes = false);

  const absl::Duration lease_;
  const std::string address_;
  Mutex mu_;
  CondVar changed_;
  bool stop_ ABSL_GUARDED_BY(mu_) = false;
  bool frozen_ ABSL_GUARDED_BY(mu_) = false;
  bool refuse_ ABSL_GUARDED_BY(mu_) = false;
  bool hold_executes_ ABSL_GUARDED_BY(mu_) = false;
  int swallow_replies_ ABSL_GUARDED_BY(mu_) = 0;
  int fail_uploads_ ABSL_GUARDED_BY(mu_) = 0;
  int64_t fail_get_at_ ABSL_GUARDED_BY(mu_) = -1;  // below 0: all come
  int64_t flip_get_at_ ABSL_GUARDED_BY(mu_) = 0;
  int flips_ ABSL_GUARDED_BY(mu_) = 0;
  int flip_digests_ ABSL_GUARDED_BY(mu_) = 0;
  int waiting_gets_ ABSL_GUARDED_BY(mu_) = 0;  // that are to be ended
  bool lose_chunk_ ABSL_GUARDED_BY(mu_) = false;
  runtime::Capabilities capabilities_ ABSL_GUARDED_BY(mu_);
  Counts counts_ ABSL_GUARDED_BY(mu_);
  std::vector<uint64_t> applied_ ABSL_GUARDED_BY(mu_);
  uint64_t next_session_ ABSL_GUARDED_BY(mu_) = 1;
  std::map<uint64_t, Session> sessions_ ABSL_GUARDED_BY(mu_);
  std::vector<LinkPtr> links_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<std::string, Signature> modules_ ABSL_GUARDED_BY(mu_);
  std::list<Deferred> deferred_ ABSL_GUARDED_BY(mu_);
  std::vector<std::pair<LinkPtr, v1::ServerMessage>> held_ ABSL_GUARDED_BY(mu_);
  std::vector<std::pair<LinkPtr, v1::ServerMessage>> out_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<Digest, std::string> chunks_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, DatasetManifest> datasets_ ABSL_GUARDED_BY(mu_);
  std::deque<std::function<void()>> tasks_ ABSL_GUARDED_BY(mu_);
  std::vector<std::thread> calls_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;  // last
};

}  // namespace hawser
#endif  // HAWSER_TESTS_CLIENT_REMOTE_FAKE_SERVER_H_
