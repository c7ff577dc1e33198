#include "client/formats/array_file.h"

#include "client/formats/npy.h"
#include "gtest/gtest.h"
#include "tests/client/formats/temporary_file.h"
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
  const std::string path = WriteBytes("strange.npy", "PK\x03\x04 zip");
  EXPECT_THAT(ReadArray(path), StatusIs(StatusCode::kInvalidArgument, path));
  EXPECT_THAT(ReadArray(path), StatusIs(StatusCode::kInvalidArgument,
                                        "begins with \"PK\\x03\\x04 zip\""));
  EXPECT_THAT(ReadArray(WriteBytes("empty", "")),
              StatusIs(StatusCode::kInvalidArgument, "is empty"));
  EXPECT_THAT(ReadArray("/no/such"),
              StatusIs(StatusCode::kNotFound, "/no/such"));
}

TEST(ArrayFile, GzipOfSomethingElseIsRefused) {
  // gzip of "hello\n".
  const std::string packed(
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb\x48\xcd\xc9\xc9\xe7\x02\x00"
      "\x20\x30\x3a\x36\x06\x00\x00\x00",
      26);
  EXPECT_THAT(ParseArray(FileBytes::Of(packed)),
              StatusIs(StatusCode::kInvalidArgument, "magic"));
}

}  // namespace
}  // namespace hawser
