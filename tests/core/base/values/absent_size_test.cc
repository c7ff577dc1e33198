#include "core/base/values/absent_size.h"

#include <sstream>
#include <vector>

#include "core/base/values/shape.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

TEST(AbsentSize, IsFoundAgainAlsoAfterSmallSums) {
  const int64_t size = AbsentSize({InvalidArgument("one"), true});
  const int64_t other = AbsentSize({InvalidArgument("two")});
  for (int64_t n : {size, size + 1, size - 1000, size + kAbsentSlack}) {
    const auto found = FindAbsence(n);
    ASSERT_TRUE(found.has_value()) << n;
    EXPECT_THAT(found->why, StatusIs(StatusCode::kInvalidArgument, "one"));
    EXPECT_TRUE(found->earlier);
  }
  EXPECT_THAT(FindAbsence(other, 0)->why,
              StatusIs(StatusCode::kInvalidArgument, "two"));
  EXPECT_FALSE(FindAbsence(size + 1, 0).has_value());
}

TEST(AbsentSize, OtherNumbersAreNone) {
  AbsentSize({InvalidArgument("one")});
  for (int64_t n : {int64_t{0}, int64_t{-1}, int64_t{7}, int64_t{INT32_MIN},
                    int64_t{INT32_MAX}, INT64_MIN, INT64_MAX}) {
    EXPECT_FALSE(FindAbsence(n).has_value()) << n;
  }
}

TEST(AbsentSize, NoShapeHasIt) {
  std::vector<int64_t> sizes;
  for (int i = 0; i < 130; ++i) {  // more than are kept
    sizes.push_back(AbsentSize({InvalidArgument("number ", i)}));
  }
  EXPECT_THAT(Shape::Make(DType::kU8, {2, sizes.back()}),
              StatusIs(StatusCode::kInvalidArgument, "number 129"));
  for (int64_t size : sizes) {
    EXPECT_FALSE(Shape::Make(DType::kU8, {size}).ok());
    EXPECT_FALSE(Shape::Make(DType::kU8, {2 * size}).ok());
    EXPECT_FALSE(Shape::Make(DType::kU8, {size / 2}).ok());
    EXPECT_FALSE(Shape::Make(DType::kU8, {static_cast<int>(size)}).ok());
    EXPECT_FALSE(Shape::Make(DType::kF16, {size * sizes[0]}).ok());
  }
}

TEST(Shape, DimCountsFromTheBackAndNeverDies) {
  const Shape s = Shape::Of(DType::kF32, {3, 4});
  EXPECT_EQ(s.dim(0), 3);
  EXPECT_EQ(s.dim(-1), 4);
  EXPECT_EQ(s.dim(-2), 3);
  for (int64_t axis : {int64_t{2}, int64_t{-3}, INT64_MAX, INT64_MIN}) {
    EXPECT_THAT(Shape::Make(DType::kF32, {s.dim(axis)}),
                StatusIs(StatusCode::kInvalidArgument,
                         absl::StrCat("dim(", axis, ") of f32[3,4]: axis ",
                                      axis, " is out of range for rank 2")));
  }
  EXPECT_LT(Shape().dim(0), 0);
}

TEST(Shape, IsWrittenToStreams) {
  std::ostringstream text;
  text << Shape::Of(DType::kF32, {2, 3}) << " " << DType::kBF16;
  EXPECT_EQ(text.str(), "f32[2,3] bf16");
}

}  // namespace
}  // namespace hawser
