// A server is killed, a model is frozen and the program ends: the model is in a
// file that can be put, or on the server that is left; else that is said.
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "core/base/values/dtype.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/process.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser {
namespace {

using testing::Process;
using testing::Runfile;
using testing::StartHawserd;

constexpr absl::Duration kPatience = absl::Seconds(60);

class UnsentTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto server = StartHawserd({"--device=cpu"}, &address_);
    ASSERT_OK(server);
    server_.emplace(*std::move(server));
  }
  // Runs a program that freezes once this server is gone, and ends; returns
  // what it says.
  std::string Freeze(const std::string& servers, const std::string& cache,
                     const char* what = "freeze") {
    auto victim =
        Process::Start({Runfile("tests/e2e/ends_victim"), "default", what},
                       {absl::StrCat("HAWSER_SERVERS=", servers),
                        absl::StrCat("HAWSER_VICTIM_KILLS=", server_->pid()),
                        absl::StrCat("HAWSER_CACHE=", cache)});
    EXPECT_OK(victim);
    if (!victim.ok()) return "";
    const auto ended = victim->Wait(kPatience);
    EXPECT_EQ(ended.ok() ? *ended : -1, 7) << victim->output();
    return victim->output();
  }
  // Returns the answer of `hawser`, which exits with 0.
  static std::string Hawser(std::vector<std::string> words,
                            const std::string& address) {
    words.insert(words.begin(), Runfile("client/cli/hawser"));
    auto hawser = Process::Start(
        words, {absl::StrCat("HAWSER_SERVERS=", address), "HAWSER_CACHE=off"});
    EXPECT_OK(hawser);
    if (!hawser.ok()) return "";
    const auto ended = hawser->Wait(kPatience);
    EXPECT_EQ(ended.ok() ? *ended : -1, 0) << hawser->output();
    return hawser->output();
  }
  static std::string TokenIn(const std::string& text) {
    const size_t at = text.find("froze ");
    if (at == std::string::npos) return "";
    return text.substr(at + 6, text.find(',', at) - at - 6);
  }

  TemporaryFolder folder_;
  std::string address_;
  std::optional<Process> server_;
};

TEST_F(UnsentTest, TheModelIsInAFileThatCanBePut) {
  const std::string said = Freeze(address_, folder_.Path("cache"));
  const std::string token = TokenIn(said);
  const std::string file =
      folder_.Path(absl::StrCat("cache/unsent/", token, ".safetensors"));
  EXPECT_TRUE(absl::StrContains(
      said, absl::StrCat("dataset ", token,
                         " @model is on no server: it is in ", file)))
      << said;
  std::string address;
  auto other = StartHawserd({"--device=cpu"}, &address);
  ASSERT_OK(other);
  EXPECT_EQ(Hawser({"put", file, "--tag", "@model"}, address), token + "\n");
}

TEST_F(UnsentTest, ModelsOfEveryKindAreInFilesThatCanBePut) {
  const std::string said =
      Freeze(address_, folder_.Path("cache"), "freeze_all");
  std::string address;
  auto other = StartHawserd({"--device=cpu"}, &address);
  ASSERT_OK(other);
  int models = 0;
  for (const absl::string_view line : absl::StrSplit(said, '\n')) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    if (words.size() != 4 || words[0] != "froze") continue;
    const std::string file =
        folder_.Path(absl::StrCat("cache/unsent/", words[1], ".safetensors"));
    EXPECT_EQ(Hawser({"put", file}, address), words[1] + "\n") << line;
    ++models;
  }
  std::cout << models << " models at the end of a job\n";
  EXPECT_EQ(models, static_cast<int>(AllDTypes().size()) + 7) << said;
}

TEST_F(UnsentTest, AServerThatIsLeftHasItAndItsTag) {
  std::string other;
  auto left = StartHawserd({"--device=cpu"}, &other);
  ASSERT_OK(left);
  const std::string said =
      Freeze(absl::StrCat(address_, ",", other), folder_.Path("cache"));
  EXPECT_FALSE(absl::StrContains(said, "in this process alone")) << said;
  EXPECT_FALSE(absl::StrContains(said, "is on no server")) << said;
  EXPECT_TRUE(absl::StrContains(said, "is put on")) << said;
  const std::string stat = Hawser({"ls", "@"}, other);
  EXPECT_TRUE(absl::StrContains(stat, "@model")) << stat;
  EXPECT_TRUE(absl::StrContains(stat, TokenIn(said))) << stat;
}

TEST_F(UnsentTest, WithoutACacheItIsSaidToBeLost) {
  const std::string said = Freeze(address_, "off");
  EXPECT_TRUE(absl::StrContains(said, "is lost with this process")) << said;
  EXPECT_TRUE(absl::StrContains(said, "HAWSER_CACHE is off")) << said;
}

TEST_F(UnsentTest, AFolderThatCannotBeWrittenIsNamed) {
  folder_.Write("file", "no folder");
  const std::string said = Freeze(address_, folder_.Path("file/cache"));
  EXPECT_TRUE(absl::StrContains(said, "is lost with this process")) << said;
  EXPECT_TRUE(absl::StrContains(said, folder_.Path("file"))) << said;
}

}  // namespace
}  // namespace hawser
