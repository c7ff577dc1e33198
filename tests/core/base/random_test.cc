#include "core/base/random.h"

#include <set>

#include "gtest/gtest.h"

namespace hawser {
namespace {

TEST(Random, BytesAreAsManyAsAskedForAndNeverTheSame) {
  EXPECT_EQ(RandomBytes(0), "");
  EXPECT_EQ(RandomBytes(1000).size(), 1000u);
  EXPECT_NE(RandomBytes(32), RandomBytes(32));
}

TEST(Random, NumbersDifferAndAreNotZero) {
  std::set<uint64_t> numbers;
  for (int i = 0; i < 1000; ++i) numbers.insert(RandomNumber());
  EXPECT_EQ(numbers.size(), 1000u);
  EXPECT_FALSE(numbers.contains(0));
}

}  // namespace
}  // namespace hawser
