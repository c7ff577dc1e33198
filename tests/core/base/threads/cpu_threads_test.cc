#include "core/base/threads/cpu_threads.h"

#include "gtest/gtest.h"

namespace hawser {
namespace {

TEST(CpuThreads, AWishIsAWholeNumber) {
  EXPECT_EQ(ParseCpuThreads("1"), 1);
  EXPECT_EQ(ParseCpuThreads("1024"), 1024);
  for (const char* wish : {"", "0", "-3", "1025", "two", "2.5", "4x"}) {
    EXPECT_EQ(ParseCpuThreads(wish), std::nullopt) << wish;
    EXPECT_EQ(CpuThreads({.wish = wish, .processors = 8}), 8) << wish;
  }
  // It goes before all limits.
  EXPECT_EQ(
      CpuThreads({.wish = "16", .processors = 8, .cpu_max = "100000 100000\n"}),
      16);
}

TEST(CpuThreads, AQuotaGivesFewer) {
  const struct {
    const char* cpu_max;
    int threads;
  } rows[] = {
      {"max 100000\n", 8},    {"200000 100000\n", 2},
      {"150000 100000\n", 2}, {"1000 100000\n", 1},
      {"9900000 100000", 8},  {"", 8},
      {"nonsense\n", 8},      {"0 100000\n", 8},
      {"100000 0\n", 8},      {"-1 100000\n", 8},
      {"100000\n", 8},        {"9223372036854775807 1", 8},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(CpuThreads({.processors = 8, .cpu_max = row.cpu_max}),
              row.threads)
        << row.cpu_max;
  }
}

TEST(CpuThreads, VersionOneSaysItInTwoFiles) {
  EXPECT_EQ(
      CpuThreads({.processors = 8, .quota = "300000\n", .period = "100000\n"}),
      3);
  EXPECT_EQ(
      CpuThreads({.processors = 8, .quota = "-1\n", .period = "100000\n"}), 8);
}

TEST(CpuThreads, ThereIsOneAtLeast) {
  EXPECT_EQ(CpuThreads({.processors = 0}), 1);
  EXPECT_GE(CpuThreads(), 1);
}

}  // namespace
}  // namespace hawser
