#include "core/base/log.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace hawser {
namespace {

class LogTest : public testing::Test {
 protected:
  ~LogTest() override { SetMinLogSeverity(LogSeverity::kInfo); }
};

TEST_F(LogTest, WritesOneLineWithPlaceAndText) {
  testing::internal::CaptureStderr();
  HAWSER_LOG(kWarning) << "disk is " << 99 << "% full";
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::ContainsRegex(
                  "^W[0-9]+ [0-9:.]+ log_test.cc:[0-9]+\\] disk is 99% full\n$"));
}

TEST_F(LogTest, BelowTheLevelNothingIsEvaluated) {
  SetMinLogSeverity(LogSeverity::kError);
  testing::internal::CaptureStderr();
  int evaluated = 0;
  HAWSER_LOG(kWarning) << ++evaluated;
  HAWSER_LOG(kError) << "seen";
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(evaluated, 0);
  EXPECT_THAT(text, testing::HasSubstr("seen"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("W1")));
}

// The macro must not swallow an else of the code around it.
TEST_F(LogTest, IsOneStatement) {
  const bool enabled = !LogEnabled(LogSeverity::kError);
  bool other = false;
  if (enabled)
    HAWSER_LOG(kInfo) << "not reached";
  else
    other = true;
  EXPECT_TRUE(other);
}

}  // namespace
}  // namespace hawser
