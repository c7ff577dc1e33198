#include "server/listener.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/status.h"

namespace hawser::server {
namespace {

constexpr int kBacklog = 512;

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
  *port = absl::StrCat(number);
  return absl::OkStatus();
}

// Makes `path` free for a socket: that of a server that has died is removed.
absl::Status RemoveStale(const sockaddr_un& address) {
  const absl::string_view path = address.sun_path;
  struct stat about {};
  if (lstat(address.sun_path, &about) != 0) return absl::OkStatus();
  if (!S_ISSOCK(about.st_mode)) {
    return FailedPrecondition("cannot listen on unix:", path,
                              ": a file that is no socket is there");
  }
  const int probe =
      socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool dead = connect(probe, reinterpret_cast<const sockaddr*>(&address),
                            sizeof(address)) != 0 &&
                    errno == ECONNREFUSED;
  close(probe);
  if (!dead) return CannotListen(absl::StrCat("unix:", path), EADDRINUSE);
  unlink(address.sun_path);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Listener>> Listener::Bind(
    absl::string_view address, bool anywhere) {
  std::unique_ptr<Listener> listener(new Listener());
  absl::string_view rest = address;
  HAWSER_RETURN_IF_ERROR(absl::ConsumePrefix(&rest, "unix:")
                             ? listener->BindUnix(rest)
                             : listener->BindTcp(address, anywhere));
  if (listen(listener->fd_, kBacklog) != 0) {
    return CannotListen(listener->address_, errno);
  }
  return listener;
}

absl::Status Listener::BindTcp(absl::string_view text, bool anywhere) {
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
  local_ = IsLoopback(found->ai_addr);
  if (!local_ && !anywhere) {
    return FailedPrecondition(
        "will not listen on ", NameOf(found->ai_addr, found->ai_addrlen),
        " without client certificates (--tls_cert, --tls_key, "
        "--tls_client_ca): whoever reaches it could talk to it; spell out "
        "--insecure if that is what you want");
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
  if (path.empty() || path[0] == '@' ||
      path.size() >= sizeof(address.sun_path)) {
    return InvalidArgument("\"", path,
                           "\" cannot be a socket's path, which has "
                           "1 to ",
                           sizeof(address.sun_path) - 1,
                           " characters and no @ in front");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  address_ = absl::StrCat("unix:", path);
  HAWSER_RETURN_IF_ERROR(RemoveStale(address));
  fd_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd_ < 0 || bind(fd_, reinterpret_cast<const sockaddr*>(&address),
                      sizeof(address)) != 0) {
    return CannotListen(address_, errno);
  }
  unix_path_ = std::string(path);
  // Before listen, hence before any client can connect.
  struct stat about {};
  if (chmod(unix_path_.c_str(), S_IRUSR | S_IWUSR) != 0 ||
      lstat(unix_path_.c_str(), &about) != 0) {
    return CannotListen(address_, errno);
  }
  unix_inode_ = about.st_ino;
  return absl::OkStatus();
}

void Listener::Refuse() { (void)shutdown(fd_, SHUT_RDWR); }

Listener::~Listener() {
  if (fd_ >= 0) close(fd_);
  struct stat about {};
  // Another server may have taken the path since.
  if (!unix_path_.empty() && lstat(unix_path_.c_str(), &about) == 0 &&
      about.st_ino == unix_inode_) {
    unlink(unix_path_.c_str());
  }
}

}  // namespace hawser::server
