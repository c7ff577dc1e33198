// Traces: what a process did when, on which thread, as a Chrome trace file.
#ifndef HAWSER_CORE_BASE_TRACE_TRACE_H_
#define HAWSER_CORE_BASE_TRACE_TRACE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hawser {

// Begins to record, for the file at `path`; "%p" in it becomes the process's
// number. Errors: kFailedPrecondition for a file that cannot be written, or
// while another trace is recorded.
absl::Status StartTrace(absl::string_view path);
// Ends that and writes the file; what has not ended is left out. OK where
// nothing is recorded. Errors: kFailedPrecondition, naming the file.
absl::Status StopTrace();

// Events that a trace holds; later ones are counted.
inline constexpr int64_t kMaxTraceEvents = int64_t{1} << 20;

namespace trace_internal {

// At first it is not known: the first event looks for HAWSER_TRACE, which
// begins a trace that lasts until the process exits.
enum State : int { kUnknown, kOff, kOn };
extern std::atomic<int> state;

struct Event;
struct DeleteEvent {
  void operator()(Event* event) const;
};
using EventPtr = std::unique_ptr<Event, DeleteEvent>;

// Null where nothing is recorded.
EventPtr Begin(const char* category, absl::string_view name);
void Add(Event& event, const char* key, int64_t value);
// `flies`: it is no part of what a thread did.
void End(EventPtr event, bool flies);

}  // namespace trace_internal

// True if an event that begins here is recorded. A relaxed load where not: for
// names that cost something to make.
inline bool IsTraced() {
  using namespace trace_internal;  // NOLINT
  const int known = state.load(std::memory_order_relaxed);
  return known != kOff && (known == kOn || Begin("", "") != nullptr);
}

// Records what this thread does from here to the end of the scope, within the
// spans that have begun on it.
class TraceSpan {
 public:
  TraceSpan(const char* category, absl::string_view name)
      : event_(IsTraced() ? trace_internal::Begin(category, name) : nullptr) {}
  ~TraceSpan() {
    if (event_ != nullptr) trace_internal::End(std::move(event_), false);
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

  // Adds a number to the span. `key` outlives the trace.
  void Add(const char* key, int64_t value) {
    if (event_ != nullptr) trace_internal::Add(*event_, key, value);
  }

 private:
  trace_internal::EventPtr event_;
};

// Records work that is under way while threads do other things: a request. It
// may end on another thread than it began on, and overlaps others.
class TraceFlight {
 public:
  TraceFlight() = default;  // nothing
  TraceFlight(const char* category, absl::string_view name)
      : event_(IsTraced() ? trace_internal::Begin(category, name) : nullptr) {}
  ~TraceFlight() { Land(); }
  TraceFlight(TraceFlight&&) = default;
  TraceFlight& operator=(TraceFlight&& other) {
    Land();
    event_ = std::move(other.event_);
    return *this;
  }

  void Add(const char* key, int64_t value) {
    if (event_ != nullptr) trace_internal::Add(*event_, key, value);
  }
  // Ends it here.
  void Land() {
    if (event_ != nullptr) trace_internal::End(std::move(event_), true);
  }

 private:
  trace_internal::EventPtr event_;
};

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_TRACE_TRACE_H_
