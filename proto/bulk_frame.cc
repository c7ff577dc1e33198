#include "proto/bulk_frame.h"

#include <grpcpp/support/proto_buffer_reader.h>
#include <grpcpp/support/slice.h>

#include <cstdlib>
#include <limits>
#include <utility>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"

namespace hawser {
namespace {

using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;
using google::protobuf::io::StringOutputStream;

// The bytes of a bulk frame besides its data: ids, digests, secrets, a shape.
constexpr uint32_t kMaxHeaderField = 4096;
constexpr int kMaxHeader = 4 * kMaxHeaderField;

// The wire types of the headers' fields.
constexpr int kVarint = 0;
constexpr int kFixed64 = 1;
constexpr int kBytes = 2;
constexpr int kFixed32 = 5;

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
  if ((tag & 7) == kFixed32) {
    uint32_t value = 0;
    if (!in.ReadLittleEndian32(&value)) return false;
    out.WriteLittleEndian32(value);
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

grpc::ByteBuffer OutFrame(std::string header, int data_field,
                          absl::Span<const char> data,
                          std::shared_ptr<const void> owner) {
  if (data.empty()) {
    const grpc::Slice slice(header);
    return grpc::ByteBuffer(&slice, 1);
  }
  {
    StringOutputStream stream(&header);
    CodedOutputStream out(&stream);
    out.WriteTag(TagOf(data_field, kBytes));
    out.WriteVarint32(static_cast<uint32_t>(data.size()));
  }
  const grpc::Slice slices[] = {
      grpc::Slice(header),
      grpc::Slice(
          const_cast<char*>(data.data()), data.size(),
          [](void* held) {
            delete static_cast<std::shared_ptr<const void>*>(held);
          },
          new std::shared_ptr<const void>(std::move(owner)))};
  return grpc::ByteBuffer(slices, 2);
}

bool InFrame::Parse(grpc::ByteBuffer* buffer, int data_field,
                    google::protobuf::MessageLite* header) {
  buffer_ = buffer;
  offset_ = 0;
  size_ = 0;
  std::string fields;
  grpc::ProtoBufferReader reader(buffer);
  CodedInputStream in(&reader);
  in.SetTotalBytesLimit(std::numeric_limits<int>::max());
  {
    StringOutputStream string(&fields);
    CodedOutputStream out(&string);
    while (const uint32_t tag = in.ReadTag()) {
      if (tag != TagOf(data_field, kBytes)) {
        if (!CopyField(tag, in, out) || out.ByteCount() > kMaxHeader) {
          return false;
        }
        continue;
      }
      uint32_t size = 0;
      if (offset_ != 0 || !in.ReadVarint32(&size)) return false;
      offset_ = in.CurrentPosition();
      size_ = size;
      if (size > buffer->Length() || !in.Skip(static_cast<int>(size))) {
        return false;
      }
    }
  }
  return in.ConsumedEntireMessage() && header->ParseFromString(fields);
}

void InFrame::CopyTo(char* into) const {
  if (size_ == 0) return;
  grpc::ProtoBufferReader reader(buffer_);
  CodedInputStream in(&reader);
  in.SetTotalBytesLimit(std::numeric_limits<int>::max());
  // Parse has been here before.
  if (!in.Skip(offset_) || !in.ReadRaw(into, static_cast<int>(size_))) {
    std::abort();
  }
}

}  // namespace hawser
