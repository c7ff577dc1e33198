#include "server/access/tenant.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/base/digest.h"
#include "gtest/gtest.h"
#include "tests/server/access/credential_files.h"
#include "tests/testing/matchers.h"

namespace hawser::server {
namespace {

using absl::StatusCode;

class TenantTest : public ::testing::Test {
 protected:
  TenantTest() {
    const std::string path = testing::NewFolder() + "/tokens.txt";
    const absl::string_view token = "red";
    const Digest hash = Sha256({token.data(), token.size()});
    testing::WriteFile(path, absl::StrCat("alice ", hash.ToHex()));
    tokens_ = *TokenFile::Open(path);
  }
  std::unique_ptr<TokenFile> tokens_;
};

TEST_F(TenantTest, WithoutCredentialsEverybodyIsDefault) {
  EXPECT_EQ(*TenantOf({}, nullptr, false), "default");
  // Neither is asked for, so neither counts.
  EXPECT_EQ(*TenantOf({{"Bearer red"}, {"alice"}}, nullptr, false), "default");
}

TEST_F(TenantTest, ATokenNamesTheTenantWhateverTheCertificateSays) {
  EXPECT_EQ(*TenantOf({{"Bearer red"}, {}}, tokens_.get(), false), "alice");
  EXPECT_EQ(*TenantOf({{"bearer red"}, {"bob"}}, tokens_.get(), true), "alice");
  EXPECT_EQ(*TenantOf({{"Bearer  red "}, {}}, tokens_.get(), false), "alice");
}

TEST_F(TenantTest, ACertificateIsNoTokenWhereOneIsWanted) {
  EXPECT_THAT(TenantOf({{}, {"alice"}}, tokens_.get(), true),
              StatusIs(StatusCode::kUnauthenticated, "wants a token"));
}

TEST_F(TenantTest, EveryWrongTokenGetsTheSameAnswer) {
  const Caller callers[] = {
      {{"Bearer blue"}, {}},
      {{"Bearer "}, {}},
      {{"Bearer"}, {}},
      {{""}, {}},
      {{"red"}, {}},
      {{"Basic red"}, {}},
      {{"Bearer red", "Bearer red"}, {}},
      {{"Bearer red red"}, {}},
      {{"Bearer Red"}, {}},
      {{"Bearerred"}, {}},
  };
  for (const Caller& caller : callers) {
    const absl::Status status = TenantOf(caller, tokens_.get(), false).status();
    EXPECT_EQ(status, absl::UnauthenticatedError(
                          "the token is not one of this server's"))
        << caller.authorization[0];
  }
}

TEST_F(TenantTest, TheCommonNameIsTheTenantWithoutTokens) {
  EXPECT_EQ(*TenantOf({{}, {"bob"}}, nullptr, true), "bob");
  EXPECT_EQ(*TenantOf({{"Bearer red"}, {"bob"}}, nullptr, true), "bob");
}

TEST_F(TenantTest, ACertificateWithoutAUsableNameIsRefused) {
  const struct {
    Caller caller;
    absl::string_view why;
  } cases[] = {
      {{{}, {}}, "has 0 common names"},
      {{{}, {"a", "b"}}, "has 2 common names"},
      {{{}, {"Alice Smith"}}, "\"Alice Smith\" is no tenant"},
      {{{}, {""}}, "\"\" is no tenant"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT(TenantOf(c.caller, nullptr, true),
                StatusIs(StatusCode::kUnauthenticated, c.why));
  }
}

}  // namespace
}  // namespace hawser::server
