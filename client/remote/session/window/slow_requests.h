// SlowRequests: what a server reports of requests that take long.
#ifndef HAWSER_CLIENT_REMOTE_SESSION_WINDOW_SLOW_REQUESTS_H_
#define HAWSER_CLIENT_REMOTE_SESSION_WINDOW_SLOW_REQUESTS_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "client/remote/session/window/request_window.h"
#include "proto/executor.pb.h"

namespace hawser {

// A server is asked for a report once per `silence` while its oldest request
// has no answer. A request is lost when two reports in a row miss it: one may
// have crossed its answer on the way. The log hears of a long wait once, and
// again each time it has doubled. Not thread-safe.
class SlowRequests {
 public:
  SlowRequests(std::string address, absl::Duration silence)
      : address_(std::move(address)), silence_(silence) {}

  // The time of the next report, for requests of which the oldest has had no
  // answer since `oldest`.
  absl::Time NextReport(absl::Time oldest) const;
  void Asked(absl::Time now) { asked_ = now; }

  // `report` answers request `sequence`. Returns the number of a lost request;
  // 0: there is none.
  uint64_t Lost(const v1::PingReply& report, uint64_t sequence,
                const RequestWindow& window);
  // Returns what the log is to say of the wait; empty: nothing now.
  std::string LongWait(const v1::PingReply& report, absl::Time oldest,
                       absl::Time now);

 private:
  const std::string address_;
  const absl::Duration silence_;
  absl::Time asked_ = absl::InfinitePast();
  uint64_t missed_ = 0;  // by the last report; 0: none was
  absl::Duration said_;  // the wait that the log told last; zero: none
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_SESSION_WINDOW_SLOW_REQUESTS_H_
