// TcpSocket: TCP as the kernel gives it, for what has to be compared with it.
#ifndef HAWSER_CLIENT_BENCH_TCP_SOCKET_H_
#define HAWSER_CLIENT_BENCH_TCP_SOCKET_H_

#include <sys/socket.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/cancel.h"

namespace hawser::bench {

// Where a socket connects to or listens.
struct TcpEndpoint {
  sockaddr_storage address = {};
  socklen_t length = 0;

  // "127.0.0.1:7071", "[::1]:7071".
  std::string ToString() const;
};

// One thread at a time. Closed when it goes out of scope.
class TcpSocket {
 public:
  // The first endpoint of "host:port" or "[::1]:port" that answers.
  // Errors: kInvalidArgument, that is no address; kUnavailable naming it.
  static absl::StatusOr<TcpEndpoint> Find(const std::string& address,
                                          absl::Duration patience);
  // Errors: kUnavailable naming the endpoint.
  static absl::StatusOr<TcpSocket> Connect(const TcpEndpoint& to,
                                           absl::Duration patience);
  // Port 0: any that is free. Errors: as Find.
  static absl::StatusOr<TcpSocket> Listen(const std::string& address);

  TcpSocket(TcpSocket&& other);
  TcpSocket& operator=(TcpSocket&& other);
  ~TcpSocket();

  // The next that connects here. Errors: the token's; kUnavailable.
  absl::StatusOr<TcpSocket> Accept(const CancelToken& cancel) const;
  // All of it. Errors: the token's; kUnavailable when the other end is gone.
  absl::Status Send(absl::Span<const char> data, const CancelToken& cancel);
  absl::Status Receive(absl::Span<char> into, const CancelToken& cancel);

  // This end.
  absl::StatusOr<TcpEndpoint> local() const;

 private:
  explicit TcpSocket(int fd) : fd_(fd) {}
  absl::Status SetPatience(absl::Duration patience) const;

  int fd_ = -1;
};

}  // namespace hawser::bench
#endif  // HAWSER_CLIENT_BENCH_TCP_SOCKET_H_
