// TLS over gRPC: who can talk to whom, and what changes while it runs.
#include <memory>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "core/runtime/datasets.h"
#include "gtest/gtest.h"
#include "tests/server/access/access_server.h"
#include "tests/server/access/credential_files.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/process.h"

namespace hawser::testing {
namespace {

using absl::StatusCode;

class TlsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ours_ = new Certificates(MakeCertificates(NewFolder()));
    MakeCertificates(ours_->folder, {}, {"TENANT=alice"});
    others_ = new Certificates(MakeCertificates(NewFolder()));
  }
  void Start(server::AccessOptions access, std::string listen = "127.0.0.1:0") {
    ASSERT_OK_AND_ASSIGN(host_,
                         StartHost(std::move(access), std::move(listen)));
  }
  // Asks again and again until the answer has this code.
  void Await(const Credentials& credentials, StatusCode code) {
    const absl::Time end = absl::Now() + absl::Seconds(30);
    absl::Status last;
    do {
      last = LetsIn(*host_, credentials);
    } while (last.code() != code && absl::Now() < end);
    EXPECT_EQ(last.code(), code) << last;
  }

  static Certificates* ours_;
  static Certificates* others_;
  std::unique_ptr<server::Host> host_;
};
Certificates* TlsTest::ours_ = nullptr;
Certificates* TlsTest::others_ = nullptr;

TEST_F(TlsTest, MutualTlsLetsInWhomTheCaHasSigned) {
  Start(ours_->Server());
  EXPECT_OK(LetsIn(*host_, ours_->Client()));
  EXPECT_OK(LetsIn(*host_, ours_->Client("alice")));
}

TEST_F(TlsTest, MutualTlsKeepsEverybodyElseOut) {
  Start(ours_->Server());
  Credentials stranger = others_->Client();
  stranger.ca_file = ours_->File("ca.crt");
  Credentials distrusting = ours_->Client();
  distrusting.ca_file = others_->File("ca.crt");
  const struct {
    absl::string_view who;
    Credentials credentials;
  } cases[] = {
      {"in plaintext", {}},
      {"without a certificate", {.ca_file = ours_->File("ca.crt")}},
      {"with a certificate of another CA", stranger},
      {"who trusts another CA", distrusting},
      {"with the server's certificate, which is none of a client",
       {.ca_file = ours_->File("ca.crt"),
        .cert_file = ours_->File("server.crt"),
        .key_file = ours_->File("server.key")}},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(LetsIn(*host_, c.credentials),
                StatusIs(StatusCode::kUnavailable, host_->address()))
        << c.who;
  }
  EXPECT_OK(LetsIn(*host_, ours_->Client()));
}

TEST_F(TlsTest, AClientRefusesAServerUnderAnotherName) {
  Start(ours_->Server(), "127.0.0.2:0");
  EXPECT_THAT(LetsIn(*host_, ours_->Client()),
              StatusIs(StatusCode::kUnavailable, host_->address()));
  const Certificates named = MakeCertificates(NewFolder(), {"127.0.0.2"});
  Start(named.Server(), "127.0.0.2:0");
  EXPECT_OK(LetsIn(*host_, named.Client()));
}

TEST_F(TlsTest, WithoutTokensTheCommonNameIsTheTenant) {
  Start(ours_->Server());
  ASSERT_OK_AND_ASSIGN(const auto alice,
                       ConnectTo(*host_, ours_->Client("alice")));
  ASSERT_OK_AND_ASSIGN(const auto client, ConnectTo(*host_, ours_->Client()));
  ASSERT_OK_AND_ASSIGN(
      const DatasetInfo info,
      alice->datasets().Put({{{"", Literal::Scalar(1.0f)}}}, {}));
  EXPECT_OK(alice->datasets().Ask(StatDataset{info.token}, {}));
  EXPECT_THAT(client->datasets().Ask(StatDataset{info.token}, {}),
              StatusIs(StatusCode::kNotFound, info.token));
}

TEST_F(TlsTest, ACommonNameThatIsNoTenantIsRefused) {
  // A CA of its own, so that nothing else depends on it.
  const Certificates odd = MakeCertificates(NewFolder());
  ASSERT_OK_AND_ASSIGN(
      auto openssl,
      Process::Start({"/usr/bin/openssl", "req", "-x509", "-key",
                      odd.File("ca.key"), "-subj", "/CN=Alice Smith", "-days",
                      "2", "-addext", "basicConstraints=critical,CA:TRUE",
                      "-out", odd.File("smith.crt")}));
  ASSERT_EQ(*openssl.Wait(absl::Seconds(10)), 0) << openssl.output();
  server::AccessOptions access = odd.Server();
  access.tls_client_ca = odd.File("smith.crt");
  Start(access);
  EXPECT_THAT(
      LetsIn(*host_, {.ca_file = odd.File("ca.crt"),
                      .cert_file = odd.File("smith.crt"),
                      .key_file = odd.File("ca.key")}),
      StatusIs(StatusCode::kUnauthenticated, "\"Alice Smith\" is no tenant"));
}

TEST_F(TlsTest, WithTokensBothAreAskedForAndTheTokenCounts) {
  const std::string folder = NewFolder();
  const Token bob = MakeToken(folder, "bob");
  server::AccessOptions access = ours_->Server();
  access.tokens_file = folder + "/tokens.txt";
  WriteFile(access.tokens_file, bob.line);
  Start(access);
  EXPECT_THAT(LetsIn(*host_, ours_->Client("alice")),
              StatusIs(StatusCode::kUnauthenticated, "wants a token"));
  Credentials token_alone = {.ca_file = ours_->File("ca.crt"),
                             .token_file = bob.file};
  EXPECT_THAT(LetsIn(*host_, token_alone),
              StatusIs(StatusCode::kUnavailable, ""));
  Credentials both = ours_->Client("alice");
  both.token_file = bob.file;
  ASSERT_OK_AND_ASSIGN(const auto client, ConnectTo(*host_, both));
  ASSERT_OK_AND_ASSIGN(
      const DatasetInfo info,
      client->datasets().Put({{{"", Literal::Scalar(2.0f)}}}, {}));
  EXPECT_OK(host_->datasets().Stat("bob", info.token));
  EXPECT_THAT(host_->datasets().Stat("alice", info.token),
              StatusIs(StatusCode::kNotFound, ""));
}

TEST_F(TlsTest, WithoutAClientCaNobodyIsAskedForACertificate) {
  server::AccessOptions access = ours_->Server();
  access.tls_client_ca = "";
  Start(access);
  ASSERT_OK_AND_ASSIGN(const auto client,
                       ConnectTo(*host_, {.ca_file = ours_->File("ca.crt")}));
  ASSERT_OK_AND_ASSIGN(
      const DatasetInfo info,
      client->datasets().Put({{{"", Literal::Scalar(3.0f)}}}, {}));
  EXPECT_OK(host_->datasets().Stat("default", info.token));
}

TEST_F(TlsTest, NewFilesAreUsedWithoutARestart) {
  const Certificates live = MakeCertificates(NewFolder());
  Start(live.Server());
  const Certificates next = MakeCertificates(NewFolder());
  Credentials old_client = live.Client();
  old_client.ca_file = live.File("old.crt");
  WriteFile(old_client.ca_file, ReadFile(live.File("ca.crt")));
  ASSERT_OK_AND_ASSIGN(const auto connected, ConnectTo(*host_, old_client));
  EXPECT_OK(connected->capabilities());
  for (const char* name : {"server.key", "server.crt", "ca.crt"}) {
    WriteFile(live.File(name), ReadFile(next.File(name)));
  }
  Await(next.Client(), StatusCode::kOk);
  EXPECT_THAT(LetsIn(*host_, old_client),
              StatusIs(StatusCode::kUnavailable, ""));
  // Who was in stays in.
  ASSERT_OK_AND_ASSIGN(const auto buffer,
                       connected->Upload(Literal::Scalar(4.0f), {}));
  EXPECT_OK(buffer->Fetch({}).Await());
}

TEST_F(TlsTest, AKeyThatDoesNotMatchKeepsOutUntilItDoes) {
  const Certificates live = MakeCertificates(NewFolder());
  Start(live.Server());
  const std::string key = ReadFile(live.File("server.key"));
  for (const std::string& bad :
       {ReadFile(others_->File("server.key")), std::string("rubbish")}) {
    WriteFile(live.File("server.key"), bad);
    Await(live.Client(), StatusCode::kUnavailable);
    WriteFile(live.File("server.key"), key);
    Await(live.Client(), StatusCode::kOk);
  }
}

}  // namespace
}  // namespace hawser::testing
