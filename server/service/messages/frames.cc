#include "server/service/messages/frames.h"

#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <algorithm>
#include <utility>

#include "core/base/status.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "server/service/messages/message_cost.h"

namespace hawser::server {
namespace {

using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

constexpr size_t kFrameBytes = 256 << 10;
// What a bulk frame carries besides data: ids, digests, secrets.
constexpr uint32_t kMaxHeaderField = 4096;
constexpr int kMaxHeader = 4 * kMaxHeaderField;

// The wire types of the headers' fields.
constexpr int kVarint = 0;
constexpr int kFixed64 = 1;
constexpr int kBytes = 2;

uint32_t TagOf(int field, int type) {
  return static_cast<uint32_t>(field) << 3 | static_cast<uint32_t>(type);
}

// Copies one field of a header. False for what no header has.
bool CopyField(uint32_t tag, CodedInputStream& in, CodedOutputStream& out) {
  out.WriteTag(tag);
  if ((tag & 7) == kVarint) {
    uint64_t value = 0;
    if (!in.ReadVarint64(&value)) return false;
    out.WriteVarint64(value);
    return true;
  }
  if ((tag & 7) == kFixed64) {
    uint64_t value = 0;
    if (!in.ReadLittleEndian64(&value)) return false;
    out.WriteLittleEndian64(value);
    return true;
  }
  uint32_t size = 0;
  std::string bytes;
  if ((tag & 7) != kBytes || !in.ReadVarint32(&size) ||
      size > kMaxHeaderField ||
      !in.ReadString(&bytes, static_cast<int>(size))) {
    return false;
  }
  out.WriteVarint32(size);
  out.WriteString(bytes);
  return true;
}

}  // namespace

absl::Status InFrame::Parse(grpc::ByteBuffer* buffer, int data_field,
                            google::protobuf::MessageLite* header) {
  buffer_ = buffer;
  offset_ = 0;
  size_ = 0;
  const auto bad = [] { return InvalidArgument("not a frame of this stream"); };
  std::string fields;
  grpc::ProtoBufferReader reader(buffer);
  CodedInputStream in(&reader);
  {
    google::protobuf::io::StringOutputStream string(&fields);
    CodedOutputStream out(&string);
    while (const uint32_t tag = in.ReadTag()) {
      if (tag != TagOf(data_field, kBytes)) {
        if (!CopyField(tag, in, out) || out.ByteCount() > kMaxHeader) {
          return bad();
        }
        continue;
      }
      uint32_t size = 0;
      if (offset_ != 0 || !in.ReadVarint32(&size)) return bad();
      offset_ = in.CurrentPosition();
      size_ = size;
      if (size > buffer->Length() || !in.Skip(static_cast<int>(size))) {
        return bad();
      }
    }
  }
  if (!in.ConsumedEntireMessage() || !header->ParseFromString(fields)) {
    return bad();
  }
  return absl::OkStatus();
}

void InFrame::CopyTo(char* into) const {
  grpc::ProtoBufferReader reader(buffer_);
  CodedInputStream in(&reader);
  // Parse has been here before.
  HAWSER_CHECK(in.Skip(offset_) && in.ReadRaw(into, static_cast<int>(size_)));
}

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
  std::string head = std::exchange(prefix_, "");
  if (n > 0) {
    google::protobuf::io::StringOutputStream string(&head);
    CodedOutputStream out(&string);
    out.WriteTag(TagOf(data_field_, kBytes));
    out.WriteVarint32(static_cast<uint32_t>(n));
  }
  // The slice keeps the memory alive for as long as gRPC sends from it.
  auto* owner = new std::shared_ptr<const char>(piece_.owner);
  const grpc::Slice slices[] = {
      grpc::Slice(head),
      grpc::Slice(
          const_cast<char*>(piece_.bytes.data()), n,
          [](void* held) {
            delete static_cast<std::shared_ptr<const char>*>(held);
          },
          owner)};
  piece_.bytes.remove_prefix(n);
  wrote_ = true;
  rpc().Write(grpc::ByteBuffer(slices, 2));
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
