#include "client/bench/tcp_exchange.h"

#include <string>
#include <thread>
#include <utility>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser::bench {
namespace {

using ::testing::HasSubstr;

// Serves exchanges on a thread of its own.
class TcpExchange : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(TcpSocket listener, TcpSocket::Listen("127.0.0.1:0"));
    ASSERT_OK_AND_ASSIGN(const TcpEndpoint local, listener.local());
    address_ = local.ToString();
    server_ = std::thread([this, listener = std::move(listener)] {
      ended_ = ServeExchanges(listener, stop_);
    });
  }
  void TearDown() override {
    stop_.Cancel();
    server_.join();
    EXPECT_TRUE(absl::IsCancelled(ended_)) << ended_;
  }

  const CancelToken stop_ = CancelToken::WithFlag();
  std::string address_;
  std::thread server_;
  absl::Status ended_;
};

TEST_F(TcpExchange, TakesAndGivesAsManyBytesAsAsked) {
  ASSERT_OK_AND_ASSIGN(TcpLink link, TcpLink::Open(address_, {}));
  const std::pair<int64_t, int64_t> kSizes[] = {
      {0, 1}, {24, 0}, {25, 1}, {200, 100}, {3 << 20, 1}, {1, 3 << 20}};
  for (const auto& [request, answer] : kSizes) {
    EXPECT_OK(link.Exchange(request, answer)) << request << " " << answer;
  }
}

TEST_F(TcpExchange, OneClientAfterAnother) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK_AND_ASSIGN(TcpLink link, TcpLink::Open(address_, {}));
    EXPECT_OK(link.Exchange(200, 100));
  }
}

TEST_F(TcpExchange, WhoeverSaysSomethingElseIsHungUpOn) {
  const std::string kOthers[] = {
      "GET / HTTP/1.1\r\nHost: nobody\r\n\r\n",
      // The right beginning, with sizes that cannot be.
      std::string("hwbench1") + std::string(16, '\xff'),
      std::string("hwbench1") + std::string(16, '\0'),
  };
  ASSERT_OK_AND_ASSIGN(const TcpEndpoint endpoint,
                       TcpSocket::Find(address_, absl::Seconds(5)));
  for (const std::string& other : kOthers) {
    ASSERT_OK_AND_ASSIGN(TcpSocket socket,
                         TcpSocket::Connect(endpoint, absl::Seconds(5)));
    ASSERT_OK(socket.Send(other, {}));
    char byte;
    EXPECT_FALSE(socket.Receive(absl::MakeSpan(&byte, 1), {}).ok());
  }
  ASSERT_OK_AND_ASSIGN(TcpLink link, TcpLink::Open(address_, {}));
  EXPECT_OK(link.Exchange(200, 100));
}

TEST_F(TcpExchange, AWaitEndsWithItsToken) {
  ASSERT_OK_AND_ASSIGN(const TcpEndpoint endpoint,
                       TcpSocket::Find(address_, absl::Seconds(5)));
  ASSERT_OK_AND_ASSIGN(TcpSocket socket,
                       TcpSocket::Connect(endpoint, absl::Seconds(5)));
  char byte;
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      socket.Receive(absl::MakeSpan(&byte, 1), CancelToken(absl::Now()))));
}

TEST(TcpSocket, AddressesThatAreNoneAreNamed) {
  for (const char* address : {"", "nowhere", "unix:/tmp/x", "127.0.0.1:port"}) {
    const absl::Status status =
        TcpSocket::Find(address, absl::Seconds(1)).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(address));
    EXPECT_FALSE(TcpSocket::Listen(address).ok());
  }
  const absl::Status nobody =
      TcpSocket::Find("127.0.0.1:1", absl::Seconds(1)).status();
  EXPECT_TRUE(absl::IsUnavailable(nobody)) << nobody;
  EXPECT_THAT(std::string(nobody.message()), HasSubstr("127.0.0.1:1"));
}

TEST(TcpSocket, ListensOnIpv6Too) {
  const auto listener = TcpSocket::Listen("[::1]:0");
  if (!listener.ok()) GTEST_SKIP() << "no IPv6 here: " << listener.status();
  ASSERT_OK_AND_ASSIGN(const TcpEndpoint local, listener->local());
  EXPECT_THAT(local.ToString(), ::testing::StartsWith("[::1]:"));
  EXPECT_OK(TcpSocket::Find(local.ToString(), absl::Seconds(5)));
}

}  // namespace
}  // namespace hawser::bench
