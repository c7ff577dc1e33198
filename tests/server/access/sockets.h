// Plain sockets, for tests that connect without a protocol.
#ifndef HAWSER_TESTS_SERVER_ACCESS_SOCKETS_H_
#define HAWSER_TESTS_SERVER_ACCESS_SOCKETS_H_

#include <string>
#include <utility>

#include "absl/time/time.h"

namespace hawser::testing {

// A connected socket, closed when it dies; not valid when connecting failed.
class Socket {
 public:
  // "127.0.0.1:port", "[::1]:port" or "unix:/path".
  static Socket To(const std::string& address);
  Socket(Socket&& other) : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Socket();

  bool valid() const { return fd_ >= 0; }
  void Send(const std::string& text);
  // Whether the other end closes it within `patience`.
  bool IsClosedWithin(absl::Duration patience);

 private:
  explicit Socket(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_SERVER_ACCESS_SOCKETS_H_
