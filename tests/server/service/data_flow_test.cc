// Errors travel along the data: whatever depends on a value that could not be
// made fails with the first cause, in its first words.
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

const Shape& Two() {
  static const Shape* const shape = new Shape(Shape::Of(DType::kF32, {2}));
  return *shape;
}

class DataFlowTest : public ServiceTest {
 protected:
  void SetUp() override {
    LoopbackOptions options;
    options.executor.sessions.limits.handles.bytes = 1 << 20;
    Start(options);
    session_ = OpenSession();
  }
  // What comes of a step on `handle`, of a step on that one's result, and of
  // fetching both: they must all say the same.
  void ExpectCause(uint64_t handle, StatusCode code, const std::string& words) {
    const uint64_t first = next_, second = next_ + 1;
    next_ += 2;
    const std::vector<v1::ClientMessage> requests = {
        ExecuteMessage(1, first, {handle, handle}),
        ExecuteMessage(1, second, {first, first}), FetchMessage(first),
        FetchMessage(second)};
    for (const v1::ClientMessage& request : requests) {
      const absl::Status status = session_->Do(request);
      EXPECT_EQ(status.code(), code) << status;
      EXPECT_EQ(status.message(), words);
    }
  }
  absl::Status Fill(uint64_t handle) {
    return CallMethod<v1::UploadReply>(
               channel_, kUpload,
               std::vector{UploadFrame(*session_, handle,
                                       std::string(Two().byte_size(), '\0'))})
        .status;
  }

  std::unique_ptr<RawSession> session_;
  uint64_t next_ = 1000;
};

TEST_F(DataFlowTest, ResultsOfUpToFourKiBComeWithTheAnswer) {
  for (const int64_t n : {1024, 1025}) {
    ASSERT_OK(session_->Do(CompileMessage(n, EncodeModule(DoubleModule(n)))));
    const Literal x = Literal::Uninitialized(Shape::Of(DType::kF32, {n}));
    ASSERT_OK(session_->Do(UploadMessage(n, x)));
    const v1::ServerMessage answer =
        session_->Ask(ExecuteMessage(n, 10 * n, {static_cast<uint64_t>(n)}));
    ASSERT_OK(StatusOf(answer));
    EXPECT_EQ(answer.execute().results_size(), n == 1024 ? 1 : 0);
  }
}

TEST_F(DataFlowTest, AnUnknownHandleIsTheFirstCause) {
  EXPECT_THAT(session_->Do(ExecuteMessage(1, 10, {99, 99})),  // sequence 3
              StatusIs(StatusCode::kNotFound,
                       "sequence 3: argument 0: handle 99 is not known"));
  ExpectCause(10, StatusCode::kNotFound,
              "sequence 3: argument 0: handle 99 is not known in this session");
}

TEST_F(DataFlowTest, AWrongShapeIsTheFirstCause) {
  ASSERT_OK(session_->Do(UploadMessage(10, Literal::Scalar(1.0f))));
  EXPECT_THAT(session_->Do(ExecuteMessage(1, 11, {10, 10})),  // sequence 4
              StatusIs(StatusCode::kInvalidArgument, "sequence 4: argument 0"));
  ExpectCause(11, StatusCode::kInvalidArgument,
              "sequence 4: argument 0 is f32[], must be f32[2]");
}

TEST_F(DataFlowTest, AFailedCompileIsTheFirstCause) {
  v1::ClientMessage compile = CompileMessage(7, "no module");
  EXPECT_THAT(session_->Do(compile),  // sequence 3
              StatusIs(StatusCode::kInvalidArgument, "module"));
  v1::ClientMessage execute = ExecuteMessage(7, 10);
  const absl::Status status = session_->Do(execute);
  EXPECT_THAT(status,
              StatusIs(StatusCode::kInvalidArgument, "sequence 3: module"));
  ExpectCause(10, StatusCode::kInvalidArgument, std::string(status.message()));
}

TEST_F(DataFlowTest, ARefusedUploadIsTheFirstCause) {
  v1::ClientMessage upload = UploadMessage(10, Literal::Scalar(1.0f));
  upload.mutable_upload()->set_data("abc");
  EXPECT_THAT(session_->Do(upload),  // sequence 3
              StatusIs(StatusCode::kInvalidArgument, "takes 4 bytes, got 3"));
  ExpectCause(10, StatusCode::kInvalidArgument,
              "sequence 3: f32[] takes 4 bytes, got 3");
}

TEST_F(DataFlowTest, NoRoomForTheResultIsTheFirstCause) {
  ASSERT_OK(session_->Do(CompileMessage(7, EncodeModule(HugeModule()))));
  const absl::Status status = session_->Do(ExecuteMessage(7, 10));
  EXPECT_THAT(status, StatusIs(StatusCode::kResourceExhausted,
                               "sequence 4: the session's limit of 1048576 "
                               "bytes does not leave 274877906944 more"));
  ExpectCause(10, StatusCode::kResourceExhausted,
              std::string(status.message()));
}

TEST_F(DataFlowTest, ADeadlineInTheMiddleIsTheFirstCause) {
  ASSERT_OK(session_->Do(CompileMessage(7, EncodeModule(EndlessModule()))));
  ASSERT_OK(session_->Do(UploadMessage(9, Literal::Zeros(Two()))));
  v1::ClientMessage execute = ExecuteMessage(7, 10, {9});  // sequence 5
  execute.mutable_execute()->set_timeout_us(50000);
  const uint64_t endless = session_->Send(execute);
  // Queued behind it, long before the deadline.
  const uint64_t step = session_->Send(ExecuteMessage(1, 11, {10, 9}));
  const uint64_t fetch = session_->Send(FetchMessage(11));
  const absl::Status first = StatusOf(session_->AnswerTo(endless));
  EXPECT_THAT(first, StatusIs(StatusCode::kDeadlineExceeded, "sequence 5: "));
  EXPECT_EQ(StatusOf(session_->AnswerTo(step)), first);
  EXPECT_EQ(StatusOf(session_->AnswerTo(fetch)), first);
  ExpectCause(11, StatusCode::kDeadlineExceeded, std::string(first.message()));
}

TEST_F(DataFlowTest, TheFirstOfSeveralCausesWins) {
  for (const uint64_t handle : {10, 11}) {
    v1::ClientMessage upload = UploadMessage(handle, Literal::Scalar(1.0f));
    upload.mutable_upload()->set_data(std::string(handle, 'x'));
    EXPECT_THAT(session_->Do(upload), ::testing::Not(IsOk()));
  }
  EXPECT_THAT(session_->Do(ExecuteMessage(1, 12, {10, 11})),
              StatusIs(StatusCode::kInvalidArgument, "got 10"));
  EXPECT_THAT(session_->Do(ExecuteMessage(1, 13, {11, 10})),
              StatusIs(StatusCode::kInvalidArgument, "got 11"));
}

TEST_F(DataFlowTest, AReleasedCauseStillReachesWhoWasQueuedBefore) {
  ASSERT_OK(session_->Do(StreamedUploadMessage(10, Two())));
  const uint64_t step = session_->Send(ExecuteMessage(1, 11, {10, 10}));
  v1::ClientMessage ping = PingMessage();
  ping.add_release(10);
  ping.add_release(11);
  ASSERT_OK(session_->Do(ping));
  EXPECT_OK(Fill(10));
  EXPECT_OK(StatusOf(session_->AnswerTo(step)));
  EXPECT_THAT(session_->Do(FetchMessage(11)),
              StatusIs(StatusCode::kNotFound, "handle 11"));
}

TEST_F(DataFlowTest, ALongChainWaitsForItsUploadWithoutDeepStacks) {
  constexpr uint64_t kSteps = 250;  // the server reads 256 ahead
  ASSERT_OK(session_->Do(StreamedUploadMessage(10, Two())));
  uint64_t last = 0;
  for (uint64_t i = 0; i < kSteps; ++i) {
    last = session_->Send(ExecuteMessage(1, 11 + i, {10 + i, 10 + i}));
  }
  EXPECT_OK(Fill(10));
  EXPECT_OK(StatusOf(session_->AnswerTo(last)));
  EXPECT_THAT(session_->Floats(10 + kSteps), ElementsAre(0, 0));
}

TEST_F(DataFlowTest, AnEndedSessionEndsWhatItWaitsFor) {
  ASSERT_OK(session_->Do(StreamedUploadMessage(10, Two())));
  session_->Send(ExecuteMessage(1, 11, {10, 10}));
  v1::DownloadRequest request;
  request.set_session_id(session_->id());
  request.set_secret(session_->secret());
  request.set_handle(10);
  RawStream download(channel_, kDownload);
  ASSERT_TRUE(download.Write(request.SerializeAsString()));
  download.WritesDone();
  ASSERT_OK(session_->Do(PingMessage()));
  server_->host().executor().sessions.End(session_->id(),
                                          Unavailable("the lease is over"));
  EXPECT_THAT(download.Finish(),
              ::testing::AnyOf(
                  StatusIs(StatusCode::kUnavailable, "the lease is over"),
                  StatusIs(StatusCode::kUnavailable, "is not known on this"),
                  StatusIs(StatusCode::kNotFound, "is not known")))
      << "it may have asked just before or just after";
  EXPECT_THAT(StatusOf(session_->AnswerTo(~uint64_t{0})),
              StatusIs(StatusCode::kUnavailable, "the lease is over"));
}

}  // namespace
}  // namespace hawser::testing
