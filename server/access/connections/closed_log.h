// ClosedLog: counts the connections that were closed, and tells the log.
#ifndef HAWSER_SERVER_ACCESS_CONNECTIONS_CLOSED_LOG_H_
#define HAWSER_SERVER_ACCESS_CONNECTIONS_CLOSED_LOG_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/log.h"

namespace hawser::server {

// At most one line a second, so that an attack does not fill the log. Not
// thread-safe, but for count().
class ClosedLog {
 public:
  // The connection from `peer` was closed; "": it came by a Unix socket.
  void Add(const std::string& peer, absl::string_view why, absl::Time now) {
    ++count_;
    ++untold_;
    if (now < next_line_) return;
    next_line_ = now + absl::Seconds(1);
    HAWSER_LOG(kWarning) << "closed " << untold_ << " connections, the last "
                         << (peer.empty() ? "on a Unix socket" : peer) << ": "
                         << why;
    untold_ = 0;
  }

  int64_t count() const { return count_; }

 private:
  std::atomic<int64_t> count_{0};
  int64_t untold_ = 0;
  absl::Time next_line_ = absl::InfinitePast();
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_ACCESS_CONNECTIONS_CLOSED_LOG_H_
