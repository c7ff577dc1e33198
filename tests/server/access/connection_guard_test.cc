#include "server/access/connections/connection_guard.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "core/base/clock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser::server {
namespace {

constexpr absl::Duration kLongEnough = absl::Seconds(20);
// For what must not happen; some periods of the guard.
constexpr absl::Duration kSomeLooks = absl::Milliseconds(150);

// Both ends of a connection over loopback. The server's end reads nothing but
// what Drain does, as gRPC would.
class Pair {
 public:
  Pair() {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    bind(listener, reinterpret_cast<sockaddr*>(&address), size);
    listen(listener, 1);
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    client_ = socket(AF_INET, SOCK_STREAM, 0);
    connect(client_, reinterpret_cast<sockaddr*>(&address), size);
    server_ = accept(listener, nullptr, nullptr);
    close(listener);
    getsockname(client_, reinterpret_cast<sockaddr*>(&address), &size);
    peer_ = absl::StrCat("ipv4:127.0.0.1:", ntohs(address.sin_port));
  }
  ~Pair() {
    close(client_);
    if (server_ >= 0) close(server_);
  }
  int server() const { return server_; }
  const std::string& peer() const { return peer_; }

  // The client sends, the server reads it; false: the connection has ended.
  bool Pass(size_t bytes) {
    std::vector<char> block(64 << 10);
    while (bytes > 0) {
      const size_t n = std::min(bytes, block.size());
      if (send(client_, block.data(), n, MSG_NOSIGNAL) !=
          static_cast<ssize_t>(n)) {
        return false;
      }
      for (size_t got = 0; got < n;) {
        const ssize_t read = recv(server_, block.data(), n - got, 0);
        if (read <= 0) return false;
        got += static_cast<size_t>(read);
      }
      bytes -= n;
    }
    return true;
  }
  // The client sends, and nothing is read.
  void SendAlone(size_t bytes) {
    const std::vector<char> block(bytes);
    send(client_, block.data(), bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  // The server reads what there is.
  void Read() {
    std::vector<char> block(64 << 10);
    while (recv(server_, block.data(), block.size(), MSG_DONTWAIT) > 0) {
    }
  }
  bool EndsWithin(absl::Duration patience) {
    const absl::Time end = absl::Now() + patience;
    while (true) {
      char byte;
      if (recv(client_, &byte, 1, MSG_DONTWAIT) == 0) return true;
      if (absl::Now() >= end) return false;
      absl::SleepFor(absl::Milliseconds(2));
    }
  }
  void CloseServer() { close(std::exchange(server_, -1)); }

 private:
  int client_ = -1;
  int server_ = -1;
  std::string peer_;
};

class ConnectionGuardTest : public ::testing::Test {
 protected:
  void Start(ConnectionLimits limits) {
    guard_ = std::make_unique<ConnectionGuard>(std::move(limits));
  }
  std::unique_ptr<ConnectionGuard> guard_;
};

TEST_F(ConnectionGuardTest, AStrangerMaySendALittle) {
  Start({});
  Pair pair;
  guard_->Add(pair.server());
  EXPECT_TRUE(pair.Pass(60 << 10));
  EXPECT_FALSE(pair.EndsWithin(kSomeLooks));
  pair.Pass(8 << 10);
  EXPECT_TRUE(pair.EndsWithin(kLongEnough));
  EXPECT_EQ(guard_->closed(), 1);
}

TEST_F(ConnectionGuardTest, WhatIsAuthorisedMaySendOneMessageAndALittle) {
  Start({});
  Pair pair;
  guard_->Add(pair.server());
  const auto connection = guard_->Find(pair.peer());
  ASSERT_NE(connection, nullptr);
  ASSERT_OK(guard_->Authorise(*connection, "a"));
  EXPECT_TRUE(pair.Pass(20 << 20));
  EXPECT_FALSE(pair.EndsWithin(kSomeLooks));
  connection->CountMessage();
  // The count is seen with the next bytes.
  EXPECT_TRUE(pair.Pass(1));
  EXPECT_FALSE(pair.EndsWithin(kSomeLooks));
  EXPECT_TRUE(pair.Pass(20 << 20));
  EXPECT_FALSE(pair.EndsWithin(kSomeLooks));
  pair.Pass(5 << 20);
  EXPECT_TRUE(pair.EndsWithin(kLongEnough));
}

TEST_F(ConnectionGuardTest, MessagesThatCompleteLetAnyAmountPass) {
  Start({});
  Pair pair;
  guard_->Add(pair.server());
  const auto connection = guard_->Find(pair.peer());
  ASSERT_OK(guard_->Authorise(*connection, "a"));
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(pair.Pass(1 << 20));
    connection->CountMessage();
  }
  EXPECT_FALSE(pair.EndsWithin(kSomeLooks));
  EXPECT_EQ(guard_->closed(), 0);
}

TEST_F(ConnectionGuardTest, ATenantHasSoManyConnections) {
  Start({.of_tenant = 2});
  std::vector<Pair> pairs(4);
  for (Pair& pair : pairs) guard_->Add(pair.server());
  const auto authorise = [&](int i, absl::string_view tenant) {
    return guard_->Authorise(*guard_->Find(pairs[i].peer()), tenant);
  };
  EXPECT_OK(authorise(0, "a"));
  EXPECT_OK(authorise(0, "a"));  // is in already
  EXPECT_OK(authorise(1, "a"));
  EXPECT_THAT(authorise(2, "a"),
              StatusIs(absl::StatusCode::kResourceExhausted,
                       "tenant a has 2 connections, the most one tenant may"));
  EXPECT_OK(authorise(3, "b"));
  // One that ends makes room, once that is noticed.
  pairs[0].CloseServer();
  absl::Status again;
  for (int i = 0; i < 1000; ++i) {
    again = authorise(2, "a");
    if (again.ok()) break;
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_OK(again);
}

TEST_F(ConnectionGuardTest, WhatComesWhileItIsAddedDoesNotMakeItUncounted) {
  Start({});
  for (int i = 0; i < 12; ++i) {
    Pair pair;
    std::thread client([&] { pair.SendAlone(256 << 10); });
    guard_->Add(pair.server());
    client.join();
    pair.Read();
    EXPECT_TRUE(pair.EndsWithin(kLongEnough)) << i;
  }
}

TEST_F(ConnectionGuardTest, CallsThatAreGivenUpInARowCloseIt) {
  Start({.given_up = 10});
  Pair pair;
  guard_->Add(pair.server());
  const auto connection = guard_->Find(pair.peer());
  ASSERT_OK(guard_->Authorise(*connection, "a"));
  for (int i = 0; i < 20; ++i) {
    connection->CountCancelled(/*with_message=*/false);
    if (i == 9) connection->CountMessage();
  }
  EXPECT_FALSE(pair.EndsWithin(kSomeLooks));
  connection->CountCancelled(/*with_message=*/true);
  EXPECT_FALSE(pair.EndsWithin(kSomeLooks));
  connection->CountCancelled(/*with_message=*/false);
  EXPECT_TRUE(pair.EndsWithin(kLongEnough));
}

TEST_F(ConnectionGuardTest, WhoSendsMostWithoutAMessageIsToBlame) {
  Start({});
  std::vector<Pair> pairs(3);
  std::vector<std::shared_ptr<Connection>> connections;
  for (Pair& pair : pairs) {
    guard_->Add(pair.server());
    connections.push_back(guard_->Find(pair.peer()));
    ASSERT_OK(guard_->Authorise(*connections.back(), "a"));
  }
  const absl::Time end = absl::Now() + kLongEnough;
  bool open = true;
  for (int turn = 0; open && absl::Now() < end; ++turn) {
    EXPECT_TRUE(pairs[0].Pass(100));
    open =
        pairs[1].Pass(64 << 10) && !pairs[1].EndsWithin(absl::ZeroDuration());
    EXPECT_TRUE(pairs[2].Pass(32 << 10));
    connections[2]->CountMessage();
    guard_->Blame();
  }
  EXPECT_FALSE(open);
  EXPECT_EQ(guard_->closed(), 1);
  EXPECT_FALSE(pairs[0].EndsWithin(kSomeLooks));
  EXPECT_FALSE(pairs[2].EndsWithin(kSomeLooks));
  guard_->Blame();
  EXPECT_EQ(guard_->closed(), 1);
}

TEST_F(ConnectionGuardTest, FromWhereOneWasClosedNewOnesComeOneByOne) {
  Start({});
  Pair before;
  const absl::Time at_once = guard_->NotBefore(before.server()).value();
  EXPECT_LE(at_once, SteadyNow());
  Pair bad;
  guard_->Add(bad.server());
  bad.Pass(512 << 10);
  EXPECT_TRUE(bad.EndsWithin(kLongEnough));
  Pair next, after;
  const absl::Time start = SteadyNow();
  const absl::Time first = guard_->NotBefore(next.server()).value();
  const absl::Time second = guard_->NotBefore(after.server()).value();
  EXPECT_LT(first, start + absl::Seconds(1));
  EXPECT_GE(second, first + absl::Milliseconds(50));
  EXPECT_LT(second, first + absl::Seconds(1));
  // Unix sockets have no address.
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const absl::Time of_unix = guard_->NotBefore(ends[0]).value();
  EXPECT_LE(of_unix, SteadyNow());
  close(ends[0]);
  close(ends[1]);
}

TEST_F(ConnectionGuardTest, TheNewestGoesWhenMemoryIsShort) {
  std::atomic<int64_t> resident{0};
  Start({.resident_bytes = 100, .resident = [&] { return resident.load(); }});
  std::vector<Pair> pairs(3);
  for (Pair& pair : pairs) guard_->Add(pair.server());
  ASSERT_OK(guard_->Authorise(*guard_->Find(pairs[2].peer()), "a"));
  resident = 101;
  // A stranger before a client that has shown who it is, though that is newer.
  EXPECT_TRUE(pairs[1].EndsWithin(kLongEnough));
  resident = 100;
  EXPECT_FALSE(pairs[0].EndsWithin(kSomeLooks));
  EXPECT_FALSE(pairs[2].EndsWithin(kSomeLooks));
}

// Two tenants, each with connections that have sent so much of a message.
struct ShareRow {
  const char* name;
  int64_t a_holds, b_holds;                         // MiB charged
  std::vector<int64_t> a_unfinished, b_unfinished;  // KiB, the older first
  bool uncharged;      // what is short: memory that no tenant is charged for
  std::string closed;  // "a0": the first of a
};

const std::vector<ShareRow>& ShareRows() {
  static const auto& rows = *new std::vector<ShareRow>{
      // The whole: the tenant with the largest share, though others are newer.
      {"TheOneThatHolds", 200, 1, {0}, {0}, false, "a0"},
      {"TheOtherOne", 1, 200, {0}, {0}, false, "b0"},
      {"ItsNewest", 200, 1, {0, 0}, {0}, false, "a1"},
      {"ItsLargest", 200, 1, {100, 0}, {0}, false, "a0"},
      {"ManyConnectionsOfTheSmall", 200, 1, {0}, {0, 0, 0, 0}, false, "a0"},
      {"NeitherHoldsAnything", 0, 0, {0}, {0, 0}, false, "b1"},
      {"PartsCountSixteenfold", 20, 1, {0}, {1800}, false, "b0"},
      {"PartsBesideMuchHeld", 200, 1, {0}, {1800}, false, "a0"},
      {"MuchUnfinishedFirst", 200, 1, {0}, {3000}, false, "b0"},
      // Buffers: the tenant with most of messages that are not complete.
      {"NeitherHasMuch", 200, 1, {1000}, {1500}, true, ""},
      {"TheOneWithMuch", 200, 1, {0}, {3000}, true, "b0"},
      {"WhatIsHeldDoesNotMatter", 200, 1, {2500}, {3000}, true, "b0"},
      {"TheSum", 1, 1, {2500, 2500}, {3000}, true, "a0a1"},
      {"ItsSmallOnesStay", 1, 1, {100, 3000, 0}, {2500}, true, "a1"},
      {"ItsHalfAsLargeGoToo", 1, 1, {2200, 4000}, {2500}, true, "a0a1"},
      {"LessThanHalfStays", 1, 1, {2200, 6000}, {2500}, true, "a1"},
  };
  return rows;
}

// G8, G2: who pays when memory is short.
TEST_F(ConnectionGuardTest, WhoHoldsMostGoesWhenMemoryIsShort) {
  for (const ShareRow& row : ShareRows()) {
    SCOPED_TRACE(row.name);
    std::atomic<bool> is_short{false};
    std::atomic<int64_t> at_most{1};
    Start({.resident_bytes = row.uncharged ? 0x7fffffff : 100,
           .uncharged_bytes = row.uncharged ? 100 : 0,
           .held =
               [&](absl::string_view tenant) {
                 return (tenant == "a" ? row.a_holds : row.b_holds) << 20;
               },
           .resident = [&]() -> int64_t {
             return is_short && guard_->closed() < at_most ? 101 : 0;
           }});
    std::vector<Pair> a(row.a_unfinished.size()), b(row.b_unfinished.size());
    const auto add = [&](std::vector<Pair>& pairs, absl::string_view tenant,
                         const std::vector<int64_t>& unfinished) {
      for (size_t i = 0; i < pairs.size(); ++i) {
        guard_->Add(pairs[i].server());
        ASSERT_OK(guard_->Authorise(*guard_->Find(pairs[i].peer()), tenant));
        ASSERT_TRUE(pairs[i].Pass(unfinished[i] << 10));
      }
    };
    add(a, "a", row.a_unfinished);
    add(b, "b", row.b_unfinished);
    absl::SleepFor(absl::Milliseconds(60));  // it has looked at all
    is_short = true;
    absl::SleepFor(kSomeLooks);
    std::string closed;
    for (size_t i = 0; i < a.size(); ++i) {
      if (a[i].EndsWithin(absl::ZeroDuration()))
        absl::StrAppend(&closed, "a", i);
    }
    for (size_t i = 0; i < b.size(); ++i) {
      if (b[i].EndsWithin(absl::ZeroDuration()))
        absl::StrAppend(&closed, "b", i);
    }
    EXPECT_EQ(closed, row.closed);
    guard_ = nullptr;
  }
}

// Memory that was freed and is not given back yet is no message: once it is
// given back, memory is not short.
TEST_F(ConnectionGuardTest, FreedMemoryClosesNone) {
  std::atomic<int> looks{0};
  Start({.resident_bytes = 1000, .uncharged_bytes = 100, .resident = [&] {
           return looks++ % 2 == 0 ? 500 : 50;
         }});
  Pair pair;
  guard_->Add(pair.server());
  ASSERT_OK(guard_->Authorise(*guard_->Find(pair.peer()), "a"));
  EXPECT_TRUE(pair.Pass(4 << 20));
  EXPECT_FALSE(pair.EndsWithin(kSomeLooks));
}

TEST_F(ConnectionGuardTest, UnixSocketsAreNotCountedButGoWhenMemoryIsShort) {
  std::atomic<int64_t> resident{0};
  Start({.resident_bytes = 100, .resident = [&] { return resident.load(); }});
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  guard_->Add(ends[0]);
  EXPECT_EQ(guard_->Find("unix:"), nullptr);
  const std::vector<char> much(128 << 10);
  EXPECT_EQ(send(ends[1], much.data(), much.size(), 0),
            static_cast<ssize_t>(much.size()));
  absl::SleepFor(kSomeLooks);
  EXPECT_EQ(guard_->closed(), 0);
  resident = 101;
  for (int i = 0; i < 2000 && guard_->closed() == 0; ++i) {
    absl::SleepFor(absl::Milliseconds(10));
  }
  EXPECT_EQ(guard_->closed(), 1);
  close(ends[0]);
  close(ends[1]);
}

TEST_F(ConnectionGuardTest, ADescriptorThatIsUsedAgainIsAnotherConnection) {
  Start({});
  auto first = std::make_unique<Pair>();
  const int fd = first->server();
  guard_->Add(fd);
  const std::string peer = first->peer();
  first->CloseServer();
  Pair second;
  ASSERT_EQ(dup2(second.server(), fd), fd);
  guard_->Add(fd);
  EXPECT_EQ(guard_->Find(peer), nullptr);
  EXPECT_NE(guard_->Find(second.peer()), nullptr);
  close(fd);
}

TEST(ResidentBytesTest, IsSomethingLikeWhatWasTaken) {
  const int64_t before = ResidentBytes();
  EXPECT_GT(before, 1 << 20);
  const std::vector<char> block(64 << 20, 'x');
  EXPECT_GT(ResidentBytes(), before + (48 << 20));
  EXPECT_EQ(block[12345], 'x');
}

}  // namespace
}  // namespace hawser::server
