#include "server/service/messages/frames.h"

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <algorithm>
#include <utility>

#include "absl/types/span.h"
#include "core/base/status.h"
#include "google/protobuf/io/coded_stream.h"
#include "proto/bulk_frame.h"
#include "server/service/messages/message_cost.h"

namespace hawser::server {
namespace {

using google::protobuf::io::CodedInputStream;

constexpr size_t kFrameBytes = 256 << 10;

}  // namespace

absl::Status ParseBuffer(const grpc::ByteBuffer& buffer,
                         google::protobuf::Message* message) {
  grpc::ByteBuffer shared(buffer);
  const int64_t bytes = static_cast<int64_t>(shared.Length());
  if (bytes > kCheapMessageBytes) {
    grpc::ProtoBufferReader reader(&shared);
    CodedInputStream in(&reader);
    HAWSER_RETURN_IF_ERROR(
        CheckMessageCost(*message->GetDescriptor(), bytes, &in));
  }
  grpc::ProtoBufferReader reader(&shared);
  if (message->ParseFromZeroCopyStream(&reader)) return absl::OkStatus();
  return InvalidArgument("not a ", message->GetTypeName());
}

void FillBuffer(const google::protobuf::Message& message,
                grpc::ByteBuffer* buffer) {
  buffer->Clear();  // gRPC takes no buffer that holds something
  bool own;
  const grpc::Status filled =
      grpc::SerializationTraits<google::protobuf::Message>::Serialize(
          message, buffer, &own);
  HAWSER_CHECK(filled.ok());  // made here
}

PieceStream::PieceStream(Rpc* rpc, int data_field, Open open)
    : Reactor(rpc), data_field_(data_field), open_(std::move(open)) {
  rpc->Read(&request_);
}

void PieceStream::OnRead(bool ok) {
  if (!ok) return rpc().Finish(InvalidArgument("no request came"));
  auto pieces = open_(request_);
  request_.Clear();
  if (!pieces.ok()) return rpc().Finish(pieces.status());
  prefix_ = std::move(pieces->first);
  source_ = std::move(pieces->source);
  Pull();
}

void PieceStream::Pull() {
  source_([this](const absl::StatusOr<Piece>& piece) { Got(piece); });
}

void PieceStream::Got(const absl::StatusOr<Piece>& piece) {
  if (!piece.ok()) return rpc().Finish(piece.status());
  piece_ = *piece;
  // An empty array still has a shape to tell.
  if (piece_.bytes.empty() && (wrote_ || prefix_.empty())) {
    return rpc().Finish(absl::OkStatus());
  }
  WriteFrame();
}

void PieceStream::WriteFrame() {
  const size_t n = std::min(kFrameBytes, piece_.bytes.size());
  const absl::Span<const char> data = piece_.bytes.subspan(0, n);
  piece_.bytes.remove_prefix(n);
  wrote_ = true;
  rpc().Write(
      OutFrame(std::exchange(prefix_, ""), data_field_, data, piece_.owner));
}

void PieceStream::OnWritten(bool ok) {
  if (!ok) return rpc().Finish(Cancelled("the client is gone"));
  if (piece_.bytes.empty()) {
    Pull();
  } else {
    WriteFrame();
  }
}

}  // namespace hawser::server
