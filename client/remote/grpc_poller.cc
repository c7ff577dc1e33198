#include "client/remote/grpc_poller.h"

#include <grpc/grpc.h>

#include "core/base/mutex.h"

namespace hawser {

std::shared_ptr<GrpcPoller> GrpcPoller::Shared() {
  static Mutex* const mu = new Mutex;
  static auto* const shared = new std::weak_ptr<GrpcPoller>;
  // Never shut down: when its last user goes, this gRPC joins threads that may
  // sit in a poll of 10 s, and a client's end must be bounded.
  static const bool kept = (grpc_init(), true);
  (void)kept;
  MutexLock lock(mu);
  std::shared_ptr<GrpcPoller> poller = shared->lock();
  if (poller == nullptr) {
    poller.reset(new GrpcPoller);
    *shared = poller;
  }
  return poller;
}

GrpcPoller::GrpcPoller()
    : queue_(std::make_shared<grpc::CompletionQueue>()),
      thread_([queue = queue_] {
        void* tag;
        bool ok;
        while (queue->Next(&tag, &ok)) static_cast<Tag*>(tag)->Done(ok);
      }) {}

GrpcPoller::~GrpcPoller() {
  queue_->Shutdown();
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();  // it ends by itself, and holds what it needs
  } else {
    thread_.join();
  }
}

}  // namespace hawser
