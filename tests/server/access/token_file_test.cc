#include "server/access/token_file.h"

#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "core/base/digest.h"
#include "gtest/gtest.h"
#include "tests/server/access/credential_files.h"
#include "tests/testing/matchers.h"

namespace hawser::server {
namespace {

using ::hawser::testing::MakeToken;
using ::hawser::testing::NewFolder;
using ::hawser::testing::Token;
using ::hawser::testing::WriteFile;

std::string HashOf(absl::string_view token) {
  return Sha256({token.data(), token.size()}).ToHex();
}
std::string Line(absl::string_view tenant, absl::string_view token) {
  return absl::StrCat(tenant, " ", HashOf(token), "\n");
}

class TokenFileTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<TokenFile>> Open(absl::string_view text) {
    WriteFile(path_, text);
    return TokenFile::Open(path_);
  }
  const std::string path_ = NewFolder() + "/tokens.txt";
};

TEST_F(TokenFileTest, MapsEveryTokenToItsTenant) {
  ASSERT_OK_AND_ASSIGN(
      const auto file,
      Open(absl::StrCat("# who may come in\n\n", Line("alice", "red"),
                        "  bob\t", HashOf("blue"), "  \r\n",
                        Line("alice", "green"), "carol ",
                        absl::AsciiStrToUpper(HashOf("black")))));
  EXPECT_EQ(file->size(), 4);
  EXPECT_EQ(file->TenantOf("red"), "alice");
  EXPECT_EQ(file->TenantOf("green"), "alice");
  EXPECT_EQ(file->TenantOf("blue"), "bob");
  EXPECT_EQ(file->TenantOf("black"), "carol");
  for (absl::string_view wrong : {"", "Red", "red ", "redd", "re", "alice"}) {
    EXPECT_EQ(file->TenantOf(wrong), std::nullopt) << wrong;
  }
  // Having the file is not having the token.
  EXPECT_EQ(file->TenantOf(HashOf("red")), std::nullopt);
}

TEST_F(TokenFileTest, TakesWhatTheScriptMakes) {
  const Token token = MakeToken(NewFolder(), "alice");
  EXPECT_EQ(token.text.size(), 64);
  EXPECT_EQ(token.line.find(token.text), std::string::npos);
  ASSERT_OK_AND_ASSIGN(const auto file, Open(token.line));
  EXPECT_EQ(file->TenantOf(token.text), "alice");
}

TEST_F(TokenFileTest, RefusesBadFilesNamingFileAndLine) {
  const std::string hash = HashOf("x");
  const struct {
    std::string text;
    std::string why;
  } cases[] = {
      {"", "holds no token"},
      {"# alice abc\n \n", "holds no token"},
      {"alice\n", ":1: 1 words"},
      {"\nalice " + hash + " extra\n", ":2: 3 words"},
      {"alice " + hash.substr(1), ":1: the second word has 63 characters"},
      {"alice " + hash + "0", ":1: the second word has 65 characters"},
      {"alice g" + hash.substr(1), ":1: the second word has 64 characters"},
      {"al/ice " + hash, ":1: \"al/ice\" is no tenant"},
      {std::string(65, 'a') + " " + hash, "is no tenant"},
      {"a\x01 " + hash, ":1: \"a\\x01\" is no tenant"},
      {Line("alice", "x") + "\n" + Line("bob", "x"),
       ":3: the token of line 1 again"},
  };
  for (const auto& c : cases) {
    const absl::Status status = Open(c.text).status();
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, c.why));
    EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument, path_));
  }
  EXPECT_THAT(TokenFile::Open("/nowhere/tokens.txt").status(),
              StatusIs(absl::StatusCode::kNotFound, "/nowhere/tokens.txt"));
}

TEST_F(TokenFileTest, NeverQuotesWhatMayBeATokenByMistake) {
  const auto file = Open("alice my-secret-token\n");
  EXPECT_EQ(file.status().message().find("my-secret"), std::string::npos)
      << file.status();
}

TEST_F(TokenFileTest, FollowsTheFile) {
  ASSERT_OK_AND_ASSIGN(const auto file, Open(Line("alice", "red")));
  EXPECT_OK(file->Refresh());
  WriteFile(path_, Line("bob", "red") + Line("alice", "blue"));
  EXPECT_EQ(file->TenantOf("red"), "alice");  // not read yet
  EXPECT_OK(file->Refresh());
  EXPECT_EQ(file->TenantOf("red"), "bob");
  EXPECT_EQ(file->TenantOf("blue"), "alice");
  WriteFile(path_, "# everybody out\n");
  EXPECT_OK(file->Refresh());
  EXPECT_EQ(file->TenantOf("red"), std::nullopt);
}

TEST_F(TokenFileTest, ABadFileChangesNothingAndIsAnErrorOnce) {
  ASSERT_OK_AND_ASSIGN(const auto file, Open(Line("alice", "red")));
  WriteFile(path_, "alice 123\n");
  EXPECT_THAT(file->Refresh(),
              StatusIs(absl::StatusCode::kInvalidArgument, ":1:"));
  EXPECT_OK(file->Refresh());
  EXPECT_EQ(file->TenantOf("red"), "alice");
  ASSERT_EQ(remove(path_.c_str()), 0);
  EXPECT_THAT(file->Refresh(), StatusIs(absl::StatusCode::kNotFound, path_));
  EXPECT_OK(file->Refresh());
  EXPECT_EQ(file->TenantOf("red"), "alice");
  WriteFile(path_, Line("bob", "red"));
  EXPECT_OK(file->Refresh());
  EXPECT_EQ(file->TenantOf("red"), "bob");
}

TEST(TenantName, LettersDigitsAndAFewOthers) {
  const std::string longest(64, 'x');
  for (const std::string& good :
       {std::string("a"), std::string("default"),
        std::string("alice@example.com"), std::string("A_b-1.9"), longest}) {
    EXPECT_OK(CheckTenantName(good)) << good;
  }
  for (const std::string& bad :
       {std::string(), std::string(" "), std::string("a b"), std::string("a/b"),
        std::string("..\n"), std::string("\xc3\xa9"), std::string("a\0b", 3),
        longest + "x"}) {
    EXPECT_THAT(CheckTenantName(bad),
                StatusIs(absl::StatusCode::kInvalidArgument, "is no tenant"))
        << bad;
  }
}

}  // namespace
}  // namespace hawser::server
