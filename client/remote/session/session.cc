#include "client/remote/session/session.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/remote/link/watched.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/process/forked.h"
#include "core/base/status.h"
#include "core/base/threads/or_expired.h"
#include "core/base/threads/progress.h"
#include "core/wire/codec.h"

namespace hawser {
namespace {

// Requests that leave in one message when no caller waits for them: as many as
// half of those under way, so that the first ones start at once and the server
// does not run out of work meanwhile.
constexpr int kMaxBatch = 32;
// A request waits at most this long for others to leave with.
constexpr absl::Duration kLongestInBatch = absl::Milliseconds(20);
// This many released handles are worth a message of their own.
constexpr size_t kReleasesPerPing = 256;
// The time that Close waits for a goodbye to be heard.
constexpr absl::Duration kGoodbye = absl::Milliseconds(200);

class Ping : public Request {
 public:
  Ping() { message->mutable_ping(); }
  void OnReply(const absl::Status&, v1::ServerMessage*) override {}
};

}  // namespace

// A ping that asks what the server works on. The session outlives it: Close
// answers all there is.
class RemoteSession::Report final : public Request {
 public:
  explicit Report(RemoteSession* session) : session_(session) {
    message->mutable_ping()->set_report(true);
  }
  void OnReply(const absl::Status& status, v1::ServerMessage* reply) override {
    // A server of before does not say.
    if (!status.ok() || !reply->has_ping()) return;
    session_->OnReport(message->sequence(), reply->ping());
  }

 private:
  RemoteSession* const session_;
};

RemoteSession::RemoteSession(std::shared_ptr<Transport> transport,
                             RemoteOptions options)
    : transport_(std::move(transport)),
      options_(std::move(options)),
      address_(transport_->address()),
      slow_(address_, options_.silence),
      link_(address_, options_) {}

void RemoteSession::Start() {
  {
    MutexLock lock(&mu_);
    const absl::Time now = SteadyNow();
    link_.Start(now);
    ticks_.By(NextTick(now));
  }
  OpenStream();
}

void RemoteSession::Close() {
  if (IsForked()) return;  // the stream is the parent's
  ticks_.Stop();
  std::unique_ptr<SessionStream> stream;
  Requests requests;
  bool say_goodbye = false;
  {
    MutexLock lock(&mu_);
    say_goodbye = link_.open();
    if (say_goodbye && !releases_.empty()) SendPing();
    requests = Lose(Cancelled(address_, ": the client was closed"));
    stream = std::move(stream_);
  }
  if (say_goodbye) stream->Finish(SteadyNow() + kGoodbye);
  stream.reset();
  Tell(requests);
}

void RemoteSession::Send(const std::shared_ptr<Request>& request) {
  Send(request, request->message->ByteSizeLong(), /*batch=*/false);
}

void RemoteSession::AskForSign(const std::shared_ptr<Request>& ping,
                               absl::Time since) {
  {
    MutexLock lock(&mu_);
    if (link_.open()) {
      const bool idle = window_.unanswered() == 0;
      (void)Append(ping, 0, /*batch=*/false);
      link_.Pinged(SteadyNow());
      if (!idle) return;
      link_.Asked(since);
      ticks_.By(since + options_.silence);
      return;
    }
  }
  Send(ping);
}

absl::Status RemoteSession::Submit(const std::shared_ptr<Request>& request,
                                   const CancelToken& cancel,
                                   const CancelToken& caller) {
  HAWSER_RETURN_IF_ERROR(CheckNotForked());
  const size_t bytes = request->message->ByteSizeLong();
  HAWSER_RETURN_IF_ERROR(WaitForRoom(bytes, cancel, caller));
  Send(request, bytes, /*batch=*/true);
  return absl::OkStatus();
}

absl::Status RemoteSession::WaitForRoom(size_t bytes, const CancelToken& cancel,
                                        const CancelToken& caller) {
  {
    MutexLock lock(&mu_);
    if (window_.HasRoom(bytes)) return absl::OkStatus();
    if (stream_ != nullptr) stream_->Flush();
  }
  while (true) {
    Future<bool> room;
    {
      MutexLock lock(&mu_);
      if (window_.HasMuchRoom(bytes)) return absl::OkStatus();
      if (link_.silent()) return Silent();
      room = window_.MuchRoom();
    }
    const absl::Status over = AwaitWithin(room, cancel, address_).status();
    if (over.ok()) continue;
    if (!caller.Check().ok()) return over;
    return ResourceExhausted(address_, ": the window of ",
                             RequestWindow::kRequests, " requests or ",
                             RequestWindow::kBytes >> 20,
                             " MiB stayed full for the attempt's timeout");
  }
}

void RemoteSession::Send(const std::shared_ptr<Request>& request, size_t bytes,
                         bool batch) {
  request->Sent();
  absl::Status lost = CheckNotForked();
  if (!lost.ok()) return request->Answer(lost, nullptr);
  bool look = false;
  {
    MutexLock lock(&mu_);
    if (!link_.lost()) {
      look = Append(request, bytes, batch);
    } else {
      lost = lost_status_;
    }
  }
  if (!lost.ok()) request->Answer(lost, nullptr);
  if (look) Look();
}

void RemoteSession::Look() {
  const std::shared_ptr<ProgressEngine> engine = ProgressEngine::Current();
  if (engine == nullptr) return;
  engine->Advance([] { return false; }, absl::UnixEpoch());
}

bool RemoteSession::Append(const std::shared_ptr<Request>& request,
                           size_t bytes, bool batch) {
  if (!releases_.empty()) {
    request->message->mutable_release()->Add(releases_.begin(),
                                             releases_.end());
    releases_.clear();
  }
  const absl::Time now = SteadyNow();
  window_.Add(request, bytes, now);
  // An abandoned request counts no more against a server that is asked anew.
  if (window_.unanswered() == 1 || link_.silent()) {
    link_.Asked(now);
    ticks_.By(now + options_.silence / 2);
  }
  if (!link_.open()) return false;  // sent once (re)attached
  link_.Sent(now);
  if (batch) {
    ticks_.By(now + kLongestInBatch);
    return stream_->SendInBatch(
        request->message, std::clamp(window_.unanswered() / 2, 1, kMaxBatch));
  }
  stream_->Send(request->message);
  return false;
}

void RemoteSession::Flush() {
  MutexLock lock(&mu_);
  if (link_.open()) stream_->Flush();
}

void RemoteSession::SendPing() {
  link_.Pinged(SteadyNow());
  (void)Append(std::make_shared<Ping>(), 0, /*batch=*/false);
}

void RemoteSession::Release(uint64_t handle) {
  if (IsForked()) return;
  MutexLock lock(&mu_);
  if (link_.lost()) return;
  if (releases_.empty() && link_.open()) {
    ticks_.By(std::max(link_.last_sent(), SteadyNow()) +
              LinkState::kReleaseDelay);
  }
  releases_.push_back(handle);
  if (releases_.size() >= kReleasesPerPing && link_.open()) {
    SendPing();
  }
}

void RemoteSession::OnMessage(v1::ServerMessage* message) {
  if (message->more().empty() && message->done().empty()) {
    OnOneMessage(message);
  } else {
    OnDone({message->done().data(), static_cast<size_t>(message->done_size())});
    for (v1::ServerMessage& one : *message->mutable_more()) {
      if (one.more().empty() && one.done().empty()) {
        OnOneMessage(&one);
      } else {
        Violated("it sent a message of several within another");
      }
    }
  }
  MutexLock lock(&mu_);
  // The server may have nothing left to do but what is held back here.
  const int unanswered = window_.unanswered();
  if (link_.open() && unanswered > 0 && unanswered <= kMaxBatch) {
    stream_->Flush();
  }
}

void RemoteSession::OnOneMessage(v1::ServerMessage* message) {
  if (message->sequence() == 0) return OnOpenReply(message);
  const std::shared_ptr<Request> request = TakeAnswered(message->sequence());
  if (request == nullptr) return;
  if (message->status().code() == 0) {
    request->Answer(absl::OkStatus(), message);
  } else {
    request->Answer(FromProto(message->status()), nullptr);
  }
}

void RemoteSession::OnDone(absl::Span<const uint64_t> sequences) {
  v1::ServerMessage nothing;
  for (const uint64_t sequence : sequences) {
    const std::shared_ptr<Request> request = TakeAnswered(sequence);
    if (request != nullptr) request->Answer(absl::OkStatus(), &nothing);
  }
}

std::shared_ptr<Request> RemoteSession::TakeAnswered(uint64_t sequence) {
  {
    MutexLock lock(&mu_);
    link_.Heard(SteadyNow());
    // Null: a repeat after reattaching.
    if (window_.WasAdded(sequence)) return window_.TakeAnswered(sequence);
  }
  Violated(
      absl::StrCat("it answered request ", sequence, ", which was never sent"));
  return nullptr;
}

void RemoteSession::Violated(const std::string& what) {
  const absl::Status why = BrokenProtocol(address_, what);
  absl::Status lost;
  {
    MutexLock lock(&mu_);
    if (!link_.open()) return;
    const absl::Time now = SteadyNow();
    lost = link_.Violated(why, now);
    if (lost.ok()) ticks_.By(NextTick(now));
  }
  HAWSER_LOG(kWarning) << why.message();
  if (!lost.ok()) LoseAndTell(lost);
}

void RemoteSession::AskForReport(absl::Time now) {
  slow_.Asked(now);
  link_.Pinged(now);
  (void)Append(std::make_shared<Report>(this), 0, /*batch=*/false);
}

void RemoteSession::OnReport(uint64_t asked, const v1::PingReply& report) {
  uint64_t lost;
  std::string wait;
  {
    MutexLock lock(&mu_);
    lost = slow_.Lost(report, asked, window_);
    wait = slow_.LongWait(report, window_.oldest_since(), SteadyNow());
  }
  if (!wait.empty()) {
    HAWSER_LOG(kWarning) << wait;
  }
  if (lost == 0) return;
  Violated(absl::StrCat("it left out the answer to request ", lost));
}

absl::Status RemoteSession::lost_status() const {
  MutexLock lock(&mu_);
  return lost_status_;
}

int RemoteSession::outstanding() const {
  MutexLock lock(&mu_);
  return window_.unanswered();
}

absl::Time RemoteSession::detached_since() const {
  MutexLock lock(&mu_);
  return link_.detached_since();
}

bool RemoteSession::over() const {
  MutexLock lock(&mu_);
  return link_.lost() && stream_ == nullptr && !ticks_.running();
}

}  // namespace hawser
