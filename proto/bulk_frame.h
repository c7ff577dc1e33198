// A frame of a bulk stream: a message of which one bytes field, its data, goes
// between gRPC's buffers and its place without a protobuf message in between.
#ifndef HAWSER_PROTO_BULK_FRAME_H_
#define HAWSER_PROTO_BULK_FRAME_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/types/span.h"
#include "google/protobuf/message_lite.h"

namespace hawser {

// A serialized message without data, and data as its field `data_field`. The
// data is not copied: `owner` is held as long as gRPC holds the frame, which
// may be longer than the call.
grpc::ByteBuffer OutFrame(std::string header, int data_field,
                          absl::Span<const char> data,
                          std::shared_ptr<const void> owner);

// A message that came in.
class InFrame {
 public:
  // Reads all of it but the data, which stays in `buffer` and is used until
  // the frame is done with. False: it is no such message, has data twice, or
  // more than 16 KiB besides it.
  bool Parse(grpc::ByteBuffer* buffer, int data_field,
             google::protobuf::MessageLite* header);
  // The bytes of the data.
  uint64_t size() const { return size_; }
  // Copies all of the data to `into`.
  void CopyTo(char* into) const;

 private:
  grpc::ByteBuffer* buffer_ = nullptr;
  int offset_ = 0;
  uint64_t size_ = 0;
};

}  // namespace hawser
#endif  // HAWSER_PROTO_BULK_FRAME_H_
