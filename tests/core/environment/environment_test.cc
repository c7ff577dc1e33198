#include "core/environment/environment.h"

#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/environment/spelling.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hawser {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Environment, SaysWhatIsNoSetting) {
  struct Row {
    const char* variable;
    const char* line;
  };
  const Row kRows[] = {
      {"HAWSER_SERVER=gpu-1:7070",
       "HAWSER_SERVER is no setting of hawser: did you mean HAWSER_SERVERS?"},
      {"HAWSER_SPRED=1",
       "HAWSER_SPRED is no setting of hawser: did you mean HAWSER_SPREAD?"},
      {"HAWSER_TOKENFILE=/t",
       "HAWSER_TOKENFILE is no setting of hawser: did you mean "
       "HAWSER_TOKEN_FILE?"},
      {"HAWSER_CHECK_NANS=1",
       "HAWSER_CHECK_NANS is no setting of hawser: did you mean "
       "HAWSER_CHECK_NAN?"},
      {"HAWSER_SPREAD=yes", "HAWSER_SPREAD=yes is left out: it must be 0 or 1"},
      {"HAWSER_SPREAD=true",
       "HAWSER_SPREAD=true is left out: it must be 0 or 1"},
      {"HAWSER_CHECK_NAN=yes",
       "HAWSER_CHECK_NAN=yes is left out: it must be 0 or 1"},
      {"HAWSER_CHECK_INDICES=2",
       "HAWSER_CHECK_INDICES=2 is left out: it must be 0 or 1"},
      {"HAWSER_CHECK_JIT=on",
       "HAWSER_CHECK_JIT=on is left out: it must be 0 or 1"},
      {"HAWSER_FALLBACK=0",
       "HAWSER_FALLBACK=0 is left out: it must be on or off"},
      {"HAWSER_LOG_LEVEL=debug",
       "HAWSER_LOG_LEVEL=debug is left out: it must be 0 or 1 or 2"},
  };
  for (const Row& row : kRows) {
    EXPECT_THAT(CheckEnvironment({row.variable}), ElementsAre(row.line));
  }
}

TEST(Environment, IsSilentAboutSettingsAndOthersVariables) {
  EXPECT_THAT(
      CheckEnvironment({"HAWSER_SERVERS=a:1,b:2", "HAWSER_SPREAD=1",
                        "HAWSER_SPREAD=0", "HAWSER_SPREAD=", "PATH=/bin",
                        "HAWSER_FALLBACK=off", "MY_HAWSER_X=1", "HAWSER=2",
                        "HAWSER_TRACE=/tmp/%p.json", "HAWSER_BLAS=off"}),
      IsEmpty());
}

// The README's table and this one name the same settings of programs.
TEST(Environment, KnowsEverySettingOfTheReadme) {
  std::ifstream file("client/README.md");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  ASSERT_FALSE(text.empty());
  const std::regex name("`(HAWSER_[A-Z_]+)`");
  int names = 0;
  for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end;
       ++at, ++names) {
    EXPECT_THAT(CheckEnvironment({absl::StrCat((*at)[1].str(), "=")}),
                IsEmpty());
  }
  EXPECT_GT(names, 15);
}

TEST(Spelling, NearestIsTheFewestLettersAway) {
  const std::vector<absl::string_view> words = {"status", "stat", "put", "pin",
                                                "unpin"};
  EXPECT_EQ(Nearest("statsu", words), "status");
  EXPECT_EQ(Nearest("ptu", words), "put");
  EXPECT_EQ(Nearest("unpni", words), "unpin");
  EXPECT_EQ(Nearest("frobnicate", words), "");
  EXPECT_EQ(Nearest("", words), "");
  EXPECT_EQ(Nearest("x", {}), "");
}

}  // namespace
}  // namespace hawser
