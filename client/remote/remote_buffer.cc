#include "client/remote/remote_buffer.h"

#include <functional>
#include <utility>

#include "client/remote/link/transfers.h"
#include "client/remote/link/watched.h"
#include "core/base/process/mapped_file.h"
#include "core/base/status.h"
#include "core/base/threads/or_expired.h"
#include "core/runtime/attempt.h"
#include "core/runtime/datasets.h"

namespace hawser {
namespace {

// One Fetch of a dataset's array.
class DatasetFetch final : public Watched, public Transfer {
 public:
  DatasetFetch(RemoteLink* link, DatasetPart part, const Shape& shape,
               const runtime::CallOptions& call)
      : Watched(runtime::AttemptToken(call)),
        link_(link),
        part_(std::move(part)),
        shape_(shape),
        progress_(call.progress),
        future_(promise_.future()) {}

  const Future<Literal>& future() const { return future_; }
  void Stop(const absl::Status& why) override { promise_.Set(why); }
  bool Wanted() const override { return !future_.ready(); }
  bool MayRetry() const override { return false; }
  bool InSession() const override { return false; }

  absl::Status Run(const CancelToken& cancel) override {
    HAWSER_ASSIGN_OR_RETURN(value_, Literal::Allocate(shape_));
    runtime::CallOptions call{.cancel = cancel};
    call.progress = progress_;
    return link_->client()->datasets().FetchInto(part_, value_.mutable_bytes(),
                                                 call);
  }
  void Done(const absl::Status& status) override {
    if (status.ok()) {
      promise_.Set(std::move(value_));
    } else {
      promise_.Set(status);
    }
  }

 private:
  RemoteLink* const link_;
  const DatasetPart part_;
  const Shape shape_;
  const std::function<void(int64_t, int64_t)> progress_;
  Literal value_;
  Promise<Literal> promise_;
  const Future<Literal> future_;
};

}  // namespace

RemoteBuffer::RemoteBuffer(std::shared_ptr<RemoteLink> link, Shape shape)
    : link_(std::move(link)), shape_(std::move(shape)) {}

runtime::Client* RemoteBuffer::client() const { return link_->client(); }

HandleBuffer::HandleBuffer(std::shared_ptr<RemoteLink> link, Shape shape,
                           std::shared_ptr<Handle> handle,
                           std::shared_ptr<Outcome> outcome, int index)
    : RemoteBuffer(std::move(link), std::move(shape)),
      handle_(std::move(handle)),
      outcome_(std::move(outcome)),
      index_(index) {}

Future<Literal> HandleBuffer::Fetch(const runtime::CallOptions& call) {
  if (donated_.load()) {
    return Future<Literal>(
        FailedPrecondition(shape_.ToString(), " on ", link_->name(),
                           " was donated and cannot be fetched"));
  }
  auto fetch =
      std::make_shared<RemoteFetch>(link_.get(), handle_, shape_, call);
  link_->Watch(fetch);
  outcome_->Fetch(index_, fetch);
  return fetch->future();
}

Future<bool> HandleBuffer::Ready(const runtime::CallOptions& call) {
  const Future<bool> settled =
      OrExpired(outcome_->settled(), runtime::AttemptToken(call));
  handle_->session()->Flush();
  return settled;
}

runtime::RanOn HandleBuffer::ran_on() const { return link_->ran_on(); }

absl::Status HandleBuffer::ToArgument(const RemoteSession& session,
                                      v1::ArgumentProto* argument) {
  if (handle_->session().get() != &session) {
    return Unavailable(shape_.ToString(), " is gone: ",
                       handle_->session()->lost_status().message());
  }
  if (donated_.load()) {
    return FailedPrecondition(shape_.ToString(), " on ", link_->name(),
                              " was donated before");
  }
  argument->set_handle(handle_->id());
  return absl::OkStatus();
}

absl::Status HandleBuffer::ToStatelessArgument(v1::ArgumentProto*) {
  return FailedPrecondition(
      "Call takes values and datasets, not buffers of a "
      "session on ",
      link_->name(), ": use Execute");
}

DatasetBuffer::DatasetBuffer(std::shared_ptr<RemoteLink> link, Shape shape,
                             DatasetPart part)
    : RemoteBuffer(std::move(link), std::move(shape)), part_(std::move(part)) {}

Future<Literal> DatasetBuffer::Fetch(const runtime::CallOptions& call) {
  if (shape_.byte_size() == 0) return Future<Literal>(Literal::Zeros(shape_));
  auto fetch = std::make_shared<DatasetFetch>(link_.get(), part_, shape_, call);
  link_->Watch(fetch);
  link_->WatchSilence(fetch);
  link_->transfers()->Add(fetch);
  return fetch->future();
}

runtime::RanOn DatasetBuffer::ran_on() const { return link_->ran_on(); }

absl::Status DatasetBuffer::ToArgument(const RemoteSession&,
                                       v1::ArgumentProto* argument) {
  return ToStatelessArgument(argument);
}

absl::Status DatasetBuffer::ToStatelessArgument(v1::ArgumentProto* argument) {
  argument->mutable_dataset()->set_token(part_.token);
  argument->mutable_dataset()->set_array(part_.array);
  if (part_.rows.has_value()) {
    v1::RowRangeProto* rows = argument->mutable_dataset()->mutable_rows();
    rows->set_begin(part_.rows->begin);
    rows->set_count(part_.rows->count);
  }
  return absl::OkStatus();
}

absl::StatusOr<runtime::BufferPtr> UploadIn(
    const std::shared_ptr<RemoteLink>& link,
    const std::shared_ptr<RemoteSession>& session, const Literal& value,
    const runtime::CallOptions& call) {
  const CancelToken cancel = runtime::AttemptToken(call);
  HAWSER_RETURN_IF_ERROR(call.cancel.Check());
  auto outcome =
      std::make_shared<Outcome>(cancel, /*results_come_along=*/false);
  auto handle = std::make_shared<Handle>(session, session->NewHandles(1));
  auto upload =
      std::make_shared<RemoteUpload>(link.get(), handle, value, outcome, call);
  // A small one is in the request by now; a large one is looked at as it goes.
  HAWSER_RETURN_IF_ERROR(CheckUnchanged(value.bytes()));
  link->Watch(outcome);
  HAWSER_RETURN_IF_ERROR(session->Submit(upload, cancel, call.cancel));
  return std::make_shared<HandleBuffer>(link, value.shape(), std::move(handle),
                                        std::move(outcome), 0);
}

}  // namespace hawser
