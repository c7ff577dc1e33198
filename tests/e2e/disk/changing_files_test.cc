// Files that another program changes while they are read: by `hawser put`, and
// as values that are uploaded. What comes of it is the whole of one content, or
// an error that names the file; never a mixture, and no process dies of it.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "client/formats/numpy/npy.h"
#include "client/formats/safetensors.h"
#include "client/hawser.h"
#include "gtest/gtest.h"
#include "tests/client/formats/deflated.h"
#include "tests/client/formats/zip_writer.h"
#include "tests/e2e/disk/data_server.h"
#include "tests/testing/matchers.h"
#include "tests/testing/processes/process.h"
#include "tests/testing/processes/temporary_folder.h"

namespace hawser::testing {
namespace {

namespace fs = std::filesystem;
using absl::StatusCode;

constexpr absl::Duration kPatience = absl::Seconds(60);
constexpr int64_t kBytes = int64_t{16} << 20;
// How often a file is changed at another moment, until one fell into the read.
constexpr int kTries = 4;

// ---- contents, by format ----------------------------------------------------

struct Format {
  std::string name;  // of the file
  std::function<void(const std::string& path, uint64_t seed)> write;
  std::vector<std::string> flags = {};
};

std::string TextOf(const Literal& value) {
  return {value.bytes().data(), value.bytes().size()};
}
void WriteText(const std::string& path, const std::string& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ASSERT_GE(fd, 0) << path;
  EXPECT_EQ(write(fd, text.data(), text.size()),
            static_cast<ssize_t>(text.size()));
  close(fd);
}
std::string ReadText(const std::string& path) {
  std::string text(fs::file_size(path), '\0');
  const int fd = open(path.c_str(), O_RDONLY);
  EXPECT_EQ(read(fd, text.data(), text.size()),
            static_cast<ssize_t>(text.size()));
  close(fd);
  return text;
}

// u8[n].
std::string IdxOf(const std::string& data) {
  std::string out("\0\0\x08\1", 4);
  for (int shift = 24; shift >= 0; shift -= 8) {
    out += static_cast<char>(data.size() >> shift);
  }
  return out + data;
}

std::string CsvOf(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string text = "a,b\n";
  for (int row = 0; row < 100'000; ++row) {
    absl::StrAppend(&text, random() % 1000, ",", random() % 1000, "\n");
  }
  return text;
}

const std::vector<Format>& Formats() {
  static const auto& formats = *new std::vector<Format>{
      {"x.npy",
       [](const std::string& path, uint64_t seed) {
         EXPECT_OK(WriteNpy(path, SeededBytes(kBytes, seed)));
       }},
      {"x.safetensors",
       [](const std::string& path, uint64_t seed) {
         EXPECT_OK(WriteSafetensors(path, {{"x", SeededBytes(kBytes, seed)}}));
       }},
      {"x.npz",
       [](const std::string& path, uint64_t seed) {
         const std::string part = absl::StrCat(path, ".part");
         EXPECT_OK(WriteNpy(part, SeededBytes(kBytes, seed)));
         WriteText(path, MakeZip({{"x.npy", ReadText(part)}}));
         fs::remove(part);
       }},
      {"x.bin",
       [](const std::string& path, uint64_t seed) {
         WriteText(path, TextOf(SeededBytes(kBytes, seed)));
       },
       {"--dtype=u8", absl::StrCat("--shape=", kBytes)}},
      {"x.idx",
       [](const std::string& path, uint64_t seed) {
         WriteText(path, IdxOf(TextOf(SeededBytes(kBytes, seed))));
       }},
      {"x.gz",
       [](const std::string& path, uint64_t seed) {
         WriteText(path,
                   Deflated(IdxOf(TextOf(SeededBytes(kBytes / 4, seed))), 31));
       }},
      {"x.csv",
       [](const std::string& path, uint64_t seed) {
         WriteText(path, CsvOf(seed));
       },
       {"--dtype=f32"}},
  };
  return formats;
}

// Two contents of a file, in files of their own, and their tokens; and the
// token of the first half of the first, if that is a right file.
struct Contents {
  std::string first, second;
  std::string token_of_first, token_of_second, token_of_half;
  double seconds = 0;  // that a put of it takes
};

// ---- changes ----------------------------------------------------------------

// `other` has the same size, or one close to it.
struct Change {
  const char* name;
  std::function<void(const std::string& path, const std::string& other)> make;
  // The token of what it leaves; "": that is no right file.
  std::string Contents::*gives;
  bool can_be_found;  // else it leaves the file that was opened alone
};

void Overwrite(const std::string& path, const std::string& other) {
  constexpr size_t kStep = 64 << 10;
  const std::string text = ReadText(other);
  const int fd = open(path.c_str(), O_WRONLY);
  for (size_t at = 0; at < text.size(); at += kStep) {
    const size_t size = std::min(kStep, text.size() - at);
    EXPECT_EQ(pwrite(fd, text.data() + at, size, static_cast<off_t>(at)),
              static_cast<ssize_t>(size));
  }
  EXPECT_EQ(ftruncate(fd, static_cast<off_t>(text.size())), 0);
  close(fd);
}

const std::vector<Change>& Changes() {
  static const auto& changes = *new std::vector<Change>{
      {"overwritten", Overwrite, &Contents::token_of_second, true},
      {"cut short",
       [](const std::string& path, const std::string&) {
         fs::resize_file(path, fs::file_size(path) / 2);
       },
       &Contents::token_of_half, true},
      {"emptied",
       [](const std::string& path, const std::string&) {
         fs::resize_file(path, 0);
       },
       nullptr, true},
      {"replaced",
       [](const std::string& path, const std::string& other) {
         fs::rename(other, path);
       },
       &Contents::token_of_second, false},
      {"removed",
       [](const std::string& path, const std::string&) { fs::remove(path); },
       nullptr, false},
  };
  return changes;
}

// ---- `hawser put` -----------------------------------------------------------

class ChangingFilesTest : public ::testing::Test {
 protected:
  struct Put {
    int code = -1;
    std::string said;
    std::string token;  // "": none
  };

  void SetUp() override {
    for (const char* folder : {"data", "sure"}) {
      fs::create_directories(folder_.Path(folder));
    }
    ASSERT_OK(server_.Start());
    ASSERT_OK(sure_.Start());
  }
  absl::StatusOr<Process> StartPut(const DataServer& server,
                                   const std::string& path,
                                   const Format& format) {
    std::vector<std::string> words = {Runfile("client/cli/hawser"), "put",
                                      path};
    words.insert(words.end(), format.flags.begin(), format.flags.end());
    return Process::Start(
        words, {"HAWSER_SERVERS=" + server.address(), "HAWSER_CACHE=off"});
  }
  static Put EndOf(absl::StatusOr<Process> process) {
    Put put;
    EXPECT_OK(process);
    if (!process.ok()) return put;
    const auto code = process->Wait(kPatience);
    EXPECT_OK(code);
    put.code = code.value_or(-1);
    put.said = process->output();
    const size_t at = put.said.find("hw1-");
    if (at != std::string::npos) put.token = put.said.substr(at, 56);
    return put;
  }
  // Of a file that stays as it is, at the server that knows all contents.
  std::string TokenOf(const std::string& path, const Format& format) {
    const Put put = EndOf(StartPut(sure_, path, format));
    EXPECT_EQ(put.code, 0) << put.said;
    return put.token;
  }

  Contents ContentsOf(const Format& format) {
    Contents of{.first = folder_.Path("first-" + format.name),
                .second = folder_.Path("second-" + format.name)};
    format.write(of.first, 1);
    format.write(of.second, 2);
    const absl::Time start = absl::Now();
    of.token_of_first = TokenOf(of.first, format);
    of.seconds = absl::ToDoubleSeconds(absl::Now() - start);
    of.token_of_second = TokenOf(of.second, format);
    const std::string half = folder_.Path("half-" + format.name);
    fs::copy_file(of.first, half);
    fs::resize_file(half, fs::file_size(half) / 2);
    of.token_of_half = EndOf(StartPut(sure_, half, format)).token;
    return of;
  }

  // Puts a file of the first content that is changed meanwhile. True: the
  // change was found.
  bool TryOne(const Format& format, const Contents& contents,
              const Change& change) {
    const std::string path = folder_.Path(format.name);
    const std::string other = folder_.Path("other-" + format.name);
    const auto overwrite = fs::copy_options::overwrite_existing;
    fs::copy_file(contents.first, path, overwrite);
    fs::copy_file(contents.second, other, overwrite);
    absl::SleepFor(absl::Milliseconds(10));  // a file system's clock goes on
    auto process = StartPut(server_, path, format);
    std::uniform_real_distribution<double> moments(0, contents.seconds);
    absl::SleepFor(absl::Seconds(moments(random_)));
    change.make(path, other);
    const Put put = EndOf(std::move(process));
    const std::string what =
        absl::StrCat(format.name, " ", change.name, ": ", put.said);
    if (put.code == 0) {
      EXPECT_TRUE(put.token == contents.token_of_first ||
                  (change.gives != nullptr && !put.token.empty() &&
                   put.token == contents.*change.gives))
          << what;
      EXPECT_OK(server_.client().Delete(put.token));
      return false;
    }
    EXPECT_EQ(put.code, 1) << what;
    EXPECT_TRUE(absl::StartsWith(put.said, "hawser: " + path + ": ")) << what;
    return absl::StrContains(put.said, "changed while it was read");
  }

  const TemporaryFolder folder_;
  DataServer server_{folder_.Path("data")};
  DataServer sure_{folder_.Path("sure")};
  std::mt19937 random_{13};
};

TEST_F(ChangingFilesTest, APutIsOfOneContent) {
  int cases = 0, puts = 0, found = 0;
  for (const Format& format : Formats()) {
    const Contents contents = ContentsOf(format);
    for (const Change& change : Changes()) {
      ++cases;
      for (int i = 0; i < kTries; ++i) {
        ++puts;
        const bool was_found = TryOne(format, contents, change);
        found += was_found ? 1 : 0;
        if (was_found || !change.can_be_found || HasFailure()) break;
      }
      ASSERT_FALSE(HasFailure());
    }
  }
  std::cout << cases << " ways of a file to change while it is put, " << puts
            << " puts, " << found << " changes were found\n";
  EXPECT_GT(found, 0);
}

// ---- values -----------------------------------------------------------------

// A value of a mapped file is looked at until the last of its bytes is sent.
TEST_F(ChangingFilesTest, AnUploadIsOfOneContent) {
  const std::string path = folder_.Path("value.npy");
  runtime::Client& client = *server_.client().runtime();
  for (const bool changes : {false, true}) {
    ASSERT_OK(WriteNpy(path, SeededBytes(kBytes, 1)));
    ASSERT_OK_AND_ASSIGN(const Literal value, ReadNpy(path));
    absl::SleepFor(absl::Milliseconds(10));
    bool is_changed = false;
    runtime::CallOptions call;
    call.progress = [&](int64_t done, int64_t) {
      if (!changes || is_changed || done < kBytes / 2) return;
      is_changed = true;
      const int fd = open(path.c_str(), O_WRONLY);
      EXPECT_EQ(pwrite(fd, "changed", 7, kBytes - 7), 7);
      close(fd);
    };
    ASSERT_OK_AND_ASSIGN(const runtime::BufferPtr there,
                         client.Upload(value, call));
    const auto back = there->Fetch({}).Await(absl::Now() + kPatience);
    EXPECT_EQ(is_changed, changes);
    if (changes) {
      EXPECT_THAT(back, StatusIs(StatusCode::kAborted, path));
      EXPECT_THAT(back, StatusIs(StatusCode::kAborted, "changed"));
    } else {
      ASSERT_OK(back);
      EXPECT_THAT(*back, LiteralBitEquals(SeededBytes(kBytes, 1)));
    }
  }
}

}  // namespace
}  // namespace hawser::testing
