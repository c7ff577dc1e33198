#include "server/session/executable_cache.h"

#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/server/session/stand_ins.h"

namespace hawser::server {
namespace {

Digest Name(int i) { return DigestOf(absl::StrCat("module ", i)); }

TEST(ExecutableCache, FindsWhatTheTenantHasShown) {
  ExecutableCache cache(4);
  const auto executable = NewExecutable();
  EXPECT_EQ(cache.Find("a", Name(1)), nullptr);
  EXPECT_EQ(cache.Add("a", Name(1), executable), executable);
  EXPECT_EQ(cache.Find("a", Name(1)), executable);
  EXPECT_EQ(cache.Find("a", Name(2)), nullptr);
  EXPECT_EQ(cache.size(), 1u);
}

TEST(ExecutableCache, AnotherTenantMustShowTheModuleFirst) {
  ExecutableCache cache(4);
  const auto executable = cache.Add("a", Name(1), NewExecutable());
  EXPECT_EQ(cache.Find("b", Name(1)), nullptr);
  EXPECT_EQ(cache.Join("b", Name(1)), executable);
  EXPECT_EQ(cache.Find("b", Name(1)), executable);
  EXPECT_EQ(cache.Find("c", Name(1)), nullptr);
  EXPECT_EQ(cache.Join("b", Name(2)), nullptr);
  EXPECT_EQ(cache.Find("b", Name(2)), nullptr) << "Join of nothing is no claim";
}

TEST(ExecutableCache, TheFirstToCompileWins) {
  ExecutableCache cache(4);
  const auto first = cache.Add("a", Name(1), NewExecutable());
  EXPECT_EQ(cache.Add("b", Name(1), NewExecutable()), first);
  EXPECT_EQ(cache.Find("b", Name(1)), first);
  EXPECT_EQ(cache.size(), 1u);
}

TEST(ExecutableCache, TheLeastRecentlyUsedGoes) {
  ExecutableCache cache(2);
  cache.Add("a", Name(1), NewExecutable());
  cache.Add("a", Name(2), NewExecutable());
  EXPECT_NE(cache.Find("a", Name(1)), nullptr);  // 2 is older now
  cache.Add("a", Name(3), NewExecutable());
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_NE(cache.Find("a", Name(1)), nullptr);
  EXPECT_EQ(cache.Find("a", Name(2)), nullptr);
  EXPECT_NE(cache.Find("a", Name(3)), nullptr);
}

TEST(ExecutableCache, WhatSomebodyHoldsStays) {
  ExecutableCache cache(1);
  auto held = cache.Add("a", Name(1), NewExecutable());
  const auto also = cache.Add("a", Name(2), NewExecutable());
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_EQ(cache.Find("a", Name(1)), held);
  held = nullptr;
  cache.Add("a", Name(3), NewExecutable());
  EXPECT_EQ(cache.Find("a", Name(1)), nullptr);
  EXPECT_EQ(cache.Find("a", Name(2)), also);
}

// F14f: 1,100 compiles of one tenant evicted what all others had.
TEST(ExecutableCache, ATenantEvictsItsOwn) {
  ExecutableCache cache(8);
  for (int i = 0; i < 3; ++i) cache.Add("b", Name(100 + i), NewExecutable());
  for (int i = 0; i < 50; ++i) cache.Add("a", Name(i), NewExecutable());
  EXPECT_EQ(cache.size(), 8u);
  for (int i = 0; i < 3; ++i) EXPECT_NE(cache.Find("b", Name(100 + i)), nullptr);
  EXPECT_NE(cache.Find("a", Name(49)), nullptr);
  EXPECT_EQ(cache.Find("a", Name(44)), nullptr);
}

TEST(ExecutableCache, WhatATenantPinsDoesNotEvictAnothers) {
  ExecutableCache cache(8);
  for (int i = 0; i < 3; ++i) cache.Add("b", Name(100 + i), NewExecutable());
  std::vector<ExecutableCache::Pointer> held;
  for (int i = 0; i < 50; ++i) {
    held.push_back(cache.Add("a", Name(i), NewExecutable()));
  }
  EXPECT_EQ(cache.size(), 53u);
  held.clear();
  cache.Add("a", Name(50), NewExecutable());
  EXPECT_EQ(cache.size(), 8u);
  for (int i = 0; i < 3; ++i) EXPECT_NE(cache.Find("b", Name(100 + i)), nullptr);
}

TEST(ExecutableCache, AnEvictedModuleMustBeShownAgain) {
  ExecutableCache cache(1);
  cache.Add("a", Name(1), NewExecutable());
  cache.Join("b", Name(1));
  cache.Add("a", Name(2), NewExecutable());
  EXPECT_EQ(cache.Join("b", Name(1)), nullptr);
  cache.Add("b", Name(1), NewExecutable());
  EXPECT_EQ(cache.Find("a", Name(1)), nullptr)
      << "a's claim went with the executable it was for";
}

TEST(ExecutableCache, ManyThreadsSeeOneExecutablePerModule) {
  constexpr int kModules = 8;
  ExecutableCache cache(kModules);
  std::vector<std::vector<ExecutableCache::Pointer>> seen(4);
  std::vector<std::thread> threads;
  for (auto& mine : seen) {
    threads.emplace_back([&cache, &mine] {
      for (int i = 0; i < kModules; ++i) {
        mine.push_back(cache.Add("a", Name(i), NewExecutable()));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& mine : seen) EXPECT_EQ(mine, seen[0]);
  EXPECT_EQ(cache.size(), static_cast<size_t>(kModules));
}

}  // namespace
}  // namespace hawser::server
