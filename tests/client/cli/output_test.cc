// What people and scripts read: JSON, quantities, the progress bar.

#include <limits>
#include <sstream>

#include "client/cli/json.h"
#include "client/cli/progress_bar.h"
#include "client/cli/quantity.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hawser::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(Json, PrintsEveryKind) {
  EXPECT_EQ(Json().ToString(), "null");
  EXPECT_EQ(Json(true).ToString(), "true");
  EXPECT_EQ(Json(int64_t{-9223372036854775807 - 1}).ToString(),
            "-9223372036854775808");
  EXPECT_EQ(Json(0.1).ToString(), "0.1");
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).ToString(), "null");
  EXPECT_EQ(Json(Json::List{}).ToString(), "[]");
  EXPECT_EQ(Json(Json::Members{}).ToString(), "{}");
  EXPECT_EQ(Json(Json::List{1, "a", Json::Members{{"b", false}}}).ToString(),
            "[1, \"a\", {\"b\": false}]");
}

TEST(Json, EscapesWhatJsonMustNotHold) {
  EXPECT_EQ(Json("a\"b\\c\nd\te\x01\x7f").ToString(),
            "\"a\\\"b\\\\c\\nd\\u0009e\\u0001\\u007f\"");
  EXPECT_EQ(Json("gr\xc3\xbc\xc3\x9f").ToString(), "\"gr\xc3\xbc\xc3\x9f\"");
}

TEST(Quantity, Bytes) {
  EXPECT_EQ(ReadableBytes(0), "0 B");
  EXPECT_EQ(ReadableBytes(1023), "1023 B");
  EXPECT_EQ(ReadableBytes(1024), "1.0 KiB");
  EXPECT_EQ(ReadableBytes(1536), "1.5 KiB");
  EXPECT_EQ(ReadableBytes((1 << 20) - 1), "1.0 MiB");
  EXPECT_EQ(ReadableBytes(int64_t{150} << 30), "150.0 GiB");
  EXPECT_EQ(ReadableBytes(std::numeric_limits<int64_t>::max()), "8.0 EiB");
}

TEST(Quantity, Durations) {
  EXPECT_EQ(ReadableDuration(absl::Microseconds(85)), "85 us");
  EXPECT_EQ(ReadableDuration(absl::Microseconds(1250)), "1.25 ms");
  EXPECT_EQ(ReadableDuration(absl::Milliseconds(2340)), "2.3 s");
  EXPECT_EQ(ReadableDuration(absl::Seconds(65)), "1:05");
  EXPECT_EQ(ReadableDuration(absl::Seconds(3723)), "1:02:03");
}

TEST(ProgressBar, ShowsRateAndTimeLeft) {
  EXPECT_EQ(ProgressLine(1 << 20, 4 << 20, absl::Seconds(2)),
            "[######..................]  25%  1.0 MiB of 4.0 MiB  "
            "512.0 KiB/s  ETA 6.0 s");
  EXPECT_EQ(ProgressLine(4 << 20, 4 << 20, absl::Seconds(4)),
            "[########################] 100%  4.0 MiB of 4.0 MiB  1.0 MiB/s");
  EXPECT_EQ(ProgressLine(0, 1024, absl::ZeroDuration()),
            "[........................]   0%  0 B of 1.0 KiB");
  EXPECT_EQ(ProgressLine(0, 0, absl::Seconds(1)),
            "[########################] 100%  0 B of 0 B");
}

TEST(ProgressBar, IsSilentInAPipe) {
  std::ostringstream out;
  {
    ProgressBar bar(&out, false);
    bar.Update(1, 2);
  }
  EXPECT_EQ(out.str(), "");
}

TEST(ProgressBar, RedrawsAtMostTenTimesASecondAndWipesItsLine) {
  std::ostringstream out;
  absl::Time now = absl::UnixEpoch();
  {
    ProgressBar bar(&out, true, "x: ", [&] { return now; });
    for (int ms = 0; ms < 1000; ++ms) {
      now = absl::UnixEpoch() + absl::Milliseconds(ms);
      bar.Callback()(ms, 1000);
    }
  }
  std::string text = out.str();
  int drawn = 0;
  for (const char c : text) drawn += c == '\r';
  EXPECT_EQ(drawn, 10 + 1);
  EXPECT_THAT(text, HasSubstr("90%"));
  EXPECT_THAT(text, EndsWith("\r\x1b[K"));
}

}  // namespace
}  // namespace hawser::cli
