#include "kernels/emu/timeline.h"

#include <utility>

#include "core/base/clock.h"
#include "core/base/status.h"

namespace hawser::emu {
namespace {

// The most items that are queued before some are done, for callers that never
// wait.
constexpr int64_t kTooMany = 4096;

absl::Status NoStream(gpu::Stream stream) {
  return InvalidArgument("no stream ", stream.value, " on this device");
}

}  // namespace

Timeline::Timeline(uint64_t seed)
    : random_(seed), thread_([this] { Loop(); }) {}

Timeline::~Timeline() {
  {
    MutexLock lock(&mu_);
    is_ending_ = true;
    wanted_.SignalAll();
  }
  thread_.join();
}

absl::Status Timeline::Health() const {
  MutexLock lock(&mu_);
  return Lost();
}

absl::Status Timeline::Lost() const {
  if (failure_.ok()) return absl::OkStatus();
  return Unavailable("the device is lost: ", failure_.message());
}

absl::Status Timeline::Tell() {
  if (failure_.ok() || is_told_) return Lost();
  is_told_ = true;
  return failure_;
}

gpu::Stream Timeline::AddStream() {
  MutexLock lock(&mu_);
  streams_[next_id_];
  return {next_id_++};
}

absl::Status Timeline::RemoveStream(gpu::Stream stream) {
  const absl::Status status = Await(stream);
  MutexLock lock(&mu_);
  if (streams_.erase(stream.value) == 0) return NoStream(stream);
  return status;
}

absl::Status Timeline::CheckStream(gpu::Stream stream) const {
  MutexLock lock(&mu_);
  HAWSER_RETURN_IF_ERROR(Lost());
  return streams_.count(stream.value) > 0 ? absl::OkStatus() : NoStream(stream);
}

gpu::Event Timeline::AddEvent() {
  MutexLock lock(&mu_);
  events_[next_id_];
  return {next_id_++};
}

absl::Status Timeline::RemoveEvent(gpu::Event event) {
  MutexLock lock(&mu_);
  HAWSER_RETURN_IF_ERROR(MarkOf(event));
  events_.erase(event.value);
  return absl::OkStatus();
}

absl::StatusOr<MarkPtr> Timeline::MarkOf(gpu::Event event) const {
  const auto found = events_.find(event.value);
  if (found == events_.end()) {
    return InvalidArgument("no event ", event.value, " on this device");
  }
  return found->second;
}

absl::Status Timeline::Add(gpu::Stream stream, Item item) {
  MutexLock lock(&mu_);
  HAWSER_RETURN_IF_ERROR(Lost());
  const auto found = streams_.find(stream.value);
  if (found == streams_.end()) return NoStream(stream);
  if (std::holds_alternative<Notice>(item)) ++demand_.notices;
  found->second.push_back(std::move(item));
  ++demand_.queued;
  wanted_.SignalAll();
  return absl::OkStatus();
}

absl::Status Timeline::Push(gpu::Stream stream, Work work) {
  return Add(stream, std::move(work));
}

absl::Status Timeline::Notify(gpu::Stream stream,
                              std::function<void(absl::Status)> done) {
  return Add(stream, Notice{std::move(done)});
}

absl::StatusOr<MarkPtr> Timeline::PushMark(gpu::Stream stream) {
  auto mark = std::make_shared<Mark>();
  HAWSER_RETURN_IF_ERROR(Add(stream, Record_{mark}));
  return mark;
}

absl::Status Timeline::PushWait(gpu::Stream stream, MarkPtr mark) {
  return Add(stream, Wait{std::move(mark)});
}

absl::Status Timeline::Record(gpu::Stream stream, gpu::Event event) {
  {
    MutexLock lock(&mu_);
    HAWSER_RETURN_IF_ERROR(MarkOf(event));
  }
  HAWSER_ASSIGN_OR_RETURN(MarkPtr mark, PushMark(stream));
  MutexLock lock(&mu_);
  events_[event.value] = std::move(mark);
  return absl::OkStatus();
}

absl::Status Timeline::WaitOn(gpu::Stream stream, gpu::Event event) {
  MarkPtr mark;
  {
    MutexLock lock(&mu_);
    HAWSER_ASSIGN_OR_RETURN(mark, MarkOf(event));
  }
  return mark == nullptr ? Health() : PushWait(stream, std::move(mark));
}

absl::StatusOr<bool> Timeline::IsDone(gpu::Event event) {
  MutexLock lock(&mu_);
  HAWSER_RETURN_IF_ERROR(Lost());
  HAWSER_ASSIGN_OR_RETURN(const MarkPtr mark, MarkOf(event));
  if (mark == nullptr || mark->is_done) return true;
  ++demand_.polls;
  wanted_.SignalAll();
  return false;
}

absl::Status Timeline::AwaitMark(const MarkPtr& mark) {
  ++demand_.waiting;
  wanted_.SignalAll();
  changed_.Wait(&mu_, [&] { return mark->is_done; });
  --demand_.waiting;
  return Tell();
}

absl::Status Timeline::Await(gpu::Event event) {
  MutexLock lock(&mu_);
  HAWSER_ASSIGN_OR_RETURN(const MarkPtr mark, MarkOf(event));
  return mark == nullptr ? Tell() : AwaitMark(mark);
}

absl::Status Timeline::Await(gpu::Stream stream) {
  auto mark = std::make_shared<Mark>();
  MutexLock lock(&mu_);
  const auto found = streams_.find(stream.value);
  if (found == streams_.end()) return NoStream(stream);
  found->second.push_back(Record_{mark});
  ++demand_.queued;
  return AwaitMark(mark);
}

absl::StatusOr<double> Timeline::SecondsBetween(gpu::Event first,
                                                gpu::Event last) {
  MutexLock lock(&mu_);
  HAWSER_RETURN_IF_ERROR(Lost());
  HAWSER_ASSIGN_OR_RETURN(const MarkPtr a, MarkOf(first));
  HAWSER_ASSIGN_OR_RETURN(const MarkPtr b, MarkOf(last));
  if (a == nullptr || b == nullptr || !a->is_done || !b->is_done) {
    return FailedPrecondition("events ", first.value, " and ", last.value,
                              " are not both recorded and done");
  }
  return absl::ToDoubleSeconds(b->passed - a->passed);
}

bool Timeline::IsRunnable(const Queue& queue) {
  if (queue.empty()) return false;
  const Wait* wait = std::get_if<Wait>(&queue.front());
  return wait == nullptr || wait->mark->is_done;
}

// A stream whose first item can be done, or 0. Half the time it is the same
// stream again, so that one gets far ahead of the others.
uint64_t Timeline::Choose() {
  std::vector<uint64_t> runnable;
  for (const auto& [id, queue] : streams_) {
    if (!IsRunnable(queue)) continue;
    if (id == last_ && random_() % 2 == 0) return id;
    runnable.push_back(id);
  }
  if (runnable.empty()) return 0;
  return last_ = runnable[random_() % runnable.size()];
}

void Timeline::RunOne(uint64_t stream) {
  Queue& queue = streams_[stream];
  Item item = std::move(queue.front());
  queue.pop_front();
  if (demand_.polls > 0) --demand_.polls;
  if (Work* work = std::get_if<Work>(&item); work && failure_.ok()) {
    mu_.Unlock();
    const absl::Status status = (*work)();
    mu_.Lock();
    if (failure_.ok()) failure_ = status;
  } else if (Notice* notice = std::get_if<Notice>(&item)) {
    const absl::Status status = Tell();
    mu_.Unlock();
    notice->done(status);
    mu_.Lock();
    --demand_.notices;
  } else if (Record_* record = std::get_if<Record_>(&item)) {
    record->mark->is_done = true;
    record->mark->passed = SteadyNow();
  }
  mu_.Unlock();
  item = Work();  // may hold the last references to large objects
  mu_.Lock();
  --demand_.queued;
  changed_.SignalAll();
}

bool Timeline::MayRun() const {
  return demand_.waiting > 0 || demand_.notices > 0 || demand_.polls > 0 ||
         demand_.queued > kTooMany || !failure_.ok() || is_ending_;
}

void Timeline::Loop() {
  MutexLock lock(&mu_);
  for (;;) {
    wanted_.Wait(&mu_, [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
      return is_ending_ || (demand_.queued > 0 && MayRun());
    });
    if (is_ending_ && demand_.queued == 0) return;
    const uint64_t stream = Choose();
    // A wait is for a mark that was queued before it, so an item can always
    // run.
    HAWSER_CHECK(stream != 0);
    RunOne(stream);
  }
}

}  // namespace hawser::emu
