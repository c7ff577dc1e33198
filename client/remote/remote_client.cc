#include "client/remote/remote_client.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/remote/capability_check.h"
#include "client/remote/remote_buffer.h"
#include "client/remote/remote_executable.h"
#include "client/remote/session/ping.h"
#include "client/remote/value.h"
#include "core/base/clock.h"
#include "core/base/process/forked.h"
#include "core/base/status.h"
#include "core/base/threads/future.h"
#include "core/base/threads/or_expired.h"
#include "core/runtime/attempt.h"
#include "core/runtime/drain.h"

namespace hawser {
namespace {

// A server that could not be reached is not asked again within this time, so
// that a loop of failing calls does not become a loop of connections.
constexpr absl::Duration kReopenDelay = absl::Milliseconds(20);

// The slowest link carries so many bytes in half a silence.
constexpr int64_t kBytesOfSlowLink = 128 << 10;

std::string ThisProcess() {
  char host[256] = "client";
  (void)gethostname(host, sizeof(host) - 1);
  return absl::StrCat(host, ":", getpid());
}

RemoteOptions WithName(RemoteOptions options) {
  if (options.client_name.empty()) options.client_name = ThisProcess();
  return options;
}

// The destructor waits for the client's own threads, so it cannot run on one.
void Destroy(RemoteClient* client) {
  // Its threads and its connection are the parent's.
  if (IsForked()) return;
  runtime::DrainClient(CallbackScope::Active(), [client] { delete client; });
}

}  // namespace

std::shared_ptr<runtime::Client> MakeRemoteClient(
    std::unique_ptr<Transport> transport, RemoteOptions options) {
  return std::shared_ptr<RemoteClient>(
      new RemoteClient(std::move(transport), std::move(options)), Destroy);
}

RemoteClient::RemoteClient(std::unique_ptr<Transport> transport,
                           RemoteOptions options)
    : transport_(std::move(transport)),
      options_(WithName(std::move(options))),
      address_(transport_->address()),
      transfers_(options_.bulk_threads, options_.silence) {}

RemoteClient::~RemoteClient() {
  gate_->Close();
  std::vector<std::shared_ptr<RemoteSession>> sessions;
  {
    MutexLock lock(&mu_);
    sessions.swap(retired_);
    if (session_ != nullptr) sessions.push_back(std::move(session_));
  }
  for (const auto& session : sessions) session->Close();
}

std::shared_ptr<RemoteSession> RemoteClient::Session() {
  MutexLock lock(&mu_);
  if (session_ != nullptr && !session_->lost()) return session_;
  const absl::Time now = SteadyNow();
  if (session_ != nullptr) {
    if (!session_->was_open() && now - session_started_ < kReopenDelay) {
      return session_;
    }
    retired_.push_back(std::move(session_));
  }
  retired_.erase(
      std::remove_if(retired_.begin(), retired_.end(),
                     [](const auto& session) { return session->over(); }),
      retired_.end());
  session_ = std::make_shared<RemoteSession>(transport_, options_);
  session_started_ = now;
  session_->Start();
  return session_;
}

void RemoteClient::Watch(const std::shared_ptr<Watched>& watched) {
  if (!watched->cancel().can_expire()) return;
  watched->expiry_ = watched->cancel().OnExpiry(
      [this, gate = gate_,
       weak = std::weak_ptr<Watched>(watched)](const absl::Status& expired) {
        CallbackScope scope;
        const auto watched = weak.lock();
        const Gate::Pass pass = gate->Enter();
        if (!pass || watched == nullptr) return;
        watched->Stop(Annotate(expired, address_));
        transfers_.DropUnwanted();
      });
}

namespace {

// A ping whose answer says that the server is there, and whether it works on
// the call of a number.
class SignOfLife final : public Request {
 public:
  using Done = std::function<void(const absl::Status&, bool is_unfinished)>;
  SignOfLife(uint64_t number, Done done)
      : number_(number), done_(std::move(done)) {
    v1::PingRequest* ping = message->mutable_ping();
    if (number_ == 0) return;
    ping->set_report(true);
    ping->add_calls(number_);
  }
  void OnReply(const absl::Status& status, v1::ServerMessage* reply) override {
    // A server of before does not say.
    const bool says = status.ok() && number_ != 0 && reply->has_ping();
    const auto& calls =
        reply == nullptr ? none_ : reply->ping().unfinished_calls();
    done_(status, !says || std::count(calls.begin(), calls.end(), number_) > 0);
  }

 private:
  const uint64_t number_;
  const Done done_;
  const google::protobuf::RepeatedField<uint64_t> none_;
};

}  // namespace

void RemoteClient::WatchSilence(const std::shared_ptr<Watched>& watched) {
  const absl::Time since = SteadyNow();
  const auto with = [gate = gate_,
                     weak = std::weak_ptr<Watched>(watched)](auto fn) {
    const auto watched = weak.lock();
    const Gate::Pass pass = gate->Enter();
    if (pass && watched != nullptr) fn(watched);
  };
  const auto heard = [this, with](const absl::Status& status,
                                  bool is_unfinished) {
    with([&](const std::shared_ptr<Watched>& watched) {
      if (absl::IsUnavailable(status)) return watched->Stop(status);
      // No session is to be had, which says nothing of this call.
      if (!status.ok()) return WatchSilence(watched);
      watched->denied_ = is_unfinished ? 0 : watched->denied_ + 1;
      // An answer may be on its way: twice is no accident. And so may the
      // request, over a slow link.
      const int64_t allowed = 1 + watched->sent_bytes() / kBytesOfSlowLink;
      if (watched->denied_ <= allowed) return WatchSilence(watched);
      watched->Stop(
          BrokenProtocol(address_, "it left out the answer to a call"));
    });
  };
  watched->SetListening(Alarm::OfProcess().At(
      since + options_.silence / 2, [this, with, heard, since] {
        CallbackScope scope;
        with([&](const std::shared_ptr<Watched>& watched) {
          Session()->AskForSign(
              std::make_shared<SignOfLife>(watched->number(), heard), since);
        });
      }));
}

runtime::RanOn RemoteClient::ran_on() const {
  MutexLock lock(&mu_);
  if (!capabilities_.has_value()) return {address_};
  return {absl::StrCat(address_, " ", capabilities_->platform)};
}

absl::StatusOr<runtime::Capabilities> RemoteClient::capabilities() {
  {
    MutexLock lock(&mu_);
    if (capabilities_.has_value()) return *capabilities_;
  }
  // Ends by itself: a session opens or is given up.
  auto capabilities = Session()->opened().Await();
  if (capabilities.ok()) {
    MutexLock lock(&mu_);
    capabilities_ = *capabilities;
  }
  return capabilities;
}

absl::Status RemoteClient::Ping(const runtime::CallOptions& call) {
  return PingSession(Session(), runtime::AttemptToken(call),
                     options_.connect_timeout, address_);
}

absl::Status RemoteClient::CompileOnce(const Module& module,
                                       RemoteProgram* program,
                                       const CancelToken& cancel,
                                       const CancelToken& caller, bool* lost) {
  const std::shared_ptr<RemoteSession> session = Session();
  if (program->KnownIn(session.get())) return absl::OkStatus();
  auto capabilities = AwaitWithin(session->opened(), cancel, address_);
  HAWSER_RETURN_IF_ERROR(capabilities);
  {
    MutexLock lock(&mu_);
    capabilities_ = *capabilities;
  }
  HAWSER_RETURN_IF_ERROR(CheckCapabilities(module, *capabilities, address_));
  if (static_cast<int64_t>(program->bytes().size()) >
      capabilities->limits.bytes) {
    return ResourceExhausted(address_, ": the module has ",
                             program->bytes().size(), " bytes, the most is ",
                             capabilities->limits.bytes);
  }
  const absl::Status status =
      program->CompileIn(session, cancel, caller, address_);
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
  return std::make_shared<RemoteExecutable>(shared_from_this(), program);
}

absl::StatusOr<runtime::BufferPtr> RemoteClient::Upload(
    const Literal& value, const runtime::CallOptions& call) {
  if (!value.valid()) return InvalidArgument("there is no value to upload");
  return UploadIn(Session(), value, call);
}

absl::StatusOr<runtime::BufferPtr> RemoteClient::UploadIn(
    const std::shared_ptr<RemoteSession>& session, const Literal& value,
    const runtime::CallOptions& call) {
  const CancelToken cancel = runtime::AttemptToken(call);
  HAWSER_RETURN_IF_ERROR(call.cancel.Check());
  auto outcome =
      std::make_shared<Outcome>(cancel, /*results_come_along=*/false);
  auto handle = std::make_shared<Handle>(session, session->NewHandles(1));
  auto upload =
      std::make_shared<RemoteUpload>(this, handle, value, outcome, call);
  Watch(outcome);
  HAWSER_RETURN_IF_ERROR(session->Submit(upload, cancel, call.cancel));
  return std::make_shared<HandleBuffer>(shared_from_this(), value.shape(),
                                        std::move(handle), std::move(outcome),
                                        0);
}

}  // namespace hawser
