#include "core/base/values/rounding.h"

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace hawser {
namespace {

// The half nearest to an exact number, by trying its neighbours in long double,
// which holds all halves, their middles and every integer of 64 bits.
template <typename T>
T NearestOf(long double value) {
  T best = T::FromBits(0);
  long double least = std::numeric_limits<long double>::infinity();
  const T near(static_cast<float>(value));
  for (int step = -2; step <= 2; ++step) {
    const T one = T::FromBits(static_cast<uint16_t>(near.bits + step));
    const auto wide = static_cast<long double>(static_cast<float>(one));
    if (!(std::abs(wide) <= std::numeric_limits<float>::max())) continue;
    const long double off = std::abs(wide - value);
    const bool even = (one.bits & 1) == 0;
    if (off < least || (off == least && even)) {
      least = off;
      best = one;
    }
  }
  return best;
}

template <typename T>
void ExpectRounded(long double value) {
  const auto as_double = static_cast<double>(value);
  EXPECT_EQ(RoundedTo<T>(as_double).bits, NearestOf<T>(as_double).bits)
      << as_double;
  EXPECT_EQ(RoundedTo<T>(value).bits, NearestOf<T>(value).bits)
      << static_cast<double>(value);
}

TEST(Rounding, OfDoublesAroundEveryMiddleIsOnce) {
  int tried = 0;
  for (int bits = 0x0200; bits < 0x7B00; bits += 37) {
    const auto add = [&](auto tag) {
      using T = decltype(tag);
      const float low = T::FromBits(static_cast<uint16_t>(bits));
      const float high = T::FromBits(static_cast<uint16_t>(bits + 1));
      const long double middle =
          (static_cast<long double>(low) + static_cast<long double>(high)) / 2;
      // Distances that f32 loses, that only double holds, and long double
      // alone.
      for (const long double off : {0.0L, 0x1p-26L, 0x1p-40L, 0x1p-60L}) {
        for (const int sign : {-1, 1}) {
          ExpectRounded<T>(sign * middle * (1 + off));
          ExpectRounded<T>(sign * middle * (1 - off));
          tried += 2;
        }
      }
    };
    add(Half());
    add(BFloat16());
  }
  std::cout << tried << " numbers beside the middle of two halves\n";
}

TEST(Rounding, OfIntegersIsOnce) {
  for (const int64_t value :
       {int64_t{16842753}, int64_t{16842751}, int64_t{16842752},
        (int64_t{1} << 60) + (int64_t{1} << 52) + 1,
        (int64_t{1} << 60) + (int64_t{1} << 52) - 1,
        (int64_t{1} << 60) + (int64_t{1} << 52), int64_t{2049}, int64_t{4099},
        std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(RoundedTo<BFloat16>(value).bits,
              NearestOf<BFloat16>(static_cast<long double>(value)).bits)
        << value;
    EXPECT_EQ(RoundedTo<BFloat16>(-value).bits,
              NearestOf<BFloat16>(-static_cast<long double>(value)).bits)
        << value;
    EXPECT_EQ(RoundedTo<BFloat16>(static_cast<uint64_t>(value)).bits,
              NearestOf<BFloat16>(static_cast<long double>(value)).bits)
        << value;
    if (value > 60000) continue;
    EXPECT_EQ(RoundedTo<Half>(value).bits,
              NearestOf<Half>(static_cast<long double>(value)).bits)
        << value;
  }
  EXPECT_EQ(RoundedTo<float>(uint64_t{18446743523953737727u}),
            18446742974197923840.0f);
}

// 1.00390625 is the middle between 1 and 1.0078125.
TEST(Rounding, OfTextIsOnce) {
  const struct {
    const char* text;
    float want;
  } cases[] = {
      {"1.00390625", 1},
      {"1.003906250000000000000000000001", 1.0078125f},
      {"1.003906249999999999999999999999", 1},
      {"-1.003906250000000000000000000001", -1.0078125f},
      {"0.1003906250000000000000000000001e1", 1.0078125f},
      {"100390625000000000000000000001e-29", 1.0078125f},
      {"10039062499999999999999999999.9e-28", 1},
      {"1.01171875", 1.015625f},  // the middle goes to the even one
      {"1.011718749999999999999999999999", 1.0078125f},
      {"1.011718750000000000000000000001", 1.015625f},
      {"1.00390625e+0", 1},
      {"1.0039062500000000000000000", 1},
      {"257", 256},
      {"257.00000000000000000000000001", 258},
      {"256.99999999999999999999999999", 256},
      {"16842752.000000000000001", 16908288},
      {"16842752", 16777216},
      {"0", 0},
      {"-0.0", -0.0f},
      {"3", 3},
  };
  for (const auto& [text, want] : cases) {
    const BFloat16 got(OddFloatOf(text, std::strtod(text, nullptr)));
    EXPECT_EQ(got.bits, BFloat16(want).bits) << text;
  }
}

}  // namespace
}  // namespace hawser
