#include "core/base/values/shape.h"

#include <string>

#include "absl/hash/hash.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

TEST(Shape, CountsElementsAndBytes) {
  const Shape s = Shape::Of(DType::kF32, {2, 3, 4});
  EXPECT_EQ(s.rank(), 3);
  EXPECT_EQ(s.num_elements(), 24);
  EXPECT_EQ(s.byte_size(), 96);
  EXPECT_EQ(s.Strides(), Dims({12, 4, 1}));
  EXPECT_EQ(s.ToString(), "f32[2,3,4]");
  EXPECT_EQ(s.WithDType(DType::kC128).byte_size(), 384);
}

TEST(Shape, ScalarHasOneElement) {
  const Shape s = Shape::Scalar(DType::kBool);
  EXPECT_TRUE(s.is_scalar());
  EXPECT_EQ(s.num_elements(), 1);
  EXPECT_EQ(s.byte_size(), 1);
  EXPECT_EQ(s.ToString(), "bool[]");
}

TEST(Shape, ZeroSizedAxes) {
  const Shape s = Shape::Of(DType::kF64, {3, 0, 5});
  EXPECT_EQ(s.num_elements(), 0);
  EXPECT_EQ(s.byte_size(), 0);
  EXPECT_EQ(s.Strides(), Dims({5, 5, 1}));
}

TEST(Shape, RankSixteenIsTheLargest) {
  const Dims sixteen(16, 1);
  EXPECT_OK(Shape::Make(DType::kU8, sixteen));
  const Dims seventeen(17, 1);
  EXPECT_THAT(Shape::Make(DType::kU8, seventeen),
              StatusIs(StatusCode::kInvalidArgument, "rank 17"));
}

TEST(Shape, RefusesNegativeSizes) {
  EXPECT_THAT(Shape::Make(DType::kU8, {2, -1}),
              StatusIs(StatusCode::kInvalidArgument, "-1"));
  EXPECT_THAT(Shape::Make(DType::kU8, {0, INT64_MIN}),
              StatusIs(StatusCode::kInvalidArgument, "negative"));
}

TEST(Shape, RefusesSizesThatOverflow) {
  EXPECT_OK(Shape::Make(DType::kU8, {(int64_t{1} << 62) - 1}));
  for (const Dims& dims : {Dims{int64_t{1} << 62}, Dims{INT64_MAX},
                           Dims{int64_t{1} << 32, int64_t{1} << 32},
                           Dims{0, int64_t{1} << 40, int64_t{1} << 40},
                           Dims{int64_t{1} << 40, int64_t{1} << 40, 0}}) {
    EXPECT_THAT(Shape::Make(DType::kU8, dims),
                StatusIs(StatusCode::kInvalidArgument, "2^62"))
        << DimsToString(dims);
  }
  EXPECT_THAT(Shape::Make(DType::kC128, {int64_t{1} << 58}),
              StatusIs(StatusCode::kInvalidArgument, "c128"));
}

TEST(Shape, RefusesUnsupportedDTypes) {
  EXPECT_THAT(Shape::Make(DType::kInvalid, {}),
              StatusIs(StatusCode::kInvalidArgument, "dtype number 0"));
  EXPECT_THAT(Shape::Make(static_cast<DType>(99), {}),
              StatusIs(StatusCode::kInvalidArgument, "dtype number 99"));
}

TEST(Shape, ComparesAndHashesByValue) {
  const Shape a = Shape::Of(DType::kF32, {2, 3});
  EXPECT_EQ(a, Shape::Of(DType::kF32, {2, 3}));
  EXPECT_NE(a, Shape::Of(DType::kF32, {3, 2}));
  EXPECT_NE(a, Shape::Of(DType::kS32, {2, 3}));
  EXPECT_TRUE(a.SameDims(Shape::Of(DType::kS32, {2, 3})));
  EXPECT_EQ(absl::HashOf(a), absl::HashOf(Shape::Of(DType::kF32, {2, 3})));
}

TEST(ParseShape, ReadsWhatToStringWrites) {
  for (absl::string_view text :
       {"f32[]", "bool[0]", "c128[1,2,3]", "u8[4611686018427387903]"}) {
    ASSERT_OK_AND_ASSIGN(const Shape s, ParseShape(text));
    EXPECT_EQ(s.ToString(), text);
  }
}

TEST(ParseShape, RefusesEverythingElse) {
  for (absl::string_view text :
       {"", "f32", "[2]", "f32[2", "f32[2,]", "f32[,]", "f32[a]", "f32]2[",
        "f32[2]x", "f99[2]", "f32[-1]", "f32[99999999999999999999]"}) {
    EXPECT_THAT(ParseShape(text), StatusIs(StatusCode::kInvalidArgument, ""))
        << text;
  }
  EXPECT_THAT(ParseShape("u4[2]"), StatusIs(StatusCode::kUnimplemented, "u4"));
}

TEST(NormalizeAxis, CountsFromTheEnd) {
  EXPECT_EQ(*NormalizeAxis(-1, 3), 2);
  EXPECT_EQ(*NormalizeAxis(-3, 3), 0);
  EXPECT_EQ(*NormalizeAxis(2, 3), 2);
  EXPECT_THAT(NormalizeAxis(3, 3),
              StatusIs(StatusCode::kInvalidArgument, "axis 3"));
  EXPECT_THAT(NormalizeAxis(-4, 3),
              StatusIs(StatusCode::kInvalidArgument, "rank 3"));
  EXPECT_THAT(NormalizeAxis(0, 0),
              StatusIs(StatusCode::kInvalidArgument, "rank 0"));
}

}  // namespace
}  // namespace hawser
