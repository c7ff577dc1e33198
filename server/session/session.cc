#include "server/session/session.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "core/base/log.h"
#include "core/base/status.h"

namespace hawser::server {
namespace {

// A request that is not finished, with small arguments: its message, what
// carries it out, its place in queues (measured: tests/server/service/held).
constexpr int64_t kRequestBytes = 1664;

}  // namespace

Session::Session(SessionIdentity identity, const SessionLimits& limits,
                 MemoryHolderPtr memory, MemoryCharge state)
    : identity_(std::move(identity)),
      limits_(limits),
      memory_(std::move(memory)),
      state_(std::move(state)),
      handles_(limits.handles, memory_),
      executables_(limits.executables),
      ledger_(limits.kept_bytes, memory_),
      requests_(memory_, MemoryUse::kRequest) {}

absl::Status Session::Attach(
    std::shared_ptr<ReplyStream> stream,
    const std::function<Reply(uint64_t applied)>& hello) {
  std::shared_ptr<ReplyStream> old;
  {
    MutexLock lock(&mu_);
    if (ended_) return Unavailable("session ", id(), " is over");
    old = attachment_.Attach(stream);
    // Under the lock, so that no new answer gets in front of the hello.
    stream->Send(hello(ledger_.applied()));
    for (const auto& [sequence, reply] : ledger_.kept()) stream->Send(reply);
  }
  if (old != nullptr) {
    old->Close(Unavailable("another stream took over session ", id()));
  }
  return absl::OkStatus();
}

void Session::Detach(const ReplyStream* stream, absl::Time now) {
  std::shared_ptr<ReplyStream> old;
  MutexLock lock(&mu_);
  old = attachment_.Detach(stream, now);
}

absl::StatusOr<std::optional<Ticket>> Session::Claim(const ReplyStream* from,
                                                     uint64_t sequence,
                                                     int64_t bytes) {
  MutexLock lock(&mu_);
  if (ended_ || attachment_.stream().get() != from) {
    return Unavailable("the stream no longer belongs to session ", id());
  }
  auto ticket = ledger_.Claim(sequence, bytes);
  if (ticket.ok() && ticket->has_value()) {
    ++backlog_.requests;
    backlog_.bytes += bytes;
    requests_.SetAnyway(backlog_.requests * kRequestBytes);
  }
  return ticket;
}

absl::Status Session::Acknowledge(uint64_t sequence) {
  absl::StatusOr<std::vector<Reply>> done;  // messages die outside the lock
  MutexLock lock(&mu_);
  done = ledger_.Acknowledge(sequence);
  backlog_.kept = ledger_.kept_bytes();
  requests_.SetAnyway(backlog_.requests * kRequestBytes);
  return done.status();
}

void Session::Answer(const Ticket& ticket, Reply reply) {
  std::shared_ptr<ReplyStream> stream;
  absl::Status kept;
  {
    MutexLock lock(&mu_);
    stream = attachment_.stream();
    if (!ended_) kept = ledger_.Keep(ticket, reply);
    backlog_.kept = ledger_.kept_bytes();
  }
  if (stream != nullptr) stream->Send(reply);
  // After the Send: a link that sees nothing unfinished may end the stream.
  --backlog_.requests;
  backlog_.bytes -= ticket.bytes;
  if (stream != nullptr) stream->Settled();
  if (!kept.ok()) End(kept);
}

std::vector<uint64_t> Session::UnfinishedRequests() const {
  MutexLock lock(&mu_);
  return ledger_.Unfinished();
}

bool Session::congested() const {
  const int64_t unfinished = backlog_.requests;
  if (unfinished >= limits_.unfinished) return true;
  if (backlog_.bytes >= limits_.unfinished_bytes) return true;
  // One slow request keeps the client from acknowledging all later answers. If
  // nothing is unfinished, we must read on: acknowledgements come that way.
  return unfinished > 0 && backlog_.kept > limits_.kept_bytes / 2;
}

void Session::Release(absl::Span<const uint64_t> numbers) {
  if (numbers.empty()) return;
  executables_.Release(numbers);
  handles_.Release(numbers);
}

void Session::End(const absl::Status& why) {
  std::shared_ptr<ReplyStream> stream;
  RequestLedger::Replies kept;  // dies outside the lock
  std::string peer;
  uint64_t requests;
  {
    MutexLock lock(&mu_);
    if (ended_) return;
    ended_ = true;
    peer = attachment_.peer();
    requests = ledger_.applied();
    stream = attachment_.End();
    kept = ledger_.Clear();
    requests_.SetAnyway(0);
    backlog_.kept = 0;
  }
  executables_.Close(Unavailable("session ", id(), " is over"));
  cancel_.Cancel();
  handles_.Close(why);
  if (stream != nullptr) stream->Close(why);
  LogEnd(peer, requests, why);
}

void Session::LogEnd(const std::string& peer, uint64_t requests,
                     const absl::Status& why) const {
  // Names are what clients say.
  HAWSER_LOG(kInfo) << "session " << id() << " of tenant "
                    << absl::CEscape(tenant()) << " has ended: client \""
                    << absl::CEscape(client_name()) << "\" at "
                    << (peer.empty() ? "no address" : absl::CEscape(peer))
                    << ", after "
                    << absl::FormatDuration(absl::Trunc(SteadyNow() - opened_,
                                                        absl::Milliseconds(1)))
                    << " and " << requests
                    << " requests: " << absl::CEscape(why.message());
}

absl::Status Session::Explain(const absl::Status& status) const {
  if (!absl::IsCancelled(status) || cancel_.Check().ok()) return status;
  return Unavailable("session ", id(), " is over");
}

absl::Time Session::detached_at() const {
  MutexLock lock(&mu_);
  return attachment_.detached_at();
}

void Session::Retire(absl::Time now) {
  MutexLock lock(&mu_);
  attachment_.Retire(now);
}

bool Session::EndIfIdleSince(absl::Time cutoff) {
  {
    MutexLock lock(&mu_);
    if (ended_) return true;
    const absl::Time since = attachment_.detached_at();
    if (since == absl::InfiniteFuture() || since > cutoff) return false;
  }
  // Between the check and the end a client may reattach; it then loses the
  // session as if it had come a moment later.
  End(Unavailable("the lease of session ", id(), " is over"));
  return true;
}

}  // namespace hawser::server
