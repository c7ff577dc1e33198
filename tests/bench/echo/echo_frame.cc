#include "tests/bench/echo/echo_frame.h"

#include <grpcpp/support/slice.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "tests/bench/echo/echo.pb.h"

namespace hawser::bench {

grpc::ByteBuffer FrameOf(absl::Span<const char> data) {
  std::string prefix;
  {
    google::protobuf::io::StringOutputStream stream(&prefix);
    google::protobuf::io::CodedOutputStream out(&stream);
    out.WriteTag(EchoMessage::kDataFieldNumber << 3 | 2);
    out.WriteVarint32(static_cast<uint32_t>(data.size()));
  }
  const grpc::Slice slices[] = {
      grpc::Slice(prefix),
      grpc::Slice(data.data(), data.size(), grpc::Slice::STATIC_SLICE)};
  return grpc::ByteBuffer(slices, 2);
}

bool CopyFrame(grpc::ByteBuffer* frame, absl::Span<char> room) {
  std::vector<grpc::Slice> slices;
  if (!frame->Dump(&slices).ok()) return false;
  for (const grpc::Slice& slice : slices) {
    const size_t n = std::min(slice.size(), room.size());
    std::memcpy(room.data(), slice.begin(), n);
    room.remove_prefix(n);
  }
  return true;
}

}  // namespace hawser::bench
