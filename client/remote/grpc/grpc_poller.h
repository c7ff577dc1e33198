// GrpcPoller: takes what gRPC has completed, on the thread that waits for it.
#ifndef HAWSER_CLIENT_REMOTE_GRPC_GRPC_POLLER_H_
#define HAWSER_CLIENT_REMOTE_GRPC_GRPC_POLLER_H_

#include <grpcpp/completion_queue.h>

#include <memory>
#include <thread>

namespace hawser {

// One completion queue and one thread that polls it, unless another thread
// does: a thread that waits for a Future polls (see ProgressEngine), and for a
// millisecond after that its next wait is expected. gRPC's own callback
// threads come in pairs that wake each other for every operation: a step takes
// some 15 us longer on them, and as much again when the poller must wake
// the thread that waits. Two pollers would do the same to each other, so all
// clients of a process share one.
class GrpcPoller {
 public:
  // An operation is started with a tag, which lives until Done.
  class Tag {
   public:
    // The operation is over. Called on whichever thread polls; must not block.
    virtual void Done(bool ok) = 0;

   protected:
    ~Tag() = default;
  };

  // The one there is, or a new one.
  static std::shared_ptr<GrpcPoller> Shared();
  // Waits for the operations under way, unless it runs in one's Done.
  ~GrpcPoller();
  GrpcPoller(const GrpcPoller&) = delete;
  GrpcPoller& operator=(const GrpcPoller&) = delete;

  grpc::CompletionQueue* queue() const;
  // Calls `tag`'s Done before a thread polls again, two milliseconds from now
  // at the latest. False, and never: this is not inside the Done of a thread
  // that waits, so no thread is about to poll.
  bool Defer(Tag* tag);

 private:
  class Polling;
  GrpcPoller();

  const std::shared_ptr<Polling> polling_;
  std::thread thread_;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_GRPC_GRPC_POLLER_H_
