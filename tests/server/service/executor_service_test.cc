// What a well-behaved client gets from v1.Executor, over a real connection.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/service/service_fixture.h"

namespace hawser::testing {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;

Literal Floats(float a, float b) { return Literal::Vector<float>({a, b}); }
// n floats that add up without rounding.
Literal Ramp(int64_t n) {
  Literal value = Literal::Uninitialized(Shape::Of(DType::kF32, {n}));
  for (int64_t i = 0; i < n; ++i) value.mutable_data<float>()[i] = i % 1000;
  return value;
}

class ExecutorServiceTest : public ServiceTest {
 protected:
  Called<v1::DownloadChunk> Download(const RawSession& session,
                                     uint64_t handle) {
    v1::DownloadRequest request;
    request.set_session_id(session.id());
    request.set_secret(session.secret());
    request.set_handle(handle);
    return CallMethod<v1::DownloadChunk>(
        channel_, kDownload, std::vector<v1::DownloadRequest>{request});
  }
};

std::string DataOf(const Called<v1::DownloadChunk>& called) {
  std::string data;
  for (const v1::DownloadChunk& chunk : called.answers) data += chunk.data();
  return data;
}

// ---- opening

TEST_F(ExecutorServiceTest, OpensASessionAndSaysWhatItCanDo) {
  RawSession session(channel_);
  const v1::ServerMessage answer = session.Open();
  EXPECT_OK(StatusOf(answer));
  EXPECT_EQ(answer.sequence(), 0u);
  const v1::OpenReply& open = answer.open();
  EXPECT_NE(open.session_id(), 0u);
  EXPECT_EQ(open.secret().size(), 32u);
  EXPECT_NE(open.instance_id(), 0u);
  EXPECT_EQ(open.applied(), 0u);
  EXPECT_EQ(open.lease_seconds(), 60);
  EXPECT_FALSE(answer.session_lost());
  const v1::CapabilitiesProto& can = open.capabilities();
  EXPECT_EQ(can.platform(), "cpu");
  EXPECT_GE(can.opset(), 1u);
  EXPECT_GT(can.dtypes_size(), 10);
  EXPECT_EQ(can.limits().instructions(), 1 << 16);
  EXPECT_FALSE(can.version().empty());
  EXPECT_EQ(server_->sessions(), 1);
}

TEST_F(ExecutorServiceTest, AHalfCloseSaysGoodbye) {
  auto session = OpenSession();
  session->stream().WritesDone();
  EXPECT_OK(session->stream().Finish());
  EXPECT_TRUE(AllSessionsEnd());
}

TEST_F(ExecutorServiceTest, AGoodbyeWaitsForWhatWasAsked) {
  auto session = OpenSession();
  EXPECT_OK(
      session->Do(StreamedUploadMessage(10, Shape::Of(DType::kF32, {2}))));
  const uint64_t fetch = session->Send(FetchMessage(10));
  session->stream().WritesDone();
  const auto upload = CallMethod<v1::UploadReply>(
      channel_, kUpload,
      std::vector{UploadFrame(*session, 10, BytesOf(Floats(1, 2)))});
  EXPECT_OK(upload.status);
  const v1::ServerMessage answer = session->AnswerTo(fetch);
  EXPECT_EQ(answer.fetch().data(), BytesOf(Floats(1, 2)));
  EXPECT_OK(session->stream().Finish());
  EXPECT_TRUE(AllSessionsEnd());
}

// ---- programs

TEST_F(ExecutorServiceTest, RunsAProgramOnLiteralsAndHandles) {
  auto session = OpenSession();
  v1::ClientMessage execute = ExecuteMessage(1, 10);
  AddLiteral(AddLiteral(execute, Floats(1, 2)), Floats(10, 20));
  const v1::ServerMessage answer = session->Ask(execute);
  ASSERT_OK(StatusOf(answer));
  ASSERT_EQ(answer.execute().results_size(), 1) << "small results come along";
  EXPECT_EQ(answer.execute().results(0).data(), BytesOf(Floats(11, 22)));
  ASSERT_OK(session->Do(ExecuteMessage(1, 11, {10, 10})));
  EXPECT_THAT(session->Floats(11), ElementsAre(22, 44));
  const v1::ServerMessage pair = session->Ask(ExecuteMessage(2, 12, {11}));
  EXPECT_EQ(pair.execute().results_size(), 2);
  EXPECT_THAT(session->Floats(12), ElementsAre(44, 88));
  EXPECT_THAT(session->Floats(13), ElementsAre(22, 44));
}

TEST_F(ExecutorServiceTest, TakesAnswersBackAndForgetsReleasedHandles) {
  auto session = OpenSession();
  ASSERT_OK(session->Do(UploadMessage(10, Floats(1, 2))));
  EXPECT_THAT(session->Floats(10), ElementsAre(1, 2));
  v1::ClientMessage ping = PingMessage();
  ping.add_release(10);
  ping.add_release(1);
  ASSERT_OK(session->Do(ping));
  EXPECT_THAT(session->Do(FetchMessage(10)),
              StatusIs(StatusCode::kNotFound, "handle 10 is not known"));
  EXPECT_THAT(session->Do(ExecuteMessage(1, 20, {10, 10})),
              StatusIs(StatusCode::kNotFound, "executable 1 is not known"));
}

TEST_F(ExecutorServiceTest, DonatedHandlesAreGoneAfterwards) {
  auto session = OpenSession();
  ASSERT_OK(session->Do(UploadMessage(10, Floats(1, 2))));
  ASSERT_OK(session->Do(UploadMessage(11, Floats(3, 4))));
  v1::ClientMessage execute = ExecuteMessage(1, 12, {10, 11});
  execute.mutable_execute()->add_donated(1);
  ASSERT_OK(session->Do(execute));
  EXPECT_THAT(session->Floats(12), ElementsAre(4, 6));
  EXPECT_THAT(session->Do(FetchMessage(10)), IsOk());
  EXPECT_THAT(session->Do(FetchMessage(11)),
              StatusIs(StatusCode::kNotFound, "handle 11"));
}

TEST_F(ExecutorServiceTest, KnowsAModuleByItsFingerprint) {
  auto session = OpenSession();
  v1::ClientMessage compile = CompileMessage(3, EncodeModule(AddModule()));
  compile.mutable_compile()->clear_module();
  EXPECT_OK(session->Do(compile));
  v1::ClientMessage execute = ExecuteMessage(3, 10);
  AddLiteral(AddLiteral(execute, Floats(1, 2)), Floats(1, 2));
  EXPECT_OK(session->Do(execute));
}

// ---- large values

TEST_F(ExecutorServiceTest, LargeValuesGoBeside) {
  constexpr int64_t kFloats = 2000000;  // 7.6 MiB
  auto session = OpenSession();
  const Literal ramp = Ramp(kFloats);
  const std::string module = EncodeModule(DoubleModule(kFloats));
  ASSERT_OK(session->Do(CompileMessage(3, module)));
  ASSERT_OK(session->Do(StreamedUploadMessage(10, ramp.shape())));
  const uint64_t execute = session->Send(ExecuteMessage(3, 11, {10}));
  std::vector<v1::UploadChunk> frames;
  for (absl::string_view rest = BytesOf(ramp); !rest.empty();
       rest.remove_prefix(std::min<size_t>(300000, rest.size()))) {
    frames.push_back(UploadFrame(*session, 10, rest.substr(0, 300000)));
  }
  ASSERT_OK(CallMethod<v1::UploadReply>(channel_, kUpload, frames).status);
  EXPECT_EQ(session->AnswerTo(execute).execute().results_size(), 0)
      << "too large to come along";
  EXPECT_TRUE(session->Ask(FetchMessage(11)).fetch().large());
  const auto download = Download(*session, 11);
  ASSERT_OK(download.status);
  const std::string data = DataOf(download);
  ASSERT_EQ(data.size(), BytesOf(ramp).size());
  EXPECT_GT(download.answers.size(), 1u);
  const auto* doubled = reinterpret_cast<const float*>(data.data());
  for (int64_t i = 0; i < kFloats; i += 99) {
    ASSERT_EQ(doubled[i], 2 * ramp.data<float>()[i]) << i;
  }
  // The same upload again is a repeat, and dropped.
  EXPECT_OK(CallMethod<v1::UploadReply>(channel_, kUpload, frames).status);
}

TEST_F(ExecutorServiceTest, AnEmptyValueIsUploadedAndDownloaded) {
  auto session = OpenSession();
  ASSERT_OK(
      session->Do(StreamedUploadMessage(10, Shape::Of(DType::kF32, {0, 3}))));
  ASSERT_OK(CallMethod<v1::UploadReply>(
                channel_, kUpload, std::vector{UploadFrame(*session, 10, "")})
                .status);
  const auto download = Download(*session, 10);
  EXPECT_OK(download.status);
  EXPECT_EQ(DataOf(download), "");
  EXPECT_THAT(session->Floats(10), ElementsAre());
}

TEST_F(ExecutorServiceTest, AnUploadThatBreaksMayBeginAgain) {
  auto session = OpenSession();
  ASSERT_OK(session->Do(StreamedUploadMessage(10, Floats(1, 2).shape())));
  const std::string frame =
      UploadFrame(*session, 10, BytesOf(Floats(7, 8)).substr(0, 5))
          .SerializeAsString();
  EXPECT_THAT(CallRaw(channel_, kUpload, {ToBuffer(frame)}),
              StatusIs(StatusCode::kDataLoss, "ended 3 bytes too early"));
  EXPECT_OK(CallMethod<v1::UploadReply>(
                channel_, kUpload,
                std::vector{UploadFrame(*session, 10, BytesOf(Floats(1, 2)))})
                .status);
  EXPECT_THAT(session->Floats(10), ElementsAre(1, 2));
}

// ---- breaking and coming back

TEST_F(ExecutorServiceTest, AReattachedSessionAppliesNothingTwice) {
  auto session = OpenSession();
  ASSERT_OK(session->Do(UploadMessage(10, Floats(1, 2))));  // sequence 3
  ASSERT_OK(session->Do(ExecuteMessage(1, 11, {10, 10})));  // sequence 4
  const v1::ServerMessage open = session->Reattach();
  EXPECT_EQ(open.open().applied(), 4u);
  EXPECT_EQ(open.open().session_id(), session->id());
  // What was not acknowledged comes again, in order.
  for (uint64_t sequence = 1; sequence <= 4; ++sequence) {
    EXPECT_EQ(session->Next().sequence(), sequence);
  }
  v1::ClientMessage repeat = UploadMessage(10, Floats(5, 6));
  repeat.set_sequence(3);
  session->Send(repeat);  // dropped without an answer
  EXPECT_THAT(session->Floats(11), ElementsAre(2, 4));
  EXPECT_THAT(session->Floats(10), ElementsAre(1, 2));
  EXPECT_EQ(server_->sessions(), 1);
}

TEST_F(ExecutorServiceTest, AcknowledgedAnswersDoNotComeAgain) {
  auto session = OpenSession();
  v1::ClientMessage ping = PingMessage();
  ping.set_acknowledged(2);
  ASSERT_OK(session->Do(ping));
  session->Reattach();
  EXPECT_EQ(session->Next().sequence(), 3u);
}

TEST_F(ExecutorServiceTest, AnotherStreamTakesOver) {
  auto first = OpenSession();
  RawSession second(channel_);
  EXPECT_TRUE(second.Open(first->id(), first->secret()).has_open());
  const v1::ServerMessage end = first->AnswerTo(~uint64_t{0});
  EXPECT_TRUE(first->ended());
  EXPECT_THAT(StatusOf(end),
              StatusIs(StatusCode::kUnavailable,
                       "another stream took over session"));
}

// ---- without a session

TEST_F(ExecutorServiceTest, ACallNeedsNoSession) {
  const std::string module = EncodeModule(AddModule());
  v1::CallRequest request;
  request.set_fingerprint(FingerprintOf(module));
  ToProto(Floats(1, 2), request.add_arguments()->mutable_literal());
  v1::DatasetReference* dataset = request.add_arguments()->mutable_dataset();
  dataset->set_token(PutArray(channel_, Floats(10, 20)));
  const auto unknown =
      CallMethod<v1::CallReply>(channel_, kCall, std::vector{request});
  EXPECT_THAT(unknown.status,
              StatusIs(StatusCode::kNotFound, "is not known; send the module"));
  request.set_module(module);
  for (int i = 0; i < 2; ++i) {
    const auto called =
        CallMethod<v1::CallReply>(channel_, kCall, std::vector{request});
    ASSERT_OK(called.status);
    ASSERT_EQ(called.answer().results_size(), 1);
    EXPECT_EQ(called.answer().results(0).data(), BytesOf(Floats(11, 22)));
    request.clear_module();  // known from now on
  }
  EXPECT_EQ(server_->sessions(), 0);
}

TEST_F(ExecutorServiceTest, ADatasetIsAnArgumentOfASession) {
  auto session = OpenSession();
  v1::ClientMessage execute = ExecuteMessage(1, 10);
  AddLiteral(execute, Floats(1, 2));
  execute.mutable_execute()->add_arguments()->mutable_dataset()->set_token(
      PutArray(channel_, Floats(10, 20)));
  ASSERT_OK(session->Do(execute));
  EXPECT_THAT(session->Floats(10), ElementsAre(11, 22));
}

}  // namespace
}  // namespace hawser::testing
