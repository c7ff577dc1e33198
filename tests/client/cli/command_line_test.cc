#include "client/cli/command/command_line.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser::cli {
namespace {

using ::testing::ElementsAre;

constexpr Flag kFlags[] = {
    {"--output", "-o", "FILE", ""},
    {"--json", "", "", ""},
};

TEST(CommandLine, FlagsMayStandAnywhere) {
  ASSERT_OK_AND_ASSIGN(
      const CommandLine line,
      CommandLine::Parse(kFlags, {"a", "--output", "x", "b", "--json", "-o",
                                  "y", "--output=z=1"}));
  EXPECT_THAT(line.words(), ElementsAre("a", "b"));
  EXPECT_THAT(line.All("--output"), ElementsAre("x", "y", "z=1"));
  EXPECT_EQ(line.Get("--output"), "z=1");
  EXPECT_TRUE(line.Has("--json"));
}

TEST(CommandLine, NothingIsThereByItself) {
  ASSERT_OK_AND_ASSIGN(const CommandLine line, CommandLine::Parse(kFlags, {}));
  EXPECT_FALSE(line.Has("--json"));
  EXPECT_EQ(line.Get("--output"), "");
  EXPECT_TRUE(line.words().empty());
}

TEST(CommandLine, TwoDashesEndTheFlags) {
  ASSERT_OK_AND_ASSIGN(
      const CommandLine line,
      CommandLine::Parse(kFlags, {"-", "--", "--json", "-x", "--"}));
  EXPECT_THAT(line.words(), ElementsAre("-", "--json", "-x", "--"));
  EXPECT_FALSE(line.Has("--json"));
}

TEST(CommandLine, AValueMayLookLikeAFlag) {
  ASSERT_OK_AND_ASSIGN(const CommandLine line,
                       CommandLine::Parse(kFlags, {"-o", "--json"}));
  EXPECT_EQ(line.Get("--output"), "--json");
  EXPECT_FALSE(line.Has("--json"));
}

TEST(CommandLine, AnEmptyValueIsAValue) {
  ASSERT_OK_AND_ASSIGN(const CommandLine line,
                       CommandLine::Parse(kFlags, {"--output="}));
  EXPECT_TRUE(line.Has("--output"));
}

TEST(CommandLine, RefusesWhatItDoesNotKnow) {
  const auto refuses = [](const std::vector<std::string>& words,
                          const char* part) {
    EXPECT_THAT(CommandLine::Parse(kFlags, words),
                StatusIs(absl::StatusCode::kInvalidArgument, part));
  };
  refuses({"--colour"}, "unknown flag --colour");
  refuses({"-x"}, "unknown flag -x");
  refuses({"--out"}, "unknown flag --out");
  refuses({"--output"}, "--output needs a value: --output FILE");
  refuses({"--json=1"}, "--json takes no value");
}

}  // namespace
}  // namespace hawser::cli
