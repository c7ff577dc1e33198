#include "client/remote/grpc_poller.h"

namespace hawser {

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
