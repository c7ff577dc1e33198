#include "client/bench/tcp_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "core/base/status.h"

namespace hawser::bench {
namespace {

// The time between two looks of a wait at its token.
constexpr absl::Duration kTick = absl::Milliseconds(100);
constexpr int kBacklog = 16;

using Addresses = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;

absl::StatusOr<Addresses> Resolve(const std::string& address, int flags) {
  const size_t colon = address.rfind(':');
  if (colon == std::string::npos || absl::StartsWith(address, "unix:")) {
    return InvalidArgument("\"", address, "\" is no TCP address: must be ",
                           "host:port");
  }
  absl::string_view host = absl::string_view(address).substr(0, colon);
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  addrinfo hints = {};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(host.empty() ? nullptr : std::string(host).c_str(),
                  address.c_str() + colon + 1, &hints, &found);
  if (error == EAI_NONAME || error == EAI_SERVICE) {
    return InvalidArgument("\"", address,
                           "\" is no TCP address: ", gai_strerror(error));
  }
  if (error != 0) {
    return Unavailable("cannot look up ", address, ": ", gai_strerror(error));
  }
  return Addresses(found, freeaddrinfo);
}

TcpEndpoint EndpointOf(const addrinfo& info) {
  TcpEndpoint out;
  std::memcpy(&out.address, info.ai_addr, info.ai_addrlen);
  out.length = info.ai_addrlen;
  return out;
}

const sockaddr* RawAddress(const TcpEndpoint& endpoint) {
  return reinterpret_cast<const sockaddr*>(&endpoint.address);
}

absl::Status Failed(absl::string_view what, const std::string& where) {
  return Unavailable("cannot ", what, " ", where, ": ", std::strerror(errno));
}

bool MayTryAgain() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

std::string TcpEndpoint::ToString() const {
  char host[NI_MAXHOST], port[NI_MAXSERV];
  if (getnameinfo(RawAddress(*this), length, host, sizeof(host), port,
                  sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "an unknown address";
  }
  return address.ss_family == AF_INET6 ? absl::StrCat("[", host, "]:", port)
                                       : absl::StrCat(host, ":", port);
}

absl::StatusOr<TcpEndpoint> TcpSocket::Find(const std::string& address,
                                            absl::Duration patience) {
  HAWSER_ASSIGN_OR_RETURN(const Addresses found, Resolve(address, 0));
  absl::Status last = Unavailable("nobody is at ", address);
  for (const addrinfo* info = found.get(); info; info = info->ai_next) {
    const TcpEndpoint endpoint = EndpointOf(*info);
    last = Connect(endpoint, patience).status();
    if (last.ok()) return endpoint;
  }
  return last;
}

absl::StatusOr<TcpSocket> TcpSocket::Connect(const TcpEndpoint& to,
                                             absl::Duration patience) {
  TcpSocket out(
      socket(to.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
  // The timeout of sending is also that of connecting.
  if (out.fd_ < 0 || !out.SetPatience(patience).ok() ||
      connect(out.fd_, RawAddress(to), to.length) != 0) {
    return Failed("connect to", to.ToString());
  }
  const int on = 1;
  setsockopt(out.fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  HAWSER_RETURN_IF_ERROR(out.SetPatience(kTick));
  return out;
}

absl::StatusOr<TcpSocket> TcpSocket::Listen(const std::string& address) {
  HAWSER_ASSIGN_OR_RETURN(const Addresses found, Resolve(address, AI_PASSIVE));
  const TcpEndpoint endpoint = EndpointOf(*found);
  TcpSocket out(socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_CLOEXEC,
                       IPPROTO_TCP));
  const int on = 1;
  setsockopt(out.fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (out.fd_ < 0 || !out.SetPatience(kTick).ok() ||
      bind(out.fd_, RawAddress(endpoint), endpoint.length) != 0 ||
      listen(out.fd_, kBacklog) != 0) {
    return Failed("listen on", address);
  }
  return out;
}

TcpSocket::TcpSocket(TcpSocket&& other) : fd_(std::exchange(other.fd_, -1)) {}
TcpSocket& TcpSocket::operator=(TcpSocket&& other) {
  std::swap(fd_, other.fd_);
  return *this;
}
TcpSocket::~TcpSocket() {
  if (fd_ >= 0) close(fd_);
}

absl::Status TcpSocket::SetPatience(absl::Duration patience) const {
  const timeval time = absl::ToTimeval(patience);
  if (setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time)) == 0 &&
      setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)) == 0) {
    return absl::OkStatus();
  }
  return Failed("set times of", "a socket");
}

absl::StatusOr<TcpSocket> TcpSocket::Accept(const CancelToken& cancel) const {
  while (true) {
    HAWSER_RETURN_IF_ERROR(cancel.Check());
    TcpSocket out(accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC));
    if (out.fd_ >= 0) {
      const int on = 1;
      setsockopt(out.fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
      HAWSER_RETURN_IF_ERROR(out.SetPatience(kTick));
      return out;
    }
    if (!MayTryAgain() && errno != ECONNABORTED) {
      return Failed("accept on", "a socket");
    }
  }
}

absl::Status TcpSocket::Send(absl::Span<const char> data,
                             const CancelToken& cancel) {
  while (!data.empty()) {
    const ssize_t n = send(fd_, data.data(), data.size(), MSG_NOSIGNAL);
    if (n >= 0) {
      data.remove_prefix(static_cast<size_t>(n));
    } else if (!MayTryAgain()) {
      return Failed("send to", "the other end");
    } else {
      HAWSER_RETURN_IF_ERROR(cancel.Check());
    }
  }
  return absl::OkStatus();
}

absl::Status TcpSocket::Receive(absl::Span<char> into,
                                const CancelToken& cancel) {
  while (!into.empty()) {
    const ssize_t n = recv(fd_, into.data(), into.size(), 0);
    if (n > 0) {
      into.remove_prefix(static_cast<size_t>(n));
    } else if (n == 0) {
      return Unavailable("the other end has closed the connection");
    } else if (!MayTryAgain()) {
      return Failed("receive from", "the other end");
    } else {
      HAWSER_RETURN_IF_ERROR(cancel.Check());
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<TcpEndpoint> TcpSocket::local() const {
  TcpEndpoint out;
  out.length = sizeof(out.address);
  if (getsockname(fd_, reinterpret_cast<sockaddr*>(&out.address),
                  &out.length) != 0) {
    return Failed("name", "a socket");
  }
  return out;
}

}  // namespace hawser::bench
