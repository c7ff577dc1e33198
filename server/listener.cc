#include "server/listener.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/log.h"
#include "core/base/status.h"

namespace hawser::server {
namespace {

constexpr int kBacklog = 512;
// Kept free for files, pipes and sockets of everything else in the process.
constexpr int kReservedFds = 128;
constexpr int kMaxConnections = 16384;

absl::Status CannotListen(absl::string_view address, int error) {
  return FailedPrecondition("cannot listen on ", address, ": ",
                            std::strerror(error));
}

bool IsLoopback(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    const auto* in = reinterpret_cast<const sockaddr_in*>(address);
    return (ntohl(in->sin_addr.s_addr) >> 24) == 127;
  }
  const auto* in6 = reinterpret_cast<const sockaddr_in6*>(address);
  return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
}

std::string NameOf(const sockaddr* address, socklen_t size) {
  char host[NI_MAXHOST], port[NI_MAXSERV];
  if (getnameinfo(address, size, host, sizeof(host), port, sizeof(port),
                  NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "?";
  }
  return address->sa_family == AF_INET6 ? absl::StrCat("[", host, "]:", port)
                                        : absl::StrCat(host, ":", port);
}

// "host:port" in two; brackets around an IPv6 host go.
absl::Status SplitHostPort(absl::string_view text, std::string* host,
                           std::string* port) {
  const size_t colon = text.rfind(':');
  int number = -1;
  if (colon == absl::string_view::npos || colon == 0 ||
      !absl::SimpleAtoi(text.substr(colon + 1), &number) || number < 0 ||
      number > 65535) {
    return InvalidArgument("\"", text, "\" is not host:port nor unix:/path");
  }
  absl::string_view name = text.substr(0, colon);
  if (absl::ConsumePrefix(&name, "[")) absl::ConsumeSuffix(&name, "]");
  *host = std::string(name);
  *port = std::string(text.substr(colon + 1));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Listener>> Listener::Bind(
    absl::string_view address, bool insecure) {
  std::unique_ptr<Listener> listener(new Listener());
  listener->stop_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  absl::string_view rest = address;
  HAWSER_RETURN_IF_ERROR(absl::ConsumePrefix(&rest, "unix:")
                             ? listener->BindUnix(rest)
                             : listener->BindTcp(address, insecure));
  HAWSER_RETURN_IF_ERROR(listener->Listen());
  return listener;
}

absl::Status Listener::BindTcp(absl::string_view text, bool insecure) {
  std::string host, port;
  HAWSER_RETURN_IF_ERROR(SplitHostPort(text, &host, &port));
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (error != 0) {
    return InvalidArgument("cannot find host \"", host,
                           "\": ", gai_strerror(error));
  }
  std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, freeaddrinfo);
  if (!IsLoopback(found->ai_addr) && !insecure) {
    return FailedPrecondition(
        "will not listen on ", NameOf(found->ai_addr, found->ai_addrlen),
        ": this server has no credentials yet, so whoever reaches it may run "
        "anything; spell out --insecure if that is what you want");
  }
  fd_ = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  if (fd_ < 0 ||
      setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
      bind(fd_, found->ai_addr, found->ai_addrlen) != 0) {
    return CannotListen(text, errno);
  }
  sockaddr_storage bound{};
  socklen_t size = sizeof(bound);
  getsockname(fd_, reinterpret_cast<sockaddr*>(&bound), &size);
  address_ = NameOf(reinterpret_cast<sockaddr*>(&bound), size);
  return absl::OkStatus();
}

absl::Status Listener::BindUnix(absl::string_view path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return InvalidArgument("\"", path, "\" cannot be a socket's path");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  const auto* any = reinterpret_cast<const sockaddr*>(&address);
  fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd_ < 0) return CannotListen(path, errno);
  if (bind(fd_, any, sizeof(address)) != 0) {
    if (errno != EADDRINUSE) return CannotListen(path, errno);
    // Left by a server that died, unless somebody answers.
    const int probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool dead =
        connect(probe, any, sizeof(address)) != 0 && errno == ECONNREFUSED;
    close(probe);
    if (!dead) return CannotListen(path, EADDRINUSE);
    unlink(address.sun_path);
    if (bind(fd_, any, sizeof(address)) != 0) return CannotListen(path, errno);
  }
  unix_path_ = std::string(path);
  address_ = absl::StrCat("unix:", path);
  return absl::OkStatus();
}

absl::Status Listener::Listen() {
  if (listen(fd_, kBacklog) != 0) return CannotListen(address_, errno);
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t most = std::min<rlim_t>(limit.rlim_cur, kMaxConnections);
  fd_cap_ = std::max(static_cast<int>(most) - kReservedFds, 16);
  return absl::OkStatus();
}

Listener::~Listener() {
  Stop();
  if (fd_ >= 0) close(fd_);
  if (stop_fd_ >= 0) close(stop_fd_);
  if (!unix_path_.empty()) unlink(unix_path_.c_str());
}

void Listener::Start(std::function<void(int fd)> on_connection) {
  on_connection_ = std::move(on_connection);
  thread_ = std::thread([this] { Loop(); });
}

void Listener::Stop() {
  if (!thread_.joinable()) return;
  const uint64_t one = 1;
  HAWSER_CHECK(write(stop_fd_, &one, sizeof(one)) == sizeof(one));
  thread_.join();
}

void Listener::Loop() {
  pollfd fds[] = {{fd_, POLLIN, 0}, {stop_fd_, POLLIN, 0}};
  while (true) {
    if (poll(fds, 2, -1) < 0 && errno != EINTR) return;
    if (fds[1].revents != 0) return;
    if (fds[0].revents != 0) Accept();
  }
}

void Listener::Accept() {
  const int fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) {
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
      HAWSER_LOG(kWarning) << "cannot accept: " << std::strerror(errno);
      poll(nullptr, 0, 50);  // until something is closed
    }
    return;
  }
  // The lowest free number is given out, so a high one means that many open.
  if (fd >= fd_cap_) {
    HAWSER_LOG(kWarning) << "connection refused: " << fd << " descriptors are "
                         << "open";
    close(fd);
    return;
  }
  const int on = 1;  // fails on Unix sockets, which have no delay
  (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  on_connection_(fd);
}

}  // namespace hawser::server
