#include "server/session/session.h"

#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/session/stand_ins.h"
#include "tests/testing/matchers.h"

namespace hawser::server {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr uint64_t kHello = 0;

class SessionTest : public ::testing::Test {
 protected:
  void SetUp() override { stream_ = Attached(); }

  std::shared_ptr<RecordingStream> Attached() {
    auto stream = std::make_shared<RecordingStream>();
    EXPECT_OK(session_.Attach(stream, [this](uint64_t applied) {
      told_applied_ = applied;
      return Reply{.sequence = kHello};
    }));
    return stream;
  }
  // Claims request `sequence` of `bytes` on the newest stream.
  Ticket Claimed(uint64_t sequence, int64_t bytes = 1) {
    auto ticket = session_.Claim(stream_.get(), sequence, bytes);
    EXPECT_THAT(ticket, IsOk());
    EXPECT_TRUE(ticket.ok() && ticket->has_value()) << sequence;
    return ticket.ok() && ticket->has_value() ? **ticket : Ticket{};
  }
  void Answer(const Ticket& ticket, int64_t bytes = 1) {
    session_.Answer(ticket, {.sequence = ticket.sequence, .bytes = bytes});
  }
  void AskAndAnswer(uint64_t sequence, int64_t bytes = 1) {
    Answer(Claimed(sequence), bytes);
  }

  Session session_{{17, "secret", "tenant", "client"},
                   SessionLimits{.executables = 2,
                                 .unfinished = 3,
                                 .unfinished_bytes = 100,
                                 .kept_bytes = 1000}};
  std::shared_ptr<RecordingStream> stream_;
  uint64_t told_applied_ = ~uint64_t{0};
};

// ---- sequence numbers

TEST_F(SessionTest, RequestsAreTakenInOrderAndOnce) {
  AskAndAnswer(1);
  AskAndAnswer(2);
  ASSERT_OK_AND_ASSIGN(const auto repeat, session_.Claim(stream_.get(), 1, 1));
  EXPECT_EQ(repeat, std::nullopt);
  EXPECT_EQ(session_.unfinished(), 0);
}

TEST_F(SessionTest, AGapIsRefused) {
  AskAndAnswer(1);
  EXPECT_THAT(session_.Claim(stream_.get(), 3, 1),
              StatusIs(StatusCode::kInvalidArgument,
                       "sequence 3 came after 1; numbers leave no gap"));
  EXPECT_THAT(session_.Claim(stream_.get(), ~uint64_t{0}, 1),
              StatusIs(StatusCode::kInvalidArgument,
                       "sequence 18446744073709551615 came after 1"));
  AskAndAnswer(2);  // nothing was taken
}

TEST_F(SessionTest, SequenceZeroIsRefused) {
  EXPECT_THAT(session_.Claim(stream_.get(), 0, 1),
              StatusIs(StatusCode::kInvalidArgument, "sequence 0 belongs to"));
}

TEST_F(SessionTest, AnOldStreamMayAskNoMore) {
  const auto old = stream_;
  stream_ = Attached();
  EXPECT_THAT(session_.Claim(old.get(), 1, 1),
              StatusIs(StatusCode::kUnavailable,
                       "the stream no longer belongs to session 17"));
  AskAndAnswer(1);
}

// ---- answers, and streams that come and go

TEST_F(SessionTest, ANewStreamGetsEveryAnswerNotAcknowledged) {
  for (uint64_t s : {1, 2, 3}) AskAndAnswer(s);
  EXPECT_THAT(stream_->sent(), ElementsAre(kHello, 1, 2, 3));
  EXPECT_OK(session_.Acknowledge(1));
  const auto next = Attached();
  EXPECT_EQ(told_applied_, 3u);
  EXPECT_THAT(next->sent(), ElementsAre(kHello, 2, 3));
}

TEST_F(SessionTest, AnswersThatComeWhileNobodyListensAreKept) {
  const Ticket ticket = Claimed(1);
  session_.Detach(stream_.get(), absl::Now());
  Answer(ticket);
  EXPECT_THAT(stream_->sent(), ElementsAre(kHello));
  EXPECT_THAT(Attached()->sent(), ElementsAre(kHello, 1));
}

TEST_F(SessionTest, AnswersComeInAnyOrderAndAreResentInTheirs) {
  const Ticket one = Claimed(1), two = Claimed(2);
  Answer(two);
  Answer(one);
  EXPECT_THAT(stream_->sent(), ElementsAre(kHello, 2, 1));
  EXPECT_THAT(Attached()->sent(), ElementsAre(kHello, 1, 2));
}

TEST_F(SessionTest, TakingOverClosesTheStreamBefore) {
  const auto next = Attached();
  ASSERT_THAT(stream_->closed(), SizeIs(1));
  EXPECT_THAT(stream_->closed()[0],
              StatusIs(StatusCode::kUnavailable,
                       "another stream took over session 17"));
  session_.Detach(stream_.get(), absl::InfinitePast());
  EXPECT_FALSE(session_.EndIfIdleSince(absl::InfiniteFuture()))
      << "the end of the old stream is not the end of the new one";
  EXPECT_THAT(next->closed(), IsEmpty());
}

TEST_F(SessionTest, AcknowledgingTheFutureIsRefused) {
  AskAndAnswer(1);
  EXPECT_OK(session_.Acknowledge(1));
  EXPECT_THAT(session_.Acknowledge(2),
              StatusIs(StatusCode::kInvalidArgument,
                       "the answer to sequence 2 is acknowledged, but only 1 "
                       "requests have come"));
  AskAndAnswer(2);
  EXPECT_THAT(Attached()->sent(), ElementsAre(kHello, 2));
}

TEST_F(SessionTest, AnAnswerAcknowledgedAheadIsNotKept) {
  const Ticket ticket = Claimed(1);
  EXPECT_OK(session_.Acknowledge(1));
  EXPECT_OK(session_.Acknowledge(0)) << "going back means nothing";
  Answer(ticket);
  EXPECT_THAT(Attached()->sent(), ElementsAre(kHello));
}

TEST_F(SessionTest, AClientThatNeverAcknowledgesLosesTheSession) {
  AskAndAnswer(1, 600);
  EXPECT_THAT(stream_->closed(), IsEmpty());
  AskAndAnswer(2, 600);
  ASSERT_THAT(stream_->closed(), SizeIs(1));
  EXPECT_THAT(stream_->closed()[0],
              StatusIs(StatusCode::kResourceExhausted,
                       "the client left 1200 bytes of answers unacknowledged, "
                       "the limit is 1000"));
  EXPECT_THAT(session_.Attach(stream_, nullptr),
              StatusIs(StatusCode::kUnavailable, "session 17 is over"));
}

// ---- when to read on

TEST_F(SessionTest, TooManyUnfinishedRequestsStopTheReading) {
  Claimed(1);
  const Ticket two = Claimed(2);
  EXPECT_FALSE(session_.congested());
  Claimed(3);
  EXPECT_TRUE(session_.congested());
  EXPECT_EQ(session_.unfinished(), 3);
  const int before = stream_->settled();
  Answer(two);
  EXPECT_FALSE(session_.congested());
  EXPECT_EQ(stream_->settled(), before + 1) << "the stream must be told";
}

TEST_F(SessionTest, LargeUnfinishedRequestsStopTheReading) {
  const Ticket large = Claimed(1, 100);
  EXPECT_TRUE(session_.congested());
  Answer(large);
  EXPECT_FALSE(session_.congested());
}

TEST_F(SessionTest, KeptAnswersStopTheReadingOnlyWhileSomethingIsUnfinished) {
  const Ticket slow = Claimed(1);
  AskAndAnswer(2, 600);
  EXPECT_TRUE(session_.congested());
  Answer(slow);
  EXPECT_FALSE(session_.congested()) << "acknowledgements must come through";
}

// ---- one at a time

TEST_F(SessionTest, RequestsAreAppliedOneAtATimeInTheirOrder) {
  std::vector<int> order;
  session_.turns().Enter([&] { order.push_back(1); });  // goes on: no Leave yet
  session_.turns().Enter([&] {
    order.push_back(2);
    session_.turns().Leave();
  });
  session_.turns().Enter([&] { order.push_back(3); });
  EXPECT_THAT(order, ElementsAre(1));
  session_.turns().Leave();
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
  session_.turns().Leave();
  session_.turns().Enter([&] { order.push_back(4); });
  EXPECT_THAT(order, ElementsAre(1, 2, 3, 4));
}

TEST_F(SessionTest, ALongQueueOfTurnsDoesNotGrowTheStack) {
  constexpr int kTurns = 200000;
  int taken = 0;
  session_.turns().Enter([] {});
  for (int i = 0; i < kTurns; ++i) {
    session_.turns().Enter([&] {
      ++taken;
      session_.turns().Leave();
    });
  }
  session_.turns().Leave();
  EXPECT_EQ(taken, kTurns);
}

TEST_F(SessionTest, TurnsThatEndOnOtherThreadsExcludeEachOther) {
  constexpr int kTurns = 100;
  int count = 0;  // guarded by the turns alone: tsan would see a race
  std::vector<std::thread> enders, enterers;
  Mutex mu;
  for (int t = 0; t < 3; ++t) {
    enterers.emplace_back([&] {
      for (int i = 0; i < kTurns; ++i) {
        session_.turns().Enter([&] {
          ++count;
          MutexLock lock(&mu);
          enders.emplace_back([&] { session_.turns().Leave(); });
        });
      }
    });
  }
  for (std::thread& thread : enterers) thread.join();
  for (size_t i = 0;; ++i) {  // each may let the next one begin
    std::thread ender;
    {
      MutexLock lock(&mu);
      if (i == enders.size()) break;
      ender = std::move(enders[i]);
    }
    ender.join();
  }
  EXPECT_EQ(count, 3 * kTurns);
}

// ---- executables

TEST_F(SessionTest, AnExecutableHasTheNumberTheClientGaveIt) {
  const auto executable = NewExecutable();
  EXPECT_OK(session_.executables().Set(5, DigestOf("m"), executable));
  EXPECT_OK(session_.executables().Set(5, DigestOf("m"), NewExecutable()));
  ASSERT_TRUE(session_.executables().Find(5).has_value());
  EXPECT_EQ(**session_.executables().Find(5), executable) << "a repeat";
  EXPECT_EQ(session_.executables().Find(6), std::nullopt);
  EXPECT_THAT(session_.executables().Set(5, DigestOf("n"), NewExecutable()),
              StatusIs(StatusCode::kInvalidArgument,
                       "executable 5 is in use for another module"));
  EXPECT_THAT(session_.executables().Set(0, DigestOf("n"), NewExecutable()),
              StatusIs(StatusCode::kInvalidArgument, "executable 0 is not"));
}

TEST_F(SessionTest, AFailedCompileIsTheFirstCauseUntilASecondTry) {
  EXPECT_OK(
      session_.executables().Set(5, DigestOf("m"), Unimplemented("no op")));
  EXPECT_THAT(*session_.executables().Find(5),
              StatusIs(StatusCode::kUnimplemented, "no op"));
  EXPECT_OK(session_.executables().Set(5, DigestOf("n"), NewExecutable()));
  EXPECT_THAT(*session_.executables().Find(5), IsOk());
}

TEST_F(SessionTest, ExecutablesAreLimitedAndGivenBack) {
  EXPECT_OK(session_.executables().Set(1, DigestOf("1"), NewExecutable()));
  EXPECT_OK(session_.executables().Set(2, DigestOf("2"), NewExecutable()));
  EXPECT_THAT(session_.executables().Set(3, DigestOf("3"), NewExecutable()),
              StatusIs(StatusCode::kResourceExhausted,
                       "the session's limit of 2 executables"));
  session_.handles().Insert(2, ValueOf(1), 4);
  session_.Release({2, 99});
  EXPECT_EQ(session_.executables().Find(2), std::nullopt);
  EXPECT_EQ(session_.handles().num_handles(), 0) << "they share the numbers";
  EXPECT_OK(session_.executables().Set(3, DigestOf("3"), NewExecutable()));
}

// ---- the end

TEST_F(SessionTest, TheEndFreesClosesAndCancels) {
  auto executable = NewExecutable();
  const std::weak_ptr<runtime::Executable> watch = executable;
  EXPECT_OK(
      session_.executables().Set(1, DigestOf("1"), std::move(executable)));
  session_.handles().Insert(2, ValueOf(1), 4);
  const Ticket unfinished = Claimed(1);
  EXPECT_OK(session_.cancel().Check());
  EXPECT_THAT(session_.Explain(Cancelled("by the caller")),
              StatusIs(StatusCode::kCancelled, "by the caller"));
  session_.End(Unavailable("stopping"));
  EXPECT_THAT(session_.Explain(Cancelled("by the end")),
              StatusIs(StatusCode::kUnavailable, "session 17 is over"));
  EXPECT_THAT(session_.Explain(InvalidArgument("as it is")),
              StatusIs(StatusCode::kInvalidArgument, "as it is"));
  session_.End(Unavailable("stopping again"));
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(session_.handles().num_handles(), 0);
  EXPECT_THAT(session_.cancel().Check(), StatusIs(StatusCode::kCancelled, ""));
  ASSERT_THAT(stream_->closed(), SizeIs(1));
  EXPECT_THAT(stream_->closed()[0],
              StatusIs(StatusCode::kUnavailable, "stopping"));
  Answer(unfinished);  // its answer goes nowhere, and nothing breaks
  EXPECT_EQ(session_.unfinished(), 0);
  EXPECT_THAT(stream_->sent(), ElementsAre(kHello));
  EXPECT_THAT(session_.Claim(stream_.get(), 2, 1),
              StatusIs(StatusCode::kUnavailable, "no longer belongs"));
  EXPECT_THAT(session_.executables().Set(3, DigestOf("3"), NewExecutable()),
              StatusIs(StatusCode::kUnavailable, "session 17 is over"));
}

TEST_F(SessionTest, TheLeaseRunsWhileNobodyIsAttached) {
  const absl::Time t = absl::UnixEpoch() + absl::Hours(1);
  EXPECT_FALSE(session_.EndIfIdleSince(absl::InfiniteFuture()));
  session_.Detach(stream_.get(), t);
  EXPECT_FALSE(session_.EndIfIdleSince(t - absl::Nanoseconds(1)));
  stream_ = Attached();
  EXPECT_FALSE(session_.EndIfIdleSince(absl::InfiniteFuture()));
  session_.Detach(stream_.get(), t);
  EXPECT_TRUE(session_.EndIfIdleSince(t));
  EXPECT_TRUE(session_.EndIfIdleSince(t)) << "it has ended already";
  EXPECT_THAT(session_.Attach(stream_, nullptr),
              StatusIs(StatusCode::kUnavailable, "session 17 is over"));
}

// ---- the log

std::string LoggedEndOf(const std::string& tenant, const std::string& client,
                        const absl::Status& why, bool attached) {
  Session session({17, "secret", tenant, client}, SessionLimits());
  const auto stream = std::make_shared<RecordingStream>();
  if (attached) {
    EXPECT_OK(session.Attach(stream, [](uint64_t) { return Reply(); }));
    EXPECT_OK(session.Claim(stream.get(), 1, 1));
    EXPECT_OK(session.Claim(stream.get(), 2, 1));
  }
  ::testing::internal::CaptureStderr();
  session.End(why);
  session.End(Internal("a second end"));
  return ::testing::internal::GetCapturedStderr();
}

TEST(SessionLog, HasOneLineForEachThatEnds) {
  EXPECT_THAT(
      LoggedEndOf("alice", "train.py 4711",
                  Cancelled("the client said goodbye"), true),
      ::testing::ContainsRegex(
          "^I.*session 17 of tenant alice has ended: client \"train.py 4711\" "
          "at ipv4:127.0.0.1:4242, after [0-9.]*m?s? ?and 2 requests: the "
          "client said goodbye\n$"));
  EXPECT_THAT(LoggedEndOf("alice", "x", Unavailable("its lease"), false),
              ::testing::HasSubstr("at no address, after "));
}

// Whatever clients call themselves, it is one line of printable characters.
TEST(SessionLog, EscapesWhatClientsSay) {
  int rows = 0;
  for (int c = 1; c < 256; ++c) {
    if (c >= 32 && c < 127 && c != '"' && c != '\\') continue;
    const std::string name = {'a', static_cast<char>(c), 'b'};
    const std::string line = LoggedEndOf(name, name, Unavailable(name), true);
    ASSERT_EQ(line.find('\n'), line.size() - 1) << c;
    for (const char in : line.substr(0, line.size() - 1)) {
      ASSERT_TRUE(in >= 32 && in < 127) << c << ": " << line;
    }
    EXPECT_EQ(line.find("client \"" + name), std::string::npos) << c;
    ++rows;
  }
  std::cout << rows << " characters that are escaped\n";
}

}  // namespace
}  // namespace hawser::server
