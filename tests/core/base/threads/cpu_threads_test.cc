#include "core/base/threads/cpu_threads.h"

#include <sched.h>

#include <atomic>
#include <thread>

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

cpu_set_t CoresOf(pid_t thread) {
  cpu_set_t cores = {};
  EXPECT_EQ(sched_getaffinity(thread, sizeof(cores), &cores), 0);
  return cores;
}

TEST(ThreadPlace, KeepsAThreadOffACoreUntilItReturns) {
  const cpu_set_t allowed = CoresOf(0);
  if (CPU_COUNT(&allowed) < 2) GTEST_SKIP() << "this process may run on one core only";
  ThreadPlace place;
  std::atomic<int> step{0};
  std::thread sleeper([&] {
    place.Leave();
    for (step = 1; step < 2;) std::this_thread::yield();
    const cpu_set_t others = CoresOf(0);
    EXPECT_EQ(CPU_COUNT(&others), CPU_COUNT(&allowed) - 1);
    place.Return();
    const cpu_set_t again = CoresOf(0);
    EXPECT_TRUE(CPU_EQUAL(&again, &allowed));
    place.Return();  // nothing more
  });
  while (step < 1) std::this_thread::yield();
  place.Avoid();
  step = 2;
  sleeper.join();
}

TEST(ThreadPlace, KnowsTheCallersCore) {
  const cpu_set_t allowed = CoresOf(0);
  cpu_set_t one = {};
  CPU_SET(sched_getcpu(), &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  ThreadPlace place;
  EXPECT_FALSE(place.IsHere());
  place.Leave();
  EXPECT_TRUE(place.IsHere());
  // There is no other core: it may run where it ran.
  place.Avoid();
  const cpu_set_t same = CoresOf(0);
  EXPECT_TRUE(CPU_EQUAL(&same, &one));
  ASSERT_EQ(sched_setaffinity(0, sizeof(allowed), &allowed), 0);
}

}  // namespace
}  // namespace hawser
