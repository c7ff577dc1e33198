#include "tests/server/access/sockets.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "core/base/status.h"

namespace hawser::testing {
namespace {

socklen_t Fill(absl::string_view address, sockaddr_storage* out) {
  std::memset(out, 0, sizeof(*out));
  if (absl::ConsumePrefix(&address, "unix:")) {
    auto* unix = reinterpret_cast<sockaddr_un*>(out);
    unix->sun_family = AF_UNIX;
    std::memcpy(unix->sun_path, address.data(), address.size());
    return sizeof(*unix);
  }
  const size_t colon = address.rfind(':');
  int port = 0;
  HAWSER_CHECK(absl::SimpleAtoi(address.substr(colon + 1), &port));
  std::string host(address.substr(0, colon));
  if (host[0] == '[') {
    auto* in6 = reinterpret_cast<sockaddr_in6*>(out);
    in6->sin6_family = AF_INET6;
    in6->sin6_port = htons(port);
    host = host.substr(1, host.size() - 2);
    HAWSER_CHECK(inet_pton(AF_INET6, host.c_str(), &in6->sin6_addr) == 1);
    return sizeof(*in6);
  }
  auto* in = reinterpret_cast<sockaddr_in*>(out);
  in->sin_family = AF_INET;
  in->sin_port = htons(port);
  HAWSER_CHECK(inet_pton(AF_INET, host.c_str(), &in->sin_addr) == 1);
  return sizeof(*in);
}

}  // namespace

Socket Socket::To(const std::string& address) {
  sockaddr_storage to;
  const socklen_t size = Fill(address, &to);
  const int fd = socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(fd, reinterpret_cast<sockaddr*>(&to), size) == 0) {
    return Socket(fd);
  }
  close(fd);
  return Socket(-1);
}

Socket::~Socket() {
  if (fd_ >= 0) close(fd_);
}

void Socket::Send(const std::string& text) {
  HAWSER_CHECK(send(fd_, text.data(), text.size(), MSG_NOSIGNAL) ==
               static_cast<ssize_t>(text.size()));
}

bool Socket::IsClosedWithin(absl::Duration patience) {
  const absl::Time end = absl::Now() + patience;
  while (true) {
    pollfd poller = {fd_, POLLIN, 0};
    const int64_t left = absl::ToInt64Milliseconds(end - absl::Now());
    if (poll(&poller, 1, static_cast<int>(std::max<int64_t>(left, 0))) <= 0) {
      return false;
    }
    char buffer[4096];
    if (recv(fd_, buffer, sizeof(buffer), 0) <= 0) return true;
  }
}

}  // namespace hawser::testing
