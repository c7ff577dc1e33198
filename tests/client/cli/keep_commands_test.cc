// hawser pin, unpin, tag, du; what ls and stat say of them; tags as tokens.
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "client/cli/datasets/pin_time.h"
#include "client/formats/numpy/npy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/cli/command_run.h"
#include "tests/client/cli/files.h"
#include "tests/client/cli/keeping_client.h"
#include "tests/testing/matchers.h"

namespace hawser::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class KeepCommands : public ::testing::Test {
 protected:
  std::string Put(const std::string& name, float value) {
    EXPECT_EQ(hawser_.Run({"put", NpyFile(name, Literal::Scalar(value))}), kOk)
        << hawser_.err();
    return std::string(absl::StripSuffix(hawser_.out(), "\n"));
  }

  std::shared_ptr<KeepingClient> near_ = std::make_shared<KeepingClient>();
  CommandRun hawser_{near_};
  const std::string unknown_ = "hw1-" + std::string(52, 'a');
};

TEST_F(KeepCommands, PinsAreShownUntilTheyEnd) {
  const std::string token = Put("pin.npy", 1.0f);
  const struct {
    std::vector<std::string> words;
    const char* until;
  } kSteps[] = {
      {{"pin", token, "--ttl", "90m"}, "2023-11-14T23:43Z"},
      {{"pin", token, "--ttl=forever"}, "forever"},
      {{"pin", token}, "forever"},
  };
  for (const auto& step : kSteps) {
    ASSERT_EQ(hawser_.Run(step.words), kOk) << hawser_.err();
    EXPECT_EQ(hawser_.out(), "");
    ASSERT_EQ(hawser_.Run({"stat", token}), kOk);
    EXPECT_THAT(hawser_.out(),
                HasSubstr(absl::StrCat("\n  pinned   ", step.until, "\n")));
  }
  ASSERT_EQ(hawser_.Run({"unpin", token, "--json"}), kOk);
  EXPECT_THAT(hawser_.out(), HasSubstr("\"pinned_until\": null"));
  ASSERT_EQ(hawser_.Run({"stat", token}), kOk);
  EXPECT_EQ(hawser_.out(), token +
                               "\n  bytes    4 (4 B)\n  durable  yes\n"
                               "  used     2023-11-14T22:13Z\n"
                               "  array    f32[]\n");
  EXPECT_EQ(hawser_.Run({"pin", unknown_}), kFailed);
  EXPECT_EQ(hawser_.Run({"unpin", "nothing"}), kFailed);
}

TEST_F(KeepCommands, APutWithoutAPinLeavesThePinThatIsThere) {
  const std::string token = Put("again.npy", 4.0f);
  ASSERT_EQ(hawser_.Run({"pin", token}), kOk);
  EXPECT_EQ(Put("again.npy", 4.0f), token);
  ASSERT_EQ(hawser_.Run({"stat", token}), kOk);
  EXPECT_THAT(hawser_.out(), HasSubstr("\n  pinned   forever\n"));
}

TEST_F(KeepCommands, LongListsHaveStateTimesAndTags) {
  const std::string token = Put("ls.npy", 2.0f);
  ASSERT_EQ(hawser_.Run({"tag", "@b", token}), kOk);
  ASSERT_EQ(hawser_.Run({"tag", "@a/x", token}), kOk);
  EXPECT_EQ(hawser_.out(), "");
  ASSERT_EQ(hawser_.Run({"ls", "-l"}), kOk);
  EXPECT_EQ(hawser_.out(),
            token +
                "         4 B  durable  2023-11-14T22:13Z  -                  "
                "f32[]  @a/x  @b\n");
  ASSERT_EQ(hawser_.Run({"ls", "--json"}), kOk);
  EXPECT_THAT(
      hawser_.out(),
      HasSubstr("\"last_used\": \"2023-11-14T22:13:20Z\", "
                "\"pinned_until\": null, \"tags\": [\"@a/x\", \"@b\"]"));
  Put("ls2.npy", 3.0f);
  // Tags are asked for, and the one that begins so comes with its token.
  ASSERT_EQ(hawser_.Run({"ls", "@a"}), kOk);
  EXPECT_EQ(hawser_.out(), "@a/x  " + token + "\n");
  ASSERT_EQ(hawser_.Run({"ls", "@"}), kOk);
  EXPECT_EQ(hawser_.out(), "@a/x  " + token + "\n@b  " + token + "\n");
}

TEST_F(KeepCommands, LongListsBeginWithWhatWasUsedLast) {
  std::vector<std::string> tokens;
  for (int i = 0; i < 5; ++i) {
    tokens.push_back(Put(absl::StrCat("use", i, ".npy"), 10.0f + i));
    near_->used[tokens.back()] = KeepingClient::Now() + absl::Hours(i * 7 % 5);
  }
  std::vector<std::string> by_use = tokens, by_name = tokens;
  std::sort(by_name.begin(), by_name.end());
  std::sort(by_use.begin(), by_use.end(), [&](const auto& a, const auto& b) {
    return near_->used[a] > near_->used[b];
  });
  ASSERT_EQ(hawser_.Run({"ls"}), kOk);
  EXPECT_EQ(hawser_.out(), absl::StrJoin(by_name, "\n") + "\n");
  ASSERT_EQ(hawser_.Run({"ls", "-l"}), kOk);
  std::vector<std::string> listed;
  for (const auto line :
       absl::StrSplit(hawser_.out(), '\n', absl::SkipEmpty())) {
    listed.emplace_back(line.substr(0, tokens[0].size()));
  }
  EXPECT_EQ(listed, by_use);
}

// Every dataset there may be, by what the flags ask of it. An age of -1 days:
// the server has no time of its last use.
TEST_F(KeepCommands, RmTakesWhatItsFlagsSay) {
  int rows = 0;
  const std::vector<std::vector<std::string>> kFlags = {
      {"--untagged"}, {"--older=7d"}, {"--untagged", "--older", "168h"}};
  for (size_t flags = 0; flags < kFlags.size(); ++flags) {
    for (const bool tagged : {false, true}) {
      for (const bool pinned : {false, true}) {
        for (const int age : {-1, 0, 6, 8, 400}) {
          const std::string token = Put("rm.npy", 100.0f + rows++);
          near_->used[token] = age < 0 ? absl::InfinitePast()
                                       : absl::Now() - age * absl::Hours(24);
          if (tagged) hawser_.Run({"tag", "@t", token});
          if (pinned) hawser_.Run({"pin", token});
          std::vector<std::string> words = {"rm", "--dry-run"};
          words.insert(words.end(), kFlags[flags].begin(), kFlags[flags].end());
          ASSERT_EQ(hawser_.Run(words), kOk) << hawser_.err();
          const bool goes =
              !pinned && (flags == 1 || !tagged) && (flags == 0 || age > 7);
          EXPECT_EQ(hawser_.out(), goes ? token + "\n" : "");
          words.erase(words.begin() + 1);
          ASSERT_EQ(hawser_.Run(words), kOk) << hawser_.err();
          EXPECT_EQ(hawser_.Run({"stat", token}), goes ? kFailed : kOk);
          if (tagged) hawser_.Run({"tag", "-d", "@t"});
          if (!goes) hawser_.Run({"rm", token});
        }
      }
    }
  }
  std::cout << rows << " datasets that rm may take\n";
}

TEST(PinTime, IsReadAsPeopleWriteIt) {
  const absl::Duration kDay = absl::Hours(24);
  const std::pair<const char*, absl::Duration> kRows[] = {
      {"90s", absl::Seconds(90)},
      {"10m", absl::Minutes(10)},
      {"36h", absl::Hours(36)},
      {"7d", 7 * kDay},
      {"1d", kDay},
      {"0d1s", absl::Seconds(1)},
      {"1d12h", 36 * absl::Hours(1)},
      {"365d", 365 * kDay},
      {"1.5h", absl::Minutes(90)},
      {"1h30m", absl::Minutes(90)},
      {"1ms", absl::Milliseconds(1)},
      {"10d1m", 10 * kDay + absl::Minutes(1)}};
  for (const auto& [text, time] : kRows) {
    EXPECT_EQ(ReadAge("--older", text).value_or(absl::ZeroDuration()), time)
        << text;
    EXPECT_EQ(ReadPinTime("--ttl", text).value_or(absl::ZeroDuration()), time)
        << text;
  }
  for (const char* text :
       {"", "d", "0d", "-1d", "7", "7days", "1.5d", "d7", "1d-1h", "1d1d",
        "soon", "0s", "-3h", "1us", "inf", "99999999999d"}) {
    EXPECT_FALSE(ReadAge("--older", text).ok()) << text;
  }
  EXPECT_FALSE(ReadAge("--older", "forever").ok());
  EXPECT_EQ(*ReadPinTime("--ttl", "forever"), absl::InfiniteDuration());
}

TEST_F(KeepCommands, TagsChangeOnlyFromWhatIsExpected) {
  const std::string one = Put("one.npy", 1.0f), two = Put("two.npy", 2.0f);
  const auto names = [&](const char* tag) {
    return hawser_.Run({"stat", tag}) == kOk ? hawser_.out().substr(0, 56)
                                             : "nothing";
  };
  ASSERT_EQ(hawser_.Run({"tag", "@t", one, "--expect=none", "--json"}), kOk);
  EXPECT_EQ(hawser_.out(),
            absl::StrCat("{\"name\": \"@t\", \"token\": \"", one, "\"}\n"));
  EXPECT_EQ(hawser_.Run({"tag", "@t", two, "--expect=none"}), kFailed);
  EXPECT_THAT(hawser_.err(), HasSubstr("@t names " + one));
  EXPECT_EQ(hawser_.Run({"tag", "@t", two, "-e", two}), kFailed);
  EXPECT_EQ(names("@t"), one);
  ASSERT_EQ(hawser_.Run({"tag", "@t", two, "-e", one}), kOk);
  EXPECT_EQ(names("@t"), two);
  // A tag stands in the place of a token, on either side.
  ASSERT_EQ(hawser_.Run({"tag", "@u", "@t", "-e", "none"}), kOk);
  ASSERT_EQ(hawser_.Run({"tag", "@t", one, "-e", "@u"}), kOk);
  EXPECT_EQ(names("@u"), two);
  EXPECT_EQ(names("@t"), one);
  EXPECT_EQ(hawser_.Run({"tag", "@t", "@nobody"}), kFailed);
  ASSERT_EQ(hawser_.Run({"tag", "--delete", "@t", "--json"}), kOk);
  EXPECT_EQ(hawser_.out(), "{\"name\": \"@t\", \"token\": null}\n");
  EXPECT_EQ(names("@t"), "nothing");
  EXPECT_EQ(hawser_.Run({"stat", one}), kOk) << "the dataset stays";
}

TEST_F(KeepCommands, ATagIsTakenWhereATokenIs) {
  const std::string token = Put("w.npy", 1.5f);
  ASSERT_EQ(hawser_.Run({"tag", "@w", token}), kOk);
  const std::string path = TempPath("tagged.npy");
  ASSERT_EQ(hawser_.Run({"get", "@w", "-o", path}), kOk) << hawser_.err();
  EXPECT_THAT(*ReadNpy(path), LiteralEquals(Literal::Scalar(1.5f)));
  ASSERT_EQ(hawser_.Run({"pin", "@w"}), kOk);
  ASSERT_EQ(hawser_.Run({"unpin", "@w"}), kOk);
  const std::string module =
      TextFile("negate.txt",
               "module \"m\"\ncomputation @0 \"main\" (%0: f32[]) {\n"
               "  %1: f32[] = negate(%0)\n  return %1\n}\n");
  ASSERT_EQ(hawser_.Run({"run", module, "--target", "near", "--arg", "@w"}),
            kOk)
      << hawser_.err();
  EXPECT_THAT(hawser_.out(), HasSubstr("-1.5"));
  ASSERT_EQ(hawser_.Run({"rm", "@w"}), kOk) << hawser_.err();
  EXPECT_EQ(hawser_.Run({"stat", token}), kFailed);
  EXPECT_EQ(hawser_.Run({"rm", "@nobody"}), kFailed);
  EXPECT_THAT(hawser_.err(), HasSubstr("@nobody"));
  // A server that is lost meanwhile ends the command.
  near_->delete_error = absl::UnavailableError("lost");
  EXPECT_EQ(hawser_.Run({"rm", Put("lost.npy", 5.0f)}), kUnreachable);
}

TEST_F(KeepCommands, DuShowsUseAndQuota) {
  near_->usage = {.datasets = 3,
                  .bytes = 3 << 20,
                  .upload_bytes = 1 << 20,
                  .pinned_bytes = 5};
  ASSERT_EQ(hawser_.Run({"du"}), kOk);
  EXPECT_EQ(hawser_.out(),
            "datasets  3\nbytes     3.0 MiB\nuploads   1.0 MiB\n"
            "pinned    5 B\n");
  ASSERT_EQ(hawser_.Run({"du", "--json"}), kOk);
  EXPECT_EQ(hawser_.out(),
            "{\"datasets\": 3, \"bytes\": 3145728, \"upload_bytes\": 1048576, "
            "\"pinned_bytes\": 5, \"max_datasets\": null, \"max_bytes\": "
            "null, \"bad_files\": 0, \"lost_bytes\": 0}\n");
  near_->usage.max_datasets = 1000;
  near_->usage.max_bytes = int64_t{12} << 20;
  ASSERT_EQ(hawser_.Run({"du"}), kOk);
  EXPECT_THAT(hawser_.out(),
              HasSubstr("datasets  3 of 1000 (0%)\n"
                        "bytes     3.0 MiB of 12.0 MiB (25%)\n"));
}

TEST_F(KeepCommands, DuAndStatusSayWhatTheDiskHasDamaged) {
  ASSERT_EQ(hawser_.Run({"status"}), kOk) << hawser_.err();
  EXPECT_THAT(hawser_.out(), Not(HasSubstr("bad files")));
  near_->usage = {.bad_files = 2};
  ASSERT_EQ(hawser_.Run({"du"}), kOk);
  EXPECT_THAT(hawser_.out(),
              HasSubstr("damage    2 bad files on the server since it "
                        "started\n"));
  ASSERT_EQ(hawser_.Run({"status"}), kOk) << hawser_.err();
  EXPECT_THAT(hawser_.out(), HasSubstr("\n  bad files    2 on its disk"));
  ASSERT_EQ(hawser_.Run({"status", "--json"}), kOk);
  EXPECT_THAT(hawser_.out(), HasSubstr("\"bad_files\": 2}"));
  near_->usage.lost_bytes = 5 << 20;
  ASSERT_EQ(hawser_.Run({"du"}), kOk);
  EXPECT_THAT(hawser_.out(), HasSubstr("started, 5.0 MiB of yours are lost: "
                                       "put them again\n"));
}

TEST(KeepCommandsOnACpu, KeepAsAServerDoes) {
  CommandRun hawser;
  ASSERT_EQ(hawser.Run({"put", "--pin", "--tag=@x",
                        NpyFile("cpu.npy", Literal::Scalar(1.0f))}),
            kOk)
      << hawser.err();
  const std::string token(absl::StripSuffix(hawser.out(), "\n"));
  ASSERT_EQ(hawser.Run({"stat", "@x", "--json"}), kOk);
  EXPECT_THAT(hawser.out(), AllOf(HasSubstr(token), HasSubstr("forever"),
                                  HasSubstr("[\"@x\"]")));
  ASSERT_EQ(hawser.Run({"du", "--json"}), kOk);
  EXPECT_THAT(hawser.out(), AllOf(HasSubstr("\"datasets\": 1, \"bytes\": 4"),
                                  HasSubstr("\"pinned_bytes\": 4")));
  for (const char* command : {"pin", "unpin"}) {
    EXPECT_EQ(hawser.Run({command, token, "-s", "far:1"}), kUnreachable);
  }
  EXPECT_EQ(hawser.Run({"tag", "@x", token, "-s", "far:1"}), kUnreachable);
  EXPECT_EQ(hawser.Run({"du", "-s", "far:1"}), kUnreachable);
}

TEST_F(KeepCommands, WrongUsageNamesWhatIsWrong) {
  const struct {
    std::vector<std::string> words;
    const char* error;
  } kLines[] = {
      {{"pin"}, "pin takes TOKEN, got 0 words"},
      {{"pin", unknown_, "--ttl"}, "--ttl needs a value"},
      {{"pin", unknown_, "--ttl", "soon"}, "--ttl \"soon\" is no time"},
      {{"pin", unknown_, "--ttl", "0s"}, "--ttl \"0s\" is no time"},
      {{"pin", unknown_, "--ttl=-5m"}, "is no time"},
      {{"unpin", "a", "b"}, "unpin takes TOKEN, got 2 words"},
      {{"tag", "@x"}, "tag takes @NAME TOKEN, got 1 word"},
      {{"tag", "x", unknown_}, "\"x\" is no tag"},
      {{"tag", "@", unknown_}, "\"@\" is no tag"},
      {{"tag", "--delete", "@x", unknown_}, "one @NAME to delete, got 2 words"},
      {{"tag", "@x", unknown_, "--expect"}, "--expect needs a value"},
      {{"du", "x"}, "got 1 word"},
  };
  for (const auto& line : kLines) {
    EXPECT_EQ(hawser_.Run(line.words), kUsage) << line.error;
    EXPECT_THAT(hawser_.err(), HasSubstr(line.error));
  }
}

}  // namespace
}  // namespace hawser::cli
