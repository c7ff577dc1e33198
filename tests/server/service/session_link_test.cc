// A session stream without a transport: who may speak when, and what happens
// to those who have gone.
#include "server/service/stream/session_link.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/mutex.h"
#include "core/base/status.h"
#include "core/wire/codec.h"
#include "gtest/gtest.h"
#include "kernels/cpu/client/cpu_client.h"
#include "server/datasets/dataset_store.h"
#include "server/service/execution/executor.h"
#include "tests/server/service/raw_session.h"
#include "tests/testing/matchers.h"

namespace hawser::server {
namespace {

using absl::StatusCode;
using testing::AddModule;
using testing::CompileMessage;
using testing::OpenMessage;
using testing::PingMessage;
using testing::StatusOf;

// A transport that delivers what the test says. Writes end at once.
class ScriptedWire final : public SessionWire {
 public:
  void Read(v1::ClientMessage* into) override {
    MutexLock lock(&mu_);
    reading_ = into;
  }
  void Write(const v1::ServerMessage& message) override {
    MutexLock lock(&mu_);
    written_.push_back(message);
    changed_.SignalAll();
  }
  void Finish(const absl::Status& status) override {
    MutexLock lock(&mu_);
    finished_.push_back(status);
  }

  // The client sends a message; false when the link does not read.
  bool Deliver(const std::shared_ptr<SessionLink>& link,
               const v1::ClientMessage& message) {
    {
      MutexLock lock(&mu_);
      if (reading_ == nullptr) return false;
      *reading_ = message;
      reading_ = nullptr;
    }
    link->OnMessage();
    return true;
  }
  // The next message the link wrote.
  v1::ServerMessage Next(const std::shared_ptr<SessionLink>& link) {
    v1::ServerMessage message;
    {
      MutexLock lock(&mu_);
      changed_.Wait(&mu_, [this]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
        return next_ < written_.size();
      });
      message = written_[next_++];
    }
    link->OnWritten();
    return message;
  }
  bool reading() const {
    MutexLock lock(&mu_);
    return reading_ != nullptr;
  }
  std::vector<absl::Status> finished() const {
    MutexLock lock(&mu_);
    return finished_;
  }

 private:
  mutable Mutex mu_;
  CondVar changed_;
  v1::ClientMessage* reading_ ABSL_GUARDED_BY(mu_) = nullptr;
  std::vector<v1::ServerMessage> written_ ABSL_GUARDED_BY(mu_);
  std::vector<absl::Status> finished_ ABSL_GUARDED_BY(mu_);
  size_t next_ ABSL_GUARDED_BY(mu_) = 0;
};

class SessionLinkTest : public ::testing::Test {
 protected:
  struct Stream {
    std::unique_ptr<ScriptedWire> wire = std::make_unique<ScriptedWire>();
    std::shared_ptr<SessionLink> link;
    bool batched = false;  // answers have come several in a message
    bool Deliver(const v1::ClientMessage& m) { return wire->Deliver(link, m); }
    v1::ServerMessage Next() { return wire->Next(link); }
  };

  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(datasets_, DatasetStore::Open({}));
    ExecutorOptions options;
    options.workers = 1;
    options.sessions.now = [this] {
      const int64_t look = looks_at_the_clock_.fetch_add(1);
      return absl::UnixEpoch() + look * tick_;
    };
    ASSERT_OK_AND_ASSIGN(executor_, Executor::Create(cpu::MakeCpuClient(),
                                                     datasets_.get(), options));
  }
  void TearDown() override { workers_go_on_.Set(true); }

  Stream Connect() {
    Stream stream;
    stream.link = std::make_shared<SessionLink>(executor_.get(), "tenant",
                                                stream.wire.get());
    stream.link->Start();
    return stream;
  }
  // On a new stream: a new session, or the one of `open`.
  Stream Open(v1::OpenReply* open) {
    Stream stream = Connect();
    EXPECT_TRUE(
        stream.Deliver(OpenMessage(open->session_id(), open->secret())));
    const v1::ServerMessage answer = stream.Next();
    EXPECT_TRUE(answer.has_open()) << StatusOf(answer);
    *open = answer.open();
    return stream;
  }
  // The next so many answers, each as if it had come alone.
  static std::vector<v1::ServerMessage> Answers(Stream& stream, size_t count) {
    std::vector<v1::ServerMessage> answers;
    while (answers.size() < count) {
      v1::ServerMessage message = stream.Next();
      for (uint64_t sequence : message.done()) {
        answers.emplace_back().set_sequence(sequence);
      }
      for (const auto& one : message.more()) answers.push_back(one);
      const bool several = message.done_size() + message.more_size() > 0;
      if (!several) answers.push_back(message);
      stream.batched |= several;
    }
    return answers;
  }
  // As gRPC does it when the link breaks.
  void Break(Stream& stream) {
    stream.link->OnBroken();
    stream.link->OnDone(false);
    stream.wire = nullptr;
    stream.link = nullptr;
  }
  // Nothing compiles until workers_go_on_ is set.
  void BlockWorkers() {
    executor_->workers.Schedule(
        [go_on = workers_go_on_.future()] { (void)go_on.Await(); });
  }
  static v1::ClientMessage Numbered(v1::ClientMessage message,
                                    uint64_t sequence) {
    message.set_sequence(sequence);
    return message;
  }
  v1::ClientMessage Compile(uint64_t sequence) {
    return Numbered(CompileMessage(1, EncodeModule(AddModule())), sequence);
  }

  std::atomic<int64_t> looks_at_the_clock_{0};
  absl::Duration tick_;  // between two of them
  std::unique_ptr<DatasetStore> datasets_;
  std::unique_ptr<Executor> executor_;
  Promise<bool> workers_go_on_;
};

TEST_F(SessionLinkTest, ReadsOneRequestAtATime) {
  v1::OpenReply open;
  Stream stream = Open(&open);
  BlockWorkers();
  ASSERT_TRUE(stream.Deliver(Compile(1)));
  EXPECT_FALSE(stream.wire->reading()) << "the compile is still under way";
  workers_go_on_.Set(true);
  EXPECT_EQ(stream.Next().sequence(), 1u);
  Break(stream);
}

// A stream may break while its request waits for the turn of one that came on
// the stream before.
TEST_F(SessionLinkTest, ARequestWhoseStreamIsGoneWhenItsTurnComesIsDropped) {
  v1::OpenReply open;
  Stream first = Open(&open);
  BlockWorkers();
  ASSERT_TRUE(first.Deliver(Compile(1)));
  Stream second = Open(&open);
  ASSERT_TRUE(second.Deliver(Numbered(PingMessage(), 2)));
  Break(second);
  Break(first);
  Stream third = Open(&open);
  EXPECT_EQ(open.applied(), 1u);
  workers_go_on_.Set(true);
  EXPECT_EQ(third.Next().sequence(), 1u);
  ASSERT_TRUE(third.Deliver(Numbered(PingMessage(), 2)));
  EXPECT_EQ(third.Next().sequence(), 2u) << "it was not taken before";
  Break(third);
}

TEST_F(SessionLinkTest, ManyStreamsMayWaitForOneTurn) {
  v1::OpenReply open;
  Stream first = Open(&open);
  BlockWorkers();
  ASSERT_TRUE(first.Deliver(Compile(1)));
  std::vector<Stream> waiting;
  for (int i = 0; i < 2000; ++i) {
    waiting.push_back(Open(&open));
    ASSERT_TRUE(waiting.back().Deliver(Numbered(PingMessage(), 2)));
  }
  for (size_t i = 0; i + 1 < waiting.size(); ++i) Break(waiting[i]);
  workers_go_on_.Set(true);
  EXPECT_EQ(waiting.back().Next().sequence(), 1u);
  EXPECT_EQ(waiting.back().Next().sequence(), 2u);
  Break(waiting.back());
  Break(first);
}

// ---- several requests in one message

TEST_F(SessionLinkTest, RequestsOfOneMessageAreAppliedInOrder) {
  for (const bool takes_batches : {false, true}) {
    Stream stream = Connect();
    v1::ClientMessage open = OpenMessage();
    open.mutable_open()->set_batches(takes_batches);
    ASSERT_TRUE(stream.Deliver(open));
    EXPECT_TRUE(stream.Next().open().batches());
    v1::ClientMessage batch;
    *batch.add_more() = Numbered(
        testing::UploadMessage(10, Literal::Vector<float>({1, 2})), 1);
    *batch.add_more() = Compile(2);  // the rest waits for it
    *batch.add_more() =
        Numbered(testing::ExecuteMessage(1, 11, {10, 10}), 3);
    *batch.add_more() = Numbered(testing::FetchMessage(11), 4);
    ASSERT_TRUE(stream.Deliver(batch));
    const std::vector<v1::ServerMessage> answers = Answers(stream, 4);
    for (uint64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(answers[i].sequence(), i + 1);
      EXPECT_OK(StatusOf(answers[i]));
    }
    EXPECT_EQ(stream.batched, takes_batches);
    Break(stream);
  }
}

TEST_F(SessionLinkTest, AnswersToOneMessageGoTogether) {
  Stream stream = Connect();
  v1::ClientMessage open = OpenMessage();
  open.mutable_open()->set_batches(true);
  ASSERT_TRUE(stream.Deliver(open));
  ASSERT_TRUE(stream.Next().has_open());
  v1::ClientMessage batch;
  for (uint64_t i = 1; i <= 5; ++i) {
    *batch.add_more() = Numbered(PingMessage(), i);
  }
  ASSERT_TRUE(stream.Deliver(batch));
  EXPECT_EQ(stream.Next().done_size(), 5);
  EXPECT_TRUE(stream.wire->reading());
  ASSERT_TRUE(stream.Deliver(batch));  // all repeats
  ASSERT_TRUE(stream.Deliver(Numbered(PingMessage(), 6)));
  EXPECT_EQ(stream.Next().sequence(), 6u);
  Break(stream);
}

// Three sums: the first is given back by a later request of the message, the
// second by a later message, the third never.
TEST_F(SessionLinkTest, ResultsGivenBackInTheSameMessageStayWhereTheyAre) {
  for (const bool takes_batches : {false, true}) {
    Stream stream = Connect();
    v1::ClientMessage open = OpenMessage();
    open.mutable_open()->set_batches(takes_batches);
    ASSERT_TRUE(stream.Deliver(open));
    ASSERT_TRUE(stream.Next().has_open());
    v1::ClientMessage batch;
    *batch.add_more() = Compile(1);
    *batch.add_more() = Numbered(
        testing::UploadMessage(10, Literal::Vector<float>({1, 2})), 2);
    *batch.add_more() = Numbered(testing::ExecuteMessage(1, 11, {10, 10}), 3);
    *batch.add_more() = Numbered(testing::ExecuteMessage(1, 12, {11, 10}), 4);
    *batch.add_more() = Numbered(testing::ExecuteMessage(1, 13, {12, 10}), 5);
    batch.mutable_more(4)->add_release(11);
    ASSERT_TRUE(stream.Deliver(batch));
    std::vector<v1::ServerMessage> answers = Answers(stream, 5);
    std::sort(answers.begin(), answers.end(), [](const auto& a, const auto& b) {
      return a.sequence() < b.sequence();
    });
    for (const auto& answer : answers) EXPECT_OK(StatusOf(answer));
    EXPECT_EQ(answers[2].execute().results_size(), 0);
    EXPECT_EQ(answers[3].execute().results_size(), 1);
    ASSERT_EQ(answers[4].execute().results_size(), 1);
    const float sum[] = {4, 8};
    EXPECT_EQ(answers[4].execute().results(0).data(),
              std::string(reinterpret_cast<const char*>(sum), sizeof(sum)));
    Break(stream);
  }
}

TEST_F(SessionLinkTest, AMessageThatTakesLongMakesWayForOthers) {
  tick_ = absl::Milliseconds(1);  // longer than a turn
  v1::ClientMessage pings;
  for (uint64_t i = 1; i <= 3; ++i) {
    *pings.add_more() = Numbered(PingMessage(), i);
  }
  v1::OpenReply open, other;
  Stream stream = Open(&open);
  ASSERT_TRUE(stream.Deliver(pings));
  EXPECT_EQ(Answers(stream, 3)[2].sequence(), 3u) << "there are no others";

  Stream light = Open(&other);
  Promise<bool> go_on;
  executor_->turns.Schedule([&] { (void)go_on.future().Await(); });
  for (auto& ping : *pings.mutable_more()) ping.set_sequence(ping.sequence() + 3);
  ASSERT_TRUE(stream.Deliver(pings));
  EXPECT_EQ(Answers(stream, 1)[0].sequence(), 4u);
  EXPECT_FALSE(stream.wire->reading()) << "the rest waits for its next turn";
  ASSERT_TRUE(light.Deliver(Numbered(PingMessage(), 1)));
  EXPECT_EQ(light.Next().sequence(), 1u);
  go_on.Set(true);
  EXPECT_EQ(Answers(stream, 1)[0].sequence(), 5u);
  EXPECT_EQ(Answers(stream, 1)[0].sequence(), 6u);
  Break(light);
  Break(stream);
}

TEST_F(SessionLinkTest, ABatchWhoseStreamBreaksGoesOnNowhere) {
  v1::OpenReply open;
  Stream stream = Open(&open);
  BlockWorkers();
  v1::ClientMessage batch;
  *batch.add_more() = Compile(1);
  *batch.add_more() = Numbered(PingMessage(), 2);
  ASSERT_TRUE(stream.Deliver(batch));
  Break(stream);
  workers_go_on_.Set(true);
  Stream next = Open(&open);
  EXPECT_EQ(open.applied(), 1u);
  EXPECT_EQ(next.Next().sequence(), 1u);
  ASSERT_TRUE(next.Deliver(Numbered(PingMessage(), 2)));
  EXPECT_EQ(next.Next().sequence(), 2u);
  Break(next);
}

// ---- the end

TEST_F(SessionLinkTest, ATakeoverIsNoGoodbye) {
  v1::OpenReply open;
  Stream first = Open(&open);
  Stream second = Open(&open);
  first.link->OnHalfClose();  // its read ends, since it has finished
  first.link->OnDone(true);
  ASSERT_TRUE(second.Deliver(Numbered(PingMessage(), 1)));
  EXPECT_EQ(second.Next().sequence(), 1u);
  Break(second);
}

TEST_F(SessionLinkTest, ALinkThatBrokeBeforeItOpenedLeavesALease) {
  Stream stream = Connect();
  stream.link->OnBroken();
  EXPECT_EQ(stream.wire->finished().size(), 1u);
  stream.link->OnDone(false);
  EXPECT_EQ(executor_->sessions.size(), 0);
}

TEST_F(SessionLinkTest, OnlyADeliveredGoodbyeEndsTheSession) {
  for (const bool delivered : {false, true}) {
    v1::OpenReply open;
    Stream stream = Open(&open);
    stream.link->OnHalfClose();
    ASSERT_EQ(stream.wire->finished().size(), 1u);
    EXPECT_OK(stream.wire->finished()[0]);
    stream.link->OnDone(delivered);
    const auto found =
        executor_->sessions.Find("tenant", open.session_id(), open.secret());
    EXPECT_EQ(found.ok(), !delivered);
    executor_->sessions.EndAll(Cancelled("next round"));
  }
}

TEST_F(SessionLinkTest, RequestsSentBeforeTheClientKnowsItIsLostAreDropped) {
  Stream stream = Connect();
  ASSERT_TRUE(stream.Deliver(OpenMessage(12345, "secret")));
  const v1::ServerMessage lost = stream.Next();
  EXPECT_TRUE(lost.session_lost());
  EXPECT_THAT(StatusOf(lost),
              StatusIs(StatusCode::kUnavailable,
                       "session 12345 is not known on this server"));
  ASSERT_TRUE(stream.Deliver(Numbered(PingMessage(), 7)));
  ASSERT_TRUE(stream.Deliver(OpenMessage()));
  EXPECT_TRUE(stream.Next().has_open()) << "it may open a new one";
  EXPECT_TRUE(stream.wire->finished().empty());
  Break(stream);
}

TEST_F(SessionLinkTest, AClientThatDoesNotReadIsNotReadEither) {
  v1::OpenReply open;
  Stream stream = Open(&open);
  ASSERT_TRUE(stream.Deliver(Numbered(
      testing::UploadMessage(10,
                             Literal::Zeros(Shape::Of(DType::kU8, {60000}))),
      1)));
  uint64_t sequence = 1;
  while (stream.wire->reading() && sequence < 2000) {
    ASSERT_TRUE(stream.Deliver(
        Numbered(testing::FetchMessage(10), ++sequence)));
  }
  EXPECT_GT(sequence, 200u) << "16 MiB of answers";
  EXPECT_LT(sequence, 2000u);
  for (uint64_t s = 1; s <= sequence; ++s) {
    EXPECT_EQ(stream.Next().sequence(), s);
  }
  EXPECT_TRUE(stream.wire->reading());
  Break(stream);
}

}  // namespace
}  // namespace hawser::server
