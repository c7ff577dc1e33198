#include "client/remote/remote_buffer.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/remote/remote_client.h"
#include "client/remote/ticker.h"
#include "client/remote/transfers.h"
#include "core/base/status.h"
#include "core/wire/codec.h"

namespace hawser {
namespace {

// What is worth a stream of its own.
constexpr int64_t kPartBytes = int64_t{8} << 20;

// One Fetch of a dataset's array: large ones by rows, on several streams.
class DatasetFetch final : public Watched, public Transfer {
 public:
  DatasetFetch(RemoteClient* client, v1::GetRequest request, const Shape& shape,
               const runtime::CallOptions& call)
      : Watched(CallLimits(call)),
        client_(client),
        request_(std::move(request)),
        shape_(shape),
        progress_(call.progress),
        future_(promise_.future()) {}

  const Future<Literal>& future() const { return future_; }
  bool Over() const override { return future_.ready(); }
  void Stop(const absl::Status& why) override { promise_.Set(why); }
  bool Wanted() const override { return !future_.ready(); }
  bool MayRetry() const override { return false; }
  bool InSession() const override { return false; }

  absl::Status Run(const CancelToken& cancel) override {
    HAWSER_ASSIGN_OR_RETURN(value_, Literal::Allocate(shape_));
    const int64_t rows = shape_.rank() == 0 ? 1 : shape_.dim(0);
    const int64_t parts = std::clamp<int64_t>(
        shape_.byte_size() / kPartBytes, 1,
        std::clamp<int64_t>(rows, 1, client_->bulk_streams()));
    std::vector<absl::Status> statuses(parts);
    std::vector<std::thread> others;
    for (int64_t i = 1; i < parts; ++i) {
      others.emplace_back([this, &statuses, &cancel, rows, parts, i] {
        statuses[i] = GetRows(rows * i / parts, rows * (i + 1) / parts, cancel);
      });
    }
    statuses[0] =
        parts == 1 ? GetAll(cancel) : GetRows(0, rows / parts, cancel);
    for (std::thread& thread : others) thread.join();
    for (const absl::Status& status : statuses) HAWSER_RETURN_IF_ERROR(status);
    return absl::OkStatus();
  }
  void Done(const absl::Status& status) override {
    if (status.ok()) {
      promise_.Set(std::move(value_));
    } else {
      promise_.Set(status);
    }
  }

 private:
  absl::Status GetAll(const CancelToken& cancel) {
    return Get(request_, shape_, value_.mutable_bytes(), cancel);
  }
  // Some of the rows, to their place.
  absl::Status GetRows(int64_t begin, int64_t end, const CancelToken& cancel) {
    HAWSER_ASSIGN_OR_RETURN(const RowBytes part,
                            FindRows(shape_, {begin, end - begin}));
    v1::GetRequest request = request_;
    request.set_row_begin(request_.row_begin() + begin);
    request.set_row_count(end - begin);
    return Get(
        request, part.shape,
        value_.mutable_bytes().subspan(part.begin, part.end - part.begin),
        cancel);
  }
  absl::Status Get(const v1::GetRequest& request, const Shape& expected,
                   absl::Span<char> into, const CancelToken& cancel) {
    runtime::CallOptions call;
    call.cancel = cancel;
    int64_t reported = 0;
    if (progress_) {
      call.progress = [&](int64_t done, int64_t) {
        const int64_t more = done - std::exchange(reported, done);
        progress_(done_bytes_.fetch_add(more) + more, shape_.byte_size());
      };
    }
    return client_->transport()->Get(
        request,
        [&](const v1::ShapeProto& proto) -> absl::StatusOr<absl::Span<char>> {
          HAWSER_ASSIGN_OR_RETURN(const Shape shape, FromProto(proto));
          if (shape == expected) return into;
          return Internal(client_->name(), " sends ", shape.ToString(), " for ",
                          expected.ToString(), " of dataset ", request.token());
        },
        call);
  }

  RemoteClient* const client_;
  const v1::GetRequest request_;
  const Shape shape_;
  const std::function<void(int64_t, int64_t)> progress_;
  std::atomic<int64_t> done_bytes_{0};
  Literal value_;
  Promise<Literal> promise_;
  const Future<Literal> future_;
};

}  // namespace

RemoteBuffer::RemoteBuffer(std::shared_ptr<RemoteClient> client, Shape shape)
    : client_(std::move(client)), shape_(std::move(shape)) {}

runtime::Client* RemoteBuffer::client() const { return client_.get(); }

HandleBuffer::HandleBuffer(std::shared_ptr<RemoteClient> client, Shape shape,
                           std::shared_ptr<Handle> handle,
                           std::shared_ptr<Outcome> outcome, int index)
    : RemoteBuffer(std::move(client), std::move(shape)),
      handle_(std::move(handle)),
      outcome_(std::move(outcome)),
      index_(index) {}

Future<Literal> HandleBuffer::Fetch(const runtime::CallOptions& call) {
  if (donated_.load()) {
    return Future<Literal>(
        FailedPrecondition(shape_.ToString(), " on ", client_->name(),
                           " was donated and cannot be fetched"));
  }
  auto fetch =
      std::make_shared<RemoteFetch>(client_.get(), handle_, shape_, call);
  client_->ticker()->Watch(fetch);
  outcome_->Fetch(index_, fetch);
  return fetch->future();
}

std::string HandleBuffer::ran_on() const {
  return handle_->session()->ran_on();
}

absl::Status HandleBuffer::ToArgument(const RemoteSession& session,
                                      v1::ArgumentProto* argument) {
  if (handle_->session().get() != &session) {
    return Unavailable(shape_.ToString(), " is gone: ",
                       handle_->session()->lost_status().message());
  }
  if (donated_.load()) {
    return FailedPrecondition(shape_.ToString(), " on ", client_->name(),
                              " was donated before");
  }
  argument->set_handle(handle_->id());
  return absl::OkStatus();
}

absl::Status HandleBuffer::ToStatelessArgument(v1::ArgumentProto*) {
  return FailedPrecondition(
      "Call takes values and datasets, not buffers of a "
      "session on ",
      client_->name(), ": use Execute");
}

DatasetBuffer::DatasetBuffer(std::shared_ptr<RemoteClient> client, Shape shape,
                             std::string token, std::string array,
                             std::optional<RowRange> rows)
    : RemoteBuffer(std::move(client), std::move(shape)),
      token_(std::move(token)),
      array_(std::move(array)),
      rows_(rows) {}

Future<Literal> DatasetBuffer::Fetch(const runtime::CallOptions& call) {
  v1::GetRequest request;
  request.set_token(token_);
  request.set_array(array_);
  if (rows_.has_value()) {
    // On the wire no rows means all of them.
    if (rows_->count == 0) return Future<Literal>(Literal::Zeros(shape_));
    request.set_row_begin(rows_->begin);
    request.set_row_count(rows_->count);
  }
  auto fetch = std::make_shared<DatasetFetch>(client_.get(), std::move(request),
                                              shape_, call);
  client_->ticker()->Watch(fetch);
  client_->transfers()->Add(fetch);
  return fetch->future();
}

std::string DatasetBuffer::ran_on() const { return client_->name(); }

absl::Status DatasetBuffer::ToArgument(const RemoteSession&,
                                       v1::ArgumentProto* argument) {
  return ToStatelessArgument(argument);
}

absl::Status DatasetBuffer::ToStatelessArgument(v1::ArgumentProto* argument) {
  argument->mutable_dataset()->set_token(token_);
  argument->mutable_dataset()->set_array(array_);
  if (rows_.has_value()) {
    v1::RowRangeProto* rows = argument->mutable_dataset()->mutable_rows();
    rows->set_begin(rows_->begin);
    rows->set_count(rows_->count);
  }
  return absl::OkStatus();
}

}  // namespace hawser
