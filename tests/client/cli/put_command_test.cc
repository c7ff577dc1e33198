// hawser put: files, folders, patterns; one dataset or many; pins and tags;
// digests that are remembered. hawser get: safetensors.
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "client/digests/hashed_file.h"
#include "client/formats/numpy/npy.h"
#include "client/formats/safetensors.h"
#include "core/runtime/datasets.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/client/cli/command_run.h"
#include "tests/client/cli/files.h"
#include "tests/client/cli/keeping_client.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

namespace fs = std::filesystem;

constexpr char kToken[] = "hw1-[a-z2-7]+";

class PutCommand : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) { return folder_.Path(name); }
  std::string Npy(const std::string& name, const Literal& value) {
    fs::create_directories(fs::path(Path(name)).parent_path());
    EXPECT_OK(WriteNpy(Path(name), value));
    return Path(name);
  }
  std::string Text(const std::string& name, const std::string& text) {
    return folder_.Write(name, text);
  }
  int Put(std::vector<std::string> words) {
    words.insert(words.begin(), "put");
    return hawser_.Run(words);
  }
  // "TOKEN  PATH" lines of the last run: the paths, below the folder.
  std::vector<std::string> Paths() {
    std::vector<std::string> paths;
    for (const absl::string_view line :
         absl::StrSplit(hawser_.out(), '\n', absl::SkipEmpty())) {
      const std::vector<std::string> words = absl::StrSplit(line, "  ");
      EXPECT_EQ(words.size(), 2u) << line;
      EXPECT_THAT(words[0], MatchesRegex(kToken));
      paths.emplace_back(absl::StripPrefix(words.back(), folder_.path() + "/"));
    }
    return paths;
  }
  std::string Token() {
    EXPECT_THAT(hawser_.out(), MatchesRegex(absl::StrCat(kToken, "\n")));
    return std::string(absl::StripSuffix(hawser_.out(), "\n"));
  }

  const TemporaryFolder folder_;
  std::shared_ptr<KeepingClient> near_ = std::make_shared<KeepingClient>();
  CommandRun hawser_{near_};
};

// ---- which files ----------------------------------------------------------

TEST_F(PutCommand, EachFileIsADatasetWithItsPath) {
  const std::string a = Npy("a.npy", Literal::Scalar(1.0f));
  const std::string b = Npy("b.npy", Literal::Scalar(2.0f));
  ASSERT_EQ(Put({b, a}), kOk) << hawser_.err();
  EXPECT_THAT(Paths(), ElementsAre("b.npy", "a.npy"));
  EXPECT_EQ(hawser_.err(), "");
  ASSERT_EQ(Put({a, b, "--json"}), kOk);
  EXPECT_THAT(
      hawser_.out(),
      AllOf(MatchesRegex("\\{\"datasets\": \\[\\{\"token\": \"hw1-.*\n"),
            HasSubstr(absl::StrCat("\"hashed_bytes\": 4, \"path\": \"", b,
                                   "\"}], \"failed\": [], \"bytes\": 8, "))));
}

TEST_F(PutCommand, FoldersAreTakenWholeAndPatternsMatched) {
  Npy("f/b.npy", Literal::Scalar(1.0f));
  Npy("f/a/c.npy", Literal::Scalar(2.0f));
  Npy("f/.hidden/d.npy", Literal::Scalar(3.0f));
  Npy("f/.e.npy", Literal::Scalar(4.0f));
  Npy("g.npy", Literal::Scalar(5.0f));
  Text("f/README", "no array");
  ASSERT_EQ(Put({Path("f")}), kOk) << hawser_.err();
  EXPECT_THAT(Paths(), ElementsAre("f/a/c.npy", "f/b.npy"));
  EXPECT_EQ(hawser_.err(), absl::StrCat("hawser: skips ", Path("f/README"),
                                        ", no file of arrays\n"));
  ASSERT_EQ(Put({Path("?.npy"), Path("f/[ab]*")}), kOk);
  EXPECT_THAT(Paths(), ElementsAre("g.npy", "f/a/c.npy", "f/b.npy"));
  // A folder or pattern of one file today may have two tomorrow.
  ASSERT_EQ(Put({Path("*.npy")}), kOk);
  EXPECT_THAT(Paths(), ElementsAre("g.npy"));
  // A file may be called like a pattern.
  ASSERT_EQ(Put({Npy("[x]*.npy", Literal::Scalar(6.0f))}), kOk);
  Token();
}

TEST_F(PutCommand, WhatIsNotThereIsNamed) {
  EXPECT_EQ(Put({Path("*.npy")}), kFailed);
  EXPECT_THAT(hawser_.err(), HasSubstr(Path("*.npy") + ": no such file"));
  fs::create_directories(Path("empty"));
  EXPECT_EQ(Put({Path("empty")}), kFailed);
  EXPECT_THAT(hawser_.err(), HasSubstr("empty: holds no files of arrays"));
  EXPECT_EQ(near_->puts, 0);
}

TEST_F(PutCommand, GoesOnAfterAFileThatFails) {
  const std::string a = Npy("a.npy", Literal::Scalar(1.0f));
  const std::string bad = Text("bad.npy", "\x93NUMPY");
  const std::string b = Npy("b.npy", Literal::Scalar(2.0f));
  EXPECT_EQ(Put({a, bad, b}), kFailed);
  EXPECT_THAT(Paths(), ElementsAre("a.npy", "b.npy"));
  EXPECT_THAT(hawser_.err(), HasSubstr(bad));
  EXPECT_EQ(Put({a, bad, "--json"}), kFailed);
  EXPECT_THAT(hawser_.out(),
              HasSubstr(absl::StrCat("\"failed\": [{\"path\": \"", bad,
                                     "\", \"code\": \"INVALID_ARGUMENT\"")));
  near_->put_error = absl::ResourceExhaustedError("quota");
  EXPECT_EQ(Put({a, b}), kFailed);
  EXPECT_THAT(hawser_.err(), HasSubstr(absl::StrCat(b, ": quota")));
  near_->put_error = absl::UnavailableError("gone");
  EXPECT_EQ(Put({a, b}), kUnreachable);
  EXPECT_EQ(hawser_.err(), "hawser: gone\n") << "the rest would fail as well";
}

TEST_F(PutCommand, ATerminalSeesALinePerFileAndATotal) {
  hawser_.environment().err_is_terminal = true;
  const std::string a = Npy("a.npy", Literal::Scalar(1.0f));
  const std::string b = Npy("b.npy", Literal::Vector<float>({1, 2}));
  ASSERT_EQ(Put({a, b}), kOk);
  EXPECT_THAT(hawser_.err(), HasSubstr(a + ": 4 B, 4 B were there already"));
  EXPECT_THAT(hawser_.err(), HasSubstr(b + ": 8 B, 8 B were there already"));
  EXPECT_THAT(hawser_.err(),
              HasSubstr("2 datasets, 12 B, 12 B were there already, sent 0 B"));
}

// ---- formats --------------------------------------------------------------

TEST_F(PutCommand, ArraysKeepTheNamesOfTheirFile) {
  const Literal x = Literal::Vector<float>({1, 2});
  const std::string both = Path("both.safetensors");
  ASSERT_OK(WriteSafetensors(both, {{"x", x}, {"y", x}}));
  ASSERT_EQ(Put({both, "--json"}), kOk) << hawser_.err();
  EXPECT_THAT(hawser_.out(), AllOf(HasSubstr("{\"name\": \"x\", \"dtype\""),
                                   HasSubstr("{\"name\": \"y\", \"dtype\"")));
  EXPECT_EQ(Put({both, "-n", "z"}), kFailed);
  EXPECT_THAT(hawser_.err(), HasSubstr("holds 2 arrays with names of their"));
  const std::string csv = Text("t.csv", "a,b\n1,2\n");
  ASSERT_EQ(Put({csv, "--dtype", "f32,u8", "--json"}), kOk) << hawser_.err();
  EXPECT_THAT(hawser_.out(),
              HasSubstr("\"arrays\": [{\"name\": \"a\", \"dtype\": \"f32\", "
                        "\"dims\": [1]}, {\"name\": \"b\", \"dtype\": \"u8\""));
  EXPECT_EQ(Put({csv}), kFailed);
  EXPECT_THAT(hawser_.err(), HasSubstr("t.csv: CSV needs a dtype"));
}

TEST_F(PutCommand, FlagsSayHowFilesWithoutFormAreRead) {
  const std::string tsv = Text("t.tsv", "1\t2\n\t4\n");
  ASSERT_EQ(Put({tsv, "--csv", "--dtype=f64", "--no-header", "--matrix",
                 "--empty-as-nan", "--separator", "\\t", "--json"}),
            kOk)
      << hawser_.err();
  EXPECT_THAT(hawser_.out(), HasSubstr("{\"name\": \"\", \"dtype\": \"f64\", "
                                       "\"dims\": [2, 2]}"));
  const std::string raw = Text("r.bin", "12345678");
  ASSERT_EQ(Put({raw, "--dtype", "u16", "--shape", "2,2", "--json"}), kOk);
  EXPECT_THAT(hawser_.out(), HasSubstr("\"u16\", \"dims\": [2, 2]"));
  ASSERT_EQ(Put({raw, "--dtype=u64", "--shape=", "--json"}), kOk);
  EXPECT_THAT(hawser_.out(), HasSubstr("\"u64\", \"dims\": []"));
  EXPECT_EQ(Put({raw, "--dtype", "u16", "--shape", "5"}), kFailed);
  EXPECT_THAT(hawser_.err(), HasSubstr("r.bin: u16[5] takes 10 bytes, got 8"));
}

TEST_F(PutCommand, AsOneNamesArraysByFileOrByName) {
  const std::string a = Npy("a.f32.npy", Literal::Scalar(1.0f));
  const std::string b = Npy("b.npy", Literal::Scalar(2.0f));
  const std::string w = Path("w.safetensors");
  ASSERT_OK(WriteSafetensors(
      w, {{"w1", Literal::Scalar(3.0f)}, {"w2", Literal::Scalar(4.0f)}}));
  ASSERT_EQ(Put({"--as-one", a, b, w}), kOk) << hawser_.err();
  const std::string token = Token();
  ASSERT_EQ(hawser_.Run({"stat", token}), kOk);
  EXPECT_THAT(hawser_.out(),
              HasSubstr("f32[]  a\n  array    f32[]  b\n  array    f32[]  "
                        "w1\n  array    f32[]  w2\n"));
  ASSERT_EQ(Put({"-1", a, b, "-n", "x", "-n", "y", "--json"}), kOk);
  EXPECT_THAT(hawser_.out(), AllOf(HasSubstr("\"x\""), HasSubstr("\"y\"")));
  EXPECT_EQ(Put({"-1", a, a}), kFailed);
  EXPECT_THAT(hawser_.err(), HasSubstr("two arrays are called \"a\""));
  // The way back, and once more: the same dataset.
  const std::string back = Path("back.safetensors");
  ASSERT_EQ(hawser_.Run({"get", token, "-o", back}), kOk) << hawser_.err();
  EXPECT_THAT(hawser_.out(), HasSubstr(back + ": f32[]  w1\n"));
  ASSERT_EQ(Put({back}), kOk);
  EXPECT_EQ(Token(), token);
  const std::string npz = Path("back.npz");
  ASSERT_EQ(hawser_.Run({"get", token, "-o", npz}), kOk) << hawser_.err();
  ASSERT_EQ(Put({npz}), kOk);
  EXPECT_EQ(Token(), token);
}

TEST_F(PutCommand, GetWritesSafetensorsOfOneArrayAndOfRows) {
  const Literal x = Literal::Of<float>({1, 2, 3, 4}, {2, 2});
  ASSERT_EQ(Put({Npy("x.npy", x)}), kOk);
  const std::string token = Token(), path = Path("x.safetensors");
  ASSERT_EQ(hawser_.Run({"get", token, "-o", path, "-r", "1:", "--json"}), kOk);
  EXPECT_EQ(hawser_.out(),
            absl::StrCat("{\"path\": \"", path,
                         "\", \"arrays\": [{\"name\": \"\", \"dtype\": "
                         "\"f32\", \"dims\": [1, 2]}]}\n"));
  ASSERT_OK_AND_ASSIGN(const NamedArrays got, ReadArrays(path, {}));
  EXPECT_THAT(got[0].value, LiteralEquals(Literal::Of<float>({3, 4}, {1, 2})));
}

TEST_F(PutCommand, AGetThatFailsLeavesNothing) {
  ASSERT_EQ(Put({Npy("x.npy", Literal::Scalar(1.0f))}), kOk);
  const std::string token = Token();
  near_->get_error = absl::DataLossError("put it again");
  for (const char* name : {"y.npy", "y.safetensors"}) {
    EXPECT_EQ(hawser_.Run({"get", token, "-o", Path(name)}), kFailed);
    EXPECT_THAT(hawser_.err(), HasSubstr("put it again"));
  }
  EXPECT_EQ(hawser_.Run({"get", token, "-o", Path("no/y.npy")}), kFailed);
  EXPECT_THAT(hawser_.err(), HasSubstr(Path("no/y.npy"))) << "before it comes";
  EXPECT_THAT(folder_.Files(), ElementsAre("x.npy"));
}

// ---- pins, tags -----------------------------------------------------------

TEST_F(PutCommand, PinsAndTagsWhatItPut) {
  const std::string a = Npy("a.npy", Literal::Scalar(1.0f));
  const std::string b = Npy("b.npy", Literal::Scalar(2.0f));
  ASSERT_EQ(Put({a, "--pin", "--tag=@a", "--json"}), kOk) << hawser_.err();
  EXPECT_THAT(hawser_.out(), HasSubstr("\"pinned_until\": \"forever\", "
                                       "\"tags\": [\"@a\"]"));
  ASSERT_EQ(Put({"--pin=90m", a, b, "--json"}), kOk) << hawser_.err();
  EXPECT_THAT(hawser_.out(),
              HasSubstr("\"pinned_until\": \"2023-11-14T23:43:20Z\""));
  EXPECT_EQ(Put({a, "--tag=@a", "--pin=soon"}), kUsage);
}

TEST_F(PutCommand, WrongUsageNamesWhatIsWrong) {
  const std::string a = Npy("a.npy", Literal::Scalar(1.0f));
  const std::string b = Npy("b.npy", Literal::Scalar(2.0f));
  const struct {
    std::vector<std::string> words;
    const char* error;
  } kLines[] = {
      {{a, b, "-n", "x", "-n", "y"}, "--name is for one file or --as-one"},
      {{"-1", a, b, "-n", "x"}, "--name is given 1 times for 2 files"},
      {{a, b, "--tag=@x"}, "--tag is for one dataset, here are 2"},
      {{a, "--tag=x"}, "\"x\" is no tag"},
      {{a, "--pin=0s"}, "--pin \"0s\" is no time"},
      {{a, "--dtype", "f33"}, "--dtype f33: "},
      {{a, "--csv"}, "--csv needs --dtype"},
      {{a, "--shape", "3"}, "--shape needs one --dtype"},
      {{a, "--shape", "3", "--dtype", "u8,u8"}, "--shape needs one --dtype"},
      {{a, "--shape", "3,x", "--dtype", "u8"}, "\"x\" is no size"},
      {{a, "--shape=-1", "--dtype", "u8"}, "\"-1\" is no size"},
      {{a, "--shape=3", "--dtype=u8", "--matrix"}, "--matrix for CSV"},
      {{a, "--separator", "ab"}, "--separator \"ab\" is not one character"},
  };
  for (const auto& line : kLines) {
    EXPECT_EQ(Put(line.words), kUsage) << line.error;
    EXPECT_THAT(hawser_.err(), HasSubstr(line.error));
  }
  EXPECT_EQ(near_->puts, 0);
}

// ---- remembered digests ---------------------------------------------------

class RememberingPut : public PutCommand {
 protected:
  RememberingPut() { hawser_.environment().cache_folder = Path("cache"); }
  // Hashes the file now, as if it had not changed for a minute.
  void Remember(const std::string& path, const ReadOptions& read = {}) {
    DigestCache cache(Path("cache"));
    const auto later = [] { return absl::Now() + absl::Minutes(1); };
    EXPECT_OK(ReadHashed(path, read, {&cache, 1, later}));
  }
};

TEST_F(RememberingPut, AnUnchangedFileIsNotHashed) {
  const std::string x = Npy("x.npy", Literal::Vector<float>({1, 2}));
  const std::string y = Npy("y.npy", Literal::Scalar(5.0f));
  ASSERT_EQ(Put({"-1", x, y}), kOk);
  const std::string both = Token();
  Remember(x);
  ASSERT_EQ(Put({"-1", y, x, "--json"}), kOk);
  EXPECT_THAT(hawser_.out(),
              AllOf(HasSubstr(both), HasSubstr("\"hashed_bytes\": 4")));
  Remember(y);
  near_->unknown_chunks = 0;
  ASSERT_EQ(Put({"-1", y, x, "--json"}), kOk);
  EXPECT_THAT(hawser_.out(),
              AllOf(HasSubstr(both), HasSubstr("\"hashed_bytes\": 0")));
  EXPECT_EQ(near_->unknown_chunks, 0);
}

// A file that has not changed just now.
TEST_F(RememberingPut, ATerminalSeesHowFarHashingIs) {
  hawser_.environment().err_is_terminal = true;
  const std::string file = "/bin/sh";
  const std::vector<std::string> put = {
      file, "--dtype=u8", absl::StrCat("--shape=", fs::file_size(file))};
  ASSERT_EQ(Put(put), kOk) << hawser_.err();
  EXPECT_THAT(hawser_.err(), HasSubstr("hashing [####"));
  ASSERT_EQ(Put(put), kOk);
  EXPECT_THAT(hawser_.err(), Not(HasSubstr("hashing ["))) << "remembered";
}

// 64 GiB, more than can be read before this test ends.
TEST_F(RememberingPut, ALargeFileCostsWhatASmallOneDoes) {
  const Shape shape = Shape::Of(DType::kU8, {int64_t{1} << 36});
  const std::string path = Text("sparse.bin", "");
  std::error_code error;
  fs::resize_file(path, shape.byte_size(), error);
  if (error) GTEST_SKIP() << "no sparse files here: " << error.message();
  // Made-up digests: the file was never hashed.
  ArrayManifest array{"", shape, {}};
  array.chunks.resize(array.num_chunks(), Sha256("zeros"));
  const ReadOptions read{.format = ReadOptions::Format::kRaw, .raw = shape};
  DigestCache(Path("cache"))
      .Remember({*VersionOf(path), ReadingOf(path, read), {array}});
  near_->put_error = absl::ResourceExhaustedError("digests are enough");
  EXPECT_EQ(Put({path, "--dtype=u8", absl::StrCat("--shape=", shape.dim(0))}),
            kFailed);
  EXPECT_THAT(hawser_.err(), HasSubstr("digests are enough"));
}

// Bytes that no reader accepts.
TEST_F(RememberingPut, AFileThatIsThereIsNotRead) {
  ReadOptions csv;
  csv.csv.dtypes = {DType::kF32};
  const Literal x = Literal::Vector<float>({1, 2});
  const std::vector<Digest> chunks = {Sha256(x.bytes())};
  for (const char* name : {"all/x.npz", "all/x.gz", "all/x.csv"}) {
    DigestCache(Path("cache"))
        .Remember({*VersionOf(Text(name, "x\nnonsense\n")),
                   ReadingOf(name, csv),
                   {{"x", x.shape(), chunks}}});
  }
  ASSERT_OK(near_->datasets().Put({{{"x", x}}}, {}));
  ASSERT_EQ(Put({Path("all"), "--dtype=f32", "--json"}), kOk) << hawser_.err();
  EXPECT_EQ(near_->puts, 4);
  EXPECT_THAT(hawser_.out(), HasSubstr("\"hashed_bytes\": 0}"));
  ASSERT_EQ(Put({Path("all"), "--dtype=f64"}), kFailed) << "another reading";
  EXPECT_THAT(hawser_.err(), HasSubstr(Path("all/x.csv") + ": row 2"));
}

TEST_F(RememberingPut, AChangedFileIsPutAnew) {
  const std::string path = Npy("x.npy", Literal::Vector<float>({1, 2}));
  ASSERT_EQ(Put({path}), kOk);
  const std::string before = Token();
  Remember(path);
  Npy("x.npy", Literal::Vector<float>({1, 3}));
  ASSERT_EQ(Put({path, "--json"}), kOk);
  EXPECT_THAT(hawser_.out(),
              AllOf(HasSubstr("\"hashed_bytes\": 8"), Not(HasSubstr(before))));
}

}  // namespace
}  // namespace hawser::cli
