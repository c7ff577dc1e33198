// Exchanges over bare TCP: a number of bytes there, a number of bytes back. No
// exchange of hawser on the same link can be faster.
#ifndef HAWSER_CLIENT_BENCH_TCP_EXCHANGE_H_
#define HAWSER_CLIENT_BENCH_TCP_EXCHANGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/bench/tcp_socket.h"
#include "core/base/threads/cancel.h"

namespace hawser::bench {

// The end that asks. Owns its connection. One thread at a time.
class TcpLink {
 public:
  // Errors: kUnavailable naming the address.
  static absl::StatusOr<TcpLink> Open(const std::string& address,
                                      const CancelToken& cancel);

  // Sends `request` bytes, of which the first 24 are a header, and receives
  // `answer` bytes. Errors: those of the token; kUnavailable.
  absl::Status Exchange(int64_t request, int64_t answer);

 private:
  TcpLink(TcpSocket socket, const CancelToken& cancel);

  TcpSocket socket_;
  CancelToken cancel_;
  std::vector<char> buffer_;
};

// The end that answers: serves one connection after another, so that two
// benches do not disturb each other, until `cancel`. A connection that sends
// anything else, or nothing for a minute, is closed. Errors: those of Accept;
// clients cause none.
absl::Status ServeExchanges(const TcpSocket& listener,
                            const CancelToken& cancel);

}  // namespace hawser::bench
#endif  // HAWSER_CLIENT_BENCH_TCP_EXCHANGE_H_
