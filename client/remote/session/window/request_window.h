// RequestWindow: the requests of a session that have no answer yet.
#ifndef HAWSER_CLIENT_REMOTE_SESSION_WINDOW_REQUEST_WINDOW_H_
#define HAWSER_CLIENT_REMOTE_SESSION_WINDOW_REQUEST_WINDOW_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "absl/types/span.h"
#include "client/remote/session/window/request.h"
#include "core/base/threads/future.h"

namespace hawser {

// Requests get numbers without gaps, from 1, in the order in which they are
// added; each is kept until its answer is taken, in any order. All numbers
// below the oldest one without an answer are acknowledged: the server may
// forget them. One that was abandoned stays, without a caller, until its answer
// comes.
// The window is full or not; adding does not ask. Not thread-safe.
class RequestWindow {
 public:
  // The most requests that may be under way without an answer: enough to hide a
  // round trip of 20 ms behind steps of 150 us, little enough for a server to
  // hold for every client it has.
  static constexpr int kRequests = 128;
  static constexpr size_t kBytes = size_t{16} << 20;

  // Writes number and acknowledgement into the request's message.
  void Add(const std::shared_ptr<Request>& request, size_t bytes,
           absl::Time now);
  // Null when that number has no request here: it was answered before, or
  // never sent.
  std::shared_ptr<Request> TakeAnswered(uint64_t sequence);
  // True if a request of that number was ever added.
  bool WasAdded(uint64_t sequence) const {
    return sequence > 0 && sequence < first_ + entries_.size();
  }
  // Returns the requests without an answer, whose callers wait no longer.
  std::vector<std::shared_ptr<Request>> Abandon();
  // Returns since when the oldest has no answer; InfiniteFuture: there is none.
  absl::Time oldest_since() const {
    return entries_.empty() ? absl::InfiniteFuture() : entries_.front().since;
  }
  // The first number without an answer below `end` that is not among `others`,
  // which go up; 0: there is none.
  uint64_t FirstBeside(absl::Span<const uint64_t> others, uint64_t end) const;
  // Returns the requests without an answer, which the window then no longer
  // has.
  std::vector<std::shared_ptr<Request>> TakeAll();
  // Returns the requests without an answer that come after number `applied`, in
  // order.
  std::vector<std::shared_ptr<Request>> After(uint64_t applied) const;

  // The last number that the server may forget.
  uint64_t acknowledged() const { return first_ - 1; }
  int unanswered() const { return unanswered_; }
  // One more of `bytes` fits. An empty window takes any.
  bool HasRoom(size_t bytes) const { return Fits(bytes, 1); }
  // The same as HasRoom once the window was found full: half of it must be
  // free, else every answer would let one request go, alone in its message.
  // Ready when that may have come true, or at the end.
  bool HasMuchRoom(size_t bytes) const { return Fits(bytes, kRequests / 2); }
  Future<bool> MuchRoom();

 private:
  struct Entry {
    std::shared_ptr<Request> request;  // null once answered
    size_t bytes = 0;
    absl::Time since;
  };

  bool Fits(size_t bytes, int requests) const;
  void SignalRoom();

  std::deque<Entry> entries_;  // from first_ on; the front one has no answer
  uint64_t first_ = 1;
  int unanswered_ = 0;
  size_t unanswered_bytes_ = 0;
  std::optional<Promise<bool>> room_;  // none: no thread waits for room
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_SESSION_WINDOW_REQUEST_WINDOW_H_
