// A session spoken message by message, without the client library.
#ifndef HAWSER_TESTS_SERVER_SERVICE_RAW_SESSION_H_
#define HAWSER_TESTS_SERVER_SERVICE_RAW_SESSION_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "core/base/values/literal.h"
#include "core/ir/module.h"
#include "proto/executor.pb.h"
#include "tests/server/service/raw_stream.h"

namespace hawser::testing {

// ---- requests

v1::ClientMessage OpenMessage(uint64_t session_id = 0,
                              const std::string& secret = "");
v1::ClientMessage PingMessage();
v1::ClientMessage CompileMessage(uint64_t executable,
                                 const std::string& module_bytes);
// Of handles; literals are added by AddLiteral.
v1::ClientMessage ExecuteMessage(uint64_t executable, uint64_t first_result,
                                 std::initializer_list<uint64_t> handles = {});
v1::ClientMessage& AddLiteral(v1::ClientMessage& execute,
                              const Literal& value);
v1::ClientMessage UploadMessage(uint64_t handle, const Literal& value);
v1::ClientMessage StreamedUploadMessage(uint64_t handle, const Shape& shape);
v1::ClientMessage FetchMessage(uint64_t handle,
                               uint64_t max_inline_bytes = 1 << 20);

// ---- programs

Module AddModule();      // (x, y: f32[2]) -> x + y
Module PairModule();     // (x: f32[2]) -> x + x, x
Module DoubleModule(int64_t n);  // (x: f32[n]) -> x + x
Module HugeModule();     // () -> f32[2^36]
Module EndlessModule();  // (x: f32[2]) -> x, after a loop without an end
std::string FingerprintOf(const std::string& module_bytes);

class RawSession {
 public:
  // Opens a stream and sends nothing.
  explicit RawSession(std::shared_ptr<grpc::Channel> channel);

  // Opens a new session, or the one named. The answer; on errors too.
  v1::ServerMessage Open(uint64_t session_id = 0,
                         const std::string& secret = "");
  // Breaks the stream and comes back on another one.
  v1::ServerMessage Reattach();

  // The number of the next request, for tests that send it themselves.
  uint64_t TakeSequence() { return ++sequence_; }
  // Numbers the request, unless it has a number, and sends it.
  uint64_t Send(v1::ClientMessage request);
  // The next message; at the stream's end its status, with ended() true.
  v1::ServerMessage Next();
  // The answer to request `sequence`, whatever comes before.
  v1::ServerMessage AnswerTo(uint64_t sequence);
  v1::ServerMessage Ask(v1::ClientMessage request);
  // OK, or how the request failed.
  absl::Status Do(v1::ClientMessage request);

  // The value of a handle, as f32; expects that there is one.
  std::vector<float> Floats(uint64_t handle);

  RawStream& stream() { return *stream_; }
  bool ended() const { return ended_; }
  uint64_t id() const { return id_; }
  const std::string& secret() const { return secret_; }

 private:
  const std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<RawStream> stream_;
  bool ended_ = false;
  uint64_t id_ = 0;
  std::string secret_;
  uint64_t sequence_ = 0;
  std::deque<v1::ServerMessage> early_;  // answers to others
};

absl::Status StatusOf(const v1::ServerMessage& answer);

}  // namespace hawser::testing
#endif  // HAWSER_TESTS_SERVER_SERVICE_RAW_SESSION_H_
