// Addresses where no hawser server is: a closed port, a mute listener, another
// program.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/hawser.h"
#include "gtest/gtest.h"

namespace hawser::testing {
namespace {

enum class Manner {
  kAbsent,   // the port is closed
  kMute,     // connects and says nothing
  kHangsUp,  // connects and closes
  kBabbles,  // talks, but not our language
};
struct Row {
  const char* name;
  Manner manner;
};
void PrintTo(const Row& row, std::ostream* os) { *os << row.name; }

// A socket on a port of its own that behaves like this.
class OddServer {
 public:
  explicit OddServer(Manner manner) : manner_(manner) {
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(at);
    auto* any = reinterpret_cast<sockaddr*>(&at);
    EXPECT_EQ(bind(fd_, any, size), 0);
    EXPECT_EQ(getsockname(fd_, any, &size), 0);
    address_ = absl::StrCat("127.0.0.1:", ntohs(at.sin_port));
    if (manner == Manner::kAbsent) return;
    EXPECT_EQ(listen(fd_, 16), 0);
    // The kernel connects by itself; mute means that none is accepted.
    if (manner != Manner::kMute) thread_ = std::thread([this] { Serve(); });
  }
  ~OddServer() {
    shutdown(fd_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    close(fd_);
  }
  const std::string& address() const { return address_; }

 private:
  void Serve() {
    for (int fd; (fd = accept(fd_, nullptr, nullptr)) >= 0; close(fd)) {
      if (manner_ != Manner::kBabbles) continue;
      constexpr absl::string_view kWords = "HTTP/1.1 400 Bad Request\r\n\r\n";
      (void)!write(fd, kWords.data(), kWords.size());
    }
  }

  const Manner manner_;
  int fd_ = -1;
  std::string address_;
  std::thread thread_;
};

class NoServer : public ::testing::TestWithParam<Row> {
 protected:
  absl::StatusOr<Client> ConnectWith(const Client& fallback) {
    return Connect({.servers = {server_.address()},
                    .fallback = fallback,
                    .timeout = absl::Seconds(1)});
  }
  const OddServer server_{GetParam().manner};
};

TEST_P(NoServer, ConnectFailsSoonAndNamesTheAddress) {
  const absl::Time start = absl::Now();
  const auto client = ConnectWith(Client());
  EXPECT_EQ(client.status().code(), absl::StatusCode::kUnavailable)
      << client.status();
  EXPECT_TRUE(absl::StrContains(client.status().message(), server_.address()))
      << client.status();
  EXPECT_LT(absl::Now() - start, absl::Seconds(20));
}

TEST_P(NoServer, WithAFallbackTheCpuAnswersAndSaysSo) {
  const auto client = ConnectWith(Client::Cpu());
  ASSERT_TRUE(client.ok()) << client.status();
  auto twice = Jit([](Tensor x) { return x + x; }).With({.client = *client});
  const auto result = twice(Literal::Scalar(4.0f));
  ASSERT_TRUE(result.ok()) << result.status();
  const auto value = result->Fetch();
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(value->data<float>()[0], 8.0f);
  EXPECT_EQ(result->ran_on(), "cpu (fallback: unreachable)");
  EXPECT_TRUE(result->on_fallback());
}

INSTANTIATE_TEST_SUITE_P(All, NoServer,
                         ::testing::Values(Row{"Absent", Manner::kAbsent},
                                           Row{"Mute", Manner::kMute},
                                           Row{"HangsUp", Manner::kHangsUp},
                                           Row{"Babbles", Manner::kBabbles}),
                         [](const auto& info) { return info.param.name; });

TEST(NoServerAtAll, TheFirstOneThatAnswersIsUsedAndTextIsChecked) {
  EXPECT_EQ(Connect({}).status().code(), absl::StatusCode::kInvalidArgument);
  const auto client = Connect({.servers = {"no address"},
                               .fallback = Client()});
  EXPECT_EQ(client.status().code(), absl::StatusCode::kInvalidArgument)
      << client.status();
}

}  // namespace
}  // namespace hawser::testing
