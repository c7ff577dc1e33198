// Datasets in a session: values that become one, rows of one as an argument,
// one that is deleted while a session uses it.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/datasets.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/service/service_fixture.h"

namespace hawser::testing {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;

using Values = std::vector<std::pair<std::string, v1::ArgumentProto>>;

v1::ArgumentProto OfHandle(uint64_t handle) {
  v1::ArgumentProto argument;
  argument.set_handle(handle);
  return argument;
}

v1::ArgumentProto OfDataset(const std::string& token) {
  v1::ArgumentProto argument;
  argument.mutable_dataset()->set_token(token);
  return argument;
}

v1::ArgumentProto OfRows(const std::string& token, int64_t begin,
                         int64_t count) {
  v1::ArgumentProto argument = OfDataset(token);
  argument.mutable_dataset()->mutable_rows()->set_begin(begin);
  argument.mutable_dataset()->mutable_rows()->set_count(count);
  return argument;
}

v1::ClientMessage FreezeMessage(const Values& values) {
  v1::ClientMessage message;
  v1::FreezeRequest* freeze = message.mutable_freeze();
  for (const auto& [name, value] : values) {
    freeze->add_names(name);
    *freeze->add_values() = value;
  }
  freeze->set_wait_durable(true);
  return message;
}

v1::ClientMessage ExecuteOn(uint64_t executable, uint64_t first_result,
                            const std::vector<v1::ArgumentProto>& arguments) {
  v1::ClientMessage message = ExecuteMessage(executable, first_result);
  for (const v1::ArgumentProto& argument : arguments) {
    *message.mutable_execute()->add_arguments() = argument;
  }
  return message;
}

Literal Counting(int64_t n) {
  Literal value = Literal::Uninitialized(Shape::Of(DType::kF32, {n}));
  for (int64_t i = 0; i < n; ++i) {
    value.mutable_data<float>()[i] = static_cast<float>(i);
  }
  return value;
}

class FreezeTest : public ServiceTest,
                   public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    LoopbackOptions options;
    options.data_dir = GetParam();
    Start(options);
    session_ = OpenSession();
  }
  // The bytes of a dataset's array as the Datasets service gives them.
  std::string Get(const std::string& token, const std::string& array) {
    v1::GetRequest request;
    request.set_token(token);
    request.set_array(array);
    const auto got =
        CallMethod<v1::GetChunk>(channel_, kGet, std::vector{request});
    EXPECT_OK(got.status);
    std::string bytes;
    for (const v1::GetChunk& chunk : got.answers) bytes += chunk.data();
    return bytes;
  }
  static void SayGoodbye(RawSession& session) {
    session.stream().WritesDone();
    EXPECT_OK(session.stream().Finish());
  }
  absl::Status Delete(const std::string& token) {
    v1::DeleteRequest request;
    request.set_token(token);
    return CallMethod<v1::DeleteReply>(channel_, kDelete, std::vector{request})
        .status;
  }

  std::unique_ptr<RawSession> session_;
};

INSTANTIATE_TEST_SUITE_P(Tiers, FreezeTest, ::testing::Bool(),
                         [](const auto& tier) {
                           return tier.param ? "OnDisk" : "InMemory";
                         });

TEST_P(FreezeTest, ResultsBecomeTheDatasetThatPutMakes) {
  const Literal x = Literal::Vector<float>({1, 2});
  ASSERT_OK(session_->Do(UploadMessage(10, x)));
  ASSERT_OK(session_->Do(ExecuteMessage(1, 20, {10, 10})));
  const DatasetSource source{{{"sum", Literal::Vector<float>({2, 4})},
                              {"x", x},
                              {"y", Literal::Scalar<int64_t>(7)}}};
  v1::ArgumentProto seven;
  ToProto(source.arrays[2].value, seven.mutable_literal());
  const v1::ServerMessage answer = session_->Ask(FreezeMessage(
      {{"sum", OfHandle(20)}, {"x", OfHandle(10)}, {"y", seven}}));
  ASSERT_OK(StatusOf(answer));
  const std::string token = answer.freeze().dataset().token();
  EXPECT_EQ(token, TokenOf(ManifestOf(source, 1)));
  EXPECT_EQ(answer.freeze().dataset().durable(), GetParam());
  // It outlives its session, and the process where there is a disk.
  SayGoodbye(*session_);
  ASSERT_TRUE(AllSessionsEnd());
  if (GetParam()) {
    ASSERT_OK(server_->Restart());
    channel_ = ConnectRaw(server_->address());
  }
  for (const DatasetSource::Array& array : source.arrays) {
    EXPECT_EQ(Get(token, array.name), std::string(array.value.bytes().data(),
                                                  array.value.bytes().size()))
        << array.name;
  }
}

TEST_P(FreezeTest, AValueOfManyChunksAndOneThatIsStillToCome) {
  constexpr int64_t kFloats = (2 << 20) + 3;  // three chunks
  const Literal input = Counting(kFloats);
  Literal twice = Literal::Uninitialized(input.shape());
  for (int64_t i = 0; i < kFloats; ++i) {
    twice.mutable_data<float>()[i] = 2 * input.data<float>()[i];
  }
  const std::string token = PutArray(channel_, input);
  ASSERT_OK(
      session_->Do(CompileMessage(5, EncodeModule(DoubleModule(kFloats)))));
  // Neither has arrived when the next is read: the array is loaded first.
  session_->Send(ExecuteOn(5, 30, {OfDataset(token)}));
  const v1::ServerMessage answer =
      session_->Ask(FreezeMessage({{"", OfHandle(30)}}));
  ASSERT_OK(StatusOf(answer));
  EXPECT_EQ(answer.freeze().dataset().token(),
            TokenOf(ManifestOf({{{"", twice}}}, 1)));
  EXPECT_EQ(Get(answer.freeze().dataset().token(), ""),
            std::string(twice.bytes().data(), twice.bytes().size()));
}

TEST_P(FreezeTest, TheRestFollowsAChunkThatIsThereAlready) {
  constexpr int64_t kFloats = 2 << 20;  // two chunks
  const Literal twice = Counting(kFloats);
  Literal input = Literal::Uninitialized(twice.shape());
  for (int64_t i = 0; i < kFloats; ++i) {
    input.mutable_data<float>()[i] = twice.data<float>()[i] / 2;
  }
  PutArray(channel_, Counting(kFloats / 2));  // the first of them
  const std::string token = PutArray(channel_, input);
  ASSERT_OK(
      session_->Do(CompileMessage(5, EncodeModule(DoubleModule(kFloats)))));
  session_->Send(ExecuteOn(5, 30, {OfDataset(token)}));
  const v1::ServerMessage answer =
      session_->Ask(FreezeMessage({{"", OfHandle(30)}}));
  ASSERT_OK(StatusOf(answer));
  EXPECT_EQ(answer.freeze().dataset().token(),
            TokenOf(ManifestOf({{{"", twice}}}, 1)));
}

TEST_P(FreezeTest, WhatCannotBeFrozenIsSaid) {
  ASSERT_OK(session_->Do(UploadMessage(10, Literal::Vector<float>({1, 2}))));
  const uint64_t failing = session_->Send(ExecuteMessage(1, 40, {99, 99}));
  const absl::Status cause = StatusOf(session_->AnswerTo(failing));
  EXPECT_EQ(session_->Do(FreezeMessage({{"", OfHandle(40)}})), cause)
      << "the first cause, in its first words";
  v1::ClientMessage odd = FreezeMessage({{"x", OfHandle(10)}});
  odd.mutable_freeze()->add_names("y");
  const struct {
    v1::ClientMessage request;
    StatusCode code;
    const char* part;
  } rows[] = {
      {odd, StatusCode::kInvalidArgument, "2 names for 1 values"},
      {FreezeMessage({}), StatusCode::kInvalidArgument, "has no array"},
      {FreezeMessage({{"b", OfHandle(10)}, {"a", OfHandle(10)}}),
       StatusCode::kInvalidArgument, "not sorted by name"},
      {FreezeMessage({{"a", OfHandle(10)}, {"a", OfHandle(10)}}),
       StatusCode::kInvalidArgument, "two arrays are called \"a\""},
      {FreezeMessage({{"a", OfHandle(77)}}), StatusCode::kNotFound,
       "argument 0: handle 77 is not known"},
      {FreezeMessage({{"a", OfDataset(TokenOf(Digest()))}}),
       StatusCode::kNotFound, "is not known on this server"},
      {FreezeMessage({{"a", v1::ArgumentProto()}}),
       StatusCode::kInvalidArgument, "no kind of argument is set"},
  };
  for (const auto& row : rows) {
    EXPECT_THAT(session_->Do(row.request), StatusIs(row.code, row.part));
  }
  EXPECT_EQ(server_->host().datasets().statistics().datasets, 0);
}

TEST_P(FreezeTest, RowsOfADatasetAreAnArgument) {
  const std::string token = PutArray(channel_, Counting(10));
  ASSERT_OK(session_->Do(
      ExecuteOn(1, 20, {OfRows(token, 4, 2), OfRows(token, 8, 2)})));
  EXPECT_THAT(session_->Floats(20), ElementsAre(12, 14));
  const v1::ServerMessage frozen =
      session_->Ask(FreezeMessage({{"", OfRows(token, 3, 0)}}));
  EXPECT_EQ(frozen.freeze().dataset().token(),
            TokenOf(ManifestOf({{{"", Counting(0)}}}, 1)));
  const struct {
    int64_t begin, count;
    const char* part;
  } rows[] = {{-1, 2, "rows -1 and up, 2 of them, of f32[10]"},
              {9, 2, "rows 9 and up, 2 of them, of f32[10]"},
              {0, -2, "rows 0 and up, -2 of them"},
              {2, INT64_MAX, "rows 2 and up"},
              {0, 3, "is f32[3], must be f32[2]"}};
  uint64_t result = 30;
  for (const auto& row : rows) {
    EXPECT_THAT(session_->Do(ExecuteOn(1, result++,
                                       {OfRows(token, row.begin, row.count),
                                        OfRows(token, 0, 2)})),
                StatusIs(StatusCode::kInvalidArgument, row.part));
  }
  EXPECT_THAT(session_->Do(
                  ExecuteOn(1, 60, {OfRows(token, 9, 2), OfRows(token, 0, 2)})),
              StatusIs(StatusCode::kInvalidArgument, token));
}

TEST_P(FreezeTest, ASessionKeepsADeletedDatasetItHasUsed) {
  const std::string token = PutArray(channel_, Counting(10));
  ASSERT_OK(session_->Do(
      ExecuteOn(1, 20, {OfRows(token, 0, 2), OfRows(token, 2, 2)})));
  ASSERT_OK(session_->Do(CompileMessage(5, EncodeModule(DoubleModule(10)))));
  ASSERT_OK(session_->Do(ExecuteOn(5, 22, {OfDataset(token)})));
  ASSERT_OK(Delete(token));
  // Other rows too: the array is the session's own for its life.
  ASSERT_OK(session_->Do(
      ExecuteOn(1, 21, {OfRows(token, 4, 2), OfRows(token, 6, 2)})));
  EXPECT_THAT(session_->Floats(21), ElementsAre(10, 12));
  auto other = OpenSession();
  EXPECT_THAT(
      other->Do(ExecuteOn(1, 21, {OfRows(token, 4, 2), OfRows(token, 6, 2)})),
      StatusIs(StatusCode::kNotFound, token));
  EXPECT_EQ(server_->host().datasets().statistics().chunks, 1);
  SayGoodbye(*session_);
  SayGoodbye(*other);
  ASSERT_TRUE(AllSessionsEnd());
  server_->host().executor().Sweep();
  server_->host().datasets().Sweep();
  EXPECT_EQ(server_->host().datasets().statistics().chunks, 0);
  EXPECT_EQ(server_->host().datasets().statistics().resident_bytes, 0);
}

}  // namespace
}  // namespace hawser::testing
