// What a program hears of settings that cannot be meant: in processes of their
// own, since they are read once.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/process.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser {
namespace {

using testing::Process;

constexpr absl::Duration kPatience = absl::Seconds(60);

class SettingsTest : public ::testing::Test {
 protected:
  // All that ends_victim says; its client is the default one.
  std::string Run(std::vector<std::string> environment, int code) {
    environment.push_back("HAWSER_CACHE=off");
    auto victim = Process::Start(
        {testing::Runfile("tests/e2e/ends_victim"), "default", "say"},
        environment);
    EXPECT_OK(victim);
    if (!victim.ok()) return "";
    const auto ended = victim->Wait(kPatience);
    EXPECT_OK(ended);
    EXPECT_EQ(ended.ok() ? *ended : -1, code) << victim->output();
    return victim->output();
  }
  static int Count(const std::string& text, const std::string& word) {
    int count = 0;
    for (size_t at = text.find(word); at != std::string::npos;
         at = text.find(word, at + 1)) {
      ++count;
    }
    return count;
  }
  static void ExpectSays(const std::string& output, const std::string& words) {
    EXPECT_TRUE(absl::StrContains(output, words))
        << words << " is not in " << output;
  }
};

TEST_F(SettingsTest, AMisspeltSettingIsOneLine) {
  const std::string output = Run({"HAWSER_SERVER=gpu-1:7070"}, 7);
  EXPECT_EQ(Count(output, "did you mean HAWSER_SERVERS?"), 1) << output;
  ExpectSays(output, "ran on cpu, fallback 0");
}

// A level that there is not hides nothing, the line about it neither.
TEST_F(SettingsTest, ALevelThatIsNoneIsLeftOut) {
  for (const char* level : {"3", "-1", "22", "2x", "two"}) {
    const std::string setting = absl::StrCat("HAWSER_LOG_LEVEL=", level);
    ExpectSays(Run({setting}, 7),
               absl::StrCat(setting, " is left out: it must be 0 or 1 or 2"));
  }
  EXPECT_EQ(Count(Run({"HAWSER_LOG_LEVEL=2", "HAWSER_SPRED=1"}, 7), "SPRED"),
            0);
}

TEST_F(SettingsTest, AServerSaysItToo) {
  std::string address;
  auto server = testing::StartHawserd(
      {"--device=cpu"}, &address,
      {"/usr/bin/env", "HAWSER_SERVER=a:1", "HAWSER_LOG_LEVEL=3"});
  ASSERT_OK(server);
  ExpectSays(server->output(), "did you mean HAWSER_SERVERS?");
  ExpectSays(server->output(), "HAWSER_LOG_LEVEL=3 is left out");
}

TEST_F(SettingsTest, ABadWordTurnsOffOneServer) {
  std::string address;
  auto server = testing::StartHawserd({"--device=cpu"}, &address);
  ASSERT_OK(server);
  for (const char* word :
       {"::::", "host:0", "host", "host:99999", "nonsense"}) {
    const std::string output =
        Run({absl::StrCat("HAWSER_SERVERS=", word, ",", address)}, 7);
    EXPECT_EQ(Count(output, "it is left out"), 1) << output;
    ExpectSays(output, absl::StrCat("ran on ", address));
  }
  // Twice the same, and by another name: one place.
  const std::string port = address.substr(address.rfind(':'));
  std::string output =
      Run({absl::StrCat("HAWSER_SERVERS=", address, ",", address),
           "HAWSER_SPREAD=1"},
          7);
  ExpectSays(output, "is listed twice");
  output = Run({absl::StrCat("HAWSER_SERVERS=", address, ",localhost", port),
                "HAWSER_SPREAD=1"},
               7);
  ExpectSays(output, "another address of a server that is listed");
}

TEST_F(SettingsTest, WhatCannotBeUsedMarksResults) {
  struct Row {
    std::vector<std::string> environment;
    const char* mark;
  };
  const Row kRows[] = {
      {{"HAWSER_SERVERS=127.0.0.1:1"}, "cpu (fallback: unreachable)"},
      {{"HAWSER_SERVERS=no-port"}, "cpu (fallback: misconfigured)"},
      {{"HAWSER_SERVERS=127.0.0.1:1", "HAWSER_TLS_CA=/no/such/file"},
       "cpu (fallback: misconfigured)"},
      {{"HAWSER_SERVERS=127.0.0.1:1", "HAWSER_TOKEN_FILE=/no/such/file"},
       "cpu (fallback: misconfigured)"},
  };
  for (const Row& row : kRows) {
    ExpectSays(Run(row.environment, 7),
               absl::StrCat("ran on ", row.mark, ", fallback 1"));
  }
}

TEST_F(SettingsTest, ARefusedTokenMarksResults) {
  TemporaryFolder folder;
  // SHA-256 of secret-token-of-the-team.
  folder.Write("tokens",
               "team c7c9e92132dfa6a512ac50f1259dcd317fa83de200e12d8fd22e40"
               "de474eb40a\n");
  folder.Write("wrong", "another-token-than-that\n");
  std::string address;
  auto server = testing::StartHawserd(
      {"--device=cpu", absl::StrCat("--tokens_file=", folder.Path("tokens"))},
      &address);
  ASSERT_OK(server);
  const std::string servers = absl::StrCat("HAWSER_SERVERS=", address);
  const std::string wrong =
      absl::StrCat("HAWSER_TOKEN_FILE=", folder.Path("wrong"));
  ExpectSays(Run({servers, wrong}, 7),
             "ran on cpu (fallback: unauthenticated), fallback 1");
  ExpectSays(Run({servers}, 7),
             "ran on cpu (fallback: unauthenticated), fallback 1");
}

TEST_F(SettingsTest, WithoutAFallbackCallsFail) {
  const std::string output =
      Run({"HAWSER_SERVERS=127.0.0.1:1", "HAWSER_FALLBACK=off"}, 1);
  ExpectSays(output, "UNAVAILABLE");
  ExpectSays(output, "127.0.0.1:1");
}

}  // namespace
}  // namespace hawser
