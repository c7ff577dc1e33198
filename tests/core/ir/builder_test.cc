#include "core/ir/builder.h"

#include "absl/strings/str_cat.h"
#include "core/ir/text/printer.h"
#include "core/ir/verifier.h"
#include "core/ops/elementwise/elementwise.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

const Shape kF2 = Shape::Of(DType::kF32, {2});
const Shape kF3 = Shape::Of(DType::kF32, {3});

TEST(ComputationBuilder, BuildsAndFinishes) {
  Module module;
  ComputationBuilder b(&module, "f");
  const ValueId x = b.Parameter(kF2);
  const ValueId two = b.Constant(Literal::Vector<float>({2, 2}));
  const ValueId y = b.Add(kMultiply, {x, two});
  EXPECT_EQ(b.shape(y), kF2);
  ASSERT_OK_AND_ASSIGN(const int index, b.Finish({y}));
  EXPECT_EQ(index, 0);
  EXPECT_EQ(module.signature().ToString(), "(f32[2]) -> (f32[2])");
  EXPECT_OK(Verify(module));
}

TEST(ComputationBuilder, FirstErrorSticksWithPlaceAndShapes) {
  Module module;
  ComputationBuilder b(&module, "f");
  const ValueId x = b.Parameter(kF2);
  const ValueId y = b.Parameter(kF3);
  const int line = __LINE__ + 1;
  EXPECT_EQ(b.Add(kAdd, {x, y}), kNoValue);
  EXPECT_EQ(b.Add(kAnd, {x, x}), kNoValue);  // another error, not the first
  EXPECT_EQ(b.Add(kNegate, {x}), kNoValue);  // right, but too late
  EXPECT_EQ(b.Parameter(kF2), kNoValue);
  EXPECT_THAT(b.status(),
              StatusIs(StatusCode::kInvalidArgument, "add: C3: "));
  EXPECT_THAT(b.status(), StatusIs(StatusCode::kInvalidArgument,
                                   "; operands f32[2], f32[3]"));
  EXPECT_THAT(b.status(),
              StatusIs(StatusCode::kInvalidArgument,
                       absl::StrCat("builder_test.cc:", line, ")")));
  EXPECT_THAT(b.Finish({x}),
              StatusIs(StatusCode::kInvalidArgument, "add: C3: "));
  EXPECT_TRUE(module.empty());
}

TEST(ComputationBuilder, NoValueAsOperandIsAnError) {
  Module module;
  ComputationBuilder b(&module, "f");
  EXPECT_EQ(b.Add(kNegate, {kNoValue}), kNoValue);
  EXPECT_THAT(b.status(),
              StatusIs(StatusCode::kInvalidArgument, "operand -1"));
}

TEST(ComputationBuilder, FailKeepsTheFirst) {
  Module module;
  ComputationBuilder b(&module, "f");
  b.Fail(absl::OkStatus(), {"user.cc", 1});
  EXPECT_OK(b.status());
  b.Fail(InvalidArgument("first"), {"user.cc", 5});
  b.Fail(InvalidArgument("second"), {"user.cc", 6});
  EXPECT_THAT(b.status(), StatusIs(StatusCode::kInvalidArgument,
                                   "first (at user.cc:5)"));
}

TEST(ComputationBuilder, PlaceIsLeftOutWhereUnknown) {
  Module module;
  ComputationBuilder b(&module, "f");
  b.Fail(InvalidArgument("first"), {});
  EXPECT_EQ(b.status().message(), "first");
}

TEST(ComputationBuilder, LateParametersMoveToTheFront) {
  Module module("late");
  ComputationBuilder b(&module, "f");
  const ValueId x = b.Parameter(kF2);
  const ValueId negated = b.Add(kNegate, {x});
  const ValueId y = b.Parameter(kF2);
  const ValueId sum = b.Add(kAdd, {negated, y});
  const int line_of_z = __LINE__ + 1;
  const ValueId z = b.Parameter(kF3);
  ASSERT_OK(b.Finish({sum, z, x}));
  ASSERT_EQ(b.locations().size(), 5u);
  EXPECT_EQ(b.locations()[2].line, line_of_z);
  EXPECT_EQ(b.locations()[4].line, line_of_z - 2);
  EXPECT_EQ(Print(module), R"(module "late"
computation @0 "f" (%0: f32[2], %1: f32[2], %2: f32[3]) {
  %3: f32[2] = negate(%0)
  %4: f32[2] = add(%3, %1)
  return %4, %2, %0
}
)");
  EXPECT_OK(Verify(module));
}

TEST(ComputationBuilder, FinishRefusesWhatIsNoValue) {
  Module module;
  ComputationBuilder b(&module, "f");
  EXPECT_THAT(b.Finish({3}),
              StatusIs(StatusCode::kInvalidArgument, "returns value 3"));
  EXPECT_TRUE(module.empty());
}

}  // namespace
}  // namespace hawser
