// The real hawserd: what it refuses to start with, and how it is reached.
#include <signal.h>
#include <sys/stat.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "client/remote/grpc/grpc_transport.h"
#include "gtest/gtest.h"
#include "tests/server/access/credential_files.h"
#include "tests/server/access/sockets.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/process.h"

namespace hawser::testing {
namespace {

using absl::StatusCode;
using Flags = std::vector<std::string>;

constexpr absl::Duration kPatience = absl::Seconds(20);

// A server and the address it says it is ready on.
struct Server {
  Process process;
  std::string address;
};
absl::StatusOr<Server> StartWith(std::vector<std::string> argv,
                                 const Flags& flags) {
  argv.push_back(Runfile("server/hawserd"));
  argv.insert(argv.end(), flags.begin(), flags.end());
  HAWSER_ASSIGN_OR_RETURN(Process process, Process::Start(argv));
  HAWSER_ASSIGN_OR_RETURN(const std::string line,
                          process.ReadLineWith("hawserd ready on ", kPatience));
  const std::vector<std::string> words = absl::StrSplit(line, ' ');
  return Server{std::move(process), words[3]};
}
absl::StatusOr<Server> StartServer(const Flags& flags) {
  return StartWith({}, flags);
}

absl::Status Reach(const std::string& address, Credentials credentials = {}) {
  HAWSER_ASSIGN_OR_RETURN(
      const auto client,
      ConnectRemote(address, {.credentials = std::move(credentials)}));
  return client->capabilities().status();
}

class HawserdTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    certificates_ = new Certificates(MakeCertificates(NewFolder()));
  }
  static Flags MutualTls() {
    return {"--tls_cert=" + certificates_->File("server.crt"),
            "--tls_key=" + certificates_->File("server.key"),
            "--tls_client_ca=" + certificates_->File("ca.crt")};
  }
  static Flags With(Flags flags, const Flags& more) {
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
  }
  // Ends before it is ready; returns all it says.
  static std::string Refusal(const Flags& flags, int want_code) {
    std::vector<std::string> argv = {Runfile("server/hawserd")};
    argv.insert(argv.end(), flags.begin(), flags.end());
    auto process = Process::Start(argv);
    if (!process.ok()) return process.status().ToString();
    const auto code = process->Wait(kPatience);
    EXPECT_TRUE(code.ok() && *code == want_code)
        << (code.ok() ? absl::StrCat(*code) : code.status().ToString());
    EXPECT_FALSE(absl::StrContains(process->output(), "ready on"));
    return process->output();
  }
  static Certificates* certificates_;
};
Certificates* HawserdTest::certificates_ = nullptr;

TEST_F(HawserdTest, RefusesToStartNamingWhatIsWrong) {
  const Certificates others = MakeCertificates(NewFolder());
  const std::string text = NewFolder() + "/rubbish";
  WriteFile(text, "rubbish\n");
  const Flags tls = MutualTls();
  const struct {
    Flags flags;
    int code;
    std::vector<std::string> says;
  } cases[] = {
      {{"--listen=0.0.0.0:0"}, 1, {"0.0.0.0:0", "--insecure"}},
      {{"--listen=[::]:0"}, 1, {"[::]:0", "--insecure"}},
      {{"--listen=0.0.0.0:0", tls[0], tls[1]}, 1, {"--tls_client_ca"}},
      {{tls[0]}, 2, {"--tls_cert needs --tls_key"}},
      {{tls[2]}, 2, {"--tls_client_ca needs --tls_cert"}},
      {{tls[0], "--tls_key=" + others.File("server.key")},
       2,
       {others.File("server.key"), "is not the private key",
        certificates_->File("server.crt")}},
      {{"--tls_cert=" + text, tls[1]}, 2, {text, "holds no certificate"}},
      {{tls[0], "--tls_key=/nowhere/key"}, 1, {"/nowhere/key", "No such file"}},
      {{tls[0], tls[1], "--tls_client_ca=" + text}, 2, {text}},
      {{"--tokens_file=" + text}, 2, {text + ":1", "1 words"}},
      {{"--tokens_file=/nowhere/tokens"}, 1, {"/nowhere/tokens"}},
      {{"--listen=unix:" + text}, 1, {text, "no socket"}},
      {{"--max_connections=0"}, 2, {"--max_connections=0"}},
      {{"--rpc_threads=-1"}, 2, {"--rpc_threads=-1", "from 0 to 64"}},
      {{"--prepared_memory=2GiB", "--dataset_memory=1GiB"},
       2,
       {"--prepared_memory=2147483648", "--dataset_memory=1073741824"}},
  };
  for (const auto& c : cases) {
    Flags flags = {"--listen=127.0.0.1:0"};
    const std::string said = Refusal(With(flags, c.flags), c.code);
    for (const std::string& part : c.says) {
      EXPECT_TRUE(absl::StrContains(said, part)) << part << " in " << said;
    }
  }
}

TEST_F(HawserdTest, BeyondLoopbackWithMutualTlsOrWhenSpelledOut) {
  ASSERT_OK_AND_ASSIGN(const Server secure,
                       StartServer(With(MutualTls(), {"--listen=0.0.0.0:0"})));
  const std::string port = secure.address.substr(secure.address.rfind(':'));
  EXPECT_OK(Reach("127.0.0.1" + port, certificates_->Client()));
  EXPECT_THAT(Reach("127.0.0.1" + port),
              StatusIs(StatusCode::kUnavailable, ""));
  ASSERT_OK_AND_ASSIGN(const Server open,
                       StartServer({"--listen=[::]:0", "--insecure"}));
  const std::string open_port = open.address.substr(open.address.rfind(':'));
  EXPECT_OK(Reach("127.0.0.1" + open_port));
  EXPECT_OK(Reach("[::1]" + open_port));
}

TEST_F(HawserdTest, OverAUnixSocketWithAndWithoutATokenAndTls) {
  const std::string folder = NewFolder();
  const Token alice = MakeToken(folder, "alice");
  WriteFile(folder + "/tokens.txt", alice.line);
  const std::string listen = "unix:" + folder + "/hawser.sock";
  const Flags tokens = {"--tokens_file=" + folder + "/tokens.txt"};
  Credentials tls_and_token = certificates_->Client();
  tls_and_token.token_file = alice.file;
  const struct {
    Flags flags;
    Credentials credentials;
  } cases[] = {{{}, {}},
               {tokens, {.token_file = alice.file}},
               {MutualTls(), certificates_->Client()},
               {With(MutualTls(), tokens), tls_and_token}};
  for (const auto& c : cases) {
    ASSERT_OK_AND_ASSIGN(Server server,
                         StartServer(With({"--listen=" + listen}, c.flags)));
    EXPECT_EQ(server.address, listen);
    EXPECT_OK(Reach(listen, c.credentials));
    // Killed, so that the next one finds the socket of a dead server.
    server.process.Signal(SIGKILL);
    ASSERT_OK(server.process.Wait(kPatience));
    struct stat about {};
    EXPECT_EQ(lstat((folder + "/hawser.sock").c_str(), &about), 0);
  }
}

TEST_F(HawserdTest, SigtermRemovesTheUnixSocketAndEndsCleanly) {
  const std::string path = NewFolder() + "/hawser.sock";
  ASSERT_OK_AND_ASSIGN(Server server, StartServer({"--listen=unix:" + path}));
  EXPECT_OK(Reach(server.address));
  Socket silent = Socket::To(server.address);
  server.process.Signal(SIGTERM);
  ASSERT_OK_AND_ASSIGN(const int code, server.process.Wait(kPatience));
  EXPECT_EQ(code, 0) << server.process.output();
  EXPECT_TRUE(silent.IsClosedWithin(kPatience));
  struct stat about {};
  EXPECT_NE(lstat(path.c_str(), &about), 0);
}

TEST_F(HawserdTest, SighupReadsTokensAgain) {
  const std::string folder = NewFolder();
  const Token alice = MakeToken(folder, "alice"),
              bob = MakeToken(folder, "bob");
  const std::string tokens = folder + "/tokens.txt";
  WriteFile(tokens, alice.line);
  ASSERT_OK_AND_ASSIGN(Server server, StartServer({"--listen=127.0.0.1:0",
                                                   "--tokens_file=" + tokens}));
  EXPECT_OK(Reach(server.address, {.token_file = alice.file}));
  WriteFile(tokens, bob.line);
  server.process.Signal(SIGHUP);
  ASSERT_OK(server.process.ReadLineWith("was read again: 1 tokens", kPatience));
  EXPECT_OK(Reach(server.address, {.token_file = bob.file}));
  EXPECT_THAT(Reach(server.address, {.token_file = alice.file}),
              StatusIs(StatusCode::kUnauthenticated, ""));
  // What it logs never says a token.
  EXPECT_FALSE(absl::StrContains(server.process.output(), bob.text));
  EXPECT_FALSE(absl::StrContains(server.process.output(), alice.text));
}

TEST_F(HawserdTest, FilesThatAreGoneLeaveTheOldOnesInUse) {
  const Certificates live = MakeCertificates(NewFolder());
  ASSERT_OK_AND_ASSIGN(Server server,
                       StartServer({"--listen=127.0.0.1:0",
                                    "--tls_cert=" + live.File("server.crt"),
                                    "--tls_key=" + live.File("server.key"),
                                    "--tls_client_ca=" + live.File("ca.crt")}));
  const std::string certificate = ReadFile(live.File("server.crt"));
  ASSERT_EQ(remove(live.File("server.crt").c_str()), 0);
  // In either order.
  const auto says = [&](absl::string_view part) {
    return absl::StrContains(server.process.output(), part) ||
           server.process.ReadLineWith(part, kPatience).ok();
  };
  ASSERT_TRUE(says("gRPC: stat failed")) << server.process.output();
  ASSERT_TRUE(says("server.crt cannot be read")) << server.process.output();
  EXPECT_OK(Reach(server.address, live.Client()));
  WriteFile(live.File("server.crt"), certificate);
  ASSERT_OK(server.process.ReadLineWith("new connections use them", kPatience));
  EXPECT_OK(Reach(server.address, live.Client()));
}

// gRPC's own acceptor stops for good here (CVE-2023-4785).
TEST_F(HawserdTest, AFloodBeyondTheDescriptorsLeavesItAnswering) {
  const struct {
    absl::string_view what;
    Flags flags;
    Credentials credentials;
    std::string words;  // what each of the flood says
  } cases[] = {
      {"silent, plaintext", {}, {}, ""},
      {"silent, TLS", MutualTls(), certificates_->Client(), ""},
      {"half a TLS hello", MutualTls(), certificates_->Client(), "\x16\x03"},
  };
  for (const auto& c : cases) {
    ASSERT_OK_AND_ASSIGN(
        Server server,
        StartWith({"/bin/sh", "-c", "ulimit -n 200; exec \"$0\" \"$@\""},
                  With({"--listen=127.0.0.1:0"}, c.flags)));
    ASSERT_OK(Reach(server.address, c.credentials));
    std::vector<Socket> flood;
    for (int i = 0; i < 600; ++i) {
      flood.push_back(Socket::To(server.address));
      if (flood.back().valid() && !c.words.empty()) flood.back().Send(c.words);
    }
    // Those that have begun to speak go after the handshake's time.
    const absl::Time end = absl::Now() + absl::Seconds(40);
    absl::Status reached = Reach(server.address, c.credentials);
    while (!reached.ok() && !c.words.empty() && absl::Now() < end) {
      reached = Reach(server.address, c.credentials);
    }
    EXPECT_OK(reached) << c.what << ": " << server.process.output();
    flood.clear();
    EXPECT_OK(Reach(server.address, c.credentials)) << c.what;
  }
}

TEST_F(HawserdTest, HelpSaysWhatCredentialsAre) {
  ASSERT_OK_AND_ASSIGN(auto process,
                       Process::Start({Runfile("server/hawserd"), "--help"}));
  ASSERT_EQ(*process.Wait(kPatience), 0);
  for (const char* word :
       {"--tls_cert=", "--tls_key=", "--tls_client_ca=", "--tokens_file=",
        "--insecure", "--max_connections=", "unix:/path", "tenant"}) {
    EXPECT_TRUE(absl::StrContains(process.output(), word)) << word;
  }
}

}  // namespace
}  // namespace hawser::testing
