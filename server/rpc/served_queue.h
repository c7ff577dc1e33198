// ServedQueue: a completion queue and the threads that serve it.
#ifndef HAWSER_SERVER_RPC_SERVED_QUEUE_H_
#define HAWSER_SERVER_RPC_SERVED_QUEUE_H_

#include <grpcpp/completion_queue.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "core/base/mutex.h"

namespace hawser::server {

// One thread serves: a second one costs every message 10 us, because gRPC wakes
// them in turn. But gRPC parses the bytes of a connection inside the wait for
// the next event, and stays there as long as more come: the thread is held up.
// So others stand in, each when all before it are held up, until half a second
// has passed without that. Events are handled one at a time by all these
// threads together; those that one thread takes out, in that order.
class ServedQueue {
 public:
  // `blame` is called, by any thread, when a connection holds up one of ours
  // for long.
  ServedQueue(std::unique_ptr<grpc::ServerCompletionQueue> queue,
              std::function<void()> blame)
      : queue_(std::move(queue)), blame_(std::move(blame)) {}
  ~ServedQueue() { Join(); }
  ServedQueue(const ServedQueue&) = delete;
  ServedQueue& operator=(const ServedQueue&) = delete;

  grpc::ServerCompletionQueue* queue() const { return queue_.get(); }
  // Handles events, which are Rpc::Tags, from now on.
  void Start();
  // After the last operation was started on the queue.
  void Join();

 private:
  // A thread that serves, or may have to.
  struct Post {
    std::thread thread;
    // Returns from waiting: as long as this stays, it waits or is held up.
    std::atomic<uint64_t> returns{0};
  };
  // The state in which a thread that stands in has seen one before it.
  struct Sight {
    uint64_t returns = 0;
    absl::Duration used;     // of the processor, in all
    absl::Duration in_wait;  // of it, since it last returned
    absl::Duration blame_at = absl::InfiniteDuration();  // of in_wait
  };
  static constexpr int kStandIns = 3;

  void Serve();
  void StandIn(int number);
  // True if all before `number` were held up since the last look. Blames for
  // each of them that has been held up for long.
  bool HeldUp(int number, std::array<Sight, kStandIns>& sights);
  // Serves as number `number` until it need not stand in any more, or the queue
  // is over.
  void Help(int number, std::array<Sight, kStandIns>& sights);
  void SetHelping(int number);
  void Handle(void* tag, bool ok);

  const std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  const std::function<void()> blame_;
  Mutex handling_;
  std::array<Post, 1 + kStandIns> posts_;  // the first serves always
  Mutex mu_;
  bool over_ ABSL_GUARDED_BY(mu_) = false;
  int helping_ ABSL_GUARDED_BY(mu_) = 0;  // the last one that stands in
  CondVar changed_;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_RPC_SERVED_QUEUE_H_
