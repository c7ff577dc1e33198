// A server's end that lies: a man in the middle of gRPC and of TCP.
#ifndef HAWSER_TESTS_CLIENT_REMOTE_LIES_LYING_END_H_
#define HAWSER_TESTS_CLIENT_REMOTE_LIES_LYING_END_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace hawser::testing {

enum class Lie {
  kNone,
  kMute,         // that answer never comes, others do
  kStopped,      // from then on nothing comes of any connection
  kByteASecond,  // from then on a byte a second
  kWrongNumber,  // a session's answer has another number; else as kGarbage
  kEmpty,        // an empty message instead
  kWrongResult,  // a well-formed answer that does not fit
  kGarbage,      // bytes that are no message
};
const char* LieName(Lie lie);

// Passes everything on to the server at an address, but for answers of one
// stage: a method's ("FindMissing"), or a request's on the session
// ("Session/execute"). Thread-safe.
class LyingEnd {
 public:
  static absl::StatusOr<std::unique_ptr<LyingEnd>> Start(
      const std::string& server, std::string stage, Lie lie);
  virtual ~LyingEnd() = default;
  virtual const std::string& address() const = 0;
  // Lies from now on.
  virtual void Begin() = 0;
  // How many answers were lied about.
  virtual int lies() const = 0;
};

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_CLIENT_REMOTE_LIES_LYING_END_H_
