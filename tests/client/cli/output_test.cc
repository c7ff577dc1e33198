// What people and scripts read: JSON, quantities, the progress bar.

#include <limits>
#include <sstream>

#include "client/cli/command/command.h"
#include "client/cli/command/progress_bar.h"
#include "client/cli/command/quantity.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace hawser::cli {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string Printed(const Json& json) {
  std::ostringstream out;
  PrintJson(json, &out);
  return out.str();
}

TEST(Json, IsOneLineInTheOrderOfItsMembers) {
  EXPECT_EQ(Printed(Json::object()), "{}\n");
  EXPECT_EQ(Printed(Json::object({{"b", {1, "a", Json::object()}},
                                  {"a", Json::array()},
                                  {"none", Json()}})),
            "{\"b\": [1, \"a\", {}], \"a\": [], \"none\": null}\n");
}

TEST(Json, NumbersReadBackTheSame) {
  EXPECT_EQ(Printed(int64_t{-9223372036854775807 - 1}),
            "-9223372036854775808\n");
  EXPECT_EQ(Printed(0.1), "0.1\n");
  EXPECT_EQ(Printed(std::numeric_limits<double>::infinity()), "null\n");
}

TEST(Json, EscapesWhatJsonMustNotHold) {
  EXPECT_EQ(Printed("a\"b\\c,\nd\te\x01"), "\"a\\\"b\\\\c,\\nd\\te\\u0001\"\n");
  EXPECT_EQ(Printed("gr\xc3\xbc\xc3\x9f"), "\"gr\xc3\xbc\xc3\x9f\"\n");
  EXPECT_EQ(Printed("no \xff text"), "\"no \xef\xbf\xbd text\"\n");
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
