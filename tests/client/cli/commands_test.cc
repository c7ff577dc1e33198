#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/bench/tcp_socket.h"
#include "client/formats/numpy/npy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/cli/command_run.h"
#include "tests/client/cli/files.h"
#include "tests/testing/matchers.h"

namespace hawser::cli {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::StartsWith;

// ---- usage ----------------------------------------------------------------

TEST(Hawser, HelpListsCommandsEnvironmentAndExitCodes) {
  CommandRun hawser;
  for (const char* word : {"help", "--help", "-h"}) {
    EXPECT_EQ(hawser.Run({word}), kOk);
    for (const char* part :
         {"status [ADDRESS]...", "put FILE...", "get TOKEN[:ARRAY]",
          "ls [PREFIX]", "stat TOKEN", "rm TOKEN...", "tag @NAME [TOKEN]",
          "pin TOKEN", "unpin TOKEN", "du ", "check PATH...", "run MODULE",
          "explain MODULE", "ops [NAME]...", "bench [ADDRESS]",
          "HAWSER_SERVERS", "3 server unreachable"}) {
      EXPECT_THAT(hawser.out(), HasSubstr(part));
    }
    EXPECT_EQ(hawser.err(), "");
  }
}

TEST(Hawser, HelpOfACommandListsItsFlagsWithin80Columns) {
  CommandRun hawser;
  for (const char* command :
       {"status", "put", "get", "ls", "stat", "tag", "pin", "unpin", "rm", "du",
        "check", "run", "explain", "ops", "bench"}) {
    EXPECT_EQ(hawser.Run({"help", command}), kOk);
    const std::string help = hawser.out();
    EXPECT_THAT(help, AllOf(HasSubstr(absl::StrCat("Usage: hawser ", command)),
                            HasSubstr("--json")));
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 80u) << line;
    }
    EXPECT_EQ(hawser.Run({command, "--help"}), kOk);
    EXPECT_EQ(hawser.out(), help);
  }
}

TEST(Ops, ListsAllOrThoseNamed) {
  CommandRun hawser;
  EXPECT_EQ(hawser.Run({"ops"}), kOk);
  EXPECT_THAT(hawser.out(), AllOf(HasSubstr("\ncbrt "), HasSubstr("\nxor ")));
  EXPECT_EQ(hawser.Run({"ops", "iota", "abs"}), kOk);
  EXPECT_THAT(hawser.out(),
              AllOf(StartsWith("iota  "), HasSubstr(" dtype=dtype"),
                    HasSubstr("\nabs  ")));
  EXPECT_EQ(hawser.Run({"ops", "abs", "--json"}), kOk);
  EXPECT_THAT(hawser.out(),
              AllOf(StartsWith("{\"opset\": 1, \"ops\": [{\"name\": \"abs\""),
                    HasSubstr("\"source\": \"StableHLO abs\"")));
  EXPECT_EQ(hawser.Run({"ops", "abs", "absent"}), kFailed);
  EXPECT_THAT(hawser.err(), HasSubstr("opset 1 has no op \"absent\""));
}

struct BadLine {
  std::vector<std::string> words;
  const char* error;
};

TEST(Hawser, WrongUsageExitsWith2AndNamesWhatIsWrong) {
  const std::string file = NpyFile("one.npy", Literal::Scalar(1.0f));
  const BadLine kLines[] = {
      {{}, "Usage: hawser COMMAND"},
      {{"frobnicate"}, "there is no command frobnicate"},
      {{"help", "frobnicate"}, "there is no command frobnicate"},
      {{"put"}, "put takes FILE..., got 0 words"},
      {{"put", "--colour"}, "unknown flag --colour"},
      {{"put", file, "--name"}, "--name needs a value"},
      {{"put", file, "-n", "a", "-n", "b"}, "--name is given 2 times"},
      {{"put", file, "--json=yes"}, "--json takes no value"},
      {{"get", "hw1-x"}, "get needs -o FILE"},
      {{"get", "a", "b", "-o", "c"}, "got 2 words"},
      {{"get", "hw1-x", "-o", "c", "--rows", "3"}, "must be BEGIN:END"},
      {{"get", "hw1-x", "-o", "c", "--rows=-1:3"}, "\"-1:3\" are no rows"},
      {{"ls", "a", "b"}, "ls takes [PREFIX], got 2 words"},
      {{"stat"}, "stat takes TOKEN, got 0 words"},
      {{"rm"}, "rm needs TOKENs, or --untagged or --older=TIME"},
      {{"rm", "--older=soon"}, "--older \"soon\" is no time"},
      {{"rm", "@x", "--untagged"}, "not both"},
      {{"check"}, "check takes PATH..., got 0 words"},
      {{"run"}, "run takes MODULE, got 0 words"},
      {{"explain", "a", "b"}, "explain takes MODULE, got 2 words"},
      {{"bench", "a", "b"}, "bench takes [ADDRESS], got 2 words"},
      {{"bench", "near", "--seconds", "soon"}, "--seconds \"soon\" must be"},
      {{"bench", "near", "--seconds=0"}, "above 0 and at most 3600"},
      {{"bench", "near", "--seconds=nan"}, "above 0 and at most 3600"},
      {{"bench", "near", "--mib=0"}, "--mib \"0\" must be 1 to 4096"},
      {{"bench", "near", "--serve"}, "--serve takes its address as"},
      {{"bench", "--serve=nowhere"}, "\"nowhere\" is no TCP address"},
  };
  CommandRun hawser;
  for (const BadLine& line : kLines) {
    EXPECT_EQ(hawser.Run(line.words), kUsage) << line.error;
    EXPECT_THAT(hawser.err(), HasSubstr(line.error));
    EXPECT_EQ(hawser.out(), "");
  }
}

TEST(Hawser, ErrorsAreJsonToo) {
  CommandRun hawser;
  EXPECT_EQ(hawser.Run({"put", "--json"}), kUsage);
  EXPECT_EQ(hawser.out(),
            "{\"error\": {\"code\": \"INVALID_ARGUMENT\", \"message\": "
            "\"put takes FILE..., got 0 words\"}}\n");
  EXPECT_EQ(hawser.Run({"put", "/no/such.npy", "--json"}), kFailed);
  EXPECT_THAT(hawser.out(), HasSubstr("{\"code\": \"NOT_FOUND\""));
}

TEST(Hawser, WithoutAnyServerSaysHowToNameOne) {
  CommandRun hawser;
  hawser.environment().servers = " , ";
  const std::string file = NpyFile("one.npy", Literal::Scalar(1.0f));
  for (const auto& words :
       {std::vector<std::string>{"status"}, std::vector<std::string>{"bench"},
        std::vector<std::string>{"put", file}}) {
    EXPECT_EQ(hawser.Run(words), kUsage);
    EXPECT_THAT(hawser.err(), HasSubstr("HAWSER_SERVERS"));
  }
}

TEST(Hawser, BenchServesOnlyWhereNobodyListens) {
  ASSERT_OK_AND_ASSIGN(const auto taken,
                       bench::TcpSocket::Listen("127.0.0.1:0"));
  ASSERT_OK_AND_ASSIGN(const auto local, taken.local());
  CommandRun hawser;
  EXPECT_EQ(hawser.Run({"bench", "--serve=" + local.ToString()}), kFailed);
  EXPECT_THAT(hawser.err(), HasSubstr("cannot listen on " + local.ToString()));
}

// ---- status ---------------------------------------------------------------

TEST(Status, DescribesWhoAnswers) {
  CommandRun hawser;
  EXPECT_EQ(hawser.Run({"status"}), kOk);
  EXPECT_THAT(
      hawser.out(),
      AllOf(StartsWith("near\n  device "), HasSubstr("platform     cpu"),
            HasSubstr("engine       cpu, "), HasSubstr("opset        1"),
            HasSubstr("(median of 20)")));
}

TEST(Status, ListsEveryServerAndExitsWith3WhenOneIsAway) {
  CommandRun hawser;
  EXPECT_EQ(hawser.Run({"status", "near", "far:1"}), kUnreachable);
  EXPECT_THAT(hawser.out(), AllOf(HasSubstr("near\n  device"),
                                  HasSubstr("far:1\n  unreachable  far:1: "
                                            "nobody answers")));
  hawser.environment().servers = "far:1,near";
  EXPECT_EQ(hawser.Run({"status", "--json"}), kUnreachable);
  EXPECT_THAT(hawser.out(),
              AllOf(StartsWith("{\"servers\": [{\"address\": \"far:1\", "
                               "\"reachable\": false"),
                    HasSubstr("{\"address\": \"near\", \"reachable\": true"),
                    HasSubstr("\"round_trip_us\": ")));
}

// ---- put and get ----------------------------------------------------------

TEST(PutAndGet, OneFileIsOneUnnamedArray) {
  CommandRun hawser;
  const Literal value = Literal::Of<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  ASSERT_EQ(hawser.Run({"put", NpyFile("x.npy", value)}), kOk);
  // Nothing but the token: TOKEN=$(hawser put x.npy).
  EXPECT_THAT(hawser.out(), MatchesRegex("hw1-[a-z2-7]{52}\n"));
  EXPECT_EQ(hawser.err(), "");
  const std::string token(absl::StripSuffix(hawser.out(), "\n"));
  const std::string path = TempPath("got.npy");
  ASSERT_EQ(hawser.Run({"get", token, "-o", path}), kOk);
  EXPECT_EQ(hawser.out(), path + ": f32[2,3]\n");
  EXPECT_THAT(*ReadNpy(path), LiteralBitEquals(value));
}

TEST(PutAndGet, AsOneSeveralFilesAreNamedByTheirStems) {
  CommandRun hawser;
  const std::string x =
      NpyFile("x-images.f32.npy", Literal::Vector<float>({1, 2}));
  const std::string y = NpyFile("y.npy", Literal::Vector<uint8_t>({3}));
  ASSERT_EQ(hawser.Run({"put", "--as-one", x, y, "--json"}), kOk);
  EXPECT_THAT(hawser.out(),
              HasSubstr("\"arrays\": [{\"name\": \"x-images\", \"dtype\": "
                        "\"f32\", \"dims\": [2]}, {\"name\": \"y\", "
                        "\"dtype\": \"u8\", \"dims\": [1]}], \"bytes\": 9"));
  ASSERT_EQ(hawser.Run({"put", "--as-one", x, y}), kOk);
  const std::string token(absl::StripSuffix(hawser.out(), "\n"));
  const std::string path = TempPath("got_y.npy");
  ASSERT_EQ(hawser.Run({"get", token + ":y", "-o", path, "--json"}), kOk);
  EXPECT_EQ(hawser.out(),
            absl::StrCat("{\"path\": \"", path,
                         "\", \"dtype\": \"u8\", \"dims\": [1]}\n"));
  EXPECT_THAT(*ReadNpy(path), LiteralEquals(Literal::Vector<uint8_t>({3})));
}

TEST(PutAndGet, NamesAreGivenInTheOrderOfFiles) {
  CommandRun hawser;
  const std::string x = NpyFile("x.npy", Literal::Vector<float>({1, 2}));
  const std::string y = NpyFile("y.npy", Literal::Vector<uint8_t>({3}));
  ASSERT_EQ(hawser.Run(
                {"put", "-1", "-n", "images", x, "--name=labels", y, "--json"}),
            kOk);
  EXPECT_THAT(hawser.out(),
              AllOf(HasSubstr("{\"name\": \"images\", \"dtype\": \"f32\""),
                    HasSubstr("{\"name\": \"labels\", \"dtype\": \"u8\"")));
  // The only array is found without its name.
  ASSERT_EQ(hawser.Run({"put", "-n", "only", x}), kOk);
  const std::string token(absl::StripSuffix(hawser.out(), "\n"));
  EXPECT_EQ(hawser.Run({"get", token, "-o", TempPath("only.npy")}), kOk);
}

TEST(PutAndGet, TheSameBytesHaveTheSameToken) {
  CommandRun hawser;
  ASSERT_EQ(hawser.Run({"put", NpyFile("a.npy", Literal::Scalar(1.0f))}), kOk);
  const std::string first = hawser.out();
  ASSERT_EQ(hawser.Run({"put", NpyFile("b.npy", Literal::Scalar(1.0f))}), kOk);
  EXPECT_EQ(hawser.out(), first);
}

TEST(Put, RefusesTwoArraysOfOneName) {
  CommandRun hawser;
  const std::string x = NpyFile("x.npy", Literal::Scalar(1.0f));
  EXPECT_EQ(hawser.Run({"put", "--as-one", x, x}), kFailed);
  EXPECT_THAT(hawser.err(), HasSubstr("two arrays are called \"x\""));
}

TEST(Put, SaysOnATerminalWhatItSent) {
  CommandRun hawser;
  hawser.environment().err_is_terminal = true;
  ASSERT_EQ(hawser.Run({"put", NpyFile("x.npy", Literal::Scalar(1.0f))}), kOk);
  EXPECT_THAT(hawser.err(),
              HasSubstr("4 B, 4 B were there already, sent 0 B in "));
  EXPECT_THAT(hawser.out(), MatchesRegex("hw1-[a-z2-7]{52}\n"));
}

TEST(Get, NamesTheArraysThereAre) {
  CommandRun hawser;
  const std::string x = NpyFile("x.npy", Literal::Vector<float>({1, 2}));
  const std::string y = NpyFile("y.npy", Literal::Vector<uint8_t>({3}));
  ASSERT_EQ(hawser.Run({"put", "--as-one", x, y}), kOk);
  const std::string token(absl::StripSuffix(hawser.out(), "\n"));
  const std::string path = TempPath("never.npy");
  EXPECT_EQ(hawser.Run({"get", token, "-o", path}), kFailed);
  EXPECT_THAT(hawser.err(), HasSubstr("has several arrays; there are: x, y"));
  EXPECT_EQ(hawser.Run({"get", token + ":z", "-o", path}), kFailed);
  EXPECT_THAT(hawser.err(), HasSubstr("has no array z; there are: x, y"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Get, RefusesWhatIsNoTokenAndWhatIsUnknown) {
  CommandRun hawser;
  EXPECT_EQ(hawser.Run({"get", "hw1-short", "-o", TempPath("n.npy")}), kFailed);
  EXPECT_THAT(hawser.err(), HasSubstr("is not a dataset token"));
  const std::string unknown = "hw1-" + std::string(51, 'a') + "a";
  EXPECT_EQ(hawser.Run({"get", unknown, "-o", TempPath("n.npy")}), kFailed);
  EXPECT_THAT(hawser.err(), HasSubstr(unknown));
}

TEST(PutAndGet, ExitWith3WhenTheServerIsAway) {
  CommandRun hawser;
  const std::string x = NpyFile("x.npy", Literal::Scalar(1.0f));
  EXPECT_EQ(hawser.Run({"put", x, "--server", "far:1"}), kUnreachable);
  EXPECT_THAT(hawser.err(), HasSubstr("far:1: nobody answers"));
  EXPECT_EQ(hawser.Run({"get", "hw1-" + std::string(52, 'a'), "-o",
                        TempPath("n.npy"), "-s", "far:1"}),
            kUnreachable);
}

// ---- check ----------------------------------------------------------------

constexpr char kGoodAndBad[] = R"(
  source: "by hand"
  cases {
    name: "good" op: "negate"
    inputs { shape: "f32[2]" f: [1, -2] }
    outputs { shape: "f32[2]" f: [-1, 2] }
  }
  cases {
    name: "bad" op: "negate"
    inputs { shape: "f32[2]" f: [1, -2] }
    outputs { shape: "f32[2]" f: [-1, 3] }
  })";

TEST(Check, PrintsEachFailureAndTheCountLast) {
  CommandRun hawser;
  const std::string path = TextFile("mixed.txtpb", kGoodAndBad);
  EXPECT_EQ(hawser.Run({"check", path}), kFailed);
  EXPECT_THAT(hawser.out(),
              AllOf(StartsWith(path + ": \"bad\": "), HasSubstr("[1]"),
                    EndsWith("\n1 passed, 1 failed\n")));
  EXPECT_EQ(hawser.Run({"check", path, "--json"}), kFailed);
  EXPECT_THAT(hawser.out(),
              StartsWith(absl::StrCat(
                  "{\"target\": \"cpu\", \"passed\": 1, \"failed\": 1, "
                  "\"failures\": [{\"file\": \"",
                  path, "\", \"case\": \"bad\", \"what\": ")));
}

TEST(Check, TakesFoldersAndTargets) {
  CommandRun hawser;
  std::filesystem::create_directories(TempPath("cases/deeper"));
  const std::string good =
      std::string(kGoodAndBad)
          .substr(0,
                  std::string(kGoodAndBad).find("cases {\n    name: \"bad\""));
  TextFile("cases/a.txtpb", good);
  TextFile("cases/deeper/b.txtpb", good);
  TextFile("cases/readme.md", "not a case");
  EXPECT_EQ(hawser.Run({"check", TempPath("cases"), "--target", "near"}), kOk);
  EXPECT_EQ(hawser.out(), "2 passed, 0 failed\n");
  EXPECT_EQ(hawser.Run({"check", TempPath("cases"), "-t", "far:1"}),
            kUnreachable);
}

TEST(Check, ABadFileIsOneFailureThatSaysWhere) {
  CommandRun hawser;
  const std::string path = TextFile("bad.txtpb", "cases {\n  nmae: \"x\"\n}");
  EXPECT_EQ(hawser.Run({"check", path}), kFailed);
  EXPECT_THAT(hawser.out(), AllOf(HasSubstr(path), HasSubstr("line 2"),
                                  EndsWith("0 passed, 1 failed\n")));
}

TEST(Check, RefusesPathsWithoutCases) {
  CommandRun hawser;
  EXPECT_EQ(hawser.Run({"check", "/no/such"}), kFailed);
  EXPECT_THAT(hawser.err(), HasSubstr("/no/such"));
  std::filesystem::create_directories(TempPath("none"));
  EXPECT_EQ(hawser.Run({"check", TempPath("none")}), kFailed);
  EXPECT_THAT(hawser.err(), HasSubstr("holds no *.txtpb or *.mlir file"));
}

}  // namespace
}  // namespace hawser::cli
