#include "server/rpc/rpc.h"

#include "proto/grpc_status.h"

namespace hawser::server {

void Rpc::Accept(grpc::AsyncGenericService* service,
                 grpc::ServerCompletionQueue* queue, Owner* owner) {
  Rpc* const rpc = new Rpc(queue, owner);
  rpc->context_.AsyncNotifyWhenDone(&rpc->ended_);
  service->RequestCall(&rpc->context_, &rpc->stream_, queue, queue,
                       &rpc->accepted_);
}

void Rpc::OnAccepted(bool ok) {
  if (!ok) return Die();
  owner_->OnAccepted(queue_);
  reactor_ = owner_->Dispatch(context_.method(), this);
  if (ended_early_) OnEnded(true);
}

void Rpc::Read(grpc::ByteBuffer* into) {
  ++left_;
  stream_.Read(into, &read_);
}

void Rpc::Write(const grpc::ByteBuffer& message) {
  ++left_;
  stream_.Write(message, &written_);
}

void Rpc::Finish(const absl::Status& status) {
  stream_.Finish(ToGrpc(status), &finished_);
}

void Rpc::FinishWith(const grpc::ByteBuffer& last) {
  stream_.WriteAndFinish(last, grpc::WriteOptions(), grpc::Status::OK,
                         &finished_);
}

void Rpc::OnRead(bool ok) {
  if (ok) {
    has_message_ = true;
    if (held_.connection != nullptr) held_.connection->CountMessage();
  }
  reactor_->OnRead(ok);
  LetGo();
}

void Rpc::OnWritten(bool ok) {
  reactor_->OnWritten(ok);
  LetGo();
}

void Rpc::OnFinished(bool) { LetGo(); }

void Rpc::OnEnded(bool) {
  if (reactor_ == nullptr) {
    ended_early_ = true;
    return;
  }
  if (context_.IsCancelled()) {
    cancelled_ = true;
    if (held_.connection != nullptr)
      held_.connection->CountCancelled(has_message_);
    reactor_->OnCancel();
  }
  LetGo();
}

void Rpc::LetGo() {
  if (--left_ > 0) return;
  reactor_->OnDone();
  Die();
}

void Rpc::Die() {
  Owner* const owner = owner_;
  delete this;
  owner->OnOver();
}

}  // namespace hawser::server
