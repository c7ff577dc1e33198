#include "tests/server/service/hostile/attacker.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/status.h"
#include "core/wire/codec.h"
#include "gtest/gtest.h"
#include "tests/testing/allocation_meter.h"
#include "tests/testing/sample_modules.h"

namespace hawser::testing {
namespace {

constexpr char kSession[] = "/hawser.v1.Executor/Session";

}  // namespace

Attacker::Attacker(const Victim& victim)
    : victim_(victim), channel_(ConnectRaw(victim.address)) {
  // The connection itself is not the attack.
  CallRaw(channel_, "/hawser.v1.Datasets/Stat", {ToBuffer("")}).IgnoreError();
}

template <typename Attack>
auto Attacker::Measured(const Attack& attack) {
  const AllocationMeter meter;
  const absl::Time start = absl::Now();
  auto answer = attack();
  time_ = absl::Now() - start;
  memory_ = meter.peak();
  return answer;
}

RawSession& Attacker::session() {
  if (session_ != nullptr) return *session_;
  session_ = std::make_unique<RawSession>(channel_);
  const Literal value = Literal::Vector<float>({1, 2});
  absl::Status status = StatusOf(session_->Open());
  for (const v1::ClientMessage& message :
       {CompileMessage(1, EncodeModule(AddModule())),
        CompileMessage(2, EncodeModule(PairModule())),
        CompileMessage(3, EncodeModule(HugeModule())), UploadMessage(10, value),
        UploadMessage(11, value)}) {
    if (status.ok()) status = session_->Do(message);
  }
  EXPECT_TRUE(status.ok()) << status;
  return *session_;
}

absl::Status Attacker::Ask(v1::ClientMessage request) {
  RawSession& s = session();
  const uint64_t sequence = s.TakeSequence();
  request.set_sequence(sequence);
  const grpc::ByteBuffer buffer = ToBuffer(request.SerializeAsString());
  request.Clear();
  const v1::ServerMessage answer = Measured([&] {
    s.stream().Write(buffer);
    return s.AnswerTo(sequence);
  });
  if (s.ended()) {
    return Internal("the stream ended: ", StatusOf(answer).ToString());
  }
  if (s.Floats(10) != std::vector<float>{1, 2}) {
    return Internal("the session has suffered");
  }
  return StatusOf(answer);
}

absl::Status Attacker::EndsBytes(absl::string_view bytes) {
  RawSession& s = session();
  const grpc::ByteBuffer buffer = ToBuffer(bytes);
  return Measured([&] {
    s.stream().Write(buffer);
    return StatusOf(s.AnswerTo(~uint64_t{0}));
  });
}

absl::Status Attacker::Ends(const v1::ClientMessage& request) {
  return EndsBytes(request.SerializeAsString());
}

absl::Status Attacker::EndsFirstBytes(absl::string_view bytes) {
  RawStream stream(channel_, kSession);
  const grpc::ByteBuffer buffer = ToBuffer(bytes);
  return Measured([&] {
    stream.Write(buffer);
    return stream.Finish();
  });
}

absl::Status Attacker::EndsFirst(const v1::ClientMessage& request) {
  return EndsFirstBytes(request.SerializeAsString());
}

absl::Status Attacker::Opens(const v1::ClientMessage& open, bool* lost) {
  RawSession fresh(channel_);
  const v1::ServerMessage answer = Measured([&] {
    fresh.stream().Write(open.SerializeAsString());
    return fresh.Next();
  });
  *lost = answer.session_lost();
  if (!fresh.ended()) return StatusOf(answer);
  return Internal("the stream ended: ", StatusOf(answer).ToString());
}

absl::Status Attacker::Compile(const std::string& module_bytes) {
  return Ask(CompileMessage(99, module_bytes));
}

absl::Status Attacker::CompileDamaged(
    void (*damage)(v1::ModuleProto& columns)) {
  v1::ModuleProto columns;
  EXPECT_TRUE(columns.ParseFromString(EncodeModule(SmallModule())));
  damage(columns);
  return Compile(columns.SerializeAsString());
}

absl::Status Attacker::Call(const std::string& method,
                            const std::vector<std::string>& messages) {
  std::vector<grpc::ByteBuffer> buffers;
  for (const std::string& m : messages) buffers.push_back(ToBuffer(m));
  return Measured([&] { return CallRaw(channel_, method, buffers); });
}

}  // namespace hawser::testing
