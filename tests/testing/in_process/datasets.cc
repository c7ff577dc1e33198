// The dataset methods of InProcessTransport.
#include <algorithm>

#include "core/base/status.h"
#include "core/wire/codec.h"
#include "tests/testing/in_process/transport.h"

namespace hawser {
namespace {

// One request, one answer: `method(core, arrived)` is the server.
template <typename Reply, typename Request, typename Method>
absl::StatusOr<Reply> Unary(InProcessCall& call, const Request& request,
                            const Method& method) {
  HAWSER_RETURN_IF_ERROR(call.Begin());
  Request arrived;
  HAWSER_RETURN_IF_ERROR(call.Send(request, &arrived));
  const absl::StatusOr<Reply> done = method(call.core(), arrived);
  HAWSER_RETURN_IF_ERROR(call.Answer());
  HAWSER_RETURN_IF_ERROR(done);
  Reply reply;
  HAWSER_RETURN_IF_ERROR(call.Receive(*done, &reply));
  return reply;
}

}  // namespace

absl::StatusOr<v1::FindMissingReply> InProcessTransport::FindMissing(
    const v1::FindMissingRequest& request,
    const runtime::CallOptions& options) {
  InProcessCall call = NewCall(CallKind::kFindMissing, options);
  return Unary<v1::FindMissingReply>(
      call, request,
      [](ServerCore& core, const v1::FindMissingRequest& arrived) {
        return core.datasets->FindMissing("default", arrived);
      });
}

absl::StatusOr<v1::DatasetInfoProto> InProcessTransport::Stat(
    const v1::StatRequest& request, const runtime::CallOptions& options) {
  InProcessCall call = NewCall(CallKind::kStat, options);
  return Unary<v1::DatasetInfoProto>(
      call, request, [](ServerCore& core, const v1::StatRequest& arrived) {
        return core.datasets->Stat("default", arrived);
      });
}

absl::StatusOr<v1::ListReply> InProcessTransport::List(
    const v1::ListRequest& request, const runtime::CallOptions& options) {
  InProcessCall call = NewCall(CallKind::kList, options);
  return Unary<v1::ListReply>(
      call, request,
      [](ServerCore& core, const v1::ListRequest& arrived)
          -> absl::StatusOr<v1::ListReply> {
        return core.datasets->List("default", arrived);
      });
}

absl::StatusOr<v1::DeleteReply> InProcessTransport::Delete(
    const v1::DeleteRequest& request, const runtime::CallOptions& options) {
  InProcessCall call = NewCall(CallKind::kDelete, options);
  return Unary<v1::DeleteReply>(
      call, request,
      [&](ServerCore& core, const v1::DeleteRequest& arrived)
          -> absl::StatusOr<v1::DeleteReply> {
        auto promise = std::make_shared<Promise<v1::DeleteReply>>();
        const auto future = promise->future();
        core.datasets->Delete(
            "default", arrived,
            [promise, held = call.shared_core()](const absl::Status& status) {
              if (status.ok()) {
                promise->Set(v1::DeleteReply());
              } else {
                promise->Set(status);
              }
            });
        return AwaitWithin(future, call.limits(), address_);
      });
}

absl::StatusOr<v1::DatasetInfoProto> InProcessTransport::Commit(
    const v1::CommitRequest& request, const runtime::CallOptions& options) {
  InProcessCall call = NewCall(CallKind::kCommit, options);
  return Unary<v1::DatasetInfoProto>(
      call, request,
      [&](ServerCore& core, const v1::CommitRequest& arrived)
          -> absl::StatusOr<v1::DatasetInfoProto> {
        auto promise = std::make_shared<Promise<v1::DatasetInfoProto>>();
        const auto future = promise->future();
        core.datasets->Commit(
            "default", arrived,
            [promise, held = call.shared_core()](
                const absl::StatusOr<v1::DatasetInfoProto>& info) {
              promise->Set(info);
            });
        return AwaitWithin(future, call.limits(), address_);
      });
}

absl::StatusOr<v1::DatasetInfoProto> InProcessTransport::Pin(
    const v1::PinRequest& request, const runtime::CallOptions& options) {
  InProcessCall call = NewCall(CallKind::kPin, options);
  return Unary<v1::DatasetInfoProto>(
      call, request,
      [&](ServerCore& core, const v1::PinRequest& arrived)
          -> absl::StatusOr<v1::DatasetInfoProto> {
        auto promise = std::make_shared<Promise<v1::DatasetInfoProto>>();
        const auto future = promise->future();
        core.datasets->Pin("default", arrived,
                           [promise, held = call.shared_core()](
                               const absl::StatusOr<v1::DatasetInfoProto>&
                                   info) { promise->Set(info); });
        return AwaitWithin(future, call.limits(), address_);
      });
}

absl::StatusOr<v1::TagReply> InProcessTransport::Tag(
    const v1::TagRequest& request, const runtime::CallOptions& options) {
  InProcessCall call = NewCall(CallKind::kTag, options);
  return Unary<v1::TagReply>(
      call, request,
      [&](ServerCore& core, const v1::TagRequest& arrived)
          -> absl::StatusOr<v1::TagReply> {
        auto promise = std::make_shared<Promise<v1::TagReply>>();
        const auto future = promise->future();
        core.datasets->Tag(
            "default", arrived,
            [promise, held = call.shared_core()](const absl::Status& status) {
              if (status.ok()) {
                promise->Set(v1::TagReply());
              } else {
                promise->Set(status);
              }
            });
        return AwaitWithin(future, call.limits(), address_);
      });
}

absl::StatusOr<v1::UsageReply> InProcessTransport::Usage(
    const v1::UsageRequest& request, const runtime::CallOptions& options) {
  InProcessCall call = NewCall(CallKind::kUsage, options);
  return Unary<v1::UsageReply>(
      call, request,
      [](ServerCore& core, const v1::UsageRequest&)
          -> absl::StatusOr<v1::UsageReply> {
        return core.datasets->Usage("default");
      });
}

absl::Status InProcessTransport::PutChunk(
    InProcessCall& call, uint64_t upload, const ChunkToPut& chunk,
    const std::shared_ptr<server::PutStream>& stream) {
  absl::Span<const char> left = chunk.bytes;
  v1::PutChunk frame, arrived;
  const absl::string_view digest = chunk.digest.bytes();
  frame.set_digest(digest.data(), digest.size());
  frame.set_chunk_bytes(chunk.bytes.size());
  frame.set_upload(upload);
  while (!left.empty()) {
    const auto part = left.subspan(0, kCallFrameBytes);
    left.remove_prefix(part.size());
    frame.mutable_data()->assign(part.data(), part.size());
    call.Corrupt(frame.mutable_data());
    HAWSER_RETURN_IF_ERROR(call.Send(frame, &arrived));
    frame.Clear();
    auto promise = std::make_shared<Promise<bool>>();
    const Future<bool> ready = promise->future();
    stream->Frame(arrived, arrived.data().size(),
                  [promise, stream, core = call.shared_core()](
                      const absl::Status& status) {
                    if (status.ok()) {
                      promise->Set(true);
                    } else {
                      promise->Set(status);
                    }
                  });
    promise = nullptr;
    HAWSER_RETURN_IF_ERROR(AwaitWithin(ready, call.limits(), address_));
    std::copy(arrived.data().begin(), arrived.data().end(), stream->at());
    HAWSER_RETURN_IF_ERROR(
        stream->Filled(static_cast<int64_t>(arrived.data().size())));
  }
  return absl::OkStatus();
}

absl::Status InProcessTransport::PutChunks(
    uint64_t upload, absl::Span<const ChunkToPut> chunks,
    const runtime::CallOptions& options) {
  if (chunks.empty()) return absl::OkStatus();
  InProcessCall call = NewCall(CallKind::kPut, options);
  HAWSER_RETURN_IF_ERROR(call.Begin());
  std::shared_ptr<server::PutStream> stream =
      call.core().datasets->Put("default");
  int64_t total = 0, sent = 0;
  for (const ChunkToPut& chunk : chunks) total += chunk.bytes.size();
  for (const ChunkToPut& chunk : chunks) {
    const absl::Status status = PutChunk(call, upload, chunk, stream);
    if (!status.ok()) {
      call.Abandon(std::move(stream));
      return status;
    }
    sent += static_cast<int64_t>(chunk.bytes.size());
    if (options.progress) options.progress(sent, total);
  }
  const absl::StatusOr<v1::PutReply> done = stream->Finish();
  HAWSER_RETURN_IF_ERROR(call.Answer());
  HAWSER_RETURN_IF_ERROR(done);
  v1::PutReply reply;
  HAWSER_RETURN_IF_ERROR(call.Receive(*done, &reply));
  if (reply.chunks() == chunks.size()) return absl::OkStatus();
  return DataLoss(address_, " took ", reply.chunks(), " of ", chunks.size(),
                  " chunks");
}

absl::Status InProcessTransport::Get(
    const v1::GetRequest& request,
    std::function<absl::StatusOr<absl::Span<char>>(const v1::ShapeProto&)>
        on_shape,
    const runtime::CallOptions& options) {
  InProcessCall call = NewCall(CallKind::kGet, options);
  HAWSER_RETURN_IF_ERROR(call.Begin());
  v1::GetRequest arrived;
  HAWSER_RETURN_IF_ERROR(call.Send(request, &arrived));
  HAWSER_ASSIGN_OR_RETURN(const auto rows,
                          call.core().datasets->Get("default", arrived));
  v1::GetChunk frame, came;
  *frame.mutable_shape() = ToProto(rows->shape());
  HAWSER_RETURN_IF_ERROR(call.Receive(frame, &came));
  HAWSER_ASSIGN_OR_RETURN(absl::Span<char> into, on_shape(came.shape()));
  for (;;) {
    auto promise = std::make_shared<Promise<server::Piece>>();
    const auto future = promise->future();
    rows->Next([promise, core = call.shared_core()](
                   const absl::StatusOr<server::Piece>& piece) {
      promise->Set(piece);
    });
    promise = nullptr;
    HAWSER_ASSIGN_OR_RETURN(server::Piece piece,
                            AwaitWithin(future, call.limits(), address_));
    if (piece.bytes.empty()) break;
    while (!piece.bytes.empty()) {
      const auto part = piece.bytes.subspan(0, kCallFrameBytes);
      piece.bytes.remove_prefix(part.size());
      frame.Clear();
      frame.set_data(part.data(), part.size());
      HAWSER_RETURN_IF_ERROR(call.Receive(frame, &came));
      if (came.data().size() > into.size()) return DataLoss("too many bytes");
      std::copy(came.data().begin(), came.data().end(), into.begin());
      into.remove_prefix(came.data().size());
    }
  }
  if (into.empty()) return absl::OkStatus();
  return DataLoss(address_, " sent ", into.size(), " bytes too few");
}

}  // namespace hawser
