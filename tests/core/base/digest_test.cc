#include "core/base/digest.h"

#include <string>

#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

constexpr absl::string_view kAbcHex =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
constexpr absl::string_view kAbcBase32 =
    "xj4bnp4pahh6uqkbidpf3lrceoyagyndsylxvhfucd7wd4qacwwq";

Digest OfText(absl::string_view text) {
  return Sha256(absl::MakeConstSpan(text.data(), text.size()));
}

// FIPS 180-4 examples.
TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(OfText("abc").ToHex(), kAbcHex);
  EXPECT_EQ(
      OfText("").ToHex(),
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(
      OfText(std::string(1000000, 'a')).ToHex(),
      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Hasher, PiecesAddUp) {
  Hasher hasher;
  for (char c : {'a', 'b', 'c'}) hasher.Bytes({&c, 1});
  EXPECT_EQ(hasher.Finish().ToHex(), kAbcHex);
}

// SHA-256 of 03 00.. 02 00.. "ab": written once, by Python's hashlib.
TEST(Hasher, IntegersAndTextsHaveAFixedForm) {
  EXPECT_EQ(Hasher().Integer(3).Text("ab").Finish().ToHex(),
            "33f29308120d2232b168934f6079ff7958afe63b12aec4f1c6d01a777bef"
            "272e");
}

TEST(Hasher, IntegersAreEightBytesLowestFirst) {
  EXPECT_EQ(Hasher().Integer(0x8182838485868788).Finish(),
            OfText("\x88\x87\x86\x85\x84\x83\x82\x81"));
}

TEST(Hasher, TextsDoNotRunTogether) {
  EXPECT_NE(Hasher().Text("ab").Text("c").Finish(),
            Hasher().Text("a").Text("bc").Finish());
  EXPECT_EQ(Hasher().Add(OfText("x")).Finish(),
            Hasher().Bytes(OfText("x").bytes()).Finish());
}

TEST(Digest, TextFormsReadBack) {
  const Digest abc = OfText("abc");
  EXPECT_EQ(abc.ToBase32(), kAbcBase32);
  EXPECT_EQ(*Digest::FromBase32(kAbcBase32), abc);
  EXPECT_EQ(*Digest::FromHex(kAbcHex), abc);
  EXPECT_EQ(*Digest::FromBytes(abc.bytes()), abc);
  for (absl::string_view text : {"a", "b", "c", "d"}) {
    const Digest d = OfText(text);
    EXPECT_EQ(*Digest::FromBase32(d.ToBase32()), d);
  }
}

// A name has one spelling, or two tokens would be one dataset.
TEST(Digest, Base32HasOneSpelling) {
  std::string text(kAbcBase32);
  for (char last : {'r', 'a', 'z', 'c'}) {
    text.back() = last;
    const auto read = Digest::FromBase32(text);
    if (last == 'a') {
      ASSERT_OK(read);
      EXPECT_EQ(read->ToBase32(), text);
    } else {
      EXPECT_THAT(read, StatusIs(StatusCode::kInvalidArgument, "base32"))
          << last;
    }
  }
  text = std::string(kAbcBase32);
  text[0] = 'X';
  EXPECT_THAT(Digest::FromBase32(text),
              StatusIs(StatusCode::kInvalidArgument, "base32"));
  text[0] = '\0';
  EXPECT_THAT(Digest::FromBase32(text),
              StatusIs(StatusCode::kInvalidArgument, "base32"));
}

TEST(Digest, WrongSizesAreRefused) {
  EXPECT_THAT(Digest::FromBytes("short"),
              StatusIs(StatusCode::kInvalidArgument, "32 bytes, got 5"));
  EXPECT_THAT(Digest::FromBase32(kAbcBase32.substr(1)),
              StatusIs(StatusCode::kInvalidArgument, "got 51"));
  EXPECT_THAT(Digest::FromHex(kAbcHex.substr(1)),
              StatusIs(StatusCode::kInvalidArgument, "hex"));
  const std::string bad = "g" + std::string(kAbcHex.substr(1));
  EXPECT_THAT(Digest::FromHex(bad),
              StatusIs(StatusCode::kInvalidArgument, "hex"));
}

TEST(Digest, OrdersByBytes) {
  EXPECT_EQ(Digest().ToHex(), std::string(64, '0'));
  EXPECT_LT(Digest(), OfText("abc"));
}

}  // namespace
}  // namespace hawser
