#include <string>

#include "core/wire/codec.h"
#include "google/protobuf/stubs/common.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

absl::Status ThereAndBack(const absl::Status& status) {
  v1::StatusProto proto;
  ToProto(status, &proto);
  v1::StatusProto received;
  EXPECT_TRUE(received.ParseFromString(proto.SerializeAsString()));
  return FromProto(received);
}

TEST(StatusCodec, EveryCodeComesBack) {
  for (int code = 0; code <= 16; ++code) {
    const absl::Status status(static_cast<absl::StatusCode>(code), "why");
    EXPECT_EQ(ThereAndBack(status), status);
  }
}

TEST(StatusCodec, UnknownCodesKeepTheirMessage) {
  for (const int code : {-1, 17, INT32_MAX}) {
    v1::StatusProto proto;
    proto.set_code(code);
    proto.set_message("later version");
    EXPECT_EQ(FromProto(proto), absl::UnknownError("later version"));
  }
}

TEST(StatusCodec, MessagesAreCutTo8KiB) {
  const std::string text(8193, 'x');
  EXPECT_EQ(ThereAndBack(absl::InternalError(text.substr(1))).message(),
            text.substr(1));
  EXPECT_EQ(ThereAndBack(absl::InternalError(text)).message(), text.substr(1));
}

// proto3 refuses strings that are not UTF-8, so a cut must not make one.
TEST(StatusCodec, CutsBetweenCharacters) {
  for (int before = 0; before < 4; ++before) {
    std::string text(before, 'x');
    while (text.size() < 9000) text += "\xF0\x9F\x9A\xA2";
    const std::string back(ThereAndBack(absl::InternalError(text)).message());
    EXPECT_GT(back.size(), 8188u);
    EXPECT_LE(back.size(), 8192u);
    EXPECT_EQ(back, text.substr(0, back.size()));
    EXPECT_EQ((back.size() - before) % 4, 0u);
  }
}

TEST(StatusCodec, NothingIsLeftOfAMessageThatNeverBeginsACharacter) {
  EXPECT_EQ(ThereAndBack(absl::InternalError(std::string(9000, '\x80'))),
            absl::InternalError(""));
}

TEST(StatusCodec, OtherBytesAreEscaped) {
  EXPECT_EQ(ThereAndBack(absl::NotFoundError("no \xFFile")),
            absl::NotFoundError("no \\377ile"));
  const absl::Status back =
      ThereAndBack(absl::NotFoundError(std::string(9000, '\xFF')));
  EXPECT_LE(back.message().size(), 8192u);
  EXPECT_GT(back.message().size(), 8000u);
}

}  // namespace
}  // namespace hawser
