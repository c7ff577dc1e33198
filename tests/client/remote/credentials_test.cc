// What a client says about its own credentials before it connects.
#include "client/remote/link/credentials.h"

#include <stdlib.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "client/remote/grpc/grpc_transport.h"
#include "client/remote/link/token_source.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser {
namespace {

using absl::StatusCode;

class CredentialsTest : public ::testing::Test {
 protected:
  void Write(const std::string& text) {
    std::ofstream(path_ + ".new", std::ios::binary) << text;
    ASSERT_EQ(rename((path_ + ".new").c_str(), path_.c_str()), 0);
  }
  static absl::Status Connect(const std::string& address,
                              Credentials credentials) {
    return ConnectRemote(address, {.credentials = std::move(credentials)})
        .status();
  }
  const TemporaryFolder folder_;
  const std::string path_ = folder_.Path("token");
};

TEST_F(CredentialsTest, ATokenGoesToThisMachineInPlaintextAndToNoOther) {
  for (const char* address : {"127.0.0.1:1", "127.9.8.7:1", "[::1]:1",
                              "localhost:1", "unix:/nowhere/hawser.sock"}) {
    EXPECT_OK(Connect(address, {.token = "red"})) << address;
  }
  for (const char* address :
       {"10.0.0.1:1", "[fd00::1]:1", "[::]:1", "0.0.0.0:1", "gpu-1:1",
        "localhost.example.com:1", "127.0.0.1.example.com:1", "1270:1",
        "dns:///localhost:1", "ipv4:127.0.0.1:1"}) {
    const absl::Status status = Connect(address, {.token = "red-secret"});
    EXPECT_THAT(status, StatusIs(StatusCode::kFailedPrecondition, address));
    EXPECT_THAT(status,
                StatusIs(StatusCode::kFailedPrecondition, "in plaintext"));
    EXPECT_EQ(status.message().find("red-secret"), std::string::npos);
    EXPECT_OK(Connect(address, {})) << "without a token: " << address;
  }
}

TEST_F(CredentialsTest, WhatIsMissingIsNamed) {
  const struct {
    Credentials credentials;
    StatusCode code;
    absl::string_view why;
  } cases[] = {
      {{.ca_file = "/nowhere/ca"}, StatusCode::kNotFound, "/nowhere/ca"},
      {{.ca_file = "/etc/hostname"},
       StatusCode::kInvalidArgument,
       "/etc/hostname holds no certificate"},
      {{.cert_file = "c", .key_file = "k"},
       StatusCode::kInvalidArgument,
       "HAWSER_TLS_CA"},
      {{.cert_file = "c"}, StatusCode::kInvalidArgument, "needs its key"},
      {{.key_file = "k"}, StatusCode::kInvalidArgument, "needs its key"},
      {{.token_file = "/nowhere/token"},
       StatusCode::kNotFound,
       "/nowhere/token"},
      {{.token = "red", .token_file = "f"},
       StatusCode::kInvalidArgument,
       "both a token and token file f"},
      {{.token = "two words"}, StatusCode::kInvalidArgument, "is no token"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(Connect("127.0.0.1:1", c.credentials), StatusIs(c.code, c.why));
  }
}

TEST_F(CredentialsTest, ATokenFileHoldsOneWord) {
  Write("  red-1 \r\n\n");
  ASSERT_OK_AND_ASSIGN(const auto source,
                       TokenSource::Open({.token_file = path_}));
  EXPECT_EQ(source->Token(), "red-1");
  const struct {
    std::string text;
    absl::string_view why;
  } cases[] = {{"", "holds no token"},
               {" \n", "holds no token"},
               {"secret one\n", "is no token"},
               {"secret\none\n", "is no token"},
               {"secret\x80", "is no token"},
               {std::string("sec\0ret", 7), "is no token"},
               {std::string(4097, 's'), "has 4097 characters"}};
  for (const auto& c : cases) {
    Write(c.text);
    const absl::Status status =
        TokenSource::Open({.token_file = path_}).status();
    EXPECT_THAT(status, StatusIs(StatusCode::kInvalidArgument, c.why));
    EXPECT_THAT(status, StatusIs(StatusCode::kInvalidArgument, path_));
    EXPECT_EQ(status.message().find("secret"), std::string::npos) << status;
  }
}

TEST_F(CredentialsTest, TheTokenFileIsFollowedWhileItIsGood) {
  Write("red");
  ASSERT_OK_AND_ASSIGN(const auto source,
                       TokenSource::Open({.token_file = path_}));
  Write("blue");
  EXPECT_EQ(source->Token(), "blue");
  Write("");
  EXPECT_EQ(source->Token(), "blue");
  ASSERT_EQ(remove(path_.c_str()), 0);
  EXPECT_EQ(source->Token(), "blue");
  Write("green");
  EXPECT_EQ(source->Token(), "green");
}

TEST_F(CredentialsTest, TheEnvironmentSaysThemAll) {
  const struct {
    const char* name;
    std::string Credentials::*field;
  } variables[] = {{"HAWSER_TLS_CA", &Credentials::ca_file},
                   {"HAWSER_TLS_CERT", &Credentials::cert_file},
                   {"HAWSER_TLS_KEY", &Credentials::key_file},
                   {"HAWSER_TOKEN_FILE", &Credentials::token_file}};
  for (const auto& variable : variables) {
    EXPECT_EQ(Credentials::FromEnvironment().*variable.field, "");
    setenv(variable.name, "/some/file", 1);
    EXPECT_EQ(Credentials::FromEnvironment().*variable.field, "/some/file")
        << variable.name;
    unsetenv(variable.name);
  }
}

}  // namespace
}  // namespace hawser
