// A connection that ends while it is being made leaves no socket behind. The
// server is a bare socket, which alone decides when its first frame comes.
#include <arpa/inet.h>
#include <grpcpp/security/credentials.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/remote/grpc/grpc_connection.h"
#include "client/remote/grpc/grpc_poller.h"
#include "gtest/gtest.h"

namespace hawser {
namespace {

constexpr absl::Duration kPatience = absl::Seconds(30);
// Of an attempt, after which gRPC closes it by itself.
constexpr absl::Duration kLong = absl::Minutes(10);

// A file descriptor that is closed at the end.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  // Whether it becomes readable soon.
  bool Readable() const {
    pollfd poller = {fd_, POLLIN, 0};
    return poll(&poller, 1, absl::ToInt64Milliseconds(kPatience)) == 1;
  }

 private:
  const int fd_;
};

class ConnectionTest : public ::testing::Test {
 protected:
  ConnectionTest() : listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(at);
    auto* any = reinterpret_cast<sockaddr*>(&at);
    EXPECT_EQ(bind(listener_.get(), any, size), 0);
    EXPECT_EQ(getsockname(listener_.get(), any, &size), 0);
    address_ = absl::StrCat("127.0.0.1:", ntohs(at.sin_port));
  }
  void Listen() { EXPECT_EQ(listen(listener_.get(), 16), 0); }
  std::unique_ptr<Descriptor> Accept() {
    EXPECT_TRUE(listener_.Readable());
    return std::make_unique<Descriptor>(
        accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }
  std::unique_ptr<GrpcConnection> Connect(
      absl::Duration timeout = kLong) const {
    RemoteOptions options;
    options.connect_timeout = timeout;
    return std::make_unique<GrpcConnection>(
        address_, grpc::InsecureChannelCredentials(), options,
        GrpcPoller::Shared());
  }
  // Whether it comes to that.
  static bool Await(grpc::Channel& channel, grpc_connectivity_state wanted) {
    const auto deadline = absl::ToChronoTime(absl::Now() + kPatience);
    for (auto state = channel.GetState(true); state != wanted;
         state = channel.GetState(true)) {
      if (!channel.WaitForStateChange(state, deadline)) return false;
    }
    return true;
  }
  // An empty SETTINGS frame: the first of a server.
  static void SayHello(const Descriptor& peer) {
    constexpr char kSettings[] = {0, 0, 0, 4, 0, 0, 0, 0, 0};
    EXPECT_EQ(write(peer.get(), kSettings, sizeof(kSettings)),
              ssize_t{sizeof(kSettings)});
  }
  // Whether the other end of `peer` is closed soon.
  static bool IsClosed(const Descriptor& peer) {
    char bytes[256];
    while (peer.Readable()) {
      if (read(peer.get(), bytes, sizeof(bytes)) <= 0) return true;
    }
    return false;
  }

  const Descriptor listener_;
  std::string address_;
};

TEST_F(ConnectionTest, EndsBeforeTheFirstFrame) {
  Listen();
  auto connection = Connect();
  connection->channel()->GetState(true);
  const auto peer = Accept();
  EXPECT_TRUE(peer->Readable());  // the client's first frame
  connection.reset();
  SayHello(*peer);
  EXPECT_TRUE(IsClosed(*peer));
}

// Then the channel says that it has failed while it tries once more.
TEST_F(ConnectionTest, EndsDuringALaterAttempt) {
  auto connection = Connect();
  ASSERT_TRUE(Await(*connection->channel(), GRPC_CHANNEL_TRANSIENT_FAILURE));
  Listen();
  const auto peer = Accept();
  EXPECT_TRUE(peer->Readable());
  EXPECT_EQ(connection->channel()->GetState(false),
            GRPC_CHANNEL_TRANSIENT_FAILURE);
  connection.reset();
  SayHello(*peer);
  EXPECT_TRUE(IsClosed(*peer));
}

TEST_F(ConnectionTest, EndsBeforeAServerThatSaysNothing) {
  Listen();
  auto connection = Connect(absl::Milliseconds(200));
  connection->channel()->GetState(true);
  const auto peer = Accept();
  connection.reset();
  EXPECT_TRUE(IsClosed(*peer));
}

TEST_F(ConnectionTest, EndsWhenItStands) {
  Listen();
  auto connection = Connect();
  connection->channel()->GetState(true);
  const auto peer = Accept();
  SayHello(*peer);
  EXPECT_TRUE(Await(*connection->channel(), GRPC_CHANNEL_READY));
  connection.reset();
  EXPECT_TRUE(IsClosed(*peer));
}

// Nothing keeps the poller and its thread when no server answers.
TEST_F(ConnectionTest, EndsWhenNobodyListens) {
  auto connection = Connect();
  ASSERT_TRUE(Await(*connection->channel(), GRPC_CHANNEL_TRANSIENT_FAILURE));
  std::weak_ptr<GrpcPoller> poller = GrpcPoller::Shared();
  connection.reset();
  const absl::Time end = absl::Now() + kPatience;
  while (!poller.expired() && absl::Now() < end) {
    absl::SleepFor(absl::Milliseconds(5));
  }
  EXPECT_TRUE(poller.expired());
}

}  // namespace
}  // namespace hawser
