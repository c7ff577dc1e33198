#include "core/ir/text/printer.h"

#include <cmath>

#include "core/ir/builder.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

const Shape kScalar = Shape::Scalar(DType::kF32);

int AddComputation(Module* module) {
  ComputationBuilder b(module, "add");
  const ValueId x = b.Parameter(kScalar);
  const ValueId y = b.Parameter(kScalar);
  return *b.Finish({b.Add(kAdd, {x, y})});
}

// The example of core/ir/README.md.
TEST(Print, ComputationsAttributesAndCalls) {
  Module module("name");
  const int add = AddComputation(&module);
  ComputationBuilder b(&module, "main");
  const ValueId x = b.Parameter(Shape::Of(DType::kF32, {4}));
  const ValueId zero = b.Constant(Literal::Scalar(0.0f));
  ASSERT_OK(b.Finish(
      {b.Add(kReduce, {x, zero}, {{"dimensions", Dims{0}}}, {add})}));
  EXPECT_EQ(Print(module), R"(module "name"
computation @0 "add" (%0: f32[], %1: f32[]) {
  %2: f32[] = add(%0, %1)
  return %2
}
computation @1 "main" (%0: f32[4]) {
  %1: f32[] = constant() value=f32[] {0}
  %2: f32[] = reduce(%0, %1) dimensions=[0] @0
  return %2
}
)");
}

TEST(Print, SeveralResultsAndStrings) {
  Module module("two \"words\"");
  ComputationBuilder condition(&module, "condition");
  const ValueId i = condition.Parameter(kScalar);
  const ValueId n = condition.Parameter(kScalar);
  const ValueId less =
      condition.Add(kCompare, {i, n}, {{"direction", std::string("LT")}});
  const int cond = *condition.Finish({less});
  ComputationBuilder body(&module, "body");
  const ValueId a = body.Parameter(kScalar);
  const ValueId b = body.Parameter(kScalar);
  const int turn = *body.Finish({body.Add(kAdd, {a, b}), b});
  ComputationBuilder main(&module, "main");
  const ValueId x = main.Parameter(kScalar);
  const ValueId y = main.Parameter(kScalar);
  const ValueId w = main.Add(kWhile, {x, y}, {}, {cond, turn});
  ASSERT_OK(main.Finish({w, w + 1}));
  EXPECT_EQ(Print(module), R"(module "two \"words\""
computation @0 "condition" (%0: f32[], %1: f32[]) {
  %2: bool[] = compare(%0, %1) direction="LT"
  return %2
}
computation @1 "body" (%0: f32[], %1: f32[]) {
  %2: f32[] = add(%0, %1)
  return %2, %1
}
computation @2 "main" (%0: f32[], %1: f32[]) {
  %2: f32[], %3: f32[] = while(%0, %1) @0 @1
  return %2, %3
}
)");
}

TEST(Print, ConstantsInFull) {
  Module module("c");
  ComputationBuilder b(&module, "main");
  const std::vector<int8_t> values(100, -1);
  const ValueId x = b.Constant(Literal::Of<int8_t>(values, {100}));
  const ValueId y = b.Constant(Literal::Vector<float>({NAN, -0.0f, 0.1f}));
  ASSERT_OK(b.Finish({x, y}));
  const std::string text = Print(module);
  EXPECT_EQ(std::count(text.begin(), text.end(), '-'), 101);
  EXPECT_THAT(text, testing::HasSubstr("f32[3] {nan, -0, 0.1}"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("...")));
}

TEST(Print, EmptyModuleAndEmptyComputation) {
  Module module("m");
  EXPECT_EQ(Print(module), "module \"m\"\n");
  module.Add(Computation("nothing"));
  EXPECT_EQ(Print(module),
            "module \"m\"\ncomputation @0 \"nothing\" () {\n  return \n}\n");
}

}  // namespace
}  // namespace hawser
