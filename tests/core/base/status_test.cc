#include "core/base/status.h"

#include <memory>
#include <utility>

#include "absl/strings/cord.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

TEST(Annotate, PutsContextInFrontAndKeepsTheRest) {
  EXPECT_OK(Annotate(absl::OkStatus(), "step"));
  absl::Status status = DataLoss("gone");
  status.SetPayload("url", absl::Cord("payload"));
  const absl::Status annotated = Annotate(status, "tensor w");
  EXPECT_EQ(annotated.code(), StatusCode::kDataLoss);
  EXPECT_EQ(annotated.message(), "tensor w: gone");
  EXPECT_EQ(annotated.GetPayload("url"), absl::Cord("payload"));
}

TEST(Status, MakersUseTheirCode) {
  EXPECT_THAT(InvalidArgument("a", 1, "b"),
              StatusIs(StatusCode::kInvalidArgument, "a1b"));
  EXPECT_THAT(Unimplemented("x"), StatusIs(StatusCode::kUnimplemented, "x"));
  EXPECT_THAT(FailedPrecondition("x"),
              StatusIs(StatusCode::kFailedPrecondition, "x"));
  EXPECT_THAT(NotFound("x"), StatusIs(StatusCode::kNotFound, "x"));
  EXPECT_THAT(ResourceExhausted("x"),
              StatusIs(StatusCode::kResourceExhausted, "x"));
  EXPECT_THAT(Unavailable("x"), StatusIs(StatusCode::kUnavailable, "x"));
  EXPECT_THAT(DeadlineExceeded("x"),
              StatusIs(StatusCode::kDeadlineExceeded, "x"));
  EXPECT_THAT(Cancelled("x"), StatusIs(StatusCode::kCancelled, "x"));
  EXPECT_THAT(DataLoss("x"), StatusIs(StatusCode::kDataLoss, "x"));
  EXPECT_THAT(Internal("x"), StatusIs(StatusCode::kInternal, "x"));
}

absl::StatusOr<std::unique_ptr<int>> HalfOf(int n) {
  if (n % 2 != 0) return InvalidArgument(n, " is odd");
  return std::make_unique<int>(n / 2);
}

absl::StatusOr<int> Quarter(int n, int* calls) {
  HAWSER_ASSIGN_OR_RETURN(const std::unique_ptr<int> half, HalfOf(n));
  ++*calls;
  HAWSER_ASSIGN_OR_RETURN(std::unique_ptr<int> quarter, HalfOf(*half));
  HAWSER_RETURN_IF_ERROR(HalfOf(*quarter));
  return *quarter;
}

TEST(StatusMacros, ReturnTheFirstError) {
  int calls = 0;
  EXPECT_EQ(*Quarter(8, &calls), 2);
  EXPECT_THAT(Quarter(7, &calls),
              StatusIs(StatusCode::kInvalidArgument, "7 is odd"));
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(Quarter(6, &calls),
              StatusIs(StatusCode::kInvalidArgument, "3 is odd"));
  EXPECT_THAT(Quarter(4, &calls),
              StatusIs(StatusCode::kInvalidArgument, "1 is odd"));
}

TEST(CheckDeathTest, SaysWhereAndWhat) {
  const int n = 1;
  HAWSER_CHECK(n == 1);
  EXPECT_DEATH(HAWSER_CHECK(n == 2), "status_test.cc:.*n == 2");
}

}  // namespace
}  // namespace hawser
