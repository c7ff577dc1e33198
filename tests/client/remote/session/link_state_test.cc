// LinkState by told times: what it wants when, and what it gives up.
#include "client/remote/session/link_state.h"

#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/remote/link/options.h"
#include "client/remote/link/transport.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using Phase = LinkState::Phase;

constexpr LinkState::Owed kNothing;
constexpr LinkState::Owed kAnswers = {.answers = true};

class LinkStateTest : public ::testing::Test {
 protected:
  LinkStateTest() {
    options_.connect_timeout = absl::Seconds(5);
    options_.silence = absl::Seconds(4);
    options_.reattach_for = absl::Seconds(20);
  }

  static absl::Time At(double seconds) {
    return absl::UnixEpoch() + absl::Seconds(seconds);
  }
  // Open from second 1 on, with a lease of 30 s.
  LinkState Open() {
    LinkState link("here", options_);
    link.Start(At(0));
    link.Attached(absl::Seconds(30), At(1));
    return link;
  }
  static StreamEnd Broken(absl::Status why, bool refused = false) {
    return {.why = std::move(why), .refused = refused};
  }

  RemoteOptions options_;
};

TEST_F(LinkStateTest, AStreamThatNeverOpensIsGivenUpAfterTheConnectTimeout) {
  LinkState link("here", options_);
  link.Start(At(0));
  EXPECT_EQ(link.phase(), Phase::kOpening);
  EXPECT_EQ(link.detached_since(), At(0));
  EXPECT_LE(link.NextLook(kNothing, At(0)), At(5));
  EXPECT_OK(link.Check(kNothing, At(5)));
  EXPECT_THAT(
      link.Check(kNothing, At(5.1)),
      StatusIs(absl::StatusCode::kUnavailable, "here: no answer within 5s"));
}

TEST_F(LinkStateTest, HowAStreamEndedBeforeItOpenedIsSaid) {
  const struct {
    absl::Status why;
    absl::StatusCode code;
    const char* text;
  } kCases[] = {
      {absl::OkStatus(), absl::StatusCode::kUnavailable, "closed the session"},
      {absl::UnimplementedError("what"), absl::StatusCode::kUnavailable,
       "no hawser server: what"},
      {absl::UnavailableError("refused"), absl::StatusCode::kUnavailable,
       "cannot be reached: refused"},
      {absl::PermissionDeniedError("no"), absl::StatusCode::kPermissionDenied,
       "here"},
  };
  for (const auto& c : kCases) {
    LinkState link("here", options_);
    link.Start(At(0));
    EXPECT_THAT(link.Ended(Broken(c.why), At(1)), StatusIs(c.code, c.text));
  }
}

TEST_F(LinkStateTest, ABrokenStreamIsReopenedAtOnceThenEverMoreSlowly) {
  LinkState link = Open();
  double now = 2;
  ASSERT_OK(link.Ended(Broken(absl::UnavailableError("cut")), At(now)));
  EXPECT_EQ(link.detached_since(), At(2));
  EXPECT_TRUE(link.WantsStream(At(now)));
  for (const double backoff : {0.05, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0}) {
    link.Reopen(At(now));
    EXPECT_FALSE(link.WantsStream(At(now)));
    ASSERT_OK(link.Ended(Broken(absl::UnavailableError("cut")), At(now)));
    EXPECT_FALSE(link.WantsStream(At(now + backoff - 0.001)));
    EXPECT_EQ(link.NextLook(kNothing, At(now)), At(now + backoff));
    EXPECT_TRUE(link.WantsStream(At(now + backoff)));
    now += backoff;
  }
  EXPECT_EQ(link.detached_since(), At(2));
}

TEST_F(LinkStateTest, TwoRefusalsInARowAreTheEndAndOneIsNot) {
  LinkState link = Open();
  const StreamEnd refused = Broken(absl::UnavailableError("x"), true);
  ASSERT_OK(link.Ended(refused, At(2)));
  link.Reopen(At(2));
  ASSERT_OK(link.Ended(Broken(absl::UnavailableError("cut")), At(3)));
  link.Reopen(At(3));
  ASSERT_OK(link.Ended(refused, At(4)));
  link.Reopen(At(4));
  EXPECT_THAT(link.Ended(refused, At(5)),
              StatusIs(absl::StatusCode::kUnavailable, "nobody listens there"));
}

TEST_F(LinkStateTest, AnEndThatNoOtherStreamMendsLosesTheSession) {
  LinkState link = Open();
  EXPECT_THAT(link.Ended(Broken(absl::PermissionDeniedError("gone")), At(2)),
              StatusIs(absl::StatusCode::kUnavailable, "gone"));
}

TEST_F(LinkStateTest, AStreamThatDoesNotReopenIsBrokenAndTriedAgain) {
  LinkState link = Open();
  ASSERT_OK(link.Ended(Broken(absl::UnavailableError("cut")), At(2)));
  link.Reopen(At(2));
  EXPECT_OK(link.Check(kNothing, At(7.1)));
  EXPECT_EQ(link.phase(), Phase::kBroken);
}

TEST_F(LinkStateTest, ReattachingEndsAfterTheUsersTime) {
  LinkState link = Open();
  link.Heard(At(10));
  ASSERT_OK(link.Ended(Broken(absl::UnavailableError("cut")), At(10)));
  EXPECT_OK(link.Check(kNothing, At(30)));
  EXPECT_THAT(link.Check(kNothing, At(30.1)),
              StatusIs(absl::StatusCode::kUnavailable,
                       "could not reattach within 20s"));
}

TEST_F(LinkStateTest, NothingHeardForTheLeaseLosesTheSession) {
  LinkState link = Open();
  EXPECT_OK(link.Check(kNothing, At(31)));
  EXPECT_THAT(
      link.Check(kNothing, At(31.1)),
      StatusIs(absl::StatusCode::kUnavailable, "nothing heard for 30s"));
}

TEST_F(LinkStateTest, ALeaseIsTakenWithinItsBounds) {
  LinkState link("here", options_);
  link.Start(At(0));
  link.Attached(absl::ZeroDuration(), At(0));
  EXPECT_TRUE(link.was_open());
  EXPECT_OK(link.Check(kNothing, At(0.1)));
  EXPECT_FALSE(link.Check(kNothing, At(0.11)).ok());
  link.Attached(absl::Hours(24), At(0));
  EXPECT_OK(link.Check(kNothing, At(3600)));
  EXPECT_FALSE(link.Check(kNothing, At(3601)).ok());
}

TEST_F(LinkStateTest, AnIdleSessionPingsThreeTimesALease) {
  LinkState link = Open();
  EXPECT_EQ(link.NextLook(kNothing, At(1)), At(11));
  EXPECT_FALSE(link.WantsPing(kNothing, At(10.9)));
  EXPECT_TRUE(link.WantsPing(kNothing, At(11)));
  link.Sent(At(11));
  EXPECT_FALSE(link.WantsPing(kNothing, At(12)));
}

TEST_F(LinkStateTest, ReleasesWaitAMomentForAMessage) {
  LinkState link = Open();
  const LinkState::Owed releases = {.releases = true};
  EXPECT_EQ(link.NextLook(releases, At(1)), At(1.05));
  EXPECT_FALSE(link.WantsPing(releases, At(1.04)));
  EXPECT_TRUE(link.WantsPing(releases, At(1.05)));
}

TEST_F(LinkStateTest, ASilentServerIsPingedThenSaidThenGivenUpIfWanted) {
  for (const bool give_up : {false, true}) {
    options_.give_up_silent = give_up;
    LinkState link = Open();
    link.Sent(At(2));
    link.Asked(At(2));
    EXPECT_EQ(link.NextLook(kAnswers, At(2)), At(4));
    EXPECT_FALSE(link.WantsPing(kAnswers, At(3.9)));
    EXPECT_TRUE(link.WantsPing(kAnswers, At(4)));
    // Without a ping that went unanswered, silence proves nothing.
    EXPECT_OK(link.Check(kAnswers, At(7)));
    link.Pinged(At(4));
    EXPECT_FALSE(link.WantsPing(kAnswers, At(5)));
    EXPECT_OK(link.Check(kAnswers, At(5.9)));
    EXPECT_EQ(link.Check(kAnswers, At(6)).ok(), !give_up);
  }
}

TEST_F(LinkStateTest, AnAnswerOrNothingOwedEndsTheSilence) {
  options_.give_up_silent = true;
  LinkState link = Open();
  link.Asked(At(2));
  link.Pinged(At(4));
  EXPECT_OK(link.Check(kNothing, At(9)));
  link.Heard(At(5));
  EXPECT_OK(link.Check(kAnswers, At(9)));
  EXPECT_TRUE(link.WantsPing(kAnswers, At(7)));
}

TEST_F(LinkStateTest, TimeInWhichThisProcessStoodStillCountsAgainstNoServer) {
  LinkState link = Open();
  link.Forgive(absl::Seconds(100));
  EXPECT_OK(link.Check(kNothing, At(131)));
  EXPECT_FALSE(link.Check(kNothing, At(131.1)).ok());
}

TEST_F(LinkStateTest, ALostLinkStaysLost) {
  LinkState link = Open();
  link.Lose();
  EXPECT_TRUE(link.lost());
  EXPECT_FALSE(link.WantsStream(At(100)));
  EXPECT_FALSE(link.WantsPing(kAnswers, At(100)));
}

}  // namespace
}  // namespace hawser
