#include "server/listener.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "gtest/gtest.h"
#include "tests/server/access/credential_files.h"
#include "tests/server/access/sockets.h"
#include "tests/testing/matchers.h"

namespace hawser::server {
namespace {

using absl::StatusCode;
using testing::NewFolder;
using testing::Socket;

mode_t ModeOf(const std::string& path) {
  struct stat about {};
  return lstat(path.c_str(), &about) == 0 ? about.st_mode & 07777 : 0;
}
bool Exists(const std::string& path) {
  struct stat about {};
  return lstat(path.c_str(), &about) == 0;
}

TEST(ListenerTest, TakesAFreePortOfEitherFamily) {
  for (const char* address : {"127.0.0.1:0", "[::1]:0", "localhost:0"}) {
    const auto listener = Listener::Bind(address, false);
    ASSERT_OK(listener) << address;
    EXPECT_TRUE(Socket::To((*listener)->address()).valid())
        << (*listener)->address();
    EXPECT_EQ((*listener)->address().find(":0\0", 0, 3), std::string::npos);
  }
}

TEST(ListenerTest, BothFamiliesOnOnePort) {
  ASSERT_OK_AND_ASSIGN(const auto listener, Listener::Bind("[::]:0", true));
  const std::string port =
      listener->address().substr(listener->address().rfind(':'));
  EXPECT_TRUE(Socket::To("127.0.0.1" + port).valid());
  EXPECT_TRUE(Socket::To("[::1]" + port).valid());
}

TEST(ListenerTest, BeyondLoopbackOnlyWhenTold) {
  for (const char* address : {"0.0.0.0:0", "[::]:0"}) {
    EXPECT_THAT(Listener::Bind(address, false),
                StatusIs(StatusCode::kFailedPrecondition, "--insecure"))
        << address;
    EXPECT_OK(Listener::Bind(address, true)) << address;
  }
  EXPECT_THAT(Listener::Bind("0.0.0.0:7070", false),
              StatusIs(StatusCode::kFailedPrecondition, "0.0.0.0:7070"));
}

TEST(ListenerTest, RefusesWhatIsNoAddress) {
  for (const char* address :
       {"", "7070", ":7070", "host:", "127.0.0.1:x", "127.0.0.1:-1",
        "127.0.0.1:65536", "unix:", "unix:@abstract"}) {
    EXPECT_THAT(Listener::Bind(address, true),
                StatusIs(StatusCode::kInvalidArgument, ""))
        << address;
  }
  EXPECT_THAT(Listener::Bind("unix:/" + std::string(200, 'x'), true),
              StatusIs(StatusCode::kInvalidArgument, "1 to 107 characters"));
}

TEST(ListenerTest, APortInUseIsNamed) {
  ASSERT_OK_AND_ASSIGN(const auto first, Listener::Bind("127.0.0.1:0", false));
  EXPECT_THAT(Listener::Bind(first->address(), false),
              StatusIs(StatusCode::kFailedPrecondition, first->address()));
}

TEST(ListenerTest, AUnixSocketIsItsUsersAloneAndGoesWithTheListener) {
  const std::string path = NewFolder() + "/hawser.sock";
  {
    ASSERT_OK_AND_ASSIGN(const auto listener,
                         Listener::Bind("unix:" + path, false));
    EXPECT_EQ(listener->address(), "unix:" + path);
    EXPECT_EQ(ModeOf(path), 0600);
    EXPECT_TRUE(Socket::To("unix:" + path).valid());
  }
  EXPECT_FALSE(Exists(path));
}

TEST(ListenerTest, TakesTheSocketOfADeadServerButNotOfALivingOne) {
  const std::string path = NewFolder() + "/hawser.sock";
  ASSERT_OK_AND_ASSIGN(auto living, Listener::Bind("unix:" + path, false));
  EXPECT_THAT(Listener::Bind("unix:" + path, false),
              StatusIs(StatusCode::kFailedPrecondition, path));
  EXPECT_TRUE(Socket::To("unix:" + path).valid());
  // A second name keeps the file when the listener goes.
  const std::string stale = path + ".stale";
  ASSERT_EQ(link(path.c_str(), stale.c_str()), 0);
  living = nullptr;
  ASSERT_TRUE(Exists(stale));
  EXPECT_FALSE(Socket::To("unix:" + stale).valid());
  ASSERT_OK_AND_ASSIGN(const auto next, Listener::Bind("unix:" + stale, false));
  EXPECT_TRUE(Socket::To("unix:" + stale).valid());
}

TEST(ListenerTest, AFileThatIsNoSocketStays) {
  const std::string path = NewFolder() + "/precious.txt";
  std::ofstream(path) << "precious";
  EXPECT_THAT(Listener::Bind("unix:" + path, false),
              StatusIs(StatusCode::kFailedPrecondition, "no socket"));
  EXPECT_EQ(testing::ReadFile(path), "precious");
}

TEST(ListenerTest, LeavesThePathToWhoeverHasTakenItSince) {
  const std::string path = NewFolder() + "/hawser.sock";
  ASSERT_OK_AND_ASSIGN(auto first, Listener::Bind("unix:" + path, false));
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_OK_AND_ASSIGN(const auto second,
                       Listener::Bind("unix:" + path, false));
  first = nullptr;
  EXPECT_TRUE(Exists(path));
  EXPECT_TRUE(Socket::To("unix:" + path).valid());
}

TEST(ListenerTest, AFolderThatIsNotThereIsNamed) {
  EXPECT_THAT(Listener::Bind("unix:/nowhere/hawser.sock", false),
              StatusIs(StatusCode::kFailedPrecondition,
                       "/nowhere/hawser.sock: No such file"));
}

}  // namespace
}  // namespace hawser::server
