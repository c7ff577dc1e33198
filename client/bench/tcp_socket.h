// TcpSocket: bare TCP, the floor of every other transport.
#ifndef HAWSER_CLIENT_BENCH_TCP_SOCKET_H_
#define HAWSER_CLIENT_BENCH_TCP_SOCKET_H_

#include <sys/socket.h>

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "core/base/threads/cancel.h"

namespace hawser::bench {

// The address that a socket connects to or listens on.
struct TcpEndpoint {
  sockaddr_storage address = {};
  socklen_t length = 0;

  // "127.0.0.1:7071", "[::1]:7071".
  std::string ToString() const;
};

// An open socket, which its destructor closes. One thread at a time.
class TcpSocket {
 public:
  // The first endpoint of "host:port" or "[::1]:port" that answers.
  // Errors: kInvalidArgument for a text that is no address; kUnavailable naming
  // it.
  static absl::StatusOr<TcpEndpoint> Find(const std::string& address,
                                          absl::Duration patience);
  // Errors: kUnavailable naming the endpoint.
  static absl::StatusOr<TcpSocket> Connect(const TcpEndpoint& to,
                                           absl::Duration patience);
  // Listens on an address; port 0 is any free one. Errors: as Find.
  static absl::StatusOr<TcpSocket> Listen(const std::string& address);

  TcpSocket(TcpSocket&& other);
  TcpSocket& operator=(TcpSocket&& other);
  ~TcpSocket();

  // The next connection to this socket. Errors: those of the token;
  // kUnavailable.
  absl::StatusOr<TcpSocket> Accept(const CancelToken& cancel) const;
  // Sends all of `data`. Errors: those of the token; kUnavailable when the
  // other end is gone.
  absl::Status Send(absl::Span<const char> data, const CancelToken& cancel);
  absl::Status Receive(absl::Span<char> into, const CancelToken& cancel);

  // The address of this end.
  absl::StatusOr<TcpEndpoint> local() const;

 private:
  explicit TcpSocket(int fd) : fd_(fd) {}
  absl::Status SetPatience(absl::Duration patience) const;

  int fd_ = -1;
};

}  // namespace hawser::bench
#endif  // HAWSER_CLIENT_BENCH_TCP_SOCKET_H_
