#include "server/session/session.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/base/status.h"

namespace hawser::server {

Session::Session(uint64_t id, std::string secret, std::string tenant,
                 std::string client_name, const SessionLimits& limits,
                 MemoryHolderPtr memory, MemoryCharge state)
    : id_(id),
      secret_(std::move(secret)),
      tenant_(std::move(tenant)),
      client_name_(std::move(client_name)),
      limits_(limits),
      memory_(std::move(memory)),
      state_(std::move(state)),
      handles_(limits.handles, memory_),
      kept_charge_(memory_, MemoryUse::kAnswer) {}

absl::Status Session::Attach(
    std::shared_ptr<ReplyStream> stream,
    const std::function<Reply(uint64_t applied)>& hello) {
  std::shared_ptr<ReplyStream> old;
  {
    MutexLock lock(&mu_);
    if (ended_) return Unavailable("session ", id_, " is over");
    old = std::exchange(stream_, stream);
    detached_at_ = absl::InfiniteFuture();
    // Under the lock, so that no new answer gets in front of the hello.
    stream->Send(hello(applied_));
    for (const auto& [sequence, reply] : kept_) stream->Send(reply);
  }
  if (old != nullptr) {
    old->Close(Unavailable("another stream took over session ", id_));
  }
  return absl::OkStatus();
}

void Session::Detach(const ReplyStream* stream, absl::Time now) {
  std::shared_ptr<ReplyStream> old;
  MutexLock lock(&mu_);
  if (stream_.get() != stream) return;
  old = std::move(stream_);
  detached_at_ = now;
}

void Session::Enter(std::function<void()> apply) {
  {
    MutexLock lock(&mu_);
    if (busy_) {
      waiting_.push_back(std::move(apply));
      return;
    }
    busy_ = true;
    left_ = false;
  }
  apply();
}

void Session::Leave() {
  {
    MutexLock lock(&mu_);
    left_ = true;
    if (passing_on_) return;  // whoever passes the turn on goes on with it
    passing_on_ = true;
  }
  while (true) {
    std::function<void()> next;
    {
      MutexLock lock(&mu_);
      if (!left_ || waiting_.empty()) {
        busy_ = !left_;
        passing_on_ = false;
        return;
      }
      left_ = false;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    next();
  }
}

absl::StatusOr<std::optional<Ticket>> Session::Claim(const ReplyStream* from,
                                                     uint64_t sequence,
                                                     int64_t bytes) {
  MutexLock lock(&mu_);
  if (ended_ || stream_.get() != from) {
    return Unavailable("the stream no longer belongs to session ", id_);
  }
  if (sequence == 0) {
    return InvalidArgument("sequence 0 belongs to OpenRequest alone");
  }
  if (sequence <= applied_) return std::optional<Ticket>();
  if (sequence != applied_ + 1) {
    return InvalidArgument("sequence ", sequence, " came after ", applied_,
                           "; numbers leave no gap");
  }
  applied_ = sequence;
  ++unfinished_;
  unfinished_bytes_ += bytes;
  return std::optional<Ticket>(Ticket{sequence, bytes});
}

absl::Status Session::Acknowledge(uint64_t sequence) {
  std::vector<Reply> done;  // messages die outside the lock
  MutexLock lock(&mu_);
  if (sequence > applied_) {
    return InvalidArgument("the answer to sequence ", sequence,
                           " is acknowledged, but only ", applied_,
                           " requests have come");
  }
  if (sequence <= acknowledged_) return absl::OkStatus();
  acknowledged_ = sequence;
  while (!kept_.empty() && kept_.begin()->first <= sequence) {
    kept_bytes_ -= kept_.begin()->second.bytes;
    done.push_back(std::move(kept_.begin()->second));
    kept_.erase(kept_.begin());
  }
  kept_charge_.Set(kept_bytes_);
  return absl::OkStatus();
}

void Session::Answer(const Ticket& ticket, Reply reply) {
  std::shared_ptr<ReplyStream> stream;
  bool overflow = false, no_memory = false;
  {
    MutexLock lock(&mu_);
    stream = stream_;
    if (!ended_ && ticket.sequence > acknowledged_) {
      kept_bytes_ += reply.bytes;
      kept_.emplace(ticket.sequence, reply);
      overflow = kept_bytes_ > limits_.kept_bytes;
      no_memory = !kept_charge_.Set(kept_bytes_);
    }
  }
  if (stream != nullptr) stream->Send(reply);
  // After the Send: whoever sees nothing unfinished may end the stream.
  --unfinished_;
  unfinished_bytes_ -= ticket.bytes;
  if (stream != nullptr) stream->Settled();
  if (overflow) {
    End(ResourceExhausted("the client left ", kept_bytes_.load(),
                          " bytes of answers unacknowledged, the limit is ",
                          limits_.kept_bytes));
  } else if (no_memory) {
    End(ResourceExhausted("the client left ", kept_bytes_.load(),
                          " bytes of answers unacknowledged, and there is no "
                          "memory to keep more: ", memory_->name(), " holds ",
                          memory_->held(), " bytes"));
  }
}

bool Session::congested() const {
  const int64_t unfinished = unfinished_;
  if (unfinished >= limits_.unfinished) return true;
  if (unfinished_bytes_ >= limits_.unfinished_bytes) return true;
  // One slow request keeps the client from acknowledging all later answers.
  // With nothing unfinished we must read on: acknowledgements come that way.
  return unfinished > 0 && kept_bytes_ > limits_.kept_bytes / 2;
}

absl::Status Session::SetExecutable(
    uint64_t name, const Digest& fingerprint,
    absl::StatusOr<std::shared_ptr<runtime::Executable>> executable) {
  if (name == 0) return InvalidArgument("executable 0 is not a number for one");
  MutexLock lock(&mu_);
  if (ended_) return Unavailable("session ", id_, " is over");
  auto at = executables_.find(name);
  if (at == executables_.end()) {
    if (static_cast<int64_t>(executables_.size()) >= limits_.executables) {
      return ResourceExhausted("the session's limit of ", limits_.executables,
                               " executables");
    }
    executables_.emplace(name,
                         PinnedExecutable{fingerprint, std::move(executable)});
    return absl::OkStatus();
  }
  PinnedExecutable& pinned = at->second;
  if (pinned.executable.ok() && pinned.fingerprint != fingerprint) {
    return InvalidArgument("executable ", name,
                           " is in use for another module");
  }
  // A repeat, or a second try after a failed one.
  if (!pinned.executable.ok()) pinned = {fingerprint, std::move(executable)};
  return absl::OkStatus();
}

std::optional<absl::StatusOr<std::shared_ptr<runtime::Executable>>>
Session::FindExecutable(uint64_t name) const {
  MutexLock lock(&mu_);
  auto at = executables_.find(name);
  if (at == executables_.end()) return std::nullopt;
  return at->second.executable;
}

void Session::Release(absl::Span<const uint64_t> numbers) {
  if (numbers.empty()) return;
  std::vector<PinnedExecutable> gone;  // dies outside the lock
  {
    MutexLock lock(&mu_);
    for (uint64_t number : numbers) {
      auto at = executables_.find(number);
      if (at == executables_.end()) continue;
      gone.push_back(std::move(at->second));
      executables_.erase(at);
    }
  }
  handles_.Release(numbers);
}

void Session::End(const absl::Status& why) {
  std::shared_ptr<ReplyStream> stream;
  absl::btree_map<uint64_t, Reply> kept;
  absl::flat_hash_map<uint64_t, PinnedExecutable> executables;
  {
    MutexLock lock(&mu_);
    if (ended_) return;
    ended_ = true;
    stream = std::move(stream_);
    stream_ = nullptr;
    kept.swap(kept_);
    kept_bytes_ = 0;
    kept_charge_.Set(0);
    executables.swap(executables_);
  }
  cancel_.Cancel();
  handles_.Close(why);
  if (stream != nullptr) stream->Close(why);
}

absl::Status Session::Explain(const absl::Status& status) const {
  if (!absl::IsCancelled(status) || cancel_.Check().ok()) return status;
  return Unavailable("session ", id_, " is over");
}

absl::Time Session::detached_at() const {
  MutexLock lock(&mu_);
  return detached_at_;
}

void Session::Retire(absl::Time now) {
  MutexLock lock(&mu_);
  detached_at_ = std::min(detached_at_, now);
}

bool Session::EndIfIdleSince(absl::Time cutoff) {
  {
    MutexLock lock(&mu_);
    if (ended_) return true;
    if (detached_at_ == absl::InfiniteFuture() || detached_at_ > cutoff) {
      return false;
    }
  }
  // Between the check and the end a client may reattach; it then loses the
  // session as if it had come a moment later.
  End(Unavailable("the lease of session ", id_, " is over"));
  return true;
}

}  // namespace hawser::server
