#include "client/fallback/policy.h"

#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

bool Triggers(StatusCode code, bool timed_out, bool link_lost,
              const FallbackPolicy& policy = {}) {
  return TriggersFallback(policy, absl::Status(code, "why"), timed_out,
                          link_lost);
}

TEST(Policy, WhatThePrimaryLacksTriggers) {
  EXPECT_TRUE(Triggers(StatusCode::kUnavailable, false, false));
  EXPECT_TRUE(Triggers(StatusCode::kResourceExhausted, false, false));
  EXPECT_TRUE(Triggers(StatusCode::kUnimplemented, false, false));
}

TEST(Policy, OnlyTheAttemptsOwnTimeoutTriggers) {
  EXPECT_TRUE(Triggers(StatusCode::kDeadlineExceeded, true, false));
  EXPECT_FALSE(Triggers(StatusCode::kDeadlineExceeded, false, false));
}

TEST(Policy, ABadGraphNeverTriggers) {
  for (bool timed_out : {false, true}) {
    for (bool link_lost : {false, true}) {
      EXPECT_FALSE(Triggers(StatusCode::kInvalidArgument, timed_out, link_lost));
      EXPECT_FALSE(Triggers(StatusCode::kOk, timed_out, link_lost));
    }
  }
}

TEST(Policy, EchoesOfALostLinkTriggerOnlyThen) {
  for (StatusCode code :
       {StatusCode::kNotFound, StatusCode::kFailedPrecondition,
        StatusCode::kInternal, StatusCode::kDataLoss, StatusCode::kCancelled,
        StatusCode::kPermissionDenied}) {
    EXPECT_FALSE(Triggers(code, true, false)) << absl::StatusCodeToString(code);
    EXPECT_TRUE(Triggers(code, false, true)) << absl::StatusCodeToString(code);
  }
}

TEST(Policy, EachTriggerCanBeSwitchedOff) {
  const FallbackPolicy never{.on_unavailable = false,
                             .on_resource_exhausted = false,
                             .on_unimplemented = false,
                             .on_attempt_timeout = false};
  for (int code = 0; code <= 16; ++code) {
    EXPECT_FALSE(Triggers(static_cast<StatusCode>(code), true, true, never))
        << code;
  }
}

}  // namespace
}  // namespace hawser
