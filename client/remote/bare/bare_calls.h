// BareCalls: what gRPC by itself takes for its calls to a server, which is
// what hawser's own are compared with.
#ifndef HAWSER_CLIENT_REMOTE_BARE_BARE_CALLS_H_
#define HAWSER_CLIENT_REMOTE_BARE_BARE_CALLS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "core/base/digest.h"
#include "core/base/threads/cancel.h"
#include "core/base/values/literal.h"
#include "core/runtime/dataset.h"

namespace hawser {

// Calls that every hawserd answers, by gRPC's blocking stubs on connections
// that nothing else uses: no session, no handles, nothing hashed, kept or tried
// again at this end. One thread at a time. Errors of all: the server's; those
// of the link; the token's, which bulk calls look at between frames.
class BareCalls {
 public:
  virtual ~BareCalls() = default;

  // One unary call: grpc.health.v1.Health/Check.
  virtual absl::Status Check() = 0;
  // One small message each way on a stream that is open already: that of the
  // server's reflection.
  virtual absl::Status Ping() = 0;
  // The client streams that a put of `value` consists of, as many and in frames
  // as long; `chunks` are its digests.
  virtual absl::Status Put(const Literal& value,
                           absl::Span<const Digest> chunks) = 0;
  // One unary call: makes a dataset of what Put brought, so that it can be
  // deleted; until then the server keeps it for a while. Ends with `cancel`,
  // not with these calls.
  virtual absl::Status Commit(const DatasetManifest& manifest,
                              const CancelToken& cancel) = 0;
  // The server streams of a dataset of one unnamed u8[bytes], as many as hawser
  // has. The bytes that come are dropped. Errors: kDataLoss when it is not as
  // long.
  virtual absl::Status Get(const std::string& token, int64_t bytes) = 0;
};

}  // namespace hawser
#endif  // HAWSER_CLIENT_REMOTE_BARE_BARE_CALLS_H_
