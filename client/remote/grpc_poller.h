// GrpcPoller: the thread that takes what gRPC has completed.
#ifndef HAWSER_CLIENT_REMOTE_GRPC_POLLER_H_
#define HAWSER_CLIENT_REMOTE_GRPC_POLLER_H_

#include <grpcpp/completion_queue.h>

#include <memory>
#include <thread>

namespace hawser {

// One thread on one completion queue. gRPC's own callback threads come in
// pairs that wake each other for every operation: a step takes some 15 us
// longer on them, so nothing here uses those. Two pollers would do the same to
// each other, so all clients of a process share one.
class GrpcPoller {
 public:
  // What an operation is started with; lives until Done.
  class Tag {
   public:
    // The operation is over. On the poller's thread; must not block.
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

  grpc::CompletionQueue* queue() const { return queue_.get(); }

 private:
  GrpcPoller();

  const std::shared_ptr<grpc::CompletionQueue> queue_;
  std::thread thread_;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_GRPC_POLLER_H_
