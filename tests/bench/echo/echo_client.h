// EchoClient: the bare gRPC calls that hawser's are compared with.
#ifndef HAWSER_TESTS_BENCH_ECHO_ECHO_CLIENT_H_
#define HAWSER_TESTS_BENCH_ECHO_ECHO_CLIENT_H_

#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "tests/bench/echo/echo.grpc.pb.h"
#include "tests/bench/echo/message_sizes.h"

namespace hawser::bench {

// A request that is `sizes.request` long and asks for `sizes.answer`.
EchoMessage RequestOf(MessageSizes sizes);

// gRPC's blocking API, whose waiting thread reads the socket itself: nothing
// in gRPC answers sooner. One thread at a time.
class EchoClient {
 public:
  explicit EchoClient(const std::string& address);
  ~EchoClient();

  // One answer on a stream that is open already.
  absl::Status Ping(const EchoMessage& request);
  // Its two halves, so that several servers answer at once.
  absl::Status BeginPing(const EchoMessage& request);
  absl::Status EndPing();
  // One call.
  absl::Status Unary(const EchoMessage& request);
  // One client stream of frames that point at `data`. With `hashed` each end
  // takes the SHA-256 of each frame, which is not compared.
  absl::Status Put(absl::Span<const char> data, size_t frame_bytes,
                   bool hashed);
  // One server stream of frames that fill `into`.
  absl::Status Get(absl::Span<char> into, size_t frame_bytes);

 private:
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<Echo::Stub> stub_;
  grpc::ClientContext ping_context_;
  std::unique_ptr<grpc::ClientReaderWriter<EchoMessage, EchoMessage>> ping_;
};

}  // namespace hawser::bench
#endif  // HAWSER_TESTS_BENCH_ECHO_ECHO_CLIENT_H_
