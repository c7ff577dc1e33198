#include "core/base/values/half.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace hawser {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Every one of the 65,536 patterns survives the way to float and back. NaNs
// stay NaNs; signalling ones become quiet.
template <typename H>
void ExpectAllPatternsRoundTrip() {
  int nans = 0;
  for (uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const H h = H::FromBits(static_cast<uint16_t>(bits));
    const float f = h;
    const H back(f);
    if (std::isnan(f)) {
      ++nans;
      ASSERT_TRUE(std::isnan(static_cast<float>(back))) << bits;
    } else {
      ASSERT_EQ(back.bits, h.bits) << bits;
    }
  }
  EXPECT_GT(nans, 0);
}

TEST(Half, AllPatternsRoundTrip) { ExpectAllPatternsRoundTrip<Half>(); }
TEST(BFloat16, AllPatternsRoundTrip) { ExpectAllPatternsRoundTrip<BFloat16>(); }

TEST(Half, KnownValues) {
  EXPECT_EQ(static_cast<float>(Half::FromBits(0x3C00)), 1.0f);
  EXPECT_EQ(static_cast<float>(Half::FromBits(0xC000)), -2.0f);
  EXPECT_EQ(static_cast<float>(Half::FromBits(0x7BFF)), 65504.0f);
  EXPECT_EQ(static_cast<float>(Half::FromBits(0x0400)), 0x1p-14f);
  EXPECT_EQ(static_cast<float>(Half::FromBits(0x0001)), 0x1p-24f);
  EXPECT_EQ(static_cast<float>(Half::FromBits(0x7C00)), kInfinity);
  EXPECT_EQ(Half(0.1f).bits, 0x2E66);
  EXPECT_EQ(Half(-0.0f).bits, 0x8000);
}

TEST(Half, TiesGoToEven) {
  EXPECT_EQ(Half(1.0f + 0x1p-11f).bits, 0x3C00);            // down to 1
  EXPECT_EQ(Half(1.0f + 3 * 0x1p-11f).bits, 0x3C02);        // up
  EXPECT_EQ(Half(1.0f + 0x1p-11f + 0x1p-23f).bits, 0x3C01);  // above a tie
  EXPECT_EQ(Half(std::nextafter(1.0f + 3 * 0x1p-11f, 0.0f)).bits, 0x3C01);
}

TEST(Half, SubnormalsRoundToo) {
  EXPECT_EQ(Half(0x1p-25f).bits, 0x0000);  // a tie with zero
  EXPECT_EQ(Half(std::nextafter(0x1p-25f, 1.0f)).bits, 0x0001);
  EXPECT_EQ(Half(3 * 0x1p-25f).bits, 0x0002);  // a tie, up to even
  EXPECT_EQ(Half(-0x1p-26f).bits, 0x8000);
  // The largest subnormal and a half rounds up to the smallest normal.
  EXPECT_EQ(Half(0x1p-14f - 0x1p-25f).bits, 0x0400);
  EXPECT_EQ(Half(std::numeric_limits<float>::denorm_min()).bits, 0x0000);
}

TEST(Half, OverflowsToInfinityFromTheMiddle) {
  EXPECT_EQ(Half(65519.996f).bits, 0x7BFF);
  EXPECT_EQ(Half(65520.0f).bits, 0x7C00);
  EXPECT_EQ(Half(-kInfinity).bits, 0xFC00);
  EXPECT_EQ(Half(3e38f).bits, 0x7C00);
}

TEST(Half, NaNKeepsSign) {
  EXPECT_EQ(Half(std::copysign(std::nanf(""), -1.0f)).bits & 0x8000, 0x8000);
  // A payload in the low bits alone must not become infinity.
  EXPECT_TRUE(std::isnan(
      static_cast<float>(Half(std::bit_cast<float>(0x7F800001u)))));
}

TEST(BFloat16, RoundsToEven) {
  EXPECT_EQ(BFloat16(1.0f).bits, 0x3F80);
  EXPECT_EQ(BFloat16(1.0f + 0x1p-8f).bits, 0x3F80);
  EXPECT_EQ(BFloat16(1.0f + 3 * 0x1p-8f).bits, 0x3F82);
  EXPECT_EQ(BFloat16(std::nextafter(1.0f + 0x1p-8f, 2.0f)).bits, 0x3F81);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits, 0x7F80);
  EXPECT_EQ(BFloat16(-kInfinity).bits, 0xFF80);
  EXPECT_TRUE(std::isnan(
      static_cast<float>(BFloat16(std::bit_cast<float>(0x7F800001u)))));
}

TEST(Half, IsUsableAtCompileTime) {
  static_assert(Half(2.5f).bits == 0x4100);
  static_assert(static_cast<float>(BFloat16(2.5f)) == 2.5f);
}

}  // namespace
}  // namespace hawser
