#include "client/remote/grpc/frame.h"

#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <limits>
#include <string>

#include "core/base/status.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/wire_format_lite.h"

namespace hawser {
namespace {

using google::protobuf::MessageLite;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;
using google::protobuf::io::StringOutputStream;

// What a message may hold besides its data; a shape takes some 200 bytes.
constexpr uint32_t kMaxOtherBytes = 64 << 10;

absl::Status Malformed() { return DataLoss("a frame is no message"); }

}  // namespace

grpc::ByteBuffer FrameOf(const MessageLite& header, int field,
                         absl::Span<const char> data, const Literal& owner) {
  std::string prefix;
  {
    StringOutputStream stream(&prefix);
    CodedOutputStream out(&stream);
    header.SerializeToCodedStream(&out);
    out.WriteTag(WireFormatLite::MakeTag(
        field, WireFormatLite::WIRETYPE_LENGTH_DELIMITED));
    out.WriteVarint32(static_cast<uint32_t>(data.size()));
  }
  // gRPC may hold the bytes after the call has ended, so the slice owns them.
  const grpc::Slice slices[] = {
      grpc::Slice(prefix),
      grpc::Slice(
          const_cast<char*>(data.data()), data.size(),
          [](void* held) { delete static_cast<Literal*>(held); },
          new Literal(owner))};
  return grpc::ByteBuffer(slices, data.empty() ? 1 : 2);
}

grpc::ByteBuffer FrameOf(const MessageLite& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

absl::Status ReadFrame(
    grpc::ByteBuffer frame, int data_field, absl::Span<char>* room,
    const std::function<absl::Status(int, absl::string_view)>& other) {
  grpc::ProtoBufferReader reader(&frame);
  CodedInputStream in(&reader);
  in.SetTotalBytesLimit(std::numeric_limits<int>::max());
  while (const uint32_t tag = in.ReadTag()) {
    if (WireFormatLite::GetTagWireType(tag) !=
        WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (!WireFormatLite::SkipField(&in, tag)) return Malformed();
      continue;
    }
    uint32_t size;
    if (!in.ReadVarint32(&size)) return Malformed();
    const int field = WireFormatLite::GetTagFieldNumber(tag);
    if (field == data_field) {
      if (size > room->size()) {
        return DataLoss("more bytes than expected: ", size - room->size(),
                        " too many so far");
      }
      if (!in.ReadRaw(room->data(), static_cast<int>(size))) {
        return Malformed();
      }
      room->remove_prefix(size);
      continue;
    }
    std::string bytes;
    if (size > kMaxOtherBytes ||
        !in.ReadString(&bytes, static_cast<int>(size))) {
      return Malformed();
    }
    if (other) HAWSER_RETURN_IF_ERROR(other(field, bytes));
  }
  return in.ConsumedEntireMessage() ? absl::OkStatus() : Malformed();
}

absl::Status ParseFrame(grpc::ByteBuffer frame, MessageLite* message) {
  grpc::ProtoBufferReader reader(&frame);
  return message->ParseFromZeroCopyStream(&reader) ? absl::OkStatus()
                                                   : Malformed();
}

}  // namespace hawser
