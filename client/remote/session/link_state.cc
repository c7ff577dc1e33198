#include "client/remote/session/link_state.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "core/base/log.h"
#include "core/base/status.h"

namespace hawser {
namespace {

// Between attempts to reattach; the first one comes at once.
constexpr absl::Duration kFirstBackoff = absl::Milliseconds(50);
constexpr absl::Duration kLongestBackoff = absl::Seconds(1);
// A second refusal in a row, a backoff later, is no restart of a proxy.
constexpr int kRefusalsToGiveUp = 2;
// So often a server may break the protocol before its session is given up.
constexpr int kViolations = 3;
// The bounds of a server's lease; one outside is taken for the nearer bound.
constexpr absl::Duration kShortestLease = absl::Milliseconds(100);
constexpr absl::Duration kLongestLease = absl::Hours(1);
// So a process that stood still is noticed within about this when there is
// little patience.
constexpr absl::Duration kLongestBetweenLooks = absl::Seconds(1);

// True if another stream may do better than the one that ended so.
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

// True for the error of gRPC for a connection that was closed before a word of
// HTTP/2.
bool SpeaksOtherwise(const absl::Status& why) {
  return absl::StrContains(why.message(), "Socket closed");
}

}  // namespace

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
      return Unavailable(address, ": cannot be reached: ", why.message(),
                         SpeaksOtherwise(why)
                             ? "; does one side speak TLS and the other not?"
                             : "");
    default:
      return Annotate(why, address);
  }
}

void LinkState::Start(absl::Time now) { stream_started_ = broken_since_ = now; }

void LinkState::Reopen(absl::Time now) {
  phase_ = Phase::kOpening;
  stream_started_ = now;
}

void LinkState::Attached(absl::Duration lease, absl::Time now) {
  phase_ = Phase::kOpen;
  lease_ = std::clamp(lease, kShortestLease, kLongestLease);
  refusals_ = 0;
  sent_ = heard_ = asked_ = now;
  silence_said_ = false;
}

absl::Status LinkState::Ended(const StreamEnd& end, absl::Time now) {
  if (!was_open()) return CannotOpen(address_, end.why);
  if (!MayReattach(end.why)) {
    return Unavailable(address_, ": session lost: ", end.why.ToString());
  }
  refusals_ = end.refused ? refusals_ + 1 : 0;
  if (refusals_ >= kRefusalsToGiveUp) {
    return Unavailable(
        address_, ": session lost: nobody listens there: ", end.why.message());
  }
  Break(now);
  return absl::OkStatus();
}

absl::Status LinkState::Violated(const absl::Status& why, absl::Time now) {
  if (++violations_ < kViolations) return Ended({.why = why}, now);
  return Unavailable(why.message(), "; session lost");
}

void LinkState::Break(absl::Time now) {
  if (open()) {
    broken_since_ = now;
    backoff_ = absl::ZeroDuration();
    HAWSER_LOG(kInfo) << address_ << ": the session stream broke, reattaching";
  } else {
    backoff_ = std::clamp(2 * backoff_, kFirstBackoff, kLongestBackoff);
  }
  next_attempt_ = now + backoff_;
  phase_ = Phase::kBroken;
}

void LinkState::Forgive(absl::Duration stood_still) {
  stream_started_ += stood_still;
  broken_since_ += stood_still;
  heard_ += stood_still;
  asked_ += stood_still;
}

absl::Status LinkState::Check(const Owed& owed, absl::Time now) {
  if (phase_ == Phase::kOpening &&
      now - stream_started_ > options_.connect_timeout) {
    if (!was_open()) {
      return Unavailable(address_, ": no answer within ",
                         absl::FormatDuration(options_.connect_timeout));
    }
    Break(now);
  }
  HAWSER_RETURN_IF_ERROR(CheckSilence(owed, now));
  if (was_open() && now - heard_ > lease_) {
    return Unavailable(address_, ": session lost: nothing heard for ",
                       absl::FormatDuration(lease_));
  }
  if (was_open() && !open() && now - broken_since_ > options_.reattach_for) {
    return Unavailable(address_, ": session lost: could not reattach within ",
                       absl::FormatDuration(options_.reattach_for));
  }
  return absl::OkStatus();
}

absl::Time LinkState::SilentSince(const Owed& owed) const {
  if (!owed.answers || !was_open() || lost()) return absl::InfiniteFuture();
  return std::max({heard_, asked_});
}

absl::Status LinkState::CheckSilence(const Owed& owed, absl::Time now) {
  const absl::Time since = SilentSince(owed);
  if (now - since < options_.silence) {
    silence_said_ = false;
    return absl::OkStatus();
  }
  if (open() && (pinged_ < since || now - pinged_ < options_.silence / 2)) {
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

bool LinkState::WantsPing(const Owed& owed, absl::Time now) const {
  if (!open()) return false;
  const absl::Duration idle = now - sent_;
  const absl::Time since = SilentSince(owed);
  // Executions may take long; a ping is answered while they run.
  const bool asks = now - since >= options_.silence / 2 && pinged_ < since;
  return asks || idle >= lease_ / 3 || (idle >= kReleaseDelay && owed.releases);
}

absl::Time LinkState::NextLook(const Owed& owed, absl::Time now) const {
  absl::Time next = absl::InfiniteFuture();
  const auto by = [&next](absl::Time when) { next = std::min(next, when); };
  if (was_open()) by(heard_ + lease_);
  if (open()) {
    by(sent_ + lease_ / 3);
    const absl::Time silent = SilentSince(owed);
    if (silent != absl::InfiniteFuture()) {
      const absl::Duration half = options_.silence / 2;
      if (pinged_ < silent) by(silent + half);
      if (pinged_ >= silent && !silence_said_) {
        by(std::max(silent + options_.silence, pinged_ + half));
      }
    }
    if (owed.releases) by(sent_ + kReleaseDelay);
    return next;
  }
  if (phase_ == Phase::kOpening) by(stream_started_ + options_.connect_timeout);
  if (phase_ == Phase::kBroken) by(next_attempt_);
  if (was_open() && owed.answers && !silence_said_) {
    by(SilentSince(owed) + options_.silence);
  }
  if (was_open()) by(broken_since_ + options_.reattach_for);
  by(now + kLongestBetweenLooks);
  return next;
}

}  // namespace hawser
