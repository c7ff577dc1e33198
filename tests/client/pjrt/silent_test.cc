// Servers that take connections and say nothing: a program begins all the same.
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "tests/client/pjrt/plugin.h"

namespace hawser::pjrt {
namespace {

// Listens, and that is all.
class SilentServer {
 public:
  SilentServer() : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    HAWSER_CHECK(bind(socket_, any, size) == 0);
    HAWSER_CHECK(listen(socket_, 64) == 0);
    HAWSER_CHECK(getsockname(socket_, any, &size) == 0);
    name_ = absl::StrCat("127.0.0.1:", ntohs(address.sin_port));
  }
  ~SilentServer() { close(socket_); }
  const std::string& name() const { return name_; }

 private:
  const int socket_;
  std::string name_;
};

class SilentTest : public PjrtTest {
 protected:
  // A client of so many of them, by which `client_` is replaced.
  void Connect(size_t count) {
    std::deque<SilentServer> servers(count);
    std::vector<std::string> names;
    for (const SilentServer& server : servers) names.push_back(server.name());
    MUST(Client_Destroy, client_);
    const absl::Time begin = absl::Now();
    client_ = ClientOf(absl::StrJoin(names, ","));
    EXPECT_LT(absl::Now() - begin, absl::Seconds(4)) << count;
    EXPECT_EQ(MUST(Client_Devices, client_, nullptr, 0).num_devices, count);
    // This machine computes, and does not wait for them again.
    LoadedExecutable* sum = Compile(kSum);
    Buffer* a = Put({1, 2, 3, 4, 5, 6}, {2, 3});
    std::vector<Buffer*> results(1);
    EXPECT_EQ(Run(sum, {a, a}, &results).text, "");
    EXPECT_EQ(Fetch(results[0])[5], 12);
    EXPECT_LT(absl::Now() - begin, absl::Seconds(5)) << count;
    for (Buffer* buffer : {a, results[0]}) Destroy(buffer);
    MUST(LoadedExecutable_Destroy, sum);
  }
};

TEST_F(SilentTest, OneIsNotWaitedFor) { Connect(1); }

TEST_F(SilentTest, ThreeTakeNoLongerThanOne) { Connect(3); }

}  // namespace
}  // namespace hawser::pjrt
