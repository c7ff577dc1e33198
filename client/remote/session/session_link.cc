// The life of a session's stream: opening, breaking, reattaching, the end.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/remote/link/watched.h"
#include "client/remote/session/session.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/status.h"
#include "core/base/threads/alarm.h"
#include "core/wire/codec.h"

namespace hawser {
namespace {

// Between attempts to reattach; the first one comes at once.
constexpr absl::Duration kFirstBackoff = absl::Milliseconds(50);
constexpr absl::Duration kLongestBackoff = absl::Seconds(1);
// A second refusal in a row, a backoff later, is no restart of a proxy.
constexpr int kRefusalsToGiveUp = 2;
// How long Close waits for a goodbye to be heard.
constexpr absl::Duration kGoodbye = absl::Milliseconds(200);
// What a server's lease may be; outside it is taken for this.
constexpr absl::Duration kShortestLease = absl::Milliseconds(100);
constexpr absl::Duration kLongestLease = absl::Hours(1);
// A tick that is later than this means that this process itself was stopped.
constexpr absl::Duration kStoppedProcess = absl::Seconds(1);
// So it is noticed within about this when there is little patience.
constexpr absl::Duration kLongestBetweenTicks = absl::Seconds(1);

// Whether another stream may do better than the one that ended so.
bool MayReattach(const absl::Status& why) {
  switch (why.code()) {
    case absl::StatusCode::kOk:
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kAborted:
    case absl::StatusCode::kDeadlineExceeded:
      return true;
    default:
      return false;
  }
}

// Why a session that never opened did not.
absl::Status CannotOpen(const std::string& address, const absl::Status& why) {
  switch (why.code()) {
    case absl::StatusCode::kOk:
      return Unavailable(address, ": the server closed the session at once");
    case absl::StatusCode::kUnimplemented:
      return Unavailable(address, ": no hawser server: ", why.message());
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kUnknown:
    case absl::StatusCode::kUnavailable:
      return Unavailable(address, ": cannot be reached: ", why.message());
    default:
      return Annotate(why, address);
  }
}

}  // namespace

void RemoteSession::Start() {
  {
    MutexLock lock(&mu_);
    stream_started_ = broken_since_ = SteadyNow();
    TickBy(NextTick(stream_started_));
  }
  OpenStream();
}

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
  if (state_ == State::kLost) return;  // closed meanwhile; `stream` ends
  message->set_acknowledged(first_sequence_ - 1);
  v1::OpenRequest* open = message->mutable_open();
  open->set_session_id(session_id_);
  open->set_secret(secret_);
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
  const v1::OpenReply& reply = message->open();
  bool another;
  {
    MutexLock lock(&mu_);
    if (state_ != State::kOpening) return;
    another = reply.session_id() == 0 ||
              (session_id_ != 0 && session_id_ != reply.session_id());
    if (!another) Attach(reply);
  }
  if (another) {
    LoseAndTell(Unavailable(address_,
                            ": session lost: the server gave another "
                            "one than was asked for"));
    return;
  }
  opened_.Set(FromProto(reply.capabilities()));  // the first time counts
}

void RemoteSession::Attach(const v1::OpenReply& reply) {
  session_id_ = reply.session_id();
  secret_ = reply.secret();
  lease_ = std::clamp(absl::Seconds(reply.lease_seconds()), kShortestLease,
                      kLongestLease);
  state_ = State::kOpen;
  refusals_ = 0;
  last_heard_ = last_sent_ = SteadyNow();
  TickBy(NextTick(last_sent_));
  asked_ = last_heard_;
  silence_said_ = false;
  if (reply.batches()) stream_->AllowBatches();
  uint64_t sequence = first_sequence_;
  for (const Entry& entry : entries_) {
    if (sequence++ <= reply.applied()) continue;  // its answer will come
    if (entry.request != nullptr) stream_->Send(entry.request->message);
  }
}

absl::Status RemoteSession::WhyLost(const StreamEnd& end) {
  if (session_id_ == 0) return CannotOpen(address_, end.why);
  if (!MayReattach(end.why)) {
    return Unavailable(address_, ": session lost: ", end.why.ToString());
  }
  refusals_ = end.refused ? refusals_ + 1 : 0;
  if (refusals_ >= kRefusalsToGiveUp) {
    return Unavailable(
        address_, ": session lost: nobody listens there: ", end.why.message());
  }
  return absl::OkStatus();
}

void RemoteSession::OnClosed(const StreamEnd& end) {
  absl::Status lost;
  {
    MutexLock lock(&mu_);
    // Else it was us who ended that stream.
    if (state_ != State::kOpening && state_ != State::kOpen) return;
    lost = WhyLost(end);
    if (lost.ok()) Break(SteadyNow());
  }
  if (!lost.ok()) LoseAndTell(lost);
}

void RemoteSession::Break(absl::Time now) {
  if (state_ == State::kOpen) {
    broken_since_ = now;
    backoff_ = absl::ZeroDuration();
    HAWSER_LOG(kInfo) << address_ << ": the session stream broke, reattaching";
  } else {
    backoff_ = std::clamp(2 * backoff_, kFirstBackoff, kLongestBackoff);
  }
  next_attempt_ = now + backoff_;
  state_ = State::kBroken;
  TickBy(NextTick(now));
}

RemoteSession::Requests RemoteSession::Lose(const absl::Status& why) {
  Requests requests;
  if (state_ == State::kLost) return requests;
  state_ = State::kLost;
  lost_status_ = why;
  lost_.store(true, std::memory_order_release);
  for (Entry& entry : entries_) {
    if (entry.request != nullptr) requests.push_back(std::move(entry.request));
  }
  entries_.clear();
  releases_.clear();
  unanswered_ = 0;
  unanswered_bytes_ = 0;
  SignalRoom();
  TickBy(SteadyNow());  // which ends the stream
  return requests;
}

void RemoteSession::Tell(const Requests& requests) {
  const absl::Status why = lost_status();
  opened_.Set(why);
  for (const auto& request : requests) request->OnReply(why, nullptr);
}

void RemoteSession::LoseAndTell(const absl::Status& why) {
  Requests requests;
  {
    MutexLock lock(&mu_);
    if (state_ == State::kLost) return;
    requests = Lose(why);
  }
  Tell(requests);
}

void RemoteSession::Close() {
  gate_->Close();
  std::unique_ptr<SessionStream> stream;
  Requests requests;
  bool say_goodbye = false;
  {
    MutexLock lock(&mu_);
    say_goodbye = state_ == State::kOpen;
    if (say_goodbye && !releases_.empty()) SendPing();
    requests = Lose(Cancelled(address_, ": the client was closed"));
    stream = std::move(stream_);
  }
  if (say_goodbye) stream->Finish(SteadyNow() + kGoodbye);
  stream.reset();
  Tell(requests);
}

absl::Status RemoteSession::CheckPatience(absl::Time now) {
  const absl::Duration late = now - tick_at_;
  if (late > kStoppedProcess) {
    stream_started_ += late;
    broken_since_ += late;
    last_heard_ += late;
    asked_ += late;
  }
  const bool was_open = session_id_ != 0;
  if (state_ == State::kOpening &&
      now - stream_started_ > options_.connect_timeout) {
    if (!was_open) {
      return Unavailable(address_, ": no answer within ",
                         absl::FormatDuration(options_.connect_timeout));
    }
    Break(now);
  }
  HAWSER_RETURN_IF_ERROR(CheckSilence(now));
  if (was_open && now - last_heard_ > lease_) {
    return Unavailable(address_, ": session lost: nothing heard for ",
                       absl::FormatDuration(lease_));
  }
  if (was_open && state_ != State::kOpen &&
      now - broken_since_ > options_.reattach_for) {
    return Unavailable(address_, ": session lost: could not reattach within ",
                       absl::FormatDuration(options_.reattach_for));
  }
  return absl::OkStatus();
}

absl::Time RemoteSession::SilentSince() const {
  if (state_ != State::kOpen || unanswered_ == 0) return absl::InfiniteFuture();
  return std::max(last_heard_, asked_);
}

absl::Status RemoteSession::CheckSilence(absl::Time now) {
  const absl::Time since = SilentSince();
  if (now - since < options_.silence) {
    silence_said_ = false;
    return absl::OkStatus();
  }
  if (pinged_ < since || now - pinged_ < options_.silence / 2) {
    return absl::OkStatus();
  }
  if (!silence_said_) {
    HAWSER_LOG(kWarning) << address_ << ": has said nothing for "
                         << absl::FormatDuration(options_.silence)
                         << ", though it was asked";
  }
  silence_said_ = true;
  if (!options_.give_up_silent) return absl::OkStatus();
  return Unavailable(address_, ": session lost: nothing heard for ",
                     absl::FormatDuration(options_.silence));
}

void RemoteSession::KeepAlive(absl::Time now) {
  const absl::Duration idle = now - last_sent_;
  const absl::Time since = SilentSince();
  // Executions may take long; a ping is answered while they run.
  const bool asks = now - since >= options_.silence / 2 && pinged_ < since;
  if (asks || idle >= lease_ / 3 ||
      (idle >= kReleaseDelay && !releases_.empty())) {
    SendPing();
  }
}

absl::Time RemoteSession::NextTick(absl::Time now) const {
  if (state_ == State::kLost) {
    return stream_ == nullptr ? absl::InfiniteFuture() : now;
  }
  absl::Time next = absl::InfiniteFuture();
  const auto by = [&next](absl::Time when) { next = std::min(next, when); };
  if (session_id_ != 0) by(last_heard_ + lease_);
  if (state_ == State::kOpen) {
    by(last_sent_ + lease_ / 3);
    const absl::Time silent = SilentSince();
    if (silent != absl::InfiniteFuture()) {
      const absl::Duration half = options_.silence / 2;
      if (pinged_ < silent) by(silent + half);
      if (pinged_ >= silent && !silence_said_) {
        by(std::max(silent + options_.silence, pinged_ + half));
      }
    }
    if (!releases_.empty()) by(last_sent_ + kReleaseDelay);
    return next;
  }
  if (state_ == State::kOpening) by(stream_started_ + options_.connect_timeout);
  if (state_ == State::kBroken) by(next_attempt_);
  if (session_id_ != 0) by(broken_since_ + options_.reattach_for);
  by(now + kLongestBetweenTicks);
  return next;
}

void RemoteSession::TickBy(absl::Time when) {
  if (when >= tick_at_) return;
  Alarm& alarm = Alarm::OfProcess();
  if (tick_at_ != absl::InfiniteFuture()) alarm.Cancel(tick_);
  tick_at_ = when;
  tick_ = alarm.At(when, [this, gate = gate_] {
    CallbackScope scope;
    const Gate::Pass pass = gate->Enter();
    if (pass) Tick();
  });
}

void RemoteSession::Tick() {
  {
    MutexLock lock(&mu_);
    ticking_ = true;
  }
  SeeToTheLink();
  MutexLock lock(&mu_);
  ticking_ = false;
}

void RemoteSession::SeeToTheLink() {
  const absl::Time now = SteadyNow();
  std::unique_ptr<SessionStream> ended;
  Requests requests;
  bool lost_now = false, reattach = false;
  {
    MutexLock lock(&mu_);
    if (now < tick_at_) return;  // another one is due later
    if (state_ != State::kLost) {
      const absl::Status lost = CheckPatience(now);
      lost_now = !lost.ok();
      if (lost_now) requests = Lose(lost);
    }
    reattach = state_ == State::kBroken && now >= next_attempt_;
    if (reattach || state_ == State::kLost) ended = std::move(stream_);
    if (state_ == State::kOpen) {
      KeepAlive(now);
      stream_->Flush();
    }
    tick_at_ = absl::InfiniteFuture();
    if (!reattach) TickBy(NextTick(now));
  }
  if (lost_now) Tell(requests);
  ended.reset();
  if (!reattach) return;
  {
    MutexLock lock(&mu_);
    if (state_ != State::kBroken) return;
    state_ = State::kOpening;
    stream_started_ = now;
    TickBy(NextTick(now));
  }
  OpenStream();
}

}  // namespace hawser
