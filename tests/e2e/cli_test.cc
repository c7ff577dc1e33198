// The `hawser` command against a real server: what scripts rely on.
#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include "gtest/gtest.h"
#include "tests/testing/processes/process.h"
#include "tests/testing/processes/temporary_folder.h"
#include "tests/testing/trace_file.h"

namespace hawser::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

constexpr absl::Duration kPatience = absl::Minutes(1);
constexpr char kNobody[] = "127.0.0.1:1";
// Bytes of a full chunk, and how many a put must take so that it can be
// interrupted: 96 MiB, each chunk flushed to the disk.
constexpr int64_t kChunk = int64_t{4} << 20;
constexpr int64_t kLargeChunks = 24;

struct Outcome {
  int code = -1;
  std::string output;  // both streams
};

Outcome RunProgram(const std::vector<std::string>& argv,
                   const std::string& servers) {
  auto process = Process::Start(
      argv, {absl::StrCat("HAWSER_SERVERS=", servers), "HAWSER_CACHE=off"});
  if (!process.ok()) return {-1, process.status().ToString()};
  const auto code = process->Wait(kPatience);
  return {code.ok() ? *code : -1, process->output()};
}

// The one JSON object on the one line of `text`.
google::protobuf::Struct OneObject(const std::string& text) {
  google::protobuf::Struct object;
  EXPECT_EQ(text.find('\n'), text.size() - 1) << text;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(text, &object).ok())
      << text;
  return object;
}

class CliTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Start();
  }
  void Start() {
    server_ = nullptr;  // the one before has ended, and holds no folder
    auto started =
        StartHawserd({"--data_dir=" + folder_.Path("data")}, &address_);
    ASSERT_TRUE(started.ok()) << started.status();
    server_ = std::make_unique<Process>(*std::move(started));
  }
  Outcome Hawser(std::vector<std::string> words) {
    words.insert(words.begin(), Runfile("client/cli/hawser"));
    return RunProgram(words, address_);
  }
  Outcome Python(std::vector<std::string> words) {
    words.insert(words.begin(),
                 {"/usr/bin/python3", Runfile("tests/e2e/npy_files.py")});
    return RunProgram(words, "");
  }
  std::string Path(absl::string_view name) const { return folder_.Path(name); }
  std::string TextFile(absl::string_view name, absl::string_view text) const {
    std::ofstream(Path(name)) << text;
    return Path(name);
  }
  std::vector<std::string> NumPyFiles() {
    const Outcome written = Python({"write", folder_.path()});
    EXPECT_EQ(written.code, 0) << written.output;
    return absl::StrSplit(written.output, '\n', absl::SkipEmpty());
  }
  // Puts one file; its token, without the end of the line.
  std::string Put(const std::string& path) {
    const Outcome put = Hawser({"put", path});
    EXPECT_EQ(put.code, 0) << put.output;
    EXPECT_THAT(put.output, MatchesRegex("hw1-[a-z2-7]+\n"));
    return put.output.substr(0, put.output.find('\n'));
  }
  void ExpectComesBack(const std::string& token, const std::string& path) {
    const Outcome get = Hawser({"get", token, "-o", Path("back.npy")});
    EXPECT_EQ(get.code, 0) << get.output;
    const Outcome same = Python({"equal", path, Path("back.npy")});
    EXPECT_EQ(same.code, 0) << path << ": " << same.output;
  }

  // An npy file of u8[kLargeChunks * kChunk], no two chunks alike.
  std::string LargeFile(int seed) const {
    std::string header =
        absl::StrCat("{'descr': '|u1', 'fortran_order': False, 'shape': (",
                     kLargeChunks * kChunk, ",), }");
    header.resize(128 - 11, ' ');
    const std::string path = Path(absl::StrCat("large", seed, ".npy"));
    std::ofstream file(path, std::ios::binary);
    file << std::string("\x93NUMPY\x01\x00\x76\x00", 10) << header << "\n";
    for (int64_t chunk = 0; chunk < kLargeChunks; ++chunk) {
      file << std::string(kChunk, static_cast<char>(chunk + 100 * seed));
    }
    return path;
  }
  // Whole ones on the server's disk.
  size_t ChunkFiles() const {
    size_t files = 0;
    std::error_code ignored;
    for (const auto& entry :
         std::filesystem::directory_iterator(Path("data/chunks"), ignored)) {
      if (!absl::EndsWith(entry.path().string(), ".tmp")) ++files;
    }
    return files;
  }

  const TemporaryFolder folder_;
  std::string address_;
  std::unique_ptr<Process> server_;
};

TEST_F(CliTest, StatusSaysWhoAnswers) {
  const Outcome text = Hawser({"status"});
  EXPECT_EQ(text.code, 0) << text.output;
  EXPECT_THAT(text.output, HasSubstr(address_));
  EXPECT_THAT(text.output, HasSubstr("round trip"));
  const Outcome json = Hawser({"status", "--json"});
  EXPECT_EQ(json.code, 0) << json.output;
  const auto servers =
      OneObject(json.output).fields().at("servers").list_value();
  ASSERT_EQ(servers.values_size(), 1);
  const auto& server = servers.values(0).struct_value().fields();
  EXPECT_EQ(server.at("address").string_value(), address_);
  EXPECT_TRUE(server.at("reachable").bool_value());
  EXPECT_EQ(server.at("platform").string_value(), "cpu");
  EXPECT_GT(server.at("round_trip_us").number_value(), 0);
}

TEST_F(CliTest, EveryKindOfFileComesBackAsNumPyWroteIt) {
  const auto files = NumPyFiles();
  ASSERT_EQ(files.size(), 19u);
  for (const std::string& file : files) {
    ExpectComesBack(Put(Path(file)), Path(file));
  }
  // Equal bytes have one name, whatever the file is called.
  EXPECT_EQ(Put(Path("i4.npy")), Put(Path("same.npy")));
}

TEST_F(CliTest, AsOneSeveralFilesAreADatasetAndJsonIsOneObject) {
  NumPyFiles();
  const Outcome put = Hawser({"put", "--as-one", Path("f4.npy"), Path("i8.npy"),
                              "-n", "weights", "-n", "steps", "--json"});
  ASSERT_EQ(put.code, 0) << put.output;
  const std::string token =
      OneObject(put.output).fields().at("token").string_value();
  ExpectComesBack(token + ":weights", Path("f4.npy"));
  ExpectComesBack(token + ":steps", Path("i8.npy"));
  const Outcome get = Hawser({"get", token, "-o", Path("x.npy"), "--json"});
  EXPECT_EQ(get.code, 1) << get.output;  // which of the two?
  EXPECT_EQ(Hawser({"get", token + ":bias", "-o", Path("x.npy")}).code, 1);
}

TEST_F(CliTest, DatasetsSurviveARestart) {
  NumPyFiles();
  const std::string token = Put(Path("large.npy"));
  server_->Signal(SIGKILL);
  Start();
  ExpectComesBack(token, Path("large.npy"));
  server_->Signal(SIGTERM);
  EXPECT_EQ(server_->Wait(absl::Seconds(10)).value_or(-1), 0);
  Start();
  ExpectComesBack(token, Path("large.npy"));
}

TEST_F(CliTest, DatasetsAreListedReadInPartsAndDeleted) {
  NumPyFiles();
  const std::string f4 = Put(Path("f4.npy")), i8 = Put(Path("i8.npy"));
  const Outcome ls = Hawser({"ls"});
  EXPECT_EQ(ls.code, 0);
  EXPECT_EQ(ls.output, std::min(f4, i8) + "\n" + std::max(f4, i8) + "\n");
  const Outcome stat = Hawser({"stat", f4, "--json"});
  EXPECT_EQ(stat.code, 0) << stat.output;
  EXPECT_TRUE(OneObject(stat.output).fields().at("durable").bool_value());
  const Outcome rows =
      Hawser({"get", f4, "--rows", "0:1", "-o", Path("row.npy"), "--json"});
  EXPECT_EQ(rows.code, 0) << rows.output;
  EXPECT_EQ(OneObject(rows.output)
                .fields()
                .at("dims")
                .list_value()
                .values(0)
                .number_value(),
            1);
  EXPECT_EQ(Hawser({"rm", f4}).code, 0);
  EXPECT_EQ(Hawser({"stat", f4}).code, 1);
  server_->Signal(SIGKILL);
  Start();
  EXPECT_EQ(Hawser({"ls", "hw1-"}).output, i8 + "\n");
  EXPECT_EQ(Hawser({"rm", i8}).code, 0);
  EXPECT_EQ(Hawser({"ls"}).output, "");
}

TEST_F(CliTest, TagsAndPinsSurviveARestart) {
  NumPyFiles();
  const Outcome put =
      Hawser({"put", Path("f4.npy"), "--tag=@a/w", "--pin", "--json"});
  ASSERT_EQ(put.code, 0) << put.output;
  const std::string token =
      OneObject(put.output).fields().at("token").string_value();
  EXPECT_EQ(Hawser({"tag", "@a/w", token, "--expect=none"}).code, 1);
  EXPECT_EQ(Hawser({"tag", "@b", "@a/w", "--expect=none"}).code, 0);
  server_->Signal(SIGKILL);
  Start();
  const Outcome stat = Hawser({"stat", "@a/w", "--json"});
  ASSERT_EQ(stat.code, 0) << stat.output;
  const auto fields = OneObject(stat.output).fields();
  EXPECT_EQ(fields.at("token").string_value(), token);
  EXPECT_EQ(fields.at("pinned_until").string_value(), "forever");
  EXPECT_EQ(fields.at("tags").list_value().values_size(), 2);
  const Outcome du = Hawser({"du", "--json"});
  ASSERT_EQ(du.code, 0) << du.output;
  const auto usage = OneObject(du.output).fields();
  EXPECT_EQ(usage.at("datasets").number_value(), 1);
  EXPECT_EQ(usage.at("pinned_bytes").number_value(),
            usage.at("bytes").number_value());
  ExpectComesBack("@b", Path("f4.npy"));
  EXPECT_EQ(Hawser({"unpin", "@b"}).code, 0);
  EXPECT_EQ(Hawser({"tag", "--delete", "@b"}).code, 0);
  EXPECT_EQ(Hawser({"stat", "@b"}).code, 1);
  EXPECT_EQ(Hawser({"rm", "@a/w"}).code, 0);
  EXPECT_EQ(Hawser({"ls"}).output, "");
}

TEST_F(CliTest, AFolderIsPutFileByFile) {
  NumPyFiles();
  std::filesystem::create_directory(Path("f"));
  std::filesystem::copy(Path("f4.npy"), Path("f/b.npy"));
  std::filesystem::copy(Path("i8.npy"), Path("f/a.npy"));
  const Outcome put = Hawser({"put", Path("f")});
  ASSERT_EQ(put.code, 0) << put.output;
  const std::string a = Put(Path("i8.npy")), b = Put(Path("f4.npy"));
  EXPECT_EQ(put.output, absl::StrCat(a, "  ", Path("f/a.npy"), "\n", b, "  ",
                                     Path("f/b.npy"), "\n"));
  const Outcome one = Hawser({"put", "--as-one", Path("f")});
  const std::string token(absl::StripSuffix(one.output, "\n"));
  ASSERT_EQ(Hawser({"get", token, "-o", Path("f.safetensors")}).code, 0);
  EXPECT_EQ(Put(Path("f.safetensors")), token);
}

// kill -9 of one of the two, once some chunks are safe: the second put sends
// what is not on the disk and nothing else.
TEST_F(CliTest, AnInterruptedPutGoesOnWhereItStopped) {
  for (const bool kill_server : {true, false}) {
    const std::string file = LargeFile(kill_server ? 1 : 2);
    auto put = Process::Start({Runfile("client/cli/hawser"), "put", file},
                              {absl::StrCat("HAWSER_SERVERS=", address_)});
    ASSERT_TRUE(put.ok()) << put.status();
    const size_t before = ChunkFiles();
    const absl::Time end = absl::Now() + kPatience;
    while (ChunkFiles() == before && absl::Now() < end) {
      absl::SleepFor(absl::Milliseconds(1));
    }
    (kill_server ? server_.get() : &*put)->Signal(SIGKILL);
    EXPECT_TRUE(put->Wait(kPatience).ok());
    // In either case what counts is what a new server finds.
    server_->Signal(kill_server ? SIGKILL : SIGTERM);
    EXPECT_TRUE(server_->Wait(kPatience).ok());
    const size_t there = ChunkFiles() - before;
    ASSERT_GE(there, 1u);
    Start();
    const Outcome again = Hawser({"put", file, "--json"});
    ASSERT_EQ(again.code, 0) << again.output;
    const auto fields = OneObject(again.output).fields();
    const int64_t sent =
        static_cast<int64_t>(fields.at("sent_bytes").number_value());
    const int64_t present =
        static_cast<int64_t>(fields.at("present_bytes").number_value());
    EXPECT_EQ(present, static_cast<int64_t>(there) * kChunk)
        << (kill_server ? "server" : "client");
    EXPECT_EQ(sent, (kLargeChunks - static_cast<int64_t>(there)) * kChunk);
    ExpectComesBack(fields.at("token").string_value(), file);
  }
}

TEST_F(CliTest, CheckEndsWithItsTotals) {
  const std::string good = Runfile("tests/vectors/add.txtpb");
  for (const char* target : {"cpu", address_.c_str()}) {
    const Outcome held = Hawser({"check", good, "--target", target});
    EXPECT_EQ(held.code, 0) << held.output;
    EXPECT_THAT(held.output, MatchesRegex("[1-9][0-9]* passed, 0 failed\n"));
  }
  const std::string bad = TextFile("bad.txtpb",
                                   "source: \"made up\"\n"
                                   "cases { name: \"one and one\" op: \"add\"\n"
                                   "  inputs { shape: \"s32[]\" i: 1 }\n"
                                   "  inputs { shape: \"s32[]\" i: 1 }\n"
                                   "  outputs { shape: \"s32[]\" i: 3 } }\n");
  const Outcome failed = Hawser({"check", bad, "--target", address_});
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.output, HasSubstr("\"one and one\""));
  EXPECT_TRUE(absl::EndsWith(failed.output, "\n0 passed, 1 failed\n"))
      << failed.output;
}

TEST_F(CliTest, ExplainShowsThePlanOfAGpuAndOfThisCpu) {
  const std::string module =
      TextFile("squares.txt",
               "module \"squares\"\n"
               "computation @0 \"main\" (%0: f32[8,64]) {\n"
               "  %1: f32[8,64] = multiply(%0, %0)\n"
               "  %2: f32[8,64] = tanh(%1)\n"
               "  return %2\n"
               "}\n");
  const Outcome shown = Hawser({"explain", module, "--planned"});
  EXPECT_EQ(shown.code, 0) << shown.output;
  EXPECT_THAT(shown.output, HasSubstr("// 3 instructions, optimized 3\n// "));
  EXPECT_THAT(shown.output, HasSubstr("fusion("));
  const Outcome here = Hawser({"explain", module, "--planned", "--target=cpu"});
  EXPECT_EQ(here.code, 0) << here.output;
  EXPECT_THAT(here.output,
              HasSubstr("// main %1 (multiply tanh) runs by tiles of "));
  EXPECT_THAT(here.output, HasSubstr("fusion("));
}

TEST_F(CliTest, TracesSayWhatAClientAskedForAndWhatAServerDid) {
  const std::string module = TextFile("negate.txt",
                                      "module \"negate\"\n"
                                      "computation @0 \"main\" (%0: f32[]) {\n"
                                      "  %1: f32[] = negate(%0)\n"
                                      "  return %1\n"
                                      "}\n");
  ::setenv("HAWSER_TRACE", Path("server.json").c_str(), /*overwrite=*/1);
  server_->Signal(SIGTERM);
  ASSERT_TRUE(server_->Wait(kPatience).ok());
  Start();
  ::unsetenv("HAWSER_TRACE");
  const Outcome ran =
      Hawser({"run", module, "--arg", "1", "--trace", Path("client.json")});
  EXPECT_EQ(ran.code, 0) << ran.output;
  const TraceFile client = TraceFile::Read(Path("client.json"));
  EXPECT_EQ(client.Named("compile").size(), 2);  // the request's two ends
  EXPECT_EQ(client.Named("execute").size(), 2);
  server_->Signal(SIGTERM);
  ASSERT_TRUE(server_->Wait(kPatience).ok());
  const TraceFile server = TraceFile::Read(Path("server.json"));
  EXPECT_TRUE(server.IsWithin("(negate)", "execution"));
  // A variable that names no file costs a warning.
  ::setenv("HAWSER_TRACE", "/no/such/x.json", /*overwrite=*/1);
  const Outcome warned = Hawser({"run", module, "--arg", "1", "-t", "cpu"});
  ::unsetenv("HAWSER_TRACE");
  EXPECT_EQ(warned.code, 0);
  EXPECT_THAT(warned.output,
              HasSubstr("HAWSER_TRACE: the trace /no/such/x.json cannot be"));
}

// Its figures are those of tests/client/bench.
TEST_F(CliTest, BenchComparesWithAPeerAndLeavesNothing) {
  auto peer = Process::Start(
      {Runfile("client/cli/hawser"), "bench", "--serve=127.0.0.1:0"});
  ASSERT_TRUE(peer.ok()) << peer.status();
  const auto line = peer->ReadLineWith("exchanging bytes on ", kPatience);
  ASSERT_TRUE(line.ok()) << line.status();
  const std::string at = line->substr(line->rfind(' ') + 1);
  const Outcome json =
      Hawser({"bench", "--peer", at, "--seconds", "3", "--mib", "1", "--json"});
  ASSERT_EQ(json.code, 0) << json.output;
  const auto fields = OneObject(json.output).fields();
  EXPECT_EQ(fields.at("address").string_value(), address_);
  EXPECT_EQ(fields.at("platform").string_value(), "cpu");
  EXPECT_FALSE(fields.contains("error"));
  const auto& rows = fields.at("rows").list_value();
  EXPECT_EQ(rows.values_size(), 15);
  for (const auto& row : rows.values()) {
    const auto& figures = row.struct_value().fields();
    EXPECT_GT(figures.at("ratio").number_value(), 0)
        << figures.at("what").string_value();
    EXPECT_NE(figures.at("beside").string_value(), "");
  }
  EXPECT_EQ(Hawser({"ls"}).output, "");
  peer->Signal(SIGINT);
  EXPECT_EQ(peer->Wait(kPatience).value_or(-1), 0);
}

TEST_F(CliTest, BenchOfATenantWithLittleRoomShowsTheRowsItHas) {
  auto small = StartHawserd({"--tenant_bytes=4KiB"}, &address_);
  ASSERT_TRUE(small.ok()) << small.status();
  const Outcome text = Hawser({"bench", "--seconds", "1", "--mib", "1"});
  EXPECT_EQ(text.code, 1) << text.output;
  EXPECT_THAT(text.output, HasSubstr("gRPC ping, p50"));
  EXPECT_THAT(text.output, HasSubstr("hawser: "));
}

TEST_F(CliTest, ExitCodesTellWhatWentWrong) {
  NumPyFiles();
  const std::string unknown = absl::StrCat("hw1-", std::string(52, 'a'));
  const std::string text = TextFile("text.npy", "this is no array");
  const struct {
    int code;
    std::vector<std::string> words;
  } kCases[] = {
      {0, {"help"}},
      {0, {"put", "--help"}},
      {1, {"put", Path("no such file.npy")}},
      {1, {"put", text}},
      {1, {"get", unknown, "-o", Path("x.npy")}},
      {1, {"stat", unknown}},
      {1, {"rm", unknown}},
      {1, {"check", Path("no such file.txtpb")}},
      {2, {"frobnicate"}},
      {2, {"put"}},
      {2, {"put", "--frobnicate", text}},
      {2, {"get", unknown}},
      {2, {"get", unknown, "-o", Path("x.npy"), "--rows", "1"}},
      {2, {"ls", "a", "b"}},
      {2, {"rm"}},
      {3, {"status", kNobody}},
      {3, {"put", Path("f4.npy"), "--server", kNobody}},
      {3, {"get", unknown, "-o", Path("x.npy"), "--server", kNobody}},
      {3, {"ls", "--server", kNobody}},
      {3, {"rm", unknown, "--server", kNobody}},
      {3, {"stat", unknown, "--server", kNobody}},
      {3, {"check", Runfile("tests/vectors/add.txtpb"), "--target", kNobody}},
      {2, {"bench", "--mib", "0"}},
      {3, {"bench", kNobody}},
      {3, {"bench", "--peer", kNobody, "--seconds", "1"}},
  };
  for (const auto& c : kCases) {
    const Outcome outcome = Hawser(c.words);
    EXPECT_EQ(outcome.code, c.code)
        << c.words[0] << " " << c.words.back() << "\n"
        << outcome.output;
    EXPECT_NE(outcome.output, "");
  }
}

TEST_F(CliTest, WithJsonAFailureIsAnObjectToo) {
  const Outcome failed =
      Hawser({"get", absl::StrCat("hw1-", std::string(52, 'a')), "-o",
              Path("x.npy"), "--json"});
  EXPECT_EQ(failed.code, 1);
  const size_t line = failed.output.find('{');
  ASSERT_NE(line, std::string::npos) << failed.output;
  const auto object = OneObject(failed.output.substr(line));
  const auto& error = object.fields().at("error").struct_value().fields();
  EXPECT_EQ(error.at("code").string_value(), "NOT_FOUND");
  EXPECT_NE(error.at("message").string_value(), "");
}

TEST_F(CliTest, AFrozenServerIsUnreachableInTime) {
  ASSERT_TRUE(server_->Freeze().ok());
  const absl::Time start = absl::Now();
  EXPECT_EQ(Hawser({"status"}).code, 3);
  EXPECT_LT(absl::Now() - start, absl::Seconds(30));
  server_->Signal(SIGCONT);
  EXPECT_EQ(Hawser({"status"}).code, 0);
}

TEST_F(CliTest, WithoutAServerNamedItSaysSo) {
  address_ = "";
  const Outcome outcome = Hawser({"status"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.output, HasSubstr("HAWSER_SERVERS"));
}

}  // namespace
}  // namespace hawser::testing
