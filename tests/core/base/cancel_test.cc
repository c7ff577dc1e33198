#include "core/base/cancel.h"

#include <thread>

#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

TEST(CancelToken, DefaultIsNeverCancelled) {
  const CancelToken token;
  token.Cancel();
  EXPECT_OK(token.Check());
  EXPECT_EQ(token.deadline(), absl::InfiniteFuture());
}

TEST(CancelToken, EveryCopySeesTheFlag) {
  const CancelToken token = CancelToken::WithFlag();
  const CancelToken copy = token;
  EXPECT_OK(copy.Check());
  std::thread other([&] { token.Cancel(); });
  other.join();
  EXPECT_THAT(copy.Check(), StatusIs(StatusCode::kCancelled, "caller"));
}

TEST(CancelToken, DeadlinePasses) {
  const CancelToken past(absl::Now() - absl::Seconds(1));
  EXPECT_THAT(past.Check(), StatusIs(StatusCode::kDeadlineExceeded, ""));
  const CancelToken future(absl::Now() + absl::Hours(1));
  EXPECT_OK(future.Check());
  future.Cancel();
  EXPECT_THAT(future.Check(), StatusIs(StatusCode::kCancelled, ""));
}

TEST(CancelToken, TheEarliestDeadlineCounts) {
  const absl::Time early = absl::Now() + absl::Hours(1);
  const absl::Time late = early + absl::Hours(1);
  const CancelToken token(early);
  EXPECT_EQ(token.deadline(), early);
  EXPECT_EQ(token.Until(late).deadline(), early);
  EXPECT_EQ(CancelToken(late).Until(early).deadline(), early);
  EXPECT_EQ(CancelToken::WithFlag().deadline(), absl::InfiniteFuture());
}

}  // namespace
}  // namespace hawser
