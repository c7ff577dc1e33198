// LinkState: whether a session has a stream that works, and what to do when.
#ifndef HAWSER_CLIENT_REMOTE_SESSION_LINK_STATE_H_
#define HAWSER_CLIENT_REMOTE_SESSION_LINK_STATE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/remote/link/options.h"
#include "client/remote/link/transport.h"

namespace hawser {

// Goes opening -> open -> broken -> opening ..., and from anywhere to lost,
// which is the end. It is told what happens and when, and says when the
// session has to do something about it; it has no clock, thread or stream.
// Times do not go back. Not thread-safe.
class LinkState {
 public:
  enum class Phase : uint8_t { kOpening, kOpen, kBroken, kLost };
  // Messages that the session has yet to hear or send.
  struct Owed {
    bool answers = false;   // by the server
    bool releases = false;  // to it
  };
  // Releases wait this long for a message to ride on.
  static constexpr absl::Duration kReleaseDelay = absl::Milliseconds(50);

  // `options` outlives it.
  LinkState(std::string address, const RemoteOptions& options)
      : address_(std::move(address)), options_(options) {}

  Phase phase() const { return phase_; }
  bool open() const { return phase_ == Phase::kOpen; }
  bool lost() const { return phase_ == Phase::kLost; }
  bool was_open() const { return lease_ > absl::ZeroDuration(); }
  absl::Time last_sent() const { return sent_; }
  // The server owes answers and has said nothing for too long, and the log says
  // so.
  bool silent() const { return silence_said_; }
  // Returns since when there is no stream that the server has answered on.
  absl::Time detached_since() const {
    return open() ? absl::InfiniteFuture() : broken_since_;
  }

  // These tell it what happens.
  void Start(absl::Time now);
  // A stream is opened again.
  void Reopen(absl::Time now);
  void Attached(absl::Duration lease, absl::Time now);
  // The stream has ended. Not OK: why the session is lost, which it is not yet
  // (Lose). Only while opening or open.
  absl::Status Ended(const StreamEnd& end, absl::Time now);
  // The server broke the protocol on a stream, which ends as by Ended; the
  // session does not survive the third such.
  absl::Status Violated(const absl::Status& why, absl::Time now);
  void Lose() { phase_ = Phase::kLost; }
  void Sent(absl::Time now) { sent_ = now; }
  // Sent to a server that owed nothing before.
  void Asked(absl::Time now) { asked_ = now; }
  void Pinged(absl::Time now) { pinged_ = now; }
  void Heard(absl::Time now) {
    heard_ = now;
    silence_said_ = false;
  }
  // This process stood still for so long: it counts against no server.
  void Forgive(absl::Duration stood_still);

  // Breaks a stream that does not open. Not OK: why the session is lost.
  absl::Status Check(const Owed& owed, absl::Time now);
  bool WantsPing(const Owed& owed, absl::Time now) const;
  bool WantsStream(absl::Time now) const {
    return phase_ == Phase::kBroken && now >= next_attempt_;
  }
  // When these have to be asked again, if nothing happens until then.
  absl::Time NextLook(const Owed& owed, absl::Time now) const;

 private:
  void Break(absl::Time now);
  // Returns since when the server is asked and says nothing; InfiniteFuture: it
  // is not.
  absl::Time SilentSince(const Owed& owed) const;
  absl::Status CheckSilence(const Owed& owed, absl::Time now);

  const std::string address_;
  const RemoteOptions& options_;
  Phase phase_ = Phase::kOpening;
  absl::Duration lease_;  // zero: it never was open

  absl::Time stream_started_;  // while opening
  absl::Time broken_since_;    // while not open
  absl::Time next_attempt_;    // while broken
  absl::Duration backoff_;
  int refusals_ = 0;    // in a row
  int violations_ = 0;  // of the protocol, ever

  absl::Time sent_, heard_;
  absl::Time asked_;  // while answers are owed: since when
  absl::Time pinged_ = absl::InfinitePast();
  bool silence_said_ = false;  // in the log
};

// Returns why a session that never opened did not.
absl::Status CannotOpen(const std::string& address, const absl::Status& why);

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_SESSION_LINK_STATE_H_
