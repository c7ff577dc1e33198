#include "client/bench/tcp_exchange.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/base/clock.h"
#include "core/base/status.h"

namespace hawser::bench {
namespace {

constexpr size_t kBufferBytes = 256 << 10;
constexpr absl::Duration kPatience = absl::Seconds(5);
constexpr absl::Duration kLongestSilence = absl::Minutes(1);

// The first bytes of a request, in the byte order of the machine; an end of the
// other byte order refuses the first field.
struct ExchangeHeader {
  uint64_t kind = kExchange;
  int64_t request = 0;  // bytes, this header among them
  int64_t answer = 0;

  static constexpr uint64_t kExchange = 0x3168636e65627768;  // "hwbench1"
};
static_assert(sizeof(ExchangeHeader) == 24);

// Sends `bytes` bytes out of `buffer`; their values do not matter.
absl::Status SendBytes(TcpSocket& socket, absl::Span<const char> buffer,
                       int64_t bytes, const CancelToken& cancel) {
  while (bytes > 0) {
    const auto part = buffer.subspan(0, bytes);
    HAWSER_RETURN_IF_ERROR(socket.Send(part, cancel));
    bytes -= static_cast<int64_t>(part.size());
  }
  return absl::OkStatus();
}

absl::Status ReceiveBytes(TcpSocket& socket, absl::Span<char> buffer,
                          int64_t bytes, const CancelToken& cancel) {
  while (bytes > 0) {
    const auto part = buffer.subspan(0, bytes);
    HAWSER_RETURN_IF_ERROR(socket.Receive(part, cancel));
    bytes -= static_cast<int64_t>(part.size());
  }
  return absl::OkStatus();
}

absl::Status AnswerOne(TcpSocket& socket, absl::Span<char> buffer,
                       const CancelToken& cancel) {
  ExchangeHeader header;
  HAWSER_RETURN_IF_ERROR(
      socket.Receive({reinterpret_cast<char*>(&header), sizeof(header)},
                     cancel.Until(SteadyNow() + kLongestSilence)));
  const int64_t rest = header.request - static_cast<int64_t>(sizeof(header));
  if (header.kind != ExchangeHeader::kExchange || rest < 0 ||
      header.answer < 0) {
    return InvalidArgument("this is no exchange");
  }
  HAWSER_RETURN_IF_ERROR(ReceiveBytes(socket, buffer, rest, cancel));
  return SendBytes(socket, buffer, header.answer, cancel);
}

}  // namespace

TcpLink::TcpLink(TcpSocket socket, const CancelToken& cancel)
    : socket_(std::move(socket)), cancel_(cancel), buffer_(kBufferBytes, 'x') {}

absl::StatusOr<TcpLink> TcpLink::Open(const std::string& address,
                                      const CancelToken& cancel) {
  HAWSER_ASSIGN_OR_RETURN(const TcpEndpoint endpoint,
                          TcpSocket::Find(address, kPatience));
  HAWSER_ASSIGN_OR_RETURN(TcpSocket socket,
                          TcpSocket::Connect(endpoint, kPatience));
  return TcpLink(std::move(socket), cancel);
}

absl::Status TcpLink::Exchange(int64_t request, int64_t answer) {
  ExchangeHeader header;
  header.request = std::max<int64_t>(request, sizeof(header));
  header.answer = answer;
  std::memcpy(buffer_.data(), &header, sizeof(header));
  HAWSER_RETURN_IF_ERROR(SendBytes(socket_, buffer_, header.request, cancel_));
  return ReceiveBytes(socket_, absl::MakeSpan(buffer_), answer, cancel_);
}

absl::Status ServeExchanges(const TcpSocket& listener,
                            const CancelToken& cancel) {
  std::vector<char> buffer(kBufferBytes, 'x');
  while (true) {
    HAWSER_ASSIGN_OR_RETURN(TcpSocket client, listener.Accept(cancel));
    while (AnswerOne(client, absl::MakeSpan(buffer), cancel).ok()) {
    }
  }
}

}  // namespace hawser::bench
