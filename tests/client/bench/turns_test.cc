#include "client/bench/turns.h"

#include <vector>

#include "absl/time/clock.h"
#include "client/bench/timing.h"
#include "core/base/status.h"
#include "gtest/gtest.h"
#include "tests/testing/matchers.h"

namespace hawser::bench {
namespace {

Timed Ok() {
  return {"ok", [] { return absl::OkStatus(); }};
}

TEST(Turns, EachIsCalledAlsoWhenThereIsNoTime) {
  Timed a = Ok(), b = Ok();
  TakeTurns({&a, &b}, absl::ZeroDuration(), absl::Now(), {});
  EXPECT_EQ(a.micros.size(), 1u);
  EXPECT_EQ(b.micros.size(), 1u);
}

// Cancels at its tenth call.
Timed Tenth(const CancelToken& cancel) {
  return {"tenth",
          [cancel, calls = 0]() mutable {
            if (++calls == 10) cancel.Cancel();
            return absl::OkStatus();
          },
          /*most_per_turn=*/1};
}

TEST(Turns, TheyGoOnUntilTheEndAndTheFirstRoundIsForgotten) {
  const CancelToken cancel = CancelToken::WithFlag();
  Timed a = Ok(), b = Tenth(cancel);
  a.most_per_turn = 3;
  TakeTurns({&a, &b}, absl::InfiniteDuration(), absl::InfiniteFuture(), cancel);
  EXPECT_EQ(a.micros.size(), 27u);
  EXPECT_EQ(b.micros.size(), 9u);
  EXPECT_TRUE(a.measured());
}

TEST(Turns, WhatFailsGetsNoMoreTurns) {
  const CancelToken cancel = CancelToken::WithFlag();
  int calls = 0;
  Timed broken{"broken", [&]() -> absl::Status {
                 return ++calls == 3 ? Unavailable("gone") : absl::OkStatus();
               }};
  broken.most_per_turn = 1;
  Timed other = Tenth(cancel);
  TakeTurns({&broken, &other}, absl::ZeroDuration(), absl::InfiniteFuture(),
            cancel);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(broken.micros.size(), 1u);
  EXPECT_TRUE(absl::IsUnavailable(broken.failure));
  EXPECT_EQ(other.micros.size(), 9u);
}

TEST(Turns, EndWithTheirToken) {
  const CancelToken cancel = CancelToken::WithFlag();
  Timed a{"a", [&] {
            cancel.Cancel();
            return absl::OkStatus();
          }};
  Timed b = Ok();
  TakeTurns({&a, &b}, absl::Seconds(1), absl::InfiniteFuture(), cancel);
  EXPECT_TRUE(b.micros.empty());
}

TEST(Timing, AQuantileIsAValueOfTheList) {
  EXPECT_EQ(Quantile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(Quantile({3, 1, 2}, 0.0), 1);
  EXPECT_EQ(Quantile({3, 1, 2}, 1.0), 3);
  EXPECT_EQ(Quantile({7}, 0.99), 7);
}

}  // namespace
}  // namespace hawser::bench
