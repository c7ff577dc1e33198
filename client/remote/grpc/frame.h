// Bulk messages written and read as bytes, so that the data in them is never
// copied into a protobuf message: a frame is the serialized message, its data
// a slice of the user's memory.
#ifndef HAWSER_CLIENT_REMOTE_GRPC_FRAME_H_
#define HAWSER_CLIENT_REMOTE_GRPC_FRAME_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "core/base/values/literal.h"
#include "google/protobuf/message_lite.h"

namespace hawser {

// `header` with bytes field `field` set to `data`, which must not be set in
// it. `owner` is held as long as gRPC holds the frame.
grpc::ByteBuffer FrameOf(const google::protobuf::MessageLite& header, int field,
                         absl::Span<const char> data, const Literal& owner);
grpc::ByteBuffer FrameOf(const google::protobuf::MessageLite& message);

// Copies bytes field `data_field` to the front of `*room` and takes it off
// there; gives the bytes of every other length-delimited field to `other`
// (may be empty), before any data behind it is read. Errors: kDataLoss when
// the data does not fit or the frame is no message.
absl::Status ReadFrame(
    grpc::ByteBuffer frame, int data_field, absl::Span<char>* room,
    const std::function<absl::Status(int field, absl::string_view bytes)>&
        other);

absl::Status ParseFrame(grpc::ByteBuffer frame,
                        google::protobuf::MessageLite* message);

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_GRPC_FRAME_H_
