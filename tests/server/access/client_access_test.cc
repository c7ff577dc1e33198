// Clients of the SDK and the `hawser` command against a server that asks for
// everything: certificate and token.
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "absl/time/time.h"
#include "client/hawser.h"
#include "client/remote/grpc/grpc_transport.h"
#include "core/wire/dataset_verbs.h"
#include "gtest/gtest.h"
#include "proto/datasets.pb.h"
#include "tests/server/access/credential_files.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/process.h"

namespace hawser::testing {
namespace {

using absl::StatusCode;

constexpr absl::Duration kPatience = absl::Seconds(30);

class ClientAccessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string folder = NewFolder();
    certificates_ = MakeCertificates(folder);
    alice_ = MakeToken(folder, "alice");
    WriteFile(folder + "/tokens.txt", alice_.line);
    ASSERT_OK_AND_ASSIGN(
        Process server,
        StartHawserd({"--tls_cert=" + folder + "/server.crt",
                      "--tls_key=" + folder + "/server.key",
                      "--tls_client_ca=" + folder + "/ca.crt",
                      "--tokens_file=" + folder + "/tokens.txt"},
                     &address_));
    server_ = std::make_unique<Process>(std::move(server));
  }
  Credentials Good() const {
    Credentials credentials = certificates_.Client();
    credentials.token_file = alice_.file;
    return credentials;
  }
  // `hawser status` with these variables: its exit code and what it says.
  int Status(const std::vector<std::string>& variables, std::string* output) {
    auto hawser =
        Process::Start({Runfile("client/cli/hawser"), "status"}, variables);
    EXPECT_OK(hawser);
    const auto code = hawser->Wait(kPatience);
    EXPECT_OK(code);
    *output = hawser->output();
    return *code;
  }

  Certificates certificates_;
  Token alice_;
  std::string address_;
  std::unique_ptr<Process> server_;
};

TEST_F(ClientAccessTest, AProgramComputesOverTlsWithItsToken) {
  const auto client = Connect(
      {.servers = {address_}, .credentials = Good(), .fallback = Client()});
  ASSERT_OK(client);
  auto twice = Jit([](Tensor x) { return x + x; }).With({.client = *client});
  const auto result = twice(Literal::Scalar(4.0f));
  ASSERT_OK(result);
  EXPECT_THAT(*result->Fetch(), LiteralEquals(Literal::Scalar(8.0f)));
  // Above what goes inline, both ways.
  const Literal large =
      Literal::Uninitialized(Shape::Of(DType::kU8, {5 << 20}));
  const auto put = client->Put({{"", large}});
  ASSERT_OK(put);
  EXPECT_THAT(*(*put)().Fetch(), LiteralBitEquals(large));
}

// Of two connections that watch the certificates' files together and begin at
// once, now and then one has none; so each watches them itself.
TEST_F(ClientAccessTest, ConnectionsMayAllBeginAtOnce) {
  constexpr int kRounds = 10, kThreads = 4;
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    ASSERT_OK_AND_ASSIGN(
        const auto transport,
        MakeGrpcTransport(address_, {.credentials = Good(),
                                     .bulk_threads = kThreads}));
    std::vector<absl::Status> statuses(kThreads);
    std::vector<std::thread> threads;
    for (absl::Status& status : statuses) {
      threads.emplace_back([&transport, &status] {
        v1::FindMissingRequest request;
        request.set_upload(1);
        status = transport->Ask<FindMissingMethod>(request, {}).status();
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const absl::Status& status : statuses) EXPECT_OK(status) << round;
  }
}

TEST_F(ClientAccessTest, ARefusalIsAnErrorAlsoWithAFallback) {
  Credentials wrong = certificates_.Client();
  wrong.token = "red";
  EXPECT_THAT(Connect({.servers = {address_}, .credentials = wrong}),
              StatusIs(StatusCode::kUnauthenticated, address_));
  EXPECT_THAT(Connect({.servers = {"127.0.0.1:1", address_, "127.0.0.1:1"},
                       .credentials = wrong}),
              StatusIs(StatusCode::kUnauthenticated, address_));
}

TEST_F(ClientAccessTest, CredentialsThatCannotBeUsedAreAnErrorAlso) {
  EXPECT_THAT(
      Connect({.servers = {"gpu-1:7070"}, .credentials = {.token = "red"}}),
      StatusIs(StatusCode::kFailedPrecondition, "gpu-1:7070"));
  Credentials gone = Good();
  gone.ca_file = "/nowhere/ca.crt";
  EXPECT_THAT(Connect({.servers = {address_}, .credentials = gone}),
              StatusIs(StatusCode::kNotFound, "/nowhere/ca.crt"));
}

TEST_F(ClientAccessTest, WithoutACertificateTheCpuTakesOver) {
  const auto client = Connect({.servers = {address_}});
  ASSERT_OK(client);
  auto twice = Jit([](Tensor x) { return x + x; }).With({.client = *client});
  const auto result = twice(Literal::Scalar(4.0f));
  ASSERT_OK(result);
  EXPECT_OK(result->Fetch());
  EXPECT_TRUE(absl::StrContains(result->ran_on(), "cpu")) << result->ran_on();
}

TEST_F(ClientAccessTest, TheCommandTakesEverythingFromTheEnvironment) {
  const std::vector<std::string> all = {
      "HAWSER_SERVERS=" + address_,
      "HAWSER_TLS_CA=" + certificates_.File("ca.crt"),
      "HAWSER_TLS_CERT=" + certificates_.File("client.crt"),
      "HAWSER_TLS_KEY=" + certificates_.File("client.key"),
      "HAWSER_TOKEN_FILE=" + alice_.file};
  std::string output;
  EXPECT_EQ(Status(all, &output), 0) << output;
  EXPECT_TRUE(absl::StrContains(output, address_)) << output;
  std::vector<std::string> without(all.begin(), all.end() - 1);
  EXPECT_NE(Status(without, &output), 0);
  EXPECT_TRUE(absl::StrContains(output, "wants a token")) << output;
  EXPECT_NE(Status({all[0], all[4]}, &output), 0);
  EXPECT_FALSE(absl::StrContains(output, alice_.text)) << output;
}

}  // namespace
}  // namespace hawser::testing
