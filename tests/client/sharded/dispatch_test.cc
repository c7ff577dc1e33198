#include "client/sharded/places/dispatch.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace hawser {
namespace {

using Start = Dispatch::Start;

absl::Time At(double seconds) {
  return absl::UnixEpoch() + absl::Seconds(seconds);
}

// Runs tasks of 1 unit each on places of these speeds in virtual time, each
// place one after the other; returns when the last is done.
double Makespan(int tasks, const std::vector<double>& speeds) {
  Dispatch dispatch(static_cast<int>(speeds.size()));
  for (int t = 0; t < tasks; ++t) dispatch.Add({.number = t, .work = 1});
  std::vector<double> free(speeds.size(), 0);
  std::set<std::pair<double, std::pair<int, int64_t>>> ends;
  double now = 0;
  int done = 0;
  while (done < tasks) {
    while (const auto start = dispatch.Next(At(now))) {
      double& at = free[start->place];
      at = std::max(at, now) + 1 / speeds[start->place];
      ends.insert({at, {start->place, start->task}});
    }
    if (ends.empty()) return -1;
    const auto [at, which] = *ends.begin();
    ends.erase(ends.begin());
    now = at;
    dispatch.Done(which.second, which.first, At(now));
    ++done;
  }
  return now;
}

TEST(DispatchTest, FreeTasksGoTwoToAPlace) {
  Dispatch dispatch(2);
  for (int t = 0; t < 60; ++t) dispatch.Add({.number = t});
  // One each, as long as it is not known how fast they are.
  EXPECT_EQ(dispatch.Next(At(0)), (Start{0, 0}));
  EXPECT_EQ(dispatch.Next(At(0)), (Start{1, 1}));
  EXPECT_EQ(dispatch.Next(At(0)), std::nullopt);
  dispatch.Done(0, 0, At(1));
  EXPECT_EQ(dispatch.Next(At(1)), (Start{2, 0}));
  EXPECT_EQ(dispatch.Next(At(1)), (Start{3, 0}));
  EXPECT_EQ(dispatch.Next(At(1)), std::nullopt);
  dispatch.Done(1, 1, At(2));
  EXPECT_EQ(dispatch.Next(At(2)), (Start{4, 1}));
  EXPECT_EQ(dispatch.Next(At(2)), (Start{5, 1}));
  EXPECT_EQ(dispatch.under_way(1), 2);
}

TEST(DispatchTest, AFreeTaskGoesWhereItsBytesAre) {
  Dispatch dispatch(3);
  dispatch.Add({.number = 0, .bytes_there = {0, 10, 20}});
  dispatch.Add({.number = 1, .bytes_there = {5, 10, 0}});
  EXPECT_EQ(dispatch.Next(At(0)), (Start{0, 2}));
  EXPECT_EQ(dispatch.Next(At(0)), (Start{1, 1}));
}

TEST(DispatchTest, ATaskWithAHomeIsQueuedThereBehindOthers) {
  Dispatch dispatch(2);
  for (int t = 0; t < 5; ++t) dispatch.Add({.number = t, .home = 1});
  for (int t = 0; t < 5; ++t) {
    EXPECT_EQ(dispatch.Next(At(0)), (Start{t, 1}));
  }
  dispatch.SetOpen(1, false);
  EXPECT_EQ(dispatch.under_way(1), 0);
  dispatch.Add({.number = 5, .home = 1});
  EXPECT_EQ(dispatch.Next(At(0)), (Start{5, 0}));
}

TEST(DispatchTest, APlaceThatIsClosedOrUnfitGetsNothing) {
  Dispatch dispatch(2);
  dispatch.SetOpen(0, false);
  dispatch.Add({.number = 0, .unfit = {false, true}});
  EXPECT_EQ(dispatch.Next(At(0)), std::nullopt);
  dispatch.SetOpen(0, true);
  EXPECT_EQ(dispatch.Next(At(0)), (Start{0, 0}));
  dispatch.SetOpen(0, false);
  dispatch.SetOpen(1, false);
  EXPECT_FALSE(dispatch.any_open());
}

TEST(DispatchTest, WhatIsRemovedIsNotStarted) {
  Dispatch dispatch(1);
  dispatch.Add({.number = 7});
  EXPECT_TRUE(dispatch.Remove(7));
  EXPECT_FALSE(dispatch.Remove(7));
  EXPECT_EQ(dispatch.Next(At(0)), std::nullopt);
}

TEST(DispatchTest, SpeedIsMeasuredFromWhenAPlaceWasFree) {
  Dispatch dispatch(1);
  for (int t = 0; t < 3; ++t) dispatch.Add({.number = t, .work = 6});
  dispatch.Next(At(0));
  dispatch.Done(0, 0, At(2));
  EXPECT_DOUBLE_EQ(dispatch.speed(0), 3);
  dispatch.Next(At(2));
  dispatch.Next(At(2));  // queued behind it
  dispatch.Done(1, 0, At(4));
  dispatch.Done(2, 0, At(6));
  EXPECT_DOUBLE_EQ(dispatch.speed(0), 3);
}

// Of 12 tasks on places of speed 1, 2 and 4, the best there is is 1, 3 and 7 or
// 8, which takes 2; in equal parts it takes 4.
TEST(DispatchTest, ASlowPlaceDoesNotKeepTheOthers) {
  EXPECT_LE(Makespan(12, {1, 2, 4}), 2.01);
  EXPECT_LE(Makespan(24, {1, 2, 4}) * 7 / 24, 1.1);
  EXPECT_LE(Makespan(12, {1, 1, 1}), 4.01);
  for (int tasks = 1; tasks < 40; ++tasks) {
    const double best = tasks / 7.0;
    EXPECT_LE(Makespan(tasks, {1, 2, 4}), best + 1.01) << tasks;
    EXPECT_GT(Makespan(tasks, {1, 2, 4}), 0) << tasks;
  }
}

}  // namespace
}  // namespace hawser
