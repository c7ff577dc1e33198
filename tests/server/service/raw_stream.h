// Bytes to and from any gRPC method, well formed or not.
#ifndef HAWSER_TESTS_SERVER_SERVICE_RAW_STREAM_H_
#define HAWSER_TESTS_SERVER_SERVICE_RAW_STREAM_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/support/byte_buffer.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace hawser::testing {

// A connection of its own, whatever others to the same address there are.
std::shared_ptr<grpc::Channel> ConnectRaw(const std::string& address);

grpc::ByteBuffer ToBuffer(absl::string_view bytes);

// One call of a method by name ("/hawser.v1.Executor/Session"). Every call
// blocks; a deadline that no test reaches keeps a broken one from hanging.
class RawStream {
 public:
  RawStream(const std::shared_ptr<grpc::Channel>& channel,
            const std::string& method);
  ~RawStream();  // as if the link broke, unless finished
  RawStream(const RawStream&) = delete;
  RawStream& operator=(const RawStream&) = delete;

  // False once the server has ended the call.
  bool Write(const grpc::ByteBuffer& message);
  bool Write(absl::string_view bytes) { return Write(ToBuffer(bytes)); }
  void WritesDone();
  // Nothing: the server sends no more.
  std::optional<std::string> Read();
  // How the call ended. Drops what was not read.
  absl::Status Finish();
  // The link breaks.
  void Cancel() { context_.TryCancel(); }

 private:
  bool Next();

  grpc::GenericStub stub_;
  grpc::ClientContext context_;
  grpc::CompletionQueue queue_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  bool finished_ = false;
};

// Sends all messages (as long as they are taken) and returns how it ended;
// `answers`, if given, gets what came back.
absl::Status CallRaw(const std::shared_ptr<grpc::Channel>& channel,
                     const std::string& method,
                     const std::vector<grpc::ByteBuffer>& messages,
                     std::vector<std::string>* answers = nullptr);

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_SERVER_SERVICE_RAW_STREAM_H_
