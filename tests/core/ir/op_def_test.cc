#include "core/ir/op_def.h"

#include <string>

#include "core/ir/leaves.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

absl::StatusOr<Shapes> Infer(const OpDef& op, std::vector<Shape> operands,
                             Attributes attributes = {},
                             std::vector<const Signature*> called = {}) {
  return InferShapes({op, operands, attributes, called});
}
const Shape kPair = Shape::Of(DType::kF32, {2});

TEST(InferShapes, NamesTheOp) {
  EXPECT_THAT(Infer(kAdd, {kPair, Shape::Of(DType::kF32, {3})}),
              StatusIs(StatusCode::kInvalidArgument, "add: C3: "));
}

TEST(InferShapes, ChecksArity) {
  EXPECT_THAT(
      Infer(kAdd, {kPair}),
      StatusIs(StatusCode::kInvalidArgument, "add: takes 2 operands, got 1"));
  EXPECT_THAT(Infer(kConcatenate, {}, {{"dimension", int64_t{0}}}),
              StatusIs(StatusCode::kInvalidArgument,
                       "takes at least 1 operands, got 0"));
}

TEST(InferShapes, ChecksTheNumberOfComputations) {
  const Signature signature;
  EXPECT_THAT(Infer(kAdd, {kPair, kPair}, {}, {&signature}),
              StatusIs(StatusCode::kInvalidArgument,
                       "takes 0 computations, got 1"));
  EXPECT_THAT(Infer(kCase, {Shape::Scalar(DType::kS32)}),
              StatusIs(StatusCode::kInvalidArgument,
                       "takes at least 1 computations, got 0"));
}

TEST(InferShapes, ChecksAttributes) {
  EXPECT_THAT(
      Infer(kReshape, {kPair}),
      StatusIs(StatusCode::kInvalidArgument, "attribute dims is missing"));
  EXPECT_THAT(Infer(kReshape, {kPair}, {{"dims", int64_t{2}}}),
              StatusIs(StatusCode::kInvalidArgument,
                       "attribute dims is int, must be ints"));
  EXPECT_THAT(Infer(kNegate, {kPair}, {{"axis", int64_t{2}}}),
              StatusIs(StatusCode::kInvalidArgument,
                       "has no attribute axis"));
  EXPECT_THAT(Infer(kReshape, {kPair}, {{"dims", Dims{2}}, {"ulp", true}}),
              StatusIs(StatusCode::kInvalidArgument, "has no attribute ulp"));
}

TEST(InferShapes, OptionalAttributesMayBeAbsentButNotWrong) {
  EXPECT_OK(Infer(kArgMax, {kPair}, {{"dimension", int64_t{0}}}));
  EXPECT_THAT(Infer(kArgMax, {kPair},
                    {{"dimension", int64_t{0}}, {"tie", true}}),
              StatusIs(StatusCode::kInvalidArgument,
                       "attribute tie is bool, must be string"));
}

TEST(ParameterInfer, RejectsWhatIsNoShape_C1) {
  EXPECT_THAT(
      Infer(kParameter, {}, {{"dims", Dims{-1}}, {"dtype", DType::kF32}}),
      StatusIs(StatusCode::kInvalidArgument, "parameter: C1: "));
  EXPECT_THAT(
      Infer(kParameter, {}, {{"dims", Dims(17, 1)}, {"dtype", DType::kF32}}),
      StatusIs(StatusCode::kInvalidArgument, "C1: shape has rank 17"));
  EXPECT_THAT(Infer(kParameter, {}, {{"dims", Dims{}}, {"dtype", DType::kU2}}),
              StatusIs(StatusCode::kInvalidArgument, "C1: "));
}

TEST(ConstantInfer, RejectsNoValue_C1) {
  EXPECT_THAT(Infer(kConstant, {}, {{"value", Literal()}}),
              StatusIs(StatusCode::kInvalidArgument, "constant: C1: "));
  ASSERT_OK_AND_ASSIGN(
      const Shapes shapes,
      Infer(kConstant, {}, {{"value", Literal::Vector<float>({1, 2})}}));
  EXPECT_EQ(shapes[0], kPair);
}

TEST(Signature, PrintsShapes) {
  const Signature s = {.parameters = {kPair, Shape::Scalar(DType::kS32)},
                       .results = {kPair}};
  EXPECT_EQ(s.ToString(), "(f32[2], s32[]) -> (f32[2])");
  EXPECT_EQ(Signature().ToString(), "() -> ()");
}

// An error must stay short whatever the wire sends.
TEST(Signature, LongListsAreCut) {
  const std::string text = ShapesToString(std::vector<Shape>(100000, kPair));
  EXPECT_LT(text.size(), 300u);
  EXPECT_THAT(text, testing::HasSubstr("100000 in all"));
}

TEST(AxisKind, HasNames) {
  EXPECT_EQ(AxisKindName(AxisKind::kParallel), "parallel");
  EXPECT_EQ(AxisKindName(AxisKind::kOpaque), "opaque");
}

}  // namespace
}  // namespace hawser
