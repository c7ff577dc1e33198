// A server with credentials in this process, and clients that speak to it
// without the client library.
#ifndef HAWSER_TESTS_SERVER_ACCESS_ACCESS_SERVER_H_
#define HAWSER_TESTS_SERVER_ACCESS_ACCESS_SERVER_H_

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "client/remote/link/options.h"
#include "core/runtime/client.h"
#include "proto/datasets.grpc.pb.h"
#include "proto/executor.grpc.pb.h"
#include "server/host.h"

namespace hawser::testing {

// On a CPU device; on a free port of 127.0.0.1 unless the options say
// otherwise. `lease`: of sessions.
absl::StatusOr<std::unique_ptr<server::Host>> StartHost(
    server::AccessOptions access, std::string listen = "127.0.0.1:0",
    absl::Duration lease = absl::Seconds(60));

// A client of the library.
absl::StatusOr<std::shared_ptr<runtime::Client>> ConnectTo(
    const server::Host& host, Credentials credentials);

// Whether a client with these credentials is let in: what the server says to
// its first message.
absl::Status LetsIn(const server::Host& host, Credentials credentials);

// A client that sends any bytes, in plaintext.
class RawClient {
 public:
  // Without a token no `authorization` is sent.
  RawClient(const std::string& address, std::string token);

  v1::Executor::Stub& executor() { return *executor_; }
  v1::Datasets::Stub& datasets() { return *datasets_; }
  // A context for one call, with a deadline that a test never reaches.
  std::unique_ptr<grpc::ClientContext> Context() const;
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }

 private:
  const std::string token_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::Executor::Stub> executor_;
  const std::unique_ptr<v1::Datasets::Stub> datasets_;
};

// A session stream of a RawClient; closed when it dies.
class RawSession {
 public:
  explicit RawSession(RawClient& client);
  ~RawSession();

  // Opens a session, or the one named: the server's answer.
  v1::ServerMessage Open(uint64_t session_id = 0,
                         const std::string& secret = "");
  // Sends a request and returns the answer to it.
  v1::ServerMessage Ask(v1::ClientMessage request);

 private:
  v1::ServerMessage Next();

  const std::unique_ptr<grpc::ClientContext> context_;
  const std::unique_ptr<
      grpc::ClientReaderWriter<v1::ClientMessage, v1::ServerMessage>>
      stream_;
  uint64_t sequence_ = 0;
  bool finished_ = false;
};

// Any method by name ("/hawser.v1.Executor/Call") with one empty message as
// its request: how the call ended.
absl::Status CallEmpty(const RawClient& client, const std::string& method);

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_SERVER_ACCESS_ACCESS_SERVER_H_
