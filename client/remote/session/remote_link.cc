#include "client/remote/session/remote_link.h"

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/clock.h"
#include "core/base/status.h"
#include "core/base/threads/future.h"
#include "core/base/threads/or_expired.h"

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

RemoteLink::RemoteLink(std::unique_ptr<Transport> transport,
                       RemoteOptions options)
    : transport_(std::move(transport)),
      options_(WithName(std::move(options))),
      address_(transport_->address()),
      transfers_(options_.bulk_threads, options_.silence) {}

void RemoteLink::SetClient(const std::shared_ptr<runtime::Client>& client) {
  client_ = client.get();
  owner_ = client;
}

RemoteLink::~RemoteLink() {
  gate_->Close();
  std::vector<std::shared_ptr<RemoteSession>> sessions;
  {
    MutexLock lock(&mu_);
    sessions.swap(retired_);
    if (session_ != nullptr) sessions.push_back(std::move(session_));
  }
  for (const auto& session : sessions) session->Close();
}

std::shared_ptr<RemoteSession> RemoteLink::Session() {
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

void RemoteLink::Watch(const std::shared_ptr<Watched>& watched) {
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

void RemoteLink::WatchSilence(const std::shared_ptr<Watched>& watched) {
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

absl::StatusOr<runtime::Capabilities> RemoteLink::AwaitOpen(
    const std::shared_ptr<RemoteSession>& session, const CancelToken& cancel) {
  auto capabilities = AwaitWithin(session->opened(), cancel, address_);
  if (capabilities.ok()) {
    MutexLock lock(&mu_);
    capabilities_ = *capabilities;
  }
  return capabilities;
}

std::optional<runtime::Capabilities> RemoteLink::capabilities() const {
  MutexLock lock(&mu_);
  return capabilities_;
}

runtime::RanOn RemoteLink::ran_on() const {
  MutexLock lock(&mu_);
  if (!capabilities_.has_value()) return {address_};
  return {absl::StrCat(address_, " ", capabilities_->platform)};
}

}  // namespace hawser
