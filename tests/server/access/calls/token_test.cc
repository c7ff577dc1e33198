// Bearer tokens over gRPC: who is let in, and as whom.
#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/runtime/datasets.h"
#include "gtest/gtest.h"
#include "tests/server/access/access_server.h"
#include "tests/server/access/credential_files.h"
#include "tests/testing/matchers.h"

namespace hawser::testing {
namespace {

using absl::StatusCode;

class TokenTest : public ::testing::Test {
 protected:
  void SetUp() override {
    alice_ = MakeToken(folder_, "alice");
    bob_ = MakeToken(folder_, "bob");
    WriteFile(tokens_, alice_.line + bob_.line);
    ASSERT_OK_AND_ASSIGN(host_, StartHost({.tokens_file = tokens_}));
  }
  absl::Status EmptyStat(const std::string& token) {
    RawClient client(host_->address(), token);
    return CallEmpty(client, "/hawser.v1.Datasets/Stat");
  }

  const std::string folder_ = NewFolder();
  const std::string tokens_ = folder_ + "/tokens.txt";
  Token alice_, bob_;
  std::unique_ptr<server::Host> host_;
};

std::vector<std::string> AllMethods() {
  std::vector<std::string> methods;
  const google::protobuf::FileDescriptor* files[] = {
      v1::CallRequest::descriptor()->file(),
      v1::StatRequest::descriptor()->file()};
  for (const auto* file : files) {
    for (int s = 0; s < file->service_count(); ++s) {
      for (int m = 0; m < file->service(s)->method_count(); ++m) {
        methods.push_back(absl::StrCat("/", file->service(s)->full_name(), "/",
                                       file->service(s)->method(m)->name()));
      }
    }
  }
  return methods;
}

// Of every method there is, so that one added later is not forgotten.
TEST_F(TokenTest, NoMethodAnswersWithoutAToken) {
  const std::vector<std::string> methods = AllMethods();
  ASSERT_GE(methods.size(), 9);
  RawClient nobody(host_->address(), ""), stranger(host_->address(), "red");
  RawClient alice(host_->address(), alice_.text);
  for (const std::string& method : methods) {
    EXPECT_THAT(CallEmpty(nobody, method),
                StatusIs(StatusCode::kUnauthenticated, "wants a token"))
        << method;
    EXPECT_EQ(
        CallEmpty(stranger, method),
        absl::UnauthenticatedError("the token is not one of this server's"))
        << method;
    // The empty request is refused or not, but not for who asks.
    EXPECT_NE(CallEmpty(alice, method).code(), StatusCode::kUnauthenticated)
        << method;
  }
}

TEST_F(TokenTest, HealthAndReflectionAskForNone) {
  RawClient nobody(host_->address(), "");
  EXPECT_OK(CallEmpty(nobody, "/grpc.health.v1.Health/Check"));
  EXPECT_NE(CallEmpty(nobody,
                      "/grpc.reflection.v1alpha.ServerReflection/"
                      "ServerReflectionInfo")
                .code(),
            StatusCode::kUnauthenticated);
}

TEST_F(TokenTest, AClientIsLetInByItsTokenAndNotWithout) {
  EXPECT_OK(LetsIn(*host_, {.token_file = alice_.file}));
  EXPECT_OK(LetsIn(*host_, {.token = bob_.text}));
  EXPECT_THAT(LetsIn(*host_, {}),
              StatusIs(StatusCode::kUnauthenticated, "wants a token"));
  EXPECT_THAT(LetsIn(*host_, {.token = "red"}),
              StatusIs(StatusCode::kUnauthenticated,
                       "the token is not one of this server's"));
}

TEST_F(TokenTest, TheTokenIsInNoErrorOfTheClient) {
  const std::string secret = "secret-that-nobody-knows";
  const absl::Status status = LetsIn(*host_, {.token = secret});
  EXPECT_EQ(status.ToString().find(secret), std::string::npos) << status;
}

TEST_F(TokenTest, TheDatasetsOfATenantAreNotAnothers) {
  ASSERT_OK_AND_ASSIGN(const auto alice,
                       ConnectTo(*host_, {.token = alice_.text}));
  ASSERT_OK_AND_ASSIGN(const auto bob, ConnectTo(*host_, {.token = bob_.text}));
  const DatasetSource source{{{"", Literal::Vector<float>({1, 2, 3})}}};
  ASSERT_OK_AND_ASSIGN(const DatasetInfo info,
                       alice->datasets().Put(source, {}));
  EXPECT_GT(info.sent_bytes, 0);
  EXPECT_OK(alice->datasets().Ask(StatDataset{info.token}, {}));
  EXPECT_THAT(bob->datasets().Ask(StatDataset{info.token}, {}),
              StatusIs(StatusCode::kNotFound, info.token));
  // He has to show the bytes himself.
  ASSERT_OK_AND_ASSIGN(const DatasetInfo own, bob->datasets().Put(source, {}));
  EXPECT_EQ(own.token, info.token);
  EXPECT_EQ(own.sent_bytes, info.sent_bytes);
  EXPECT_OK(bob->datasets().Ask(StatDataset{info.token}, {}));
}

TEST_F(TokenTest, TokensComeAndGoWhileTheServerRuns) {
  const Token carol = MakeToken(folder_, "carol");
  EXPECT_THAT(EmptyStat(carol.text),
              StatusIs(StatusCode::kUnauthenticated, ""));
  WriteFile(tokens_, carol.line);
  host_->Reload();
  EXPECT_THAT(EmptyStat(carol.text),
              StatusIs(StatusCode::kInvalidArgument, ""));
  EXPECT_THAT(EmptyStat(alice_.text),
              StatusIs(StatusCode::kUnauthenticated, ""));
}

TEST_F(TokenTest, AClientFollowsItsTokenFile) {
  ASSERT_OK_AND_ASSIGN(const auto alice,
                       ConnectTo(*host_, {.token_file = alice_.file}));
  EXPECT_THAT(
      alice->datasets().Ask(StatDataset{"hw1-" + std::string(52, 'a')}, {}),
      StatusIs(StatusCode::kNotFound, ""));
  const Token carol = MakeToken(folder_, "carol");
  WriteFile(tokens_, carol.line);
  host_->Reload();
  EXPECT_THAT(
      alice->datasets().Ask(StatDataset{"hw1-" + std::string(52, 'a')}, {}),
      StatusIs(StatusCode::kUnauthenticated, ""));
  WriteFile(alice_.file, carol.text + "\n");
  EXPECT_THAT(
      alice->datasets().Ask(StatDataset{"hw1-" + std::string(52, 'a')}, {}),
      StatusIs(StatusCode::kNotFound, ""));
}

}  // namespace
}  // namespace hawser::testing
