// Timeline: streams and events, and one thread that does the queued work in a
// random order that the events allow.
#ifndef HAWSER_KERNELS_EMU_TIMELINE_H_
#define HAWSER_KERNELS_EMU_TIMELINE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/mutex.h"
#include "kernels/gpu/device/device_api.h"

namespace hawser::emu {

// A place on a stream; it knows whether the stream has passed it.
struct Mark {
  bool is_done = false;
  absl::Time passed;
};
using MarkPtr = std::shared_ptr<Mark>;

// Thread-safe. Work is done as late as possible, which finds missing waits:
// only while a caller waits, a Notify is queued, events are being polled or
// very much is queued. A stream may then get far ahead of another. The first
// work that fails ends the timeline, and no later work is done. The first wait
// or Notify afterwards returns the failure, every later one kUnavailable with
// its text.
class Timeline {
 public:
  using Work = std::function<absl::Status()>;

  explicit Timeline(uint64_t seed);
  // Does all queued work.
  ~Timeline();

  // OK, or kUnavailable with the text of the failure that ended the timeline.
  absl::Status Health() const;

  gpu::Stream AddStream();
  absl::Status RemoveStream(gpu::Stream stream);  // waits for its work
  absl::Status CheckStream(gpu::Stream stream) const;
  gpu::Event AddEvent();
  absl::Status RemoveEvent(gpu::Event event);

  // Errors of all below: kInvalidArgument for an unknown handle; Health().
  absl::Status Push(gpu::Stream stream, Work work);
  absl::Status Notify(gpu::Stream stream,
                      std::function<void(absl::Status)> done);
  absl::StatusOr<MarkPtr> PushMark(gpu::Stream stream);
  absl::Status PushWait(gpu::Stream stream, MarkPtr mark);

  absl::Status Record(gpu::Stream stream, gpu::Event event);
  absl::Status WaitOn(gpu::Stream stream, gpu::Event event);
  absl::StatusOr<bool> IsDone(gpu::Event event);
  absl::Status Await(gpu::Event event);
  absl::Status Await(gpu::Stream stream);
  absl::StatusOr<double> SecondsBetween(gpu::Event first, gpu::Event last);

 private:
  struct Wait {
    MarkPtr mark;
  };
  struct Record_ {
    MarkPtr mark;
  };
  struct Notice {
    std::function<void(absl::Status)> done;
  };
  using Item = std::variant<Work, Wait, Record_, Notice>;
  using Queue = std::deque<Item>;
  // Why the thread has something to do.
  struct Demand {
    int waiting = 0;  // callers
    int notices = 0;  // queued
    int polls = 0;    // each has one item done
    int64_t queued = 0;
  };

  absl::Status Add(gpu::Stream stream, Item item);
  absl::StatusOr<MarkPtr> MarkOf(gpu::Event event) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status AwaitMark(const MarkPtr& mark)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  absl::Status Lost() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  // Returns the failure once, then Lost().
  absl::Status Tell() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void Loop();
  bool MayRun() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  static bool IsRunnable(const Queue& queue);
  uint64_t Choose() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RunOne(uint64_t stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  mutable Mutex mu_;
  CondVar changed_;  // signalled by the thread: an item is done
  CondVar wanted_;   // signalled by callers: there is work to do
  absl::Status failure_ ABSL_GUARDED_BY(mu_);
  bool is_told_ ABSL_GUARDED_BY(mu_) = false;
  std::map<uint64_t, Queue> streams_ ABSL_GUARDED_BY(mu_);
  std::map<uint64_t, MarkPtr> events_ ABSL_GUARDED_BY(mu_);
  uint64_t next_id_ ABSL_GUARDED_BY(mu_) = 1;
  Demand demand_ ABSL_GUARDED_BY(mu_);
  uint64_t last_ ABSL_GUARDED_BY(mu_) = 0;
  bool is_ending_ ABSL_GUARDED_BY(mu_) = false;
  std::mt19937_64 random_ ABSL_GUARDED_BY(mu_);
  std::thread thread_;
};

}  // namespace hawser::emu
#endif  // HAWSER_KERNELS_EMU_TIMELINE_H_
