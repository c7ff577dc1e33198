// Files that are not what they claim, through `hawser put`: exit code 1, an
// error that names the file and what is wrong, little memory, nothing put.
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
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

constexpr absl::Duration kPatience = absl::Seconds(60);
// The largest of these files has 1 MiB; `hawser ls` itself takes 20 MiB.
constexpr int64_t kMostMemory = int64_t{64} << 20;
// Zeros that go on behind the end that a header says: packed, 256 KiB.
constexpr int64_t kBomb = int64_t{256} << 20;

struct BadFile {
  std::string name;
  std::string bytes;
  std::string says;
  std::vector<std::string> flags = {};
};

// ---- npy ------------------------------------------------------------------

std::string Npy(const std::string& header, const std::string& data = "") {
  return absl::StrCat("\x93NUMPY", std::string("\1\0", 2),
                      Little(header.size(), 2), header, data);
}

// Of u8, with `data` behind it.
std::string NpyOf(const std::string& shape, const std::string& data) {
  return Npy(absl::StrCat("{'descr': '|u1', 'fortran_order': False, 'shape': ",
                          shape, ", }\n"),
             data);
}

std::vector<BadFile> BadNpys() {
  const std::string good = NpyOf("(3,)", "abc");
  return {
      {"magic.npy", "\x93NUMPY", "ends within its version"},
      {"version.npy", "\x93NUMPY\7" + good.substr(7), "version is 7"},
      {"length.npy", good.substr(0, 9), "ends within the length"},
      {"header.npy", good.substr(0, 20), "header length is"},
      {"short.npy", good.substr(0, good.size() - 1), "takes 3 bytes, got 2"},
      {"long.npy", good + "d", "takes 3 bytes, got 4"},
      {"huge.npy", NpyOf("(1099511627776,)", "abc"),
       "takes 1099511627776 bytes, got 3"},
      {"product.npy", NpyOf("(4294967296, 4294967296, 2)", "abc"),
       "4294967296"},
      {"negative.npy", NpyOf("(-3,)", "abc"), "shape"},
      {"object.npy",
       Npy("{'descr': '|O', 'fortran_order': False, 'shape': (3,), }\n", "abc"),
       "is no dtype of hawser"},
      {"code.npy", Npy("__import__('os').system('true')\n"), "no dictionary"},
      {"nothing.npy", Npy("{}\n"), "descr is missing"},
  };
}

// ---- npz ------------------------------------------------------------------

std::vector<BadFile> BadNpzs() {
  const std::string x = NpyOf("(3,)", "abc");
  const std::string good = MakeZip({{"x.npy", x}});
  const std::string bomb = DeflatedZeros(x, kBomb, -15);
  return {
      {"cut.npz", good.substr(0, good.size() - 5), "no end of a zip directory"},
      {"empty.npz", MakeZip({}), "holds no arrays"},
      {"text.npz", MakeZip({{"x.txt", "hello"}}), "is no npy file"},
      {"up.npz", MakeZip({{"../x.npy", x}}), "member"},
      {"twice.npz", MakeZip({{"x.npy", x}, {"x.npy", x}}), "member"},
      {"encrypted.npz", MakeZip({{.name = "x.npy", .data = x, .flags = 1}}),
       "is encrypted"},
      {"method.npz", MakeZip({{.name = "x.npy", .data = x, .method = 12}}),
       "is packed by method 12"},
      {"crc.npz", MakeZip({{.name = "x.npy", .data = x, .crc = 7}}),
       "\"x.npy\""},
      {"claim.npz",
       MakeZip({{.name = "x.npy",
                 .data = x,
                 .deflated = true,
                 .size = uint64_t{1} << 40}}),
       "\"x.npy\""},
      {"inside.npz", MakeZip({{"x.npy", NpyOf("(1099511627776,)", "abc")}}),
       "takes 1099511627776 bytes, got 3"},
      {"bomb.npz",
       MakeZip(
           {{.name = "x.npy", .data = bomb, .size = x.size(), .method = 8}}),
       "\"x.npy\""},
      {"shared.npz",
       MakeZip({{"x.npy", x}, {.name = "y.npy", .data = x, .local = 0}}),
       "member"},
  };
}

// ---- safetensors ----------------------------------------------------------

std::string Safetensors(const std::string& json, const std::string& data = "") {
  return absl::StrCat(Little(json.size(), 8), json, data);
}

std::vector<BadFile> BadSafetensors() {
  const auto one = [](const std::string& fields) {
    return Safetensors(absl::StrCat("{\"x\":{", fields, "}}"), "abcd");
  };
  return {
      {"length.safetensors", Little(5000, 8) + "{\"x\":{}}",
       "header length is 5000"},
      {"json.safetensors", Safetensors("{\"x\":"), "header is no JSON"},
      {"deep.safetensors", Safetensors("{\"x\":" + std::string(100000, '[')),
       "header"},
      {"none.safetensors", Safetensors("{}"), "holds no arrays"},
      {"dtype.safetensors",
       one("\"dtype\":\"F4\",\"shape\":[1],\"data_offsets\":[0,4]"),
       "is no dtype of hawser"},
      {"size.safetensors",
       one("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]"), "\"x\""},
      {"behind.safetensors",
       one("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]"),
       "arrays take 8 bytes"},
      {"order.safetensors",
       one("\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]"),
       "data_offsets [4, 0]"},
      {"product.safetensors",
       one("\"dtype\":\"F32\",\"shape\":[4294967296,4294967296],"
           "\"data_offsets\":[0,4]"),
       "\"x\""},
  };
}

// ---- IDX and gzip ---------------------------------------------------------

std::string Big(uint32_t value) {
  const std::string little = Little(value, 4);
  return std::string(little.rbegin(), little.rend());
}

// u8[sizes...], with `data` behind it.
std::string Idx(const std::vector<uint32_t>& sizes, const std::string& data) {
  std::string out("\0\0\x08", 3);
  out += static_cast<char>(sizes.size());
  for (const uint32_t size : sizes) out += Big(size);
  return out + data;
}

std::string Gzip(const std::string& bytes) { return Deflated(bytes, 31); }

std::vector<BadFile> BadIdxs() {
  const std::string good = Idx({3}, "abc");
  const std::string packed = Gzip(good);
  std::string other_sum = packed;
  other_sum[other_sum.size() - 8] ^= 1;
  return {
      {"type.idx", std::string("\0\0\x07\1\0\0\0\3abc", 11), "type is 7"},
      {"header.idx", good.substr(0, 6), "ends within its header"},
      {"short.idx", Idx({3}, "ab"), "takes 3 bytes, got 2"},
      {"long.idx", Idx({3}, "abcd"), "takes 3 bytes, got 4"},
      {"product.idx", Idx(std::vector<uint32_t>(8, ~0u), "abc"), "4294967295"},
      {"rank.idx", Idx(std::vector<uint32_t>(255, 1), "a"), "rank"},
      {"cut.gz", packed.substr(0, packed.size() - 10), "ends early"},
      {"sum.gz", other_sum, "gzip"},
      {"behind.gz", packed + "more", "4 bytes behind its gzip"},
      {"claim.gz", Gzip(Idx({1u << 30, 1u << 10}, "abc")),
       "bytes of gzip can hold"},
      {"bomb.gz", DeflatedZeros(Idx({10}, ""), kBomb, 31),
       "goes on after its last element"},
      {"inner.gz", Gzip(packed), "magic is not that of an IDX file"},
  };
}

// ---- CSV, and what is no file of arrays -----------------------------------

std::vector<BadFile> BadTexts() {
  const std::vector<std::string> f32 = {"--dtype=f32"};
  return {
      {"untyped.csv", "a,b\n1,2\n", "CSV needs a dtype"},
      {"uneven.csv", "a,b\n1,2\n3\n", "row 3", f32},
      {"word.csv", "a\n1\ntwo\n", "\"two\" is no f32", f32},
      {"range.csv", "a\n1\n256\n", "\"256\" is no u8", {"--dtype=u8"}},
      {"hole.csv", "a,b\n1,\n", "\"\" is no f32", f32},
      {"quote.csv", "a\n\"1\n2\n", "row 2", f32},
      {"twice.csv", "a,a\n1,2\n", "two columns are called \"a\"", f32},
      {"empty.csv", "", "empty", f32},
      {"commas.csv", std::string(1 << 20, ',') + ",,\n", "fields", f32},
      {"dtypes.csv", "a,b\n1,2\n", "has 2 columns", {"--dtype=f32,u8,u8"}},
      {"raw.bin",
       "12345",
       "takes 6 bytes, got 5",
       {"--dtype=u16", "--shape=3"}},
      {"empty.npy", "", "is empty"},
      {"letter.txt", "Dear Sir or Madam", "is none of npy"},
  };
}

class BadFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_.Path("data"));
    ASSERT_OK(server_.Start());
  }
  // Expects that putting the file fails and why.
  void ExpectRefused(const std::string& path, const std::string& says,
                     const std::vector<std::string>& flags = {}) {
    std::vector<std::string> words = {Runfile("client/cli/hawser"), "put",
                                      path};
    words.insert(words.end(), flags.begin(), flags.end());
    auto put = Process::Start(
        words, {"HAWSER_SERVERS=" + server_.address(), "HAWSER_CACHE=off"});
    ASSERT_OK(put);
    ASSERT_OK_AND_ASSIGN(const int code, put->Wait(kPatience));
    const std::string& said = put->output();
    EXPECT_EQ(code, 1) << path << ": " << said;
    EXPECT_TRUE(absl::StartsWith(said, "hawser: " + path + ": ")) << said;
    EXPECT_TRUE(absl::StrContains(said, says)) << said;
    // One line, and not a long one.
    EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
    EXPECT_LT(said.size(), 600u) << said;
    EXPECT_LT(put->peak_memory(), kMostMemory) << path;
  }
  void ExpectAllRefused(const std::vector<BadFile>& files) {
    for (const BadFile& file : files) {
      ExpectRefused(folder_.Write(file.name, file.bytes), file.says,
                    file.flags);
    }
    ASSERT_OK_AND_ASSIGN(const DatasetUsage usage, server_.client().Usage());
    EXPECT_EQ(usage.datasets, 0);
    EXPECT_EQ(usage.bytes, 0);
  }

  const TemporaryFolder folder_;
  DataServer server_{folder_.Path("data")};
};

TEST_F(BadFilesTest, Npy) { ExpectAllRefused(BadNpys()); }
TEST_F(BadFilesTest, Npz) { ExpectAllRefused(BadNpzs()); }
TEST_F(BadFilesTest, Safetensors) { ExpectAllRefused(BadSafetensors()); }
TEST_F(BadFilesTest, IdxAndGzip) { ExpectAllRefused(BadIdxs()); }
TEST_F(BadFilesTest, CsvAndOthers) { ExpectAllRefused(BadTexts()); }

TEST_F(BadFilesTest, WhatIsNoFile) {
  const std::string pipe = folder_.Path("pipe.npy");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  ExpectRefused(pipe, "is not a regular file");
  ExpectRefused("/dev/zero", "is not a regular file");
  ExpectRefused(folder_.Path("none.npy"), "no such file");
}

}  // namespace
}  // namespace hawser::testing
