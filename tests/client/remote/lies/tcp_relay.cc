#include "tests/client/remote/lies/tcp_relay.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace hawser::testing {
namespace {

sockaddr_in Loopback(int port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  at.sin_port = htons(static_cast<uint16_t>(port));
  return at;
}

int PortOf(const std::string& address) {
  return std::atoi(address.substr(address.rfind(':') + 1).c_str());
}

}  // namespace

TcpRelay::TcpRelay(const std::string& to) : to_port_(PortOf(to)) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at = Loopback(0);
  socklen_t size = sizeof(at);
  auto* any = reinterpret_cast<sockaddr*>(&at);
  (void)bind(listener_, any, size);
  (void)listen(listener_, 64);
  (void)getsockname(listener_, any, &size);
  address_ = absl::StrCat("127.0.0.1:", ntohs(at.sin_port));
  acceptor_ = std::thread([this] { Accept(); });
}

TcpRelay::~TcpRelay() {
  ended_ = true;
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  close(listener_);
  const std::lock_guard<std::mutex> lock(mu_);
  for (const int fd : sockets_) shutdown(fd, SHUT_RDWR);
  for (std::thread& thread : threads_) thread.join();
  for (const int fd : sockets_) close(fd);
}

void TcpRelay::Accept() {
  while (!ended_) {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at = Loopback(to_port_);
    if (connect(server, reinterpret_cast<sockaddr*>(&at), sizeof(at)) != 0) {
      close(client);
      close(server);
      continue;
    }
    const int on = 1;
    for (const int fd : {client, server}) {
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
    const std::lock_guard<std::mutex> lock(mu_);
    sockets_.push_back(client);
    sockets_.push_back(server);
    threads_.emplace_back([=, this] { Copy(client, server, false); });
    threads_.emplace_back([=, this] { Copy(server, client, true); });
  }
}

void TcpRelay::Copy(int from, int to, bool from_server) {
  std::vector<char> bytes(1 << 16);
  while (!ended_) {
    const Mode mode = mode_;
    const bool trickles = mode == Mode::kByteASecond && from_server;
    if (mode == Mode::kStopped || trickles) {
      for (int i = 0; i < 100 && !ended_; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      if (!trickles) continue;
    }
    pollfd poller = {from, POLLIN, 0};
    if (poll(&poller, 1, /*timeout=*/20) == 0 || mode_ != mode) continue;
    const ssize_t got = read(from, bytes.data(), trickles ? 1 : bytes.size());
    if (got <= 0) break;
    for (ssize_t sent = 0; sent < got;) {
      const ssize_t more =
          send(to, bytes.data() + sent, got - sent, MSG_NOSIGNAL);
      if (more <= 0) return;
      sent += more;
    }
  }
  shutdown(to, SHUT_WR);
}

}  // namespace hawser::testing
