// The half of RemoteSession below its requests: the stream that is opened,
// reattached and lost, and the ticks that see to it.
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/remote/link/watched.h"
#include "client/remote/session/session.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "core/wire/codec.h"

namespace hawser {
namespace {

// A tick that is later than this means that this process itself was stopped.
constexpr absl::Duration kStoppedProcess = absl::Seconds(1);

}  // namespace

void RemoteSession::OpenStream() {
  SessionCallbacks callbacks;
  callbacks.on_message = [this](v1::ServerMessage* message) {
    CallbackScope scope;
    OnMessage(message);
  };
  callbacks.on_closed = [this](const StreamEnd& end) {
    CallbackScope scope;
    OnClosed(end);
  };
  auto stream = transport_->OpenSession(std::move(callbacks));
  auto message = NewClientMessage();
  MutexLock lock(&mu_);
  if (link_.lost()) return;  // closed meanwhile; `stream` ends
  message->set_acknowledged(window_.acknowledged());
  v1::OpenRequest* open = message->mutable_open();
  key_.WriteTo(open);
  open->set_client_name(options_.client_name);
  open->set_batches(true);
  stream_ = std::move(stream);
  stream_->Send(std::move(message));
}

void RemoteSession::OnOpenReply(v1::ServerMessage* message) {
  if (message->session_lost()) {
    LoseAndTell(Unavailable(address_,
                            ": session lost: the server no longer knows it "
                            "(restarted, or the lease was over)"));
    return;
  }
  if (message->status().code() != 0) {
    LoseAndTell(CannotOpen(address_, FromProto(message->status())));
    return;
  }
  if (!message->has_open()) return Violated("it sent an empty message");
  const v1::OpenReply& reply = message->open();
  bool another, is_second;
  {
    MutexLock lock(&mu_);
    is_second = link_.open();
    if (!is_second && link_.phase() != LinkState::Phase::kOpening) return;
  }
  if (is_second) return Violated("it opened the session twice");
  {
    MutexLock lock(&mu_);
    if (link_.phase() != LinkState::Phase::kOpening) return;
    another = !key_.Accept(reply);
    if (!another) Attach(reply);
  }
  if (another) {
    LoseAndTell(Unavailable(address_,
                            ": session lost: the server gave another "
                            "one than was asked for"));
    return;
  }
  runtime::Capabilities capabilities = FromProto(reply.capabilities());
  capabilities.instance = reply.instance_id();
  opened_.Set(std::move(capabilities));  // the first time counts
}

void RemoteSession::Attach(const v1::OpenReply& reply) {
  const absl::Time now = SteadyNow();
  link_.Attached(absl::Seconds(reply.lease_seconds()), now);
  ticks_.By(NextTick(now));
  if (reply.batches()) stream_->AllowBatches();
  // The answers to what was applied will come.
  for (const auto& request : window_.After(reply.applied())) {
    stream_->Send(request->message);
  }
}

void RemoteSession::OnClosed(const StreamEnd& end) {
  absl::Status lost;
  {
    MutexLock lock(&mu_);
    // In any other phase it was us who ended that stream.
    if (!link_.open() && link_.phase() != LinkState::Phase::kOpening) return;
    const absl::Time now = SteadyNow();
    lost = link_.Ended(end, now);
    if (lost.ok()) ticks_.By(NextTick(now));
  }
  if (!lost.ok()) LoseAndTell(lost);
}

RemoteSession::Requests RemoteSession::Lose(const absl::Status& why) {
  if (link_.lost()) return {};
  link_.Lose();
  lost_status_ = why;
  lost_.store(true, std::memory_order_release);
  releases_.clear();
  ticks_.By(SteadyNow());  // which ends the stream
  return window_.TakeAll();
}

void RemoteSession::Tell(const Requests& requests) {
  const absl::Status why = lost_status();
  opened_.Set(why);
  for (const auto& request : requests) request->Answer(why, nullptr);
}

void RemoteSession::LoseAndTell(const absl::Status& why) {
  Requests requests;
  {
    MutexLock lock(&mu_);
    if (link_.lost()) return;
    requests = Lose(why);
  }
  Tell(requests);
}

absl::Time RemoteSession::NextTick(absl::Time now) const {
  if (!link_.lost()) {
    const absl::Time look = link_.NextLook(owed(), now);
    return link_.open() ? std::min(look, NextReport()) : look;
  }
  return stream_ == nullptr ? absl::InfiniteFuture() : now;
}

void RemoteSession::Tick() {
  const absl::Time now = SteadyNow();
  std::unique_ptr<SessionStream> ended;
  Requests requests;
  absl::Status why, opened;
  bool reattach = false;
  {
    MutexLock lock(&mu_);
    const std::optional<absl::Duration> late = ticks_.Late(now);
    if (!late.has_value()) return;
    if (!link_.lost()) {
      if (*late > kStoppedProcess) link_.Forgive(*late);
      const bool was_silent = link_.silent();
      why = link_.Check(owed(), now);
      if (!why.ok()) {
        requests = Lose(why);
        opened = why;
      } else if (link_.silent() && !was_silent) {
        why = Silent();
        requests = window_.Abandon();
      }
    }
    reattach = link_.WantsStream(now);
    if (reattach || link_.lost()) ended = std::move(stream_);
    if (link_.open()) {
      if (now >= NextReport()) {
        AskForReport(now);
      } else if (link_.WantsPing(owed(), now)) {
        SendPing();
      }
      stream_->Flush();
    }
    ticks_.Next(reattach ? absl::InfiniteFuture() : NextTick(now));
  }
  if (!opened.ok()) opened_.Set(opened);
  for (const auto& request : requests) request->Answer(why, nullptr);
  ended.reset();
  if (!reattach) return;
  {
    MutexLock lock(&mu_);
    if (link_.phase() != LinkState::Phase::kBroken) return;
    link_.Reopen(now);
    ticks_.By(NextTick(now));
  }
  OpenStream();
}

absl::Status RemoteSession::Silent() const {
  return Unavailable(address_, ": has said nothing for ",
                     absl::FormatDuration(options_.silence),
                     ", though it was asked");
}

}  // namespace hawser
