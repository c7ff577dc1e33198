// When a server is asked what it works on, and what its answers mean.
#include "client/remote/session/window/slow_requests.h"

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "client/remote/session/window/request.h"
#include "client/remote/session/window/request_window.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/executor.pb.h"

namespace hawser {
namespace {

using testing::HasSubstr;

constexpr absl::Duration kSilence = absl::Seconds(5);
const absl::Time kStart = absl::UnixEpoch() + absl::Hours(1);

class SilentRequest final : public Request {
 public:
  void OnReply(const absl::Status&, v1::ServerMessage*) override {}
};

v1::PingReply InLine(absl::Duration waited) {
  v1::PingReply report;
  report.set_waited_us(absl::ToInt64Microseconds(waited));
  report.set_waiting(2);
  report.set_waiting_before(3);
  return report;
}

TEST(SlowRequestsTest, AsksOncePerSilence) {
  SlowRequests slow("gpu:1", kSilence);
  EXPECT_EQ(slow.NextReport(kStart), kStart + kSilence);
  slow.Asked(kStart + absl::Seconds(6));
  EXPECT_EQ(slow.NextReport(kStart), kStart + absl::Seconds(11));
  EXPECT_EQ(slow.NextReport(absl::InfiniteFuture()), absl::InfiniteFuture());
}

TEST(SlowRequestsTest, ARequestIsLostWhenTwoReportsInARowMissIt) {
  RequestWindow window;
  for (int i = 0; i < 4; ++i) {
    window.Add(std::make_shared<SilentRequest>(), 1, kStart);
  }
  SlowRequests slow("gpu:1", kSilence);
  v1::PingReply report;
  report.add_unfinished(1);
  report.add_unfinished(3);
  EXPECT_EQ(slow.Lost(report, 4, window), 0);
  EXPECT_EQ(slow.Lost(report, 4, window), 2);
  window.TakeAnswered(2);
  EXPECT_EQ(slow.Lost(report, 4, window), 0);
}

TEST(SlowRequestsTest, ALongWaitIsSaidAgainOnceItHasDoubled) {
  SlowRequests slow("gpu:1", absl::Hours(9));
  const v1::PingReply report = InLine(absl::Seconds(70));
  const auto after = [&](int seconds) {
    return slow.LongWait(report, kStart, kStart + absl::Seconds(seconds));
  };
  const std::string first = after(80);
  // A terminal has its own bound, which is not reached here.
  if (first.empty()) GTEST_SKIP() << "standard error is a terminal";
  EXPECT_THAT(first, HasSubstr("gpu:1: works on this for 1m20s"));
  EXPECT_THAT(first, HasSubstr("for 1m10s an execution has been in line"));
  EXPECT_THAT(first, HasSubstr("with 3 before it; 2 of this tenant wait"));
  EXPECT_EQ(after(150), "");
  EXPECT_THAT(after(160), HasSubstr("2m40s"));
  EXPECT_EQ(slow.LongWait(InLine(absl::Seconds(1)), kStart, kStart + kSilence),
            "");
}

}  // namespace
}  // namespace hawser
