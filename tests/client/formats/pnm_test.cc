// Images of the Netpbm kind, read and written by array_file.h.
#include <string>

#include "client/formats/array_file.h"
#include "client/formats/files/file_bytes.h"
#include "gtest/gtest.h"
#include "tests/client/formats/temporary_file.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

absl::StatusOr<Literal> Image(const std::string& bytes) {
  auto arrays = ParseArrays(FileBytes::Of(bytes), "image", {});
  if (!arrays.ok()) return arrays.status();
  return (*arrays)[0].value;
}

TEST(Pnm, GrayAndColorAreRead) {
  const struct {
    const char* bytes;
    Literal want;
  } kCases[] = {
      {"P5\n3 2\n255\nabcdef",
       Literal::Of<uint8_t>({97, 98, 99, 100, 101, 102}, {2, 3})},
      {"P6 # by hand\n#2 9\n 1\t2 255 abcdef",
       Literal::Of<uint8_t>({97, 98, 99, 100, 101, 102}, {2, 1, 3})},
      {"P5 0 0 255\n", Literal::Of<uint8_t>({}, {0, 0})},
  };
  for (const auto& c : kCases) {
    ASSERT_OK_AND_ASSIGN(const Literal value, Image(c.bytes));
    EXPECT_THAT(value, LiteralEquals(c.want));
  }
}

TEST(Pnm, WrongFilesAreRefused) {
  const struct {
    const char* bytes;
    const char* message;
  } kCases[] = {
      {"P5", "no width"},
      {"P5 3", "no height"},
      {"P5 3 2", "no maximum"},
      {"P5 3 2 255", "does not end in a space"},
      {"P5 x 2 255\n", "no width"},
      {"P5 -3 2 255\n", "no width"},
      {"P5 3 2 65535\nabcdef", "largest value is 65535"},
      {"P5 3 2 255\nabcde", "behind the header"},
      {"P5 3 2 255\nabcdefg", "behind the header"},
      {"P5 99999999999999999999 2 255\n", ""},
      {"P5 4000000000 4000000000 255\n", ""},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(Image(c.bytes),
                StatusIs(StatusCode::kInvalidArgument, c.message))
        << c.bytes;
  }
}

TEST(Pnm, WhatIsWrittenIsReadAgain) {
  const Literal gray = Literal::Of<uint8_t>({1, 2, 3, 4, 5, 6}, {3, 2});
  const Literal color = Literal::Of<uint8_t>({1, 2, 3, 4, 5, 6}, {1, 2, 3});
  for (const auto& [name, value] :
       {std::pair{"a.pgm", gray}, std::pair{"a.PPM", color}}) {
    const std::string path = TemporaryPath(name);
    const NamedArray array{"", value};
    ASSERT_OK(WriteArrays(path, absl::MakeConstSpan(&array, 1)));
    ASSERT_OK_AND_ASSIGN(const Literal again, ReadArray(path));
    EXPECT_THAT(again, LiteralEquals(value));
  }
}

TEST(Pnm, WhatIsNoImageIsNotWritten) {
  const struct {
    Literal value;
    const char* message;
  } kCases[] = {
      {Literal::Of<float>({1, 2}, {1, 2}), "u8[height,width], not f32[1,2]"},
      {Literal::Of<uint8_t>({1, 2, 3}, {1, 1, 3}), "not u8[1,1,3]"},
  };
  for (const auto& c : kCases) {
    const NamedArray array{"", c.value};
    EXPECT_THAT(
        WriteArrays(TemporaryPath("b.pgm"), absl::MakeConstSpan(&array, 1)),
        StatusIs(StatusCode::kInvalidArgument, c.message));
  }
}

}  // namespace
}  // namespace hawser
