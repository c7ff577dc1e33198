// One bulk stream, run to its end; and what all calls on gRPC here share.
#ifndef HAWSER_CLIENT_REMOTE_GRPC_BULK_BULK_STREAM_H_
#define HAWSER_CLIENT_REMOTE_GRPC_BULK_BULK_STREAM_H_

#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "core/base/threads/cancel.h"
#include "google/protobuf/message_lite.h"

namespace hawser {

// The stub that calls go to, and how long the other end may neither take nor
// send anything. The things that it points to outlive a call.
struct BulkConnection {
  grpc::GenericStub* stub;
  const std::string& address;
  absl::Duration silence;
};

// The frames that go out and come in. Both run on the caller's thread.
struct BulkFrames {
  // Fills the next frame to send; false: that was the last one. Called until
  // then, at least once. An error ends the stream with it; nothing of this
  // frame is sent.
  std::function<absl::StatusOr<bool>(grpc::ByteBuffer* frame)> next;
  // Every frame received. An error ends the stream with it.
  std::function<absl::Status(grpc::ByteBuffer* frame)> take;
};

// Sends and receives as `frames` says; returns the server's status once
// nothing of the call is left. Cancels it when `cancel` expires, and with
// kUnavailable when the other end is silent.
absl::Status RunBulkStream(const BulkConnection& connection,
                           const std::string& method, const BulkFrames& frames,
                           const CancelToken& cancel);
// One request and its answer, likewise.
absl::Status AskOnce(const BulkConnection& connection,
                     const std::string& method,
                     const google::protobuf::MessageLite& request,
                     google::protobuf::MessageLite* reply,
                     const CancelToken& cancel);

// Cancels the call of `context` when `cancel` expires; it is waited for
// even so. Not longer than what is returned lives, which is not as long as
// `context`.
[[nodiscard]] CancelToken::Registration CancelWithin(
    const CancelToken& cancel, grpc::ClientContext* context);

// gRPC's status of a call of `cancel` to `address`: its own words
// when those ended it, and a lost link names the address.
absl::Status CallStatus(const grpc::Status& status, const CancelToken& cancel,
                        absl::string_view address);

void SetDeadline(const CancelToken& cancel, grpc::ClientContext* context);

// A message as gRPC takes it, and back, from `address`. Errors: kUnavailable,
// it is none.
grpc::ByteBuffer ToBuffer(const google::protobuf::MessageLite& message);
absl::Status FromBuffer(grpc::ByteBuffer buffer,
                        google::protobuf::MessageLite* message,
                        const std::string& address);

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_GRPC_BULK_BULK_STREAM_H_
