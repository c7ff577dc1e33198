#include "core/base/clock.h"

#include "absl/time/clock.h"
#include "gtest/gtest.h"

namespace hawser {
namespace {

TEST(ClockTest, BeginsAsTheWallClockAndGoesOn) {
  const absl::Time now = SteadyNow();
  EXPECT_LT(absl::AbsDuration(now - absl::Now()), absl::Seconds(5));
  EXPECT_GE(SteadyNow(), now);
}

TEST(ClockTest, MomentsOfOtherClocksAreTheSameMoments) {
  const absl::Duration slack = absl::Seconds(5);
  for (const absl::Duration away :
       {absl::Hours(-2), absl::ZeroDuration(), absl::Hours(2)}) {
    const absl::Time time = SteadyNow() + away;
    EXPECT_LT(absl::AbsDuration(absl::FromChrono(ToWallChrono(time)) -
                                (absl::Now() + away)),
              slack);
    EXPECT_LT(absl::AbsDuration(FromWall(absl::Now() + away) - time), slack);
    EXPECT_LT(
        absl::AbsDuration(absl::FromChrono(ToSteadyChrono(time) -
                                           std::chrono::steady_clock::now()) -
                          away),
        slack);
  }
}

TEST(ClockTest, WhatIsFarAwayIsAYearAway) {
  EXPECT_LT(absl::FromChrono(ToWallChrono(absl::InfiniteFuture())),
            absl::Now() + absl::Hours(24 * 366));
  EXPECT_GT(ToSteadyChrono(absl::InfiniteFuture()),
            std::chrono::steady_clock::now() + std::chrono::hours(24 * 364));
  EXPECT_LT(ToSteadyChrono(absl::InfinitePast()),
            std::chrono::steady_clock::now());
  EXPECT_EQ(FromWall(absl::InfiniteFuture()), absl::InfiniteFuture());
  EXPECT_EQ(FromWall(absl::InfinitePast()), absl::InfinitePast());
}

}  // namespace
}  // namespace hawser
