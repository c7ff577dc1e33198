#include "client/remote/value.h"

#include <string>

#include "core/base/status.h"
#include "core/base/trace/trace.h"
#include "core/runtime/attempt.h"
#include "core/wire/codec.h"

namespace hawser {

RemoteFetch::RemoteFetch(RemoteLink* link, std::shared_ptr<Handle> handle,
                         const Shape& shape, const runtime::CallOptions& call)
    : Watched(runtime::AttemptToken(call)),
      link_(link),
      handle_(std::move(handle)),
      shape_(shape),
      progress_(call.progress),
      future_(promise_.future()) {
  handle_->FetchBegins();
}

void RemoteFetch::End() {
  if (!ended_.exchange(true)) handle_->FetchEnds();
}

void RemoteFetch::Complete(absl::StatusOr<Literal> value) {
  End();
  promise_.Set(std::move(value));
}

void RemoteFetch::Ask() {
  if (asked_.exchange(true)) return;
  v1::FetchRequest* fetch = message->mutable_fetch();
  fetch->set_handle(handle_->id());
  fetch->set_max_inline_bytes(kMaxInlineBytes);
  handle_->session()->Send(shared_from_this());
}

void RemoteFetch::OnReply(const absl::Status& status,
                          v1::ServerMessage* reply) {
  if (!status.ok()) {
    Complete(status);
  } else if (reply->fetch().large()) {
    link_->WatchSilence(shared_from_this());
    link_->transfers()->Add(shared_from_this());
  } else {
    auto value = Literal::FromBytes(shape_, reply->fetch().data());
    if (!value.ok()) {
      value = BrokenProtocol(
          link_->name(), "the answer to a Fetch: ", value.status().message());
    }
    Complete(std::move(value));
  }
}

absl::Status RemoteFetch::Run(const CancelToken& cancel) {
  TraceSpan span("wire", "download");
  span.Add("bytes", shape_.byte_size());
  v1::DownloadRequest request;
  handle_->session()->Identify(&request);
  request.set_handle(handle_->id());
  HAWSER_ASSIGN_OR_RETURN(Literal value, Literal::Allocate(shape_));
  runtime::CallOptions call;
  call.cancel = cancel;
  call.progress = progress_;
  HAWSER_RETURN_IF_ERROR(
      link_->transport()->Download(request, value.mutable_bytes(), call));
  received_ = std::move(value);
  return absl::OkStatus();
}

void RemoteFetch::Done(const absl::Status& status) {
  if (status.ok()) {
    Complete(std::move(received_));
  } else {
    Complete(status);
  }
}

void Outcome::Settle(const absl::Status& status, Values values) {
  std::vector<Waiter> waiters;
  std::optional<Promise<bool>> promise;
  {
    MutexLock lock(&mu_);
    if (settled_) return;
    status_ = status;
    values_ = std::move(values);
    settled_ = true;
    waiters.swap(waiters_);
    promise.swap(promise_);
  }
  Unwatch();
  for (const Waiter& waiter : waiters) Continue(waiter);
  if (promise.has_value()) promise->Set(StatusOrTrue());
}

absl::StatusOr<bool> Outcome::StatusOrTrue() const {
  if (!status_.ok()) return status_;
  return true;
}

Future<bool> Outcome::settled() {
  MutexLock lock(&mu_);
  if (settled_) return Future<bool>(StatusOrTrue());
  if (!promise_.has_value()) promise_.emplace();
  return promise_->future();
}

void Outcome::Fetch(int index, std::shared_ptr<RemoteFetch> fetch) {
  const Waiter waiter{index, std::move(fetch)};
  // A value that is not to come along can be asked for at once: the server
  // answers when it is there.
  const bool comes_along =
      !results_come_along_ ||
      waiter.fetch->shape().byte_size() <= kMaxInlineResultBytes;
  bool settled;
  {
    MutexLock lock(&mu_);
    settled = settled_;
    if (!settled) waiters_.push_back(waiter);
  }
  if (settled) {
    Continue(waiter);
  } else if (!comes_along) {
    waiter.fetch->Ask();
  } else {
    waiter.fetch->session().Flush();
  }
}

void Outcome::Continue(const Waiter& waiter) {
  const size_t index = waiter.index;
  if (!status_.ok()) {
    waiter.fetch->Complete(status_);
  } else if (index < values_.size() && values_[index].valid()) {
    waiter.fetch->Complete(values_[index]);
  } else {
    waiter.fetch->Ask();
  }
}

bool Outcome::over() const {
  MutexLock lock(&mu_);
  return settled_;
}

RemoteUpload::RemoteUpload(RemoteLink* link, std::shared_ptr<Handle> handle,
                           const Literal& value,
                           std::shared_ptr<Outcome> outcome,
                           const runtime::CallOptions& call)
    : link_(link),
      handle_(std::move(handle)),
      value_(value),
      outcome_(std::move(outcome)),
      progress_(call.progress) {
  v1::UploadRequest* upload = message->mutable_upload();
  upload->set_handle(handle_->id());
  *upload->mutable_shape() = ToProto(value.shape());
  if (value.shape().byte_size() > kMaxInlineBytes) {
    upload->set_streamed(true);
  } else {
    upload->set_data(value.bytes().data(), value.bytes().size());
  }
}

void RemoteUpload::OnReply(const absl::Status& status, v1::ServerMessage*) {
  if (status.ok() && message->upload().streamed()) {
    link_->transfers()->Add(shared_from_this());
  } else {
    outcome_->Settle(status);
  }
}

absl::Status RemoteUpload::Run(const CancelToken& cancel) {
  TraceSpan span("wire", "upload bytes");
  span.Add("bytes", value_.shape().byte_size());
  v1::UploadChunk header;
  handle_->session()->Identify(&header);
  header.set_handle(handle_->id());
  runtime::CallOptions call;
  call.cancel = cancel;
  call.progress = progress_;
  return link_->transport()->Upload(header, value_, call);
}

}  // namespace hawser
