#include "client/formats/array_file.h"

#include "client/formats/files/mapped_array.h"
#include "client/formats/numpy/npy.h"
#include "client/formats/numpy/npy_header.h"
#include "client/formats/safetensors.h"
#include "gtest/gtest.h"
#include "tests/client/formats/deflated.h"
#include "tests/client/formats/temporary_file.h"
#include "tests/client/formats/zip_writer.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

TEST(ArrayFile, TheFirstBytesDecideNotTheName) {
  const std::string npy = TemporaryPath("really_npy.idx");
  ASSERT_OK(WriteNpy(npy, Literal::Vector<float>({1, 2})));
  EXPECT_THAT(*ReadArray(npy), LiteralEquals(Literal::Vector<float>({1, 2})));
  const std::string idx =
      WriteBytes("really_idx.npy", std::string("\0\0\x8\1\0\0\0\2ab", 10));
  EXPECT_THAT(*ReadArray(idx),
              LiteralEquals(Literal::Vector<uint8_t>({'a', 'b'})));
}

TEST(ArrayFile, SaysHowAStrangeFileBegins) {
  const std::string path = WriteBytes("strange.npy", "%PDF-1.4 text");
  EXPECT_THAT(ReadArray(path), StatusIs(StatusCode::kInvalidArgument, path));
  EXPECT_THAT(ReadArray(path), StatusIs(StatusCode::kInvalidArgument,
                                        "begins with \"%PDF-1.4\""));
  EXPECT_THAT(ReadArray(WriteBytes("empty", "")),
              StatusIs(StatusCode::kInvalidArgument, "is empty"));
  EXPECT_THAT(ReadArray("/no/such"),
              StatusIs(StatusCode::kNotFound, "/no/such"));
}

TEST(ArrayFile, SeveralArraysAreNamedAndOneIsTaken) {
  const Literal x = Literal::Vector<float>({1, 2});
  const std::string two = TemporaryPath("two_arrays");
  ASSERT_OK(WriteSafetensors(two, {{"x", x}, {"y", x}}));
  ASSERT_OK_AND_ASSIGN(const NamedArrays arrays, ReadArrays(two, {}));
  EXPECT_EQ(arrays.size(), 2u);
  EXPECT_THAT(ReadArray(two),
              StatusIs(StatusCode::kInvalidArgument,
                       two + ": holds 2 arrays, one is wanted: x, y"));
  ASSERT_OK(WriteSafetensors(two, {{"x", x}}));
  EXPECT_THAT(*ReadArray(two), LiteralBitEquals(x));
  const std::string zip = WriteBytes(
      "one.idx", MakeZip({{"x.npy", *NpyHeaderOf(x.shape()) +
                                        std::string(x.bytes().begin(),
                                                    x.bytes().end())}}));
  EXPECT_THAT(*ReadArray(zip), LiteralBitEquals(x));
}

TEST(ArrayFile, CsvGoesByItsNameOrByOrder) {
  const std::string text = "x\n5\n";
  const CsvOptions csv = {.dtypes = {DType::kS16}};
  for (const auto& [name, format] :
       {std::pair("a.csv", ReadOptions::Format::kAny),
        std::pair("a.CSV", ReadOptions::Format::kAny),
        std::pair("a.txt", ReadOptions::Format::kCsv)}) {
    ASSERT_OK_AND_ASSIGN(
        const NamedArrays got,
        ReadArrays(WriteBytes(name, text), {.format = format, .csv = csv}));
    EXPECT_EQ(got[0].name, "x");
    EXPECT_THAT(got[0].value, LiteralEquals(Literal::Vector<int16_t>({5})));
  }
  EXPECT_THAT(ReadArrays(WriteBytes("a.txt", text), {.csv = csv}),
              StatusIs(StatusCode::kInvalidArgument, "not called .csv"));
}

TEST(ArrayFile, RawBytesNeedTheirShape) {
  const std::string path = WriteBytes("raw.npy", std::string("\1\0\2\0", 4));
  ReadOptions options = {.format = ReadOptions::Format::kRaw,
                         .raw = Shape::Of(DType::kU16, {1, 2})};
  ASSERT_OK_AND_ASSIGN(const NamedArrays got, ReadArrays(path, options));
  EXPECT_EQ(got[0].name, "");
  EXPECT_THAT(got[0].value,
              LiteralEquals(Literal::Of<uint16_t>({1, 2}, {1, 2})));
  options.raw = Shape::Of(DType::kU16, {3});
  EXPECT_THAT(ReadArrays(path, options),
              StatusIs(StatusCode::kInvalidArgument,
                       path + ": u16[3] takes 6 bytes, got 4"));
  EXPECT_THAT(ReadRaw(path, options.raw),
              StatusIs(StatusCode::kInvalidArgument, path));
}

// Read as the length of a safetensors header, the front is 34 MB.
TEST(ArrayFile, AnIdxFileOfNoRowsIsNoSafetensors) {
  const std::string idx("\0\0\x8\2\0\0\0\0{\0\0\1", 12);
  ASSERT_OK_AND_ASSIGN(const NamedArrays got,
                       ParseArrays(FileBytes::Of(idx), "", {}));
  EXPECT_EQ(got[0].value.shape(),
            Shape::Of(DType::kU8, {0, int64_t{'{'} << 24 | 1}));
}

// Read as the length of a safetensors header, the front is 560 kB. No writer
// sets the ninth byte, the level of compression, to this value.
TEST(ArrayFile, AGzippedIdxFileIsNoSafetensors) {
  std::string packed = Deflated(std::string("\0\0\x8\1\0\0\0\2\5\6", 10), 31);
  packed[8] = '{';
  ASSERT_OK_AND_ASSIGN(const NamedArrays got,
                       ParseArrays(FileBytes::Of(packed), "", {}));
  EXPECT_THAT(got[0].value, LiteralEquals(Literal::Vector<uint8_t>({5, 6})));
}

TEST(ArrayFile, IsOneByNameAndFirstBytes) {
  const struct {
    const char* name;
    std::string bytes;
    bool want;
  } kCases[] = {
      {"f", std::string("\x93NUMPY", 6), true},
      {"f", "PK\3\4", true},
      {"f", "PK\5\6", true},
      {"f", "\x1f\x8b", true},
      {"f", std::string("\0\0\x8\1", 4), true},
      {"f.csv", "x", true},
      {"f", "x", false},
      {"f.csv.bak", "x", false},
      {"f", "", false},
      {"f", std::string("\2\0\0\0\0\0\0\0{}", 10), true},
      {"f", std::string("\2\0\0\0\0\0\0\1{}", 10), false},
      {"f", std::string("\x09\0\0\0\0\0\0\0{", 9), true},  // cut short
  };
  for (const auto& c : kCases) {
    ASSERT_OK_AND_ASSIGN(const bool got,
                         IsArrayFile(WriteBytes(c.name, c.bytes), {}));
    EXPECT_EQ(got, c.want) << c.name << ": " << c.bytes;
  }
  EXPECT_THAT(IsArrayFile("/no/such", {}),
              StatusIs(StatusCode::kNotFound, "/no/such"));
}

TEST(ArrayFile, GzipOfSomethingElseIsRefused) {
  // gzip of "hello\n".
  const std::string packed(
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb\x48\xcd\xc9\xc9\xe7\x02\x00"
      "\x20\x30\x3a\x36\x06\x00\x00\x00",
      26);
  EXPECT_THAT(ParseArrays(FileBytes::Of(packed), "", {}),
              StatusIs(StatusCode::kInvalidArgument, "magic"));
}

}  // namespace
}  // namespace hawser
