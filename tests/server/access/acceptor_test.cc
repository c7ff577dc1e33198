#include "server/access/connections/acceptor.h"

#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "gtest/gtest.h"
#include "server/access/connections/open_sockets.h"
#include "server/listener.h"
#include "tests/server/access/sockets.h"
#include "tests/testing/matchers.h"

namespace hawser::server {
namespace {

using testing::Socket;

constexpr absl::Duration kPatience = absl::Seconds(20);
// For what must not happen.
constexpr absl::Duration kAWhile = absl::Milliseconds(50);

// An acceptor that keeps what it is given.
class AcceptorTest : public ::testing::Test {
 protected:
  void Start(AcceptorOptions options) {
    ASSERT_OK_AND_ASSIGN(listener_, Listener::Bind("127.0.0.1:0", false));
    ASSERT_OK_AND_ASSIGN(acceptor_,
                         Acceptor::Create(listener_->fd(), std::move(options)));
    acceptor_->Start([this](int fd) {
      MutexLock lock(&mu_);
      given_.push_back(fd);
      changed_.SignalAll();
    });
  }
  void TearDown() override {
    acceptor_ = nullptr;
    MutexLock lock(&mu_);
    for (const int fd : given_) close(fd);
  }
  Socket Connect() { return Socket::To(listener_->address()); }
  // A client that has said something, once the acceptor has given it away.
  Socket ConnectAndSpeak() {
    size_t before;
    {
      MutexLock lock(&mu_);
      before = given_.size();
    }
    Socket socket = Connect();
    socket.Send("x");
    EXPECT_TRUE(AwaitGiven(before + 1));
    return socket;
  }
  bool AwaitGiven(size_t count) {
    MutexLock lock(&mu_);
    return changed_.WaitUntil(&mu_, SteadyNow() + kPatience,
                              [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
                                return given_.size() >= count;
                              });
  }
  size_t given() {
    MutexLock lock(&mu_);
    return given_.size();
  }
  // Ends the server's half of a connection, as gRPC does in its own time.
  void CloseGiven(size_t index) {
    MutexLock lock(&mu_);
    close(given_[index]);
    given_.erase(given_.begin() + index);
  }

  std::unique_ptr<Listener> listener_;
  std::unique_ptr<Acceptor> acceptor_;
  Mutex mu_;
  CondVar changed_;
  std::vector<int> given_ ABSL_GUARDED_BY(mu_);
};

TEST_F(AcceptorTest, GivesAwayWhoSpeaks) {
  Start({});
  Socket silent = Connect();
  Socket speaking = ConnectAndSpeak();
  EXPECT_EQ(given(), 1);
  silent.Send("at last");
  EXPECT_TRUE(AwaitGiven(2));
}

TEST_F(AcceptorTest, ClosesWhoSaysNothingInTime) {
  Start({.first_word = absl::Milliseconds(30)});
  Socket speaking = ConnectAndSpeak();
  Socket silent = Connect();
  EXPECT_TRUE(silent.IsClosedWithin(kPatience));
  EXPECT_FALSE(speaking.IsClosedWithin(kAWhile));
  EXPECT_EQ(given(), 1);
}

TEST_F(AcceptorTest, SilentOnesMakeRoomTheOldestFirst) {
  Start({.max_connections = 4, .first_word = absl::InfiniteDuration()});
  std::vector<Socket> silent;
  for (int i = 0; i < 4; ++i) silent.push_back(Connect());
  Socket fifth = Connect();
  EXPECT_TRUE(silent[0].IsClosedWithin(kPatience));
  EXPECT_FALSE(silent[1].IsClosedWithin(kAWhile));
  fifth.Send("x");
  EXPECT_TRUE(AwaitGiven(1));
}

TEST_F(AcceptorTest, AFloodOfSilentOnesKeepsNobodyOut) {
  Start({.max_connections = 8});
  std::vector<Socket> silent;
  std::vector<Socket> honest;
  for (int i = 0; i < 7; ++i) {
    for (int k = 0; k < 50; ++k) silent.push_back(Connect());
    honest.push_back(ConnectAndSpeak());
  }
  EXPECT_EQ(given(), 7);
  for (Socket& socket : honest) {
    EXPECT_FALSE(socket.IsClosedWithin(absl::ZeroDuration()));
  }
}

TEST_F(AcceptorTest, AtTheCapNewOnesAreRefusedUntilSomebodyLeaves) {
  Start({.max_connections = 3});
  std::vector<Socket> honest;
  for (int i = 0; i < 3; ++i) honest.push_back(ConnectAndSpeak());
  EXPECT_TRUE(Connect().IsClosedWithin(kPatience));
  EXPECT_EQ(given(), 3);
  CloseGiven(0);
  const absl::Time end = absl::Now() + kPatience;
  size_t now_given = 2;
  while (now_given < 3 && absl::Now() < end) {
    Socket next = Connect();
    next.Send("x");
    if (!next.IsClosedWithin(kAWhile)) now_given = given();
  }
  EXPECT_EQ(now_given, 3);
}

TEST_F(AcceptorTest, SomeAreHeldBackForAWhile) {
  std::atomic<int> asked{0};
  Start({.not_before = [&](int) {
    ++asked;
    return SteadyNow() + 3 * kAWhile;
  }});
  const absl::Time start = SteadyNow();
  Socket held = ConnectAndSpeak();
  EXPECT_GE(SteadyNow() - start, 3 * kAWhile);
  EXPECT_EQ(asked, 1);
}

TEST_F(AcceptorTest, ThoseHeldBackMakeRoom) {
  std::atomic<bool> hold{true};
  Start({.max_connections = 3, .not_before = [&](int) {
           return hold ? absl::InfiniteFuture() : SteadyNow();
         }});
  std::vector<Socket> held;
  for (int i = 0; i < 3; ++i) {
    held.push_back(Connect());
    held.back().Send("x");
  }
  absl::SleepFor(kAWhile);
  EXPECT_EQ(given(), 0);
  hold = false;
  Socket honest = ConnectAndSpeak();
  int closed = 0;
  for (Socket& socket : held) closed += socket.IsClosedWithin(kAWhile) ? 1 : 0;
  EXPECT_EQ(closed, 1);
}

TEST_F(AcceptorTest, ThoseThatMayNeverComeAreClosedAtOnce) {
  std::atomic<bool> refuse{true};
  Start({.not_before = [&](int) -> std::optional<absl::Time> {
    if (refuse) return std::nullopt;
    return SteadyNow();
  }});
  Socket refused = Connect();
  refused.Send("x");
  EXPECT_TRUE(refused.IsClosedWithin(kAWhile));
  refuse = false;
  Socket honest = ConnectAndSpeak();
  EXPECT_EQ(given(), 1);
}

TEST_F(AcceptorTest, WhoLeavesBeforeSpeakingIsForgotten) {
  Start({.max_connections = 2, .first_word = absl::InfiniteDuration()});
  for (int i = 0; i < 100; ++i) Connect();
  Socket honest = ConnectAndSpeak();
  EXPECT_EQ(given(), 1);
}

TEST_F(AcceptorTest, StopClosesWhoWaitsAndGivesNothingAway) {
  Start({.first_word = absl::InfiniteDuration()});
  Socket speaking = ConnectAndSpeak();
  Socket silent = Connect();
  ConnectAndSpeak();  // so that `silent` has been accepted
  acceptor_->Stop();
  EXPECT_TRUE(silent.IsClosedWithin(kPatience));
  EXPECT_FALSE(speaking.IsClosedWithin(absl::ZeroDuration()));
  acceptor_->Stop();  // harmless
}

TEST(AcceptorLimits, TheLimitOfFileDescriptorsCounts) {
  rlimit old{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
  ASSERT_OK_AND_ASSIGN(const auto listener,
                       Listener::Bind("127.0.0.1:0", false));
  const struct {
    rlim_t files;
    size_t most;
  } cases[] = {{16, 0}, {200, 150}, {1000, 872}};
  for (const auto& c : cases) {
    rlimit low = old;
    low.rlim_cur = c.files;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
    const auto acceptor = Acceptor::Create(listener->fd(), {});
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
    if (c.most == 0) {
      EXPECT_THAT(acceptor, StatusIs(absl::StatusCode::kFailedPrecondition,
                                     "16 file descriptors"));
      continue;
    }
    ASSERT_OK(acceptor);
    EXPECT_LT((*acceptor)->capacity(), c.most);
    EXPECT_GT((*acceptor)->capacity(), c.most - 60);  // what is open here
  }
}

TEST(OpenSocketsTest, ADescriptorThatIsUsedAgainIsAnotherSocket) {
  ASSERT_OK_AND_ASSIGN(auto one, Listener::Bind("127.0.0.1:0", false));
  OpenSockets open;
  const int fd = one->fd();
  open.Add(fd);
  open.Sweep();
  EXPECT_EQ(open.size(), 1);
  one = nullptr;
  ASSERT_OK_AND_ASSIGN(auto two, Listener::Bind("127.0.0.1:0", false));
  EXPECT_EQ(two->fd(), fd);  // else this tests nothing
  open.Sweep();
  EXPECT_EQ(open.size(), 0);
}

}  // namespace
}  // namespace hawser::server
