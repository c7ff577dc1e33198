#include "tests/server/service/raw_session.h"

#include <cstring>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/base/status.h"
#include "core/ir/builder.h"
#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "core/wire/codec.h"
#include "gtest/gtest.h"

namespace hawser::testing {

// ---- requests

v1::ClientMessage OpenMessage(uint64_t session_id, const std::string& secret) {
  v1::ClientMessage message;
  message.mutable_open()->set_session_id(session_id);
  message.mutable_open()->set_secret(secret);
  message.mutable_open()->set_client_name("raw session");
  return message;
}

v1::ClientMessage PingMessage() {
  v1::ClientMessage message;
  message.mutable_ping();
  return message;
}

v1::ClientMessage CompileMessage(uint64_t executable,
                                 const std::string& module_bytes) {
  v1::ClientMessage message;
  message.mutable_compile()->set_executable(executable);
  message.mutable_compile()->set_fingerprint(FingerprintOf(module_bytes));
  message.mutable_compile()->set_module(module_bytes);
  return message;
}

v1::ClientMessage ExecuteMessage(uint64_t executable, uint64_t first_result,
                                 std::initializer_list<uint64_t> handles) {
  v1::ClientMessage message;
  message.mutable_execute()->set_executable(executable);
  message.mutable_execute()->set_first_result(first_result);
  for (const uint64_t handle : handles) {
    message.mutable_execute()->add_arguments()->set_handle(handle);
  }
  return message;
}

v1::ClientMessage& AddLiteral(v1::ClientMessage& execute,
                              const Literal& value) {
  ToProto(value, execute.mutable_execute()->add_arguments()->mutable_literal());
  return execute;
}

v1::ClientMessage UploadMessage(uint64_t handle, const Literal& value) {
  v1::ClientMessage message;
  v1::UploadRequest* upload = message.mutable_upload();
  upload->set_handle(handle);
  *upload->mutable_shape() = ToProto(value.shape());
  upload->set_data(value.bytes().data(), value.bytes().size());
  return message;
}

v1::ClientMessage StreamedUploadMessage(uint64_t handle, const Shape& shape) {
  v1::ClientMessage message;
  message.mutable_upload()->set_handle(handle);
  *message.mutable_upload()->mutable_shape() = ToProto(shape);
  message.mutable_upload()->set_streamed(true);
  return message;
}

v1::ClientMessage FetchMessage(uint64_t handle, uint64_t max_inline_bytes) {
  v1::ClientMessage message;
  message.mutable_fetch()->set_handle(handle);
  message.mutable_fetch()->set_max_inline_bytes(max_inline_bytes);
  return message;
}

// ---- programs

namespace {

const Shape& TwoFloats() {
  static const Shape* const shape = new Shape(Shape::Of(DType::kF32, {2}));
  return *shape;
}

int Finish(ComputationBuilder& b, absl::Span<const ValueId> results) {
  const auto index = b.Finish(results);
  EXPECT_TRUE(index.ok()) << index.status();
  return index.ok() ? *index : 0;
}

}  // namespace

Module AddModule() {
  Module m("add");
  ComputationBuilder b(&m, "main");
  const ValueId x = b.Parameter(TwoFloats()), y = b.Parameter(TwoFloats());
  Finish(b, {b.Add(kAdd, {x, y})});
  return m;
}

Module PairModule() {
  Module m("pair");
  ComputationBuilder b(&m, "main");
  const ValueId x = b.Parameter(TwoFloats());
  Finish(b, {b.Add(kAdd, {x, x}), x});
  return m;
}

Module DoubleModule(int64_t n) {
  Module m("double");
  ComputationBuilder b(&m, "main");
  const ValueId x = b.Parameter(Shape::Of(DType::kF32, {n}));
  Finish(b, {b.Add(kAdd, {x, x})});
  return m;
}

Module HugeModule() {
  Module m("huge");
  ComputationBuilder b(&m, "main");
  Finish(b, {b.Add(kIota, {},
                   {{"dims", Dims{int64_t{1} << 36}},
                    {"dtype", DType::kF32},
                    {"iota_dimension", int64_t{0}}})});
  return m;
}

Module EndlessModule() {
  Module m("endless");
  ComputationBuilder condition(&m, "condition");
  const ValueId c = condition.Parameter(TwoFloats());
  const ValueId one = condition.Constant(Literal::Scalar<int32_t>(1));
  (void)c;
  const int goes_on = Finish(
      condition, {condition.Add(kCompare, {one, one}, {{"direction", "EQ"}})});
  ComputationBuilder body(&m, "body");
  const ValueId state = body.Parameter(TwoFloats());
  const int stays = Finish(body, {body.Add(kAdd, {state, state})});
  ComputationBuilder b(&m, "main");
  const ValueId x = b.Parameter(TwoFloats());
  Finish(b, {b.Add(kWhile, {x}, {}, {goes_on, stays})});
  return m;
}

std::string FingerprintOf(const std::string& module_bytes) {
  return std::string(Fingerprint(module_bytes, {}).bytes());
}

// ---- the session

absl::Status StatusOf(const v1::ServerMessage& answer) {
  return FromProto(answer.status());
}

namespace {
constexpr char kMethod[] = "/hawser.v1.Executor/Session";
}  // namespace

RawSession::RawSession(std::shared_ptr<grpc::Channel> channel)
    : channel_(std::move(channel)),
      stream_(std::make_unique<RawStream>(channel_, kMethod)) {}

v1::ServerMessage RawSession::Open(uint64_t session_id,
                                   const std::string& secret) {
  stream_->Write(OpenMessage(session_id, secret).SerializeAsString());
  v1::ServerMessage answer = Next();
  if (answer.has_open()) {
    id_ = answer.open().session_id();
    secret_ = answer.open().secret();
  }
  return answer;
}

v1::ServerMessage RawSession::Reattach() {
  stream_->Cancel();
  stream_ = nullptr;
  stream_ = std::make_unique<RawStream>(channel_, kMethod);
  ended_ = false;
  return Open(id_, secret_);
}

uint64_t RawSession::Send(v1::ClientMessage request) {
  if (request.sequence() == 0) request.set_sequence(TakeSequence());
  stream_->Write(request.SerializeAsString());
  return request.sequence();
}

v1::ServerMessage RawSession::Next() {
  v1::ServerMessage message;
  const std::optional<std::string> bytes = stream_->Read();
  if (bytes.has_value()) {
    EXPECT_TRUE(message.ParseFromString(*bytes));
  } else {
    ended_ = true;
    absl::Status end = stream_->Finish();
    if (end.ok()) end = Cancelled("the stream ended");
    ToProto(end, message.mutable_status());
  }
  return message;
}

v1::ServerMessage RawSession::AnswerTo(uint64_t sequence) {
  for (auto it = early_.begin(); it != early_.end(); ++it) {
    if (it->sequence() != sequence) continue;
    v1::ServerMessage answer = std::move(*it);
    early_.erase(it);
    return answer;
  }
  while (true) {
    v1::ServerMessage message = Next();
    if (ended_ || message.sequence() == sequence) return message;
    early_.push_back(std::move(message));
  }
}

v1::ServerMessage RawSession::Ask(v1::ClientMessage request) {
  return AnswerTo(Send(std::move(request)));
}

absl::Status RawSession::Do(v1::ClientMessage request) {
  return StatusOf(Ask(std::move(request)));
}

std::vector<float> RawSession::Floats(uint64_t handle) {
  const v1::ServerMessage answer = Ask(FetchMessage(handle));
  EXPECT_TRUE(StatusOf(answer).ok()) << StatusOf(answer);
  const std::string& data = answer.fetch().data();
  std::vector<float> values(data.size() / sizeof(float));
  if (values.empty()) return values;  // memcpy wants addresses even then
  std::memcpy(values.data(), data.data(), values.size() * sizeof(float));
  return values;
}

}  // namespace hawser::testing
