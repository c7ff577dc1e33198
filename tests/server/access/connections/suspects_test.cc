#include "server/access/connections/suspects.h"

#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"

namespace hawser::server {
namespace {

const absl::Time kStart = absl::FromUnixSeconds(1000);

TEST(SuspectsTest, OnlyAnAddressThatMisbehavedWaits) {
  Suspects suspects;
  suspects.Add("bad", kStart);
  EXPECT_EQ(suspects.NextSlot("good", kStart), kStart);
  EXPECT_GT(suspects.NextSlot("bad", kStart), kStart);
}

TEST(SuspectsTest, SlotsLieFurtherApartTheMoreOftenOneWasClosed) {
  Suspects suspects;
  absl::Duration before;
  for (int closed = 1; closed <= 3; ++closed) {
    suspects.Add("bad", kStart);
    const absl::Time first = suspects.NextSlot("bad", kStart).value();
    const absl::Duration gap = suspects.NextSlot("bad", kStart).value() - first;
    EXPECT_GT(gap, before);
    before = gap;
  }
}

TEST(SuspectsTest, AFloodOfConnectionsTakesNoSlotBeyondHalfAMinute) {
  Suspects suspects;
  suspects.Add("bad", kStart);
  absl::Time last = kStart;
  int slots = 0;
  while (const auto slot = suspects.NextSlot("bad", kStart)) {
    EXPECT_GE(*slot, last + absl::Milliseconds(50));
    last = *slot;
    ASSERT_LT(++slots, 1000);
  }
  EXPECT_GT(slots, 100);
  EXPECT_LE(last, kStart + absl::Seconds(30));
  EXPECT_EQ(suspects.NextSlot("bad", kStart), std::nullopt);
  // Those that were refused have taken none of the slots to come.
  const absl::Time later = kStart + absl::Seconds(10);
  EXPECT_LE(suspects.NextSlot("bad", later).value(), later + absl::Seconds(30));
}

TEST(SuspectsTest, AfterHalfAMinuteOfPeaceNothingWaits) {
  Suspects suspects;
  suspects.Add("bad", kStart);
  const absl::Time later = kStart + absl::Seconds(31);
  EXPECT_EQ(suspects.NextSlot("bad", later), later);
}

TEST(SuspectsTest, TheOneThatBehavedForLongestMakesRoom) {
  Suspects suspects;
  const auto at = [](int i) { return kStart + i * absl::Milliseconds(1); };
  for (int i = 0; i <= 1024; ++i) suspects.Add(absl::StrCat("bad", i), at(i));
  const absl::Time now = at(1024);
  const auto is_suspect = [&](const char* host) {
    suspects.NextSlot(host, now);
    return suspects.NextSlot(host, now) != now;
  };
  EXPECT_FALSE(is_suspect("bad0"));
  EXPECT_TRUE(is_suspect("bad1"));
  EXPECT_TRUE(is_suspect("bad1024"));
}

}  // namespace
}  // namespace hawser::server
