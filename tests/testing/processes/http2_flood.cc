#include "tests/testing/processes/http2_flood.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "absl/strings/str_cat.h"

namespace hawser::testing {
namespace {

constexpr uint8_t kHeaders = 1, kReset = 3, kSettings = 4, kContinuation = 9;
constexpr uint8_t kEndHeaders = 4;

std::string Frame(uint8_t type, uint8_t flags, uint32_t stream,
                  absl::string_view payload) {
  const size_t n = payload.size();
  const char head[9] = {static_cast<char>(n >> 16),
                        static_cast<char>(n >> 8),
                        static_cast<char>(n),
                        static_cast<char>(type),
                        static_cast<char>(flags),
                        static_cast<char>(stream >> 24),
                        static_cast<char>(stream >> 16),
                        static_cast<char>(stream >> 8),
                        static_cast<char>(stream)};
  return absl::StrCat(absl::string_view(head, sizeof(head)), payload);
}

// Of at most 126 bytes, not Huffman-coded.
std::string Text(absl::string_view text) {
  return absl::StrCat(std::string(1, static_cast<char>(text.size())), text);
}

// A header field that no table keeps.
std::string Field(absl::string_view name, absl::string_view value) {
  return absl::StrCat(std::string(1, '\0'), Text(name), Text(value));
}

}  // namespace

Http2Connection::Http2Connection(const std::string& address) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(static_cast<uint16_t>(
      std::atoi(address.substr(address.rfind(':') + 1).c_str())));
  fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof(to)) != 0) {
    close(fd_);
    fd_ = -1;
    return;
  }
  Send(absl::StrCat("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                    Frame(kSettings, 0, 0, "")));
}

Http2Connection::~Http2Connection() {
  if (fd_ >= 0) close(fd_);
}

bool Http2Connection::Send(absl::string_view bytes) {
  char dropped[4096];
  while (!bytes.empty()) {
    pollfd wait{fd_, POLLIN | POLLOUT, 0};
    if (poll(&wait, 1, /*milliseconds=*/20000) <= 0) return false;
    if ((wait.revents & POLLIN) != 0 &&
        recv(fd_, dropped, sizeof(dropped), MSG_DONTWAIT) == 0) {
      return false;
    }
    if ((wait.revents & (POLLERR | POLLHUP)) != 0) return false;
    if ((wait.revents & POLLOUT) == 0) continue;
    const ssize_t n =
        send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN) return false;
    if (n > 0) bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

std::string Http2Connection::Headers(uint32_t stream, absl::string_view method,
                                     absl::string_view token,
                                     bool end_headers) {
  std::string block = absl::StrCat(
      Field(":method", "POST"), Field(":scheme", "http"),
      Field(":path", method), Field(":authority", "x"), Field("te", "trailers"),
      Field("content-type", "application/grpc"));
  if (!token.empty()) {
    absl::StrAppend(&block,
                    Field("authorization", absl::StrCat("Bearer ", token)));
  }
  return Frame(kHeaders, end_headers ? kEndHeaders : 0, stream, block);
}

std::string Http2Connection::Continuation(uint32_t stream, int fields) {
  std::string block;
  for (int i = 0; i < fields; ++i) absl::StrAppend(&block, Field("a", ""));
  return Frame(kContinuation, 0, stream, block);
}

std::string Http2Connection::Reset(uint32_t stream) {
  return Frame(kReset, 0, stream, absl::string_view("\0\0\0\x8", 4));
}

}  // namespace hawser::testing
