// The dataset methods of InProcessTransport.
#include <algorithm>

#include "core/base/status.h"
#include "core/base/threads/or_expired.h"
#include "core/wire/dataset_verbs.h"
#include "tests/testing/in_process/transport.h"

namespace hawser {

template <typename Method>
absl::Status InProcessTransport::AskFor(
    const google::protobuf::Message& request, google::protobuf::Message* reply,
    const runtime::CallOptions& options) {
  InProcessCall call = NewCall(KindOf<Method>(), options);
  HAWSER_RETURN_IF_ERROR(call.Begin());
  typename Method::Request arrived;
  HAWSER_RETURN_IF_ERROR(call.Send(request, &arrived));
  auto promise = std::make_shared<Promise<typename Method::Reply>>();
  const auto future = promise->future();
  call.core().datasets->Serve(
      Method(), "default", arrived,
      [promise, held = call.shared_core()](
          const absl::StatusOr<typename Method::Reply>& answer) {
        promise->Set(answer);
      });
  promise = nullptr;
  const auto done = AwaitWithin(future, call.cancel(), address_);
  HAWSER_RETURN_IF_ERROR(call.Answer());
  HAWSER_RETURN_IF_ERROR(done);
  return call.Receive(*done, reply);
}

absl::Status InProcessTransport::Ask(absl::string_view method,
                                     const google::protobuf::Message& request,
                                     google::protobuf::Message* reply,
                                     const runtime::CallOptions& options) {
  absl::Status status = Unimplemented("no method ", method);
  ForEachDatasetsMethod([&](auto one) {
    using Method = decltype(one);
    if (method == Method::kMethod) {
      status = AskFor<Method>(request, reply, options);
    }
  });
  return status;
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
    HAWSER_RETURN_IF_ERROR(AwaitWithin(ready, call.cancel(), address_));
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
                            AwaitWithin(future, call.cancel(), address_));
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
