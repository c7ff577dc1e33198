#include "client/formats/idx.h"

#include <filesystem>
#include <string>

#include "gtest/gtest.h"
#include "tests/client/formats/deflated.h"
#include "tests/client/formats/temporary_file.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

absl::StatusOr<Literal> IdxOf(const std::string& bytes) {
  return ParseIdx(FileBytes::Of(bytes));
}

std::string Idx(int type, std::initializer_list<uint32_t> sizes,
                const std::string& data) {
  std::string file = {0, 0, static_cast<char>(type),
                      static_cast<char>(sizes.size())};
  for (uint32_t size : sizes) {
    for (int shift : {24, 16, 8, 0}) file += static_cast<char>(size >> shift);
  }
  return file + data;
}

std::string Gzip(const std::string& bytes) { return Deflated(bytes, 31); }

struct IdxType {
  const char* name;
  int type;
  std::string data;
  Literal want;
};
class IdxTypeTest : public ::testing::TestWithParam<IdxType> {};

TEST_P(IdxTypeTest, PlainAndGzipped) {
  const std::string file = Idx(GetParam().type, {2}, GetParam().data);
  ASSERT_OK_AND_ASSIGN(const Literal plain, IdxOf(file));
  EXPECT_THAT(plain, LiteralBitEquals(GetParam().want));
  ASSERT_OK_AND_ASSIGN(const Literal unpacked, IdxOf(Gzip(file)));
  EXPECT_THAT(unpacked, LiteralBitEquals(GetParam().want));
}

INSTANTIATE_TEST_SUITE_P(
    Idx, IdxTypeTest,
    ::testing::Values(
        IdxType{"u8", 8, "\1\xff", Literal::Vector<uint8_t>({1, 255})},
        IdxType{"s8", 9, "\1\xff", Literal::Vector<int8_t>({1, -1})},
        IdxType{"s16", 11, std::string("\1\2\xff\xff", 4),
                Literal::Vector<int16_t>({258, -1})},
        IdxType{"s32", 12, std::string("\0\1\0\2\xff\xff\xff\xfe", 8),
                Literal::Vector<int32_t>({65538, -2})},
        IdxType{"f32", 13, std::string("\x3f\x80\0\0\x80\0\0\0", 8),
                Literal::Vector<float>({1.0f, -0.0f})},
        IdxType{"f64", 14,
                std::string("\x3f\xf0\0\0\0\0\0\0\x7f\xf0\0\0\0\0\0\0", 16),
                Literal::Vector<double>(
                    {1.0, std::numeric_limits<double>::infinity()})}),
    [](const auto& info) { return info.param.name; });

TEST(Idx, RankAndEmptySizes) {
  EXPECT_THAT(*IdxOf(Idx(8, {}, "\7")),
              LiteralEquals(Literal::Scalar<uint8_t>(7)));
  EXPECT_THAT(*IdxOf(Idx(8, {1, 2, 1}, "ab")),
              LiteralEquals(Literal::Of<uint8_t>({'a', 'b'}, {1, 2, 1})));
  ASSERT_OK_AND_ASSIGN(const Literal empty, IdxOf(Gzip(Idx(8, {0, 28}, ""))));
  EXPECT_EQ(empty.shape(), Shape::Of(DType::kU8, {0, 28}));
}

TEST(Idx, RefusesEveryOtherLengthOfAPlainFile) {
  const std::string file = Idx(11, {2, 2}, "abcdefgh");
  ASSERT_OK(IdxOf(file));
  for (size_t n = 0; n < file.size(); ++n) {
    EXPECT_THAT(IdxOf(file.substr(0, n)),
                StatusIs(StatusCode::kInvalidArgument, ""))
        << "cut to " << n;
  }
  EXPECT_THAT(IdxOf(file + "x"),
              StatusIs(StatusCode::kInvalidArgument, "takes 8 bytes, got 9"));
}

// As of `cat a.gz b.gz`, pigz and bgzip: members in a row are one file.
TEST(Idx, GzippedInMembers) {
  const std::string file = Idx(8, {3, 5}, "fifteen letters");
  for (size_t at = 0; at <= file.size(); ++at) {
    ASSERT_OK_AND_ASSIGN(const Literal value, IdxOf(Gzip(file.substr(0, at)) +
                                                    Gzip(file.substr(at))));
    EXPECT_EQ(value.data<uint8_t>()[14], 's');
  }
  std::string all;
  for (const char byte : file) all += Gzip(std::string(1, byte));
  EXPECT_OK(IdxOf(all).status());
  EXPECT_OK(IdxOf(all + Gzip("")).status());
  EXPECT_THAT(IdxOf(all + Gzip("x")).status(),
              StatusIs(StatusCode::kInvalidArgument, "goes on after"));
  EXPECT_THAT(IdxOf(all + "xx").status(),
              StatusIs(StatusCode::kInvalidArgument, "2 bytes behind"));
  EXPECT_FALSE(IdxOf(all + "\x1f\x8b").ok());
}

TEST(Idx, RefusesEveryOtherLengthOfAGzippedFile) {
  const std::string file = Gzip(Idx(8, {3, 5}, "fifteen letters"));
  ASSERT_OK(IdxOf(file));
  for (size_t n = 0; n < file.size(); ++n) {
    EXPECT_THAT(IdxOf(file.substr(0, n)),
                StatusIs(StatusCode::kInvalidArgument, ""))
        << "cut to " << n;
  }
  EXPECT_THAT(IdxOf(file + "x"), StatusIs(StatusCode::kInvalidArgument,
                                          "1 bytes behind its gzip data"));
}

TEST(Idx, NoticesEveryChangedByteOfAGzippedFile) {
  const std::string want = Idx(8, {3, 5}, "fifteen letters");
  const std::string file = Gzip(want);
  // Bytes 4 to 9 are time, flags and system, which do not concern the data.
  for (size_t n = 10; n < file.size(); ++n) {
    std::string changed = file;
    changed[n] = static_cast<char>(changed[n] ^ 0x55);
    EXPECT_THAT(IdxOf(changed), StatusIs(StatusCode::kInvalidArgument, ""))
        << "changed " << n;
  }
}

TEST(Idx, RefusesPayloadOfAnotherSizeThanTheHeaderSays) {
  EXPECT_THAT(IdxOf(Gzip(Idx(8, {4}, "abcde"))),
              StatusIs(StatusCode::kInvalidArgument, "goes on after"));
  EXPECT_THAT(IdxOf(Gzip(Idx(8, {4}, "abc"))),
              StatusIs(StatusCode::kInvalidArgument, "needs 1 more"));
  EXPECT_THAT(IdxOf(Gzip(Idx(8, {4, 4}, ""))),
              StatusIs(StatusCode::kInvalidArgument, "needs 16 more"));
}

TEST(Idx, BombsCostNothing) {
  // 16 MiB of zeros in 16 KiB, of which the header wants one byte.
  EXPECT_THAT(IdxOf(Gzip(Idx(8, {1}, std::string(16 << 20, '\0')))),
              StatusIs(StatusCode::kInvalidArgument, "goes on after"));
  // A header that wants 2^60 bytes of a file that cannot hold them.
  EXPECT_THAT(IdxOf(Gzip(Idx(8, {1 << 30, 1 << 30}, "x"))),
              StatusIs(StatusCode::kInvalidArgument, "can hold"));
  EXPECT_THAT(IdxOf(Idx(8, {1 << 30, 1 << 30}, "x")),
              StatusIs(StatusCode::kInvalidArgument, "got 1"));
  EXPECT_THAT(IdxOf(Idx(14, {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, "x")),
              StatusIs(StatusCode::kInvalidArgument, "2^62"));
}

TEST(Idx, RefusesMagicTypeAndRank) {
  EXPECT_THAT(IdxOf("\1" + Idx(8, {1}, "x")),
              StatusIs(StatusCode::kInvalidArgument, "magic"));
  EXPECT_THAT(IdxOf(Idx(10, {1}, "x")),
              StatusIs(StatusCode::kInvalidArgument, "type is 10"));
  std::string rank17 = Idx(8, {}, "");
  rank17[3] = 17;
  for (int i = 0; i < 17; ++i) rank17 += std::string("\0\0\0\1", 4);
  EXPECT_THAT(IdxOf(rank17 + "x"),
              StatusIs(StatusCode::kInvalidArgument, "rank 17"));
}

TEST(Idx, ReadNamesTheFile) {
  const std::string path = WriteBytes("short.idx", Idx(8, {3}, "ab"));
  EXPECT_THAT(ReadIdx(path), StatusIs(StatusCode::kInvalidArgument, path));
  EXPECT_THAT(ReadIdx("/no/such.gz"),
              StatusIs(StatusCode::kNotFound, "/no/such.gz"));
}

// Files of Debian's dataset-fashion-mnist, where it is installed.
TEST(Idx, ReadsFashionMnist) {
  const std::string folder = "/usr/share/datasets/fashion-mnist/";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << folder << " is absent: Debian's dataset-fashion-mnist is "
                 << "not installed";
  }
  ASSERT_OK_AND_ASSIGN(const Literal images,
                       ReadIdx(folder + "t10k-images-idx3-ubyte.gz"));
  EXPECT_EQ(images.shape(), Shape::Of(DType::kU8, {10000, 28, 28}));
  ASSERT_OK_AND_ASSIGN(const Literal labels,
                       ReadIdx(folder + "t10k-labels-idx1-ubyte.gz"));
  EXPECT_EQ(labels.shape(), Shape::Of(DType::kU8, {10000}));
  EXPECT_EQ(labels.data<uint8_t>()[0], 9);  // an ankle boot
}

}  // namespace
}  // namespace hawser
