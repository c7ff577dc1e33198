#include "client/fallback/attempt.h"

#include "absl/time/clock.h"
#include "core/base/clock.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

struct Timed {
  Promise<int> answer;
  Future<int> Wait(absl::Duration time) {
    return Within(answer.future(), SteadyNow() + time);
  }
};

TEST(Within, TheAnswerInTimeIsTheAnswer) {
  Timed timed;
  const Future<int> result = timed.Wait(absl::Hours(1));
  EXPECT_FALSE(result.ready());
  timed.answer.Set(7);
  ASSERT_TRUE(result.ready());
  EXPECT_EQ(*result.Await(), 7);
}

TEST(Within, AnErrorInTimeIsTheAnswerToo) {
  Timed timed;
  timed.answer.Set(NotFound("nothing here"));
  EXPECT_THAT(timed.Wait(absl::Hours(1)).Await(),
              StatusIs(StatusCode::kNotFound, "nothing here"));
}

TEST(Within, AfterTheTimeItIsDeadlineExceeded) {
  Timed timed;
  const Future<int> result = timed.Wait(absl::Milliseconds(10));
  EXPECT_THAT(result.Await(SteadyNow() + absl::Seconds(30)),
              StatusIs(StatusCode::kDeadlineExceeded, "in time"));
  timed.answer.Set(7);  // too late
  EXPECT_THAT(result.Await(), StatusIs(StatusCode::kDeadlineExceeded, ""));
}

TEST(Within, ATimeThatIsOverStillTakesAnAnswerThatIsThere) {
  Timed timed;
  timed.answer.Set(7);
  const auto value =
      Within(timed.answer.future(), absl::InfinitePast()).Await();
  // Either may win; nothing else may come out.
  EXPECT_TRUE(value.ok() || absl::IsDeadlineExceeded(value.status()))
      << value.status();
}

TEST(Within, NoTimeIsNoTimer) {
  Timed timed;
  const Future<int> result =
      Within(timed.answer.future(), absl::InfiniteFuture());
  timed.answer.Set(7);
  EXPECT_EQ(*result.Await(), 7);
}

TEST(Within, AnswersAndTimersRace) {
  for (int i = 0; i < 500; ++i) {
    Promise<int> answer;
    const Future<int> result =
        Within(answer.future(), SteadyNow() + absl::Microseconds(i % 60));
    absl::SleepFor(absl::Microseconds(1));
    answer.Set(i);
    const absl::StatusOr<int> value = result.Await();
    if (value.ok()) {
      EXPECT_EQ(*value, i);
    } else {
      EXPECT_TRUE(absl::IsDeadlineExceeded(value.status()));
    }
  }
}

}  // namespace
}  // namespace hawser
