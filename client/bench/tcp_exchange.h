// Exchanges of bytes over bare TCP: so many there, so many back. The floor of
// every exchange of hawser's on the same link.
#ifndef HAWSER_CLIENT_BENCH_TCP_EXCHANGE_H_
#define HAWSER_CLIENT_BENCH_TCP_EXCHANGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/bench/tcp_socket.h"
#include "core/base/cancel.h"

namespace hawser::bench {

// The end that asks. One thread at a time.
class TcpLink {
 public:
  // Errors: kUnavailable naming the address.
  static absl::StatusOr<TcpLink> Open(const std::string& address,
                                      const CancelToken& cancel);

  // Sends `request` bytes, of which the first 24 say what this is, and takes
  // `answer` bytes. Errors: the token's; kUnavailable.
  absl::Status Exchange(int64_t request, int64_t answer);

 private:
  TcpLink(TcpSocket socket, const CancelToken& cancel);

  TcpSocket socket_;
  CancelToken cancel_;
  std::vector<char> buffer_;
};

// The other end: answers one connection after another, so that two benches do
// not disturb each other, until `cancel`. A connection that says something else
// or nothing for a minute is closed. Errors: those of Accept, but never for
// what clients do.
absl::Status ServeExchanges(const TcpSocket& listener,
                            const CancelToken& cancel);

}  // namespace hawser::bench
#endif  // HAWSER_CLIENT_BENCH_TCP_EXCHANGE_H_
