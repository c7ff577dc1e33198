#include "tests/testing/in_process/stream.h"

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"
#include "core/base/status.h"
#include "tests/testing/in_process/wire.h"

namespace hawser {
namespace {

// Messages that lie unread before the sender has to wait.
constexpr size_t kInbox = 4;
// What a reattached stream may bring again: more than can lie unread, so that
// it leaves no gap.
constexpr size_t kRecent = 2 * kInbox;
constexpr int kBatch = 8;

}  // namespace

void RecentFrames::Clear() {
  MutexLock lock(&mu_);
  frames_.clear();
}

void RecentFrames::Add(const std::string& frame) {
  MutexLock lock(&mu_);
  frames_.push_back(frame);
  if (frames_.size() > kRecent) frames_.pop_front();
}

std::deque<std::string> RecentFrames::frames() {
  MutexLock lock(&mu_);
  return frames_;
}

InProcessStream::InProcessStream(InProcessServer* server,
                                 std::shared_ptr<EventLoop> client,
                                 std::shared_ptr<FaultPlan> plan,
                                 std::shared_ptr<RecentFrames> recent,
                                 SessionCallbacks callbacks)
    : server_(server),
      client_(std::move(client)),
      plan_(std::move(plan)),
      recent_(std::move(recent)),
      callbacks_(std::move(callbacks)),
      to_server_(0),
      to_client_(0) {
  int number;
  faults_ = plan_->NextStream(&number);
  MutexLock lock(&mu_);
  to_server_ = plan_->Messages(number, /*to_server=*/true);
  to_client_ = plan_->Messages(number, /*to_server=*/false);
}

void InProcessStream::Connect() {
  auto core = faults_.refused ? nullptr : server_->Enter(shared_from_this());
  MutexLock lock(&mu_);
  if (core == nullptr) {
    cut_ = true;
    client_->Post([self = shared_from_this()] {
      self->CloseClient({Unavailable("Connection refused"), true});
    });
    return;
  }
  if (cut_) return;  // the server has gone in between
  core_ = std::move(core);
  link_ = std::make_shared<server::SessionLink>(core_->executor.get(),
                                                "default", this);
  alive_ = shared_from_this();
  CallLink(0, {}, [](server::SessionLink& link) { link.Start(); });
}

void InProcessStream::CallLink(int loop, absl::Duration after, LinkCall call) {
  ++under_way_;
  server_->loop(loop)->PostAt(
      absl::Now() + after,
      [self = shared_from_this(), link = link_, call = std::move(call)] {
        call(*link);
        self->LinkReturned();
      });
}

void InProcessStream::LinkReturned() {
  std::shared_ptr<ServerCore> core;
  std::shared_ptr<server::SessionLink> link;
  Self alive;
  bool delivered;
  {
    MutexLock lock(&mu_);
    if (--under_way_ > 0 || !finished_) return;
    link = std::exchange(link_, nullptr);
    core = std::exchange(core_, nullptr);
    alive = std::exchange(alive_, nullptr);
    delivered = delivered_;
  }
  link->OnDone(delivered);
  link.reset();
}

void InProcessStream::CutLocked(absl::Duration client_hears,
                                absl::Duration server_hears) {
  if (cut_) return;
  cut_ = true;
  outgoing_.clear();
  client_->PostAt(absl::Now() + client_hears, [self = shared_from_this()] {
    self->CloseClient({Unavailable("the link was cut")});
  });
  if (link_ == nullptr || finished_) return;
  CallLink(1, server_hears, [](server::SessionLink& link) { link.OnBroken(); });
}

void InProcessStream::Cut(absl::Duration client_hears,
                          absl::Duration server_hears) {
  MutexLock lock(&mu_);
  CutLocked(client_hears, server_hears);
}

// ---- the client's end -------------------------------------------------------

void InProcessStream::Send(std::shared_ptr<const v1::ClientMessage> message) {
  MutexLock lock(&mu_);
  if (cut_ || finishing_) return;
  outgoing_.push_back(std::move(message));
  KickLocked();
}

void InProcessStream::AllowBatches() {
  MutexLock lock(&mu_);
  may_batch_ = true;
}

void InProcessStream::Finish(absl::Time deadline) {
  MutexLock lock(&mu_);
  if (cut_ || finishing_) return;
  finishing_ = true;
  if (outgoing_.empty()) {
    half_closed_ = true;
    PumpLocked();
  }
  changed_.WaitUntil(&mu_, deadline, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return client_done_;
  });
}

void InProcessStream::HangUp() {
  MutexLock lock(&mu_);
  CutLocked({}, faults_.server_hears);
  client_->Post([self = shared_from_this()] {
    self->CloseClient({Cancelled("the client ended the stream")});
  });
  changed_.Wait(&mu_, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return client_done_;
  });
}

// ---- client to server -------------------------------------------------------

void InProcessStream::KickLocked() {
  if (sending_ || cut_ || outgoing_.empty() || inbox_.size() >= kInbox) return;
  sending_ = true;
  const FaultOptions& options = plan_->options();
  const absl::Duration delay =
      Chance(to_server_, options.delay)
          ? PickDuration(to_server_, options.longest_delay)
          : absl::ZeroDuration();
  server_->loop(0)->PostAt(absl::Now() + delay,
                           [self = shared_from_this()] { self->SendNext(); });
}

std::string InProcessStream::NextFrame() {
  const size_t most = may_batch_ ? to_server_.Between(1, kBatch) : 1;
  if (most == 1 || outgoing_.size() == 1) {
    const auto message = std::move(outgoing_.front());
    outgoing_.pop_front();
    return Encode(*message);
  }
  v1::ClientMessage batch;
  while (!outgoing_.empty() && batch.more_size() < static_cast<int>(most)) {
    *batch.add_more() = *outgoing_.front();
    outgoing_.pop_front();
  }
  return Encode(batch);
}

void InProcessStream::SendNext() {
  MutexLock lock(&mu_);
  sending_ = false;
  if (cut_ || finished_ || outgoing_.empty()) return;
  const v1::ClientMessage& first = *outgoing_.front();
  const bool opens = first.has_open();
  if (opens) reattaches_ = first.open().session_id() != 0;
  const std::string frame = NextFrame();
  if (!opens || !faults_.opens) sent_ += static_cast<int64_t>(frame.size());
  if (sent_ > faults_.cut_after_sent) {
    return CutLocked(faults_.client_hears, faults_.server_hears);
  }
  if (faults_.silent) return;
  inbox_.push_back(frame);
  const bool again =
      reattaches_ && Chance(to_server_, plan_->options().duplicate);
  if (!opens) {
    recent_->Add(frame);
    if (again) inbox_.push_back(frame);
  } else if (!reattaches_) {
    recent_->Clear();
  } else if (again) {
    for (std::string& old : recent_->frames()) inbox_.push_back(std::move(old));
  }
  half_closed_ = finishing_ && outgoing_.empty();
  server_->CountMessage();
  PumpLocked();
  KickLocked();
}

void InProcessStream::Read(v1::ClientMessage* into) {
  MutexLock lock(&mu_);
  reading_ = into;
  PumpLocked();
}

void InProcessStream::PumpLocked() {
  if (reading_ == nullptr || finished_ || link_ == nullptr) return;
  if (inbox_.empty() && !half_closed_) return;
  CallLink(0, {}, [this](server::SessionLink& link) { HandOver(link); });
}

void InProcessStream::HandOver(server::SessionLink& link) {
  v1::ClientMessage* into;
  std::string frame;
  bool goodbye;
  {
    MutexLock lock(&mu_);
    if (reading_ == nullptr || finished_) return;
    if (inbox_.empty() && !half_closed_) return;
    goodbye = inbox_.empty();
    into = std::exchange(reading_, nullptr);
    if (!goodbye) {
      frame = std::move(inbox_.front());
      inbox_.pop_front();
      KickLocked();
    }
  }
  if (goodbye) return link.OnHalfClose();
  const absl::Status parsed = Decode(frame, into);
  parsed.ok() ? link.OnMessage() : link.Close(parsed);
}

// ---- server to client -------------------------------------------------------

void InProcessStream::Write(const v1::ServerMessage& message) {
  MutexLock lock(&mu_);
  if (cut_ || finished_) return;
  std::string frame = Encode(message);
  if (wrote_ || !faults_.opens) received_ += static_cast<int64_t>(frame.size());
  wrote_ = true;
  if (received_ > faults_.cut_after_received) {
    return CutLocked(faults_.client_hears, faults_.server_hears);
  }
  const FaultOptions& options = plan_->options();
  due_ = std::max(due_, absl::Now());
  if (Chance(to_client_, options.delay)) {
    due_ += PickDuration(to_client_, options.longest_delay);
  }
  client_->PostAt(due_, [self = shared_from_this(), frame = std::move(frame)] {
    self->Deliver(frame);
  });
}

void InProcessStream::Deliver(const std::string& frame) {
  bool hold;
  absl::Duration late;
  {
    MutexLock lock(&mu_);
    const FaultOptions& options = plan_->options();
    hold = Chance(to_client_, options.reorder);
    late = PickDuration(to_client_, options.longest_delay);
    if (link_ != nullptr && !finished_) {
      CallLink(1, {}, [](server::SessionLink& link) { link.OnWritten(); });
    }
  }
  if (client_closed_) return;
  // The first one opens the session.
  if (hold && held_.empty() && callbacks_made_ > 0) {
    held_ = frame;
    client_->PostAt(absl::Now() + late,
                    [self = shared_from_this()] { self->DeliverHeld(); });
    return;
  }
  CallBack(frame);
  DeliverHeld();
}

void InProcessStream::DeliverHeld() {
  if (client_closed_ || held_.empty()) return;
  CallBack(std::exchange(held_, ""));
}

void InProcessStream::CallBack(const std::string& frame) {
  v1::ServerMessage message;
  HAWSER_CHECK(message.ParseFromString(frame));
  {
    MutexLock lock(&mu_);
    const bool mix = Chance(to_client_, plan_->options().reorder);
    for (int i = message.more_size() - 1; mix && i > 0; --i) {
      if (message.more(i).sequence() == 0) continue;
      const int other = static_cast<int>(to_client_.Between(0, i));
      if (message.more(other).sequence() == 0) continue;
      message.mutable_more()->SwapElements(i, other);
    }
  }
  ++callbacks_made_;
  callbacks_.on_message(&message);
}

void InProcessStream::Finish(const absl::Status& status) {
  MutexLock lock(&mu_);
  finished_ = true;
  if (cut_) return CallLink(1, {}, [](server::SessionLink&) {});
  ++under_way_;
  due_ = std::max(due_, absl::Now());
  client_->PostAt(due_, [self = shared_from_this(), status] {
    self->CloseClient({status});
    {
      MutexLock lock(&self->mu_);
      self->delivered_ = !self->cut_;
    }
    self->LinkReturned();
  });
}

void InProcessStream::CloseClient(const StreamEnd& end) {
  if (client_closed_) return;
  // What was on its way when the link broke is lost.
  if (end.why.ok()) DeliverHeld();
  client_closed_ = true;
  callbacks_.on_closed(end);
  MutexLock lock(&mu_);
  client_done_ = true;
  changed_.SignalAll();
}

}  // namespace hawser
