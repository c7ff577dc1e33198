// A client that speaks HTTP/2 by hand, and badly.
#ifndef HAWSER_TESTS_TESTING_PROCESSES_HTTP2_FLOOD_H_
#define HAWSER_TESTS_TESTING_PROCESSES_HTTP2_FLOOD_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace hawser::testing {

// A plain connection past HTTP/2's preface. Not thread-safe.
class Http2Connection {
 public:
  // "127.0.0.1:port". Not valid when connecting failed.
  explicit Http2Connection(const std::string& address);
  ~Http2Connection();
  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;

  bool valid() const { return fd_ >= 0; }
  // False: the other end has closed the connection. What it says meanwhile is
  // read and dropped.
  bool Send(absl::string_view bytes);

  // The headers of a call of `method`, END_HEADERS as asked; `token` may be "".
  static std::string Headers(uint32_t stream, absl::string_view method,
                             absl::string_view token, bool end_headers);
  // `fields` header fields of a byte each, in a CONTINUATION frame that does
  // not end the block.
  static std::string Continuation(uint32_t stream, int fields);
  static std::string Reset(uint32_t stream);

 private:
  int fd_ = -1;
};

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_TESTING_PROCESSES_HTTP2_FLOOD_H_
