#include "core/base/trace/trace.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "core/base/log.h"
#include "core/base/mutex.h"
#include "core/base/status.h"

namespace hawser {
namespace trace_internal {

std::atomic<int> state{kUnknown};

struct Event {
  const int64_t trace;  // the number of the trace it is part of
  const char* const category;
  const std::string name;
  const int64_t begin;  // by the steady clock, in nanoseconds
  int64_t end = 0;
  bool flies = false;
  absl::InlinedVector<std::pair<const char*, int64_t>, 3> numbers;
};

namespace {

int64_t Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// The events of one thread; the thread and the recorder hold it.
struct Track {
  explicit Track(int64_t thread) : thread(thread) {}

  const int64_t thread;
  Mutex mu;
  std::vector<EventPtr> events ABSL_GUARDED_BY(mu);
};

// Invariant: `out` is open while a trace is recorded, and then alone. Events of
// an earlier trace that end later are let go.
struct Recorder {
  Mutex mu;
  std::vector<std::shared_ptr<Track>> tracks ABSL_GUARDED_BY(mu);
  std::string path ABSL_GUARDED_BY(mu);
  std::ofstream out ABSL_GUARDED_BY(mu);
  std::atomic<int64_t> trace{0};  // their number so far
  std::atomic<int64_t> events{0};
};

// Lives for ever: threads may outlive main.
Recorder& TheRecorder() {
  static Recorder* const recorder = new Recorder;
  return *recorder;
}

Track& ThisTrack() {
  thread_local const std::shared_ptr<Track> track = [] {
    auto made = std::make_shared<Track>(syscall(SYS_gettid));
    Recorder& recorder = TheRecorder();
    const MutexLock lock(&recorder.mu);
    recorder.tracks.push_back(made);
    return made;
  }();
  return *track;
}

// Returns a string of JSON: names are the text of graphs, in ASCII but for what
// a user calls things.
std::string Quoted(absl::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      absl::StrAppend(&out, "\\", std::string(1, c));
    } else if (static_cast<unsigned char>(c) < 0x20 ||
               static_cast<unsigned char>(c) >= 0x7f) {
      absl::StrAppendFormat(&out, "\\u%04x", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// Nanoseconds as the microseconds of the format.
std::string Microseconds(int64_t ns) {
  return absl::StrFormat("%d.%03d", ns / 1000, ns % 1000);
}

// One row of the file, or the two of a flight, whose number is `id`.
void Write(const Event& event, int64_t thread, int64_t id, std::ostream& out) {
  std::string head = absl::StrCat(",\n{\"name\":", Quoted(event.name),
                                  ",\"cat\":", Quoted(event.category),
                                  ",\"pid\":", getpid(), ",\"tid\":", thread);
  std::string numbers;
  for (const auto& [key, value] : event.numbers) {
    absl::StrAppend(&numbers, numbers.empty() ? "" : ",", Quoted(key), ":",
                    value);
  }
  absl::StrAppend(&head, ",\"args\":{", numbers, "}");
  if (event.flies) {
    out << head << ",\"id\":" << id
        << ",\"ph\":\"b\",\"ts\":" << Microseconds(event.begin) << "}" << head
        << ",\"id\":" << id
        << ",\"ph\":\"e\",\"ts\":" << Microseconds(event.end) << "}";
  } else {
    out << head << ",\"ph\":\"X\",\"ts\":" << Microseconds(event.begin)
        << ",\"dur\":" << Microseconds(event.end - event.begin) << "}";
  }
}

// Called at the end of the process, for HAWSER_TRACE.
void StopAtExit() {
  const absl::Status status = StopTrace();
  if (!status.ok()) {
    HAWSER_LOG(kWarning) << status.message();
  }
}

void StartFromEnvironment() {
  static std::once_flag once;
  std::call_once(once, [] {
    const char* path = std::getenv("HAWSER_TRACE");
    int unknown = kUnknown;
    if (path == nullptr || *path == '\0') {
      state.compare_exchange_strong(unknown, kOff);
      return;
    }
    const absl::Status status = StartTrace(path);
    if (status.ok()) {
      std::atexit(StopAtExit);
    } else {
      HAWSER_LOG(kWarning) << "HAWSER_TRACE: " << status.message();
      state.compare_exchange_strong(unknown, kOff);
    }
  });
}

}  // namespace

void DeleteEvent::operator()(Event* event) const { delete event; }

EventPtr Begin(const char* category, absl::string_view name) {
  if (state.load() == kUnknown) StartFromEnvironment();
  if (state.load() != kOn) return nullptr;
  return EventPtr(new Event{TheRecorder().trace.load(), category,
                            std::string(name), Now()});
}

void Add(Event& event, const char* key, int64_t value) {
  event.numbers.emplace_back(key, value);
}

void End(EventPtr event, bool flies) {
  event->end = Now();
  event->flies = flies;
  Recorder& recorder = TheRecorder();
  Track& track = ThisTrack();
  const MutexLock lock(&track.mu);
  // StopTrace, which takes the events, waits for this lock.
  if (state.load() != kOn || event->trace != recorder.trace.load()) return;
  if (recorder.events.fetch_add(1) >= kMaxTraceEvents) return;
  track.events.push_back(std::move(event));
}

}  // namespace trace_internal

using namespace trace_internal;  // NOLINT: their only other user

absl::Status StartTrace(absl::string_view path) {
  Recorder& recorder = TheRecorder();
  const MutexLock lock(&recorder.mu);
  if (recorder.out.is_open()) {
    return FailedPrecondition("a trace is recorded already, for ",
                              recorder.path);
  }
  recorder.path = absl::StrReplaceAll(path, {{"%p", absl::StrCat(getpid())}});
  recorder.out.open(recorder.path);
  if (!recorder.out.is_open()) {
    return FailedPrecondition("the trace ", recorder.path,
                              " cannot be written: ", strerror(errno));
  }
  ++recorder.trace;
  recorder.events = 0;
  state = kOn;
  return absl::OkStatus();
}

absl::Status StopTrace() {
  Recorder& recorder = TheRecorder();
  const MutexLock lock(&recorder.mu);
  if (!recorder.out.is_open()) return absl::OkStatus();
  state = kOff;
  recorder.out << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
               << "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":" << getpid()
               << ",\"args\":{\"name\":"
               << Quoted(program_invocation_short_name) << "}}";
  int64_t id = 0;
  for (const std::shared_ptr<Track>& track : recorder.tracks) {
    std::vector<EventPtr> events;
    {
      const MutexLock track_lock(&track->mu);
      events.swap(track->events);
    }
    for (const EventPtr& event : events) {
      Write(*event, track->thread, ++id, recorder.out);
    }
  }
  std::erase_if(recorder.tracks, [](const std::shared_ptr<Track>& track) {
    return track.use_count() == 1;  // its thread has ended
  });
  const int64_t dropped =
      std::max<int64_t>(recorder.events.load() - kMaxTraceEvents, 0);
  recorder.out << "\n],\"otherData\":{\"dropped\":" << dropped << "}}\n";
  recorder.out.close();
  const bool failed = recorder.out.fail();
  recorder.out.clear();
  if (!failed) return absl::OkStatus();
  return FailedPrecondition("the trace ", recorder.path,
                            " could not be written: ", strerror(errno));
}

}  // namespace hawser
