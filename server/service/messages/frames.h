// Messages <-> gRPC's buffers, and streams of bulk data that are not copied.
#ifndef HAWSER_SERVER_SERVICE_MESSAGES_FRAMES_H_
#define HAWSER_SERVER_SERVICE_MESSAGES_FRAMES_H_

#include <grpcpp/support/byte_buffer.h>

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "google/protobuf/message.h"
#include "server/rpc/rpc.h"
#include "server/service/messages/piece.h"

namespace hawser::server {

// Any message <-> a buffer. All our methods are raw: gRPC's own parsing takes
// what is no message for the end of a stream, or for an unknown method.
// Errors: kInvalidArgument for what is none, kResourceExhausted for what would
// take far more memory than it has bytes.
absl::Status ParseBuffer(const grpc::ByteBuffer& buffer,
                         google::protobuf::Message* message);
void FillBuffer(const google::protobuf::Message& message,
                grpc::ByteBuffer* buffer);

// Answers one request with pieces, in frames of 256 KiB that point at the
// pieces' memory.
class PieceStream final : public Reactor {
 public:
  // Calls its argument once, on any thread, with the next piece.
  using Source = std::function<void(PieceDone)>;
  struct Pieces {
    std::string first;  // of the first frame, serialized, besides data
    Source source;
  };
  using Open =
      std::function<absl::StatusOr<Pieces>(const grpc::ByteBuffer& request)>;
  // The data of each frame is field `data_field`.
  PieceStream(Rpc* rpc, int data_field, Open open);

  void OnRead(bool ok) override;
  void OnWritten(bool ok) override;

 private:
  void Pull();
  void Got(const absl::StatusOr<Piece>& piece);
  void WriteFrame();

  const int data_field_;
  const Open open_;
  grpc::ByteBuffer request_;
  Source source_;
  std::string prefix_;  // of the next frame
  bool wrote_ = false;
  Piece piece_;
};

}  // namespace hawser::server
#endif  // HAWSER_SERVER_SERVICE_MESSAGES_FRAMES_H_
