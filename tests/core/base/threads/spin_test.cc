#include "core/base/threads/spin.h"

#include "gtest/gtest.h"

namespace hawser {
namespace {

TEST(SpinWait, SaysWhetherItCame) {
  SpinWait spin;
  int polls = 0;
  EXPECT_TRUE(spin.Until([&] { return ++polls == 3; }));
  EXPECT_EQ(polls, 3);
  EXPECT_FALSE(spin.Until([] { return false; }));
}

TEST(SpinWait, LearnsThatNothingComes) {
  SpinWait spin;
  int waits_with_a_poll = 0;
  for (int i = 0; i < 1000; ++i) {
    bool polled = false;
    EXPECT_FALSE(spin.Until([&] {
      polled = true;
      return false;
    }));
    waits_with_a_poll += polled;
  }
  EXPECT_GT(waits_with_a_poll, 0);
  EXPECT_LT(waits_with_a_poll, 20);
}

TEST(SpinWait, LearnsThatItComesAgain) {
  SpinWait spin;
  for (int i = 0; i < 10; ++i) spin.Until([] { return false; });
  int came = 0;
  for (int i = 0; i < 100000; ++i) {
    int polls = 0;
    came += spin.Until([&] { return ++polls == 2; });
  }
  // All but the waits that it takes to have another look, and those during
  // which the kernel ran something else.
  EXPECT_GT(came, 10000);
}

TEST(SpinWait, LearnsNothingFromWhatIsThereAtOnce) {
  SpinWait spin;
  for (int i = 0; i < 10; ++i) spin.Until([] { return false; });
  int came = 0;
  for (int i = 0; i < 100000; ++i) came += spin.Until([] { return true; });
  EXPECT_GT(came, 0);
  EXPECT_LT(came, 10000);
}

}  // namespace
}  // namespace hawser
