#include "server/service/stream/session_link.h"

#include <optional>
#include <utility>

#include "core/base/status.h"
#include "core/wire/codec.h"
#include "server/service/execution/answers.h"
#include "server/service/stream/session_requests.h"

namespace hawser::server {
namespace {

// Answers a client does not read: beyond this its requests are not read.
constexpr int64_t kMaxQueuedBytes = int64_t{16} << 20;
// Requests in one message: by no more than that can a client exceed the limits
// of its session.
constexpr int kMaxRequests = 1024;
// After so long in one message a session makes way for others.
constexpr absl::Duration kTurn = absl::Microseconds(200);
// Beyond the first block, memory for a message of many small requests at once.
google::protobuf::ArenaOptions StartingWith(char* block, size_t size) {
  google::protobuf::ArenaOptions options;
  options.initial_block = block;
  options.initial_block_size = size;
  options.start_block_size = options.max_block_size;
  return options;
}

// Checks that a message on an open session is well formed.
absl::Status CheckForm(const v1::ClientMessage& message) {
  if (message.has_open()) return InvalidArgument("the session is open already");
  if (message.more().empty()) return absl::OkStatus();
  if (message.sequence() != 0 ||
      message.request_case() != v1::ClientMessage::REQUEST_NOT_SET) {
    return InvalidArgument("a message of several requests is itself none");
  }
  if (message.more_size() > kMaxRequests) {
    return InvalidArgument(message.more_size(),
                           " requests in one message, the most is ",
                           kMaxRequests);
  }
  for (const v1::ClientMessage& one : message.more()) {
    if (!one.more().empty() || one.has_open()) {
      return InvalidArgument("request ", one.sequence(),
                             " of a message of several is no plain request");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Ticket>> ClaimTurn(Session& session,
                                                const ReplyStream* from,
                                                const v1::ClientMessage& m) {
  HAWSER_RETURN_IF_ERROR(session.Acknowledge(m.acknowledged()));
  return session.Claim(from, m.sequence(),
                       static_cast<int64_t>(m.ByteSizeLong()));
}

}  // namespace

SessionLink::SessionLink(Executor* executor, std::string tenant,
                         SessionWire* wire)
    : executor_(executor), tenant_(std::move(tenant)), wire_(wire) {}

SessionLink::Request::Request() : arena(StartingWith(block, sizeof(block))) {}

// ---- reading --------------------------------------------------------------

void SessionLink::ReadLocked() {
  paused_ = false;
  request_.arena.Reset();
  request_.given_back.clear();
  request_.applied = 0;
  request_.message = google::protobuf::Arena::CreateMessage<v1::ClientMessage>(
      &request_.arena);
  wire_->Read(request_.message);
}

void SessionLink::Start() {
  MutexLock lock(&mu_);
  if (!finished_) ReadLocked();
}

void SessionLink::ReadNext() {
  {
    MutexLock lock(&mu_);
    paused_ = true;
  }
  Settled();
}

void SessionLink::Settled() {
  MutexLock lock(&mu_);
  if (finished_) return;
  if (paused_ && replies_.bytes() <= kMaxQueuedBytes &&
      (session_ == nullptr || !session_->congested())) {
    ReadLocked();
  }
  if (half_closed_ && !writing_ && replies_.empty() &&
      (session_ == nullptr || session_->unfinished() == 0)) {
    FinishLocked(absl::OkStatus());
  }
}

void SessionLink::OnMessage() {
  std::shared_ptr<Session> session;
  {
    MutexLock lock(&mu_);
    if (finished_) return;
    session = session_;
  }
  const v1::ClientMessage& message = *request_.message;
  if (session != nullptr) {
    const absl::Status form = CheckForm(message);
    if (!form.ok()) return Close(form);
    // It may wait for its turn until after OnDone, hence its own reference.
    session->turns().Enter(
        [self = shared_from_this(), session] { self->Apply(session); });
  } else if (message.has_open()) {
    Open(message.open());
    ReadNext();
  } else if (lost_) {
    ReadNext();  // sent before the client learned of it
  } else {
    Close(InvalidArgument("the first message must be OpenRequest"));
  }
}

void SessionLink::Apply(const std::shared_ptr<Session>& session) {
  if (request_.size() > 1) HoldAnswers(true);
  if (request_.applied == 0) {
    for (const v1::ClientMessage& one : request_.message->more()) {
      request_.given_back.insert(one.release().begin(), one.release().end());
    }
  }
  const SessionTable& sessions = executor_->sessions;
  absl::Time end;
  if (request_.size() > 1) end = sessions.now() + kTurn;
  while (request_.applied < request_.size()) {
    if (!ApplyNext(session)) return HoldAnswers(false);
    if (request_.applied == request_.size()) break;
    if (sessions.now() < end || sessions.size() == 1) continue;
    HoldAnswers(false);
    executor_->turns.Schedule(
        [self = shared_from_this(), session] { self->Apply(session); });
    return;
  }
  HoldAnswers(false);
  session->turns().Leave();
  ReadNext();
}

// Applies one request. False: the next one is applied later, on another thread,
// or not at all.
bool SessionLink::ApplyNext(const std::shared_ptr<Session>& session) {
  v1::ClientMessage* message = request_.at(request_.applied++);
  const auto ticket = ClaimTurn(*session, this, *message);
  if (!ticket.ok()) {
    session->turns().Leave();
    Close(ticket.status());
    return false;
  }
  if (!ticket->has_value()) return true;  // a repeat
  session->Release(
      absl::MakeConstSpan(message->release().data(), message->release_size()));
  request_.left = 2;
  ApplyRequest(*executor_, session, **ticket, request_.given_back, message,
               [self = shared_from_this(), session] {
                 if (--self->request_.left == 0) self->Apply(session);
               });
  return --request_.left == 0;
}

// ---- opening --------------------------------------------------------------

void SessionLink::SendStatus(const absl::Status& status, bool session_lost) {
  auto message = NewServerMessage();
  ToProto(status, message->mutable_status());
  message->set_session_lost(session_lost);
  Send(ToReply(std::move(message)));
}

Reply SessionLink::Hello(const Session& session, uint64_t applied) const {
  auto message = NewServerMessage();
  v1::OpenReply* open = message->mutable_open();
  open->set_session_id(session.id());
  open->set_secret(session.secret());
  open->set_instance_id(executor_->instance_id);
  open->set_applied(applied);
  open->set_batches(true);
  open->set_lease_seconds(
      absl::ToDoubleSeconds(executor_->sessions.options().lease));
  *open->mutable_capabilities() = ToProto(executor_->capabilities);
  open->mutable_capabilities()->set_version(executor_->version);
  return ToReply(std::move(message));
}

void SessionLink::Open(const v1::OpenRequest& request) {
  if (request.device_ordinal() != 0) {
    return SendStatus(
        InvalidArgument("device ordinal ", request.device_ordinal(),
                        "; a server has device 0 alone"),
        false);
  }
  {
    MutexLock lock(&mu_);
    replies_.set_may_batch(request.batches());
  }
  const bool fresh = request.session_id() == 0;
  auto session = fresh
                     ? executor_->sessions.Open(tenant_, request.client_name())
                     : executor_->sessions.Find(tenant_, request.session_id(),
                                                request.secret());
  if (session.ok()) return Attach(*session);
  if (fresh) return SendStatus(session.status(), false);
  lost_ = true;
  SendStatus(session.status(), true);
}

void SessionLink::Attach(const std::shared_ptr<Session>& session) {
  {
    MutexLock lock(&mu_);
    session_ = session;
  }
  const absl::Status attached = session->Attach(
      shared_from_this(),
      [&](uint64_t applied) { return Hello(*session, applied); });
  bool broken;
  {
    MutexLock lock(&mu_);
    if (!attached.ok()) session_ = nullptr;
    broken = broken_;
  }
  if (!attached.ok()) {
    lost_ = true;
    return SendStatus(attached, true);
  }
  // It may have broken before the session knew it.
  if (broken) session->Detach(this, executor_->sessions.now());
}

// ---- writing --------------------------------------------------------------

void SessionLink::Send(const Reply& reply) {
  MutexLock lock(&mu_);
  if (finished_) return;
  replies_.Add(reply);
  if (!writing_ && !holding_) WriteLocked();
}

void SessionLink::HoldAnswers(bool hold) {
  MutexLock lock(&mu_);
  holding_ = hold && replies_.may_batch();
  if (holding_ || finished_ || writing_ || replies_.empty()) return;
  WriteLocked();
}

void SessionLink::WriteLocked() {
  writing_ = true;
  wire_->Write(replies_.Next());
}

void SessionLink::OnWritten() {
  ReplyQueue::Messages written;  // die outside the lock
  {
    MutexLock lock(&mu_);
    written = replies_.Written();
    writing_ = false;
    if (finished_) return;
    if (!replies_.empty() && !holding_) WriteLocked();
  }
  Settled();
}

// ---- the end --------------------------------------------------------------

void SessionLink::FinishLocked(const absl::Status& status) {
  if (finished_) return;
  finished_ = true;
  replies_.Clear();
  wire_->Finish(status);
}

void SessionLink::Close(const absl::Status& why) {
  MutexLock lock(&mu_);
  FinishLocked(why);
}

void SessionLink::OnHalfClose() {
  std::shared_ptr<Session> session;
  {
    MutexLock lock(&mu_);
    // Reads also end because we have finished, as when another stream took
    // over: that is no goodbye.
    if (finished_) return;
    half_closed_ = true;
    session = session_;
  }
  // The requests that it still waits for may never end.
  if (session != nullptr) session->Retire(executor_->sessions.now());
  Settled();
}

void SessionLink::OnBroken() {
  std::shared_ptr<Session> session;
  {
    MutexLock lock(&mu_);
    broken_ = true;
    session = session_;
    FinishLocked(Cancelled("the stream broke"));
  }
  if (session != nullptr) session->Detach(this, executor_->sessions.now());
}

void SessionLink::OnDone(bool delivered) {
  std::shared_ptr<Session> session;
  bool goodbye;
  {
    MutexLock lock(&mu_);
    session = std::move(session_);
    session_ = nullptr;
    goodbye = half_closed_ && !broken_ && delivered;
  }
  if (session == nullptr) return;
  session->Detach(this, executor_->sessions.now());
  if (goodbye) {
    executor_->sessions.End(session->id(),
                            Cancelled("the client said goodbye"));
  }
}

}  // namespace hawser::server
