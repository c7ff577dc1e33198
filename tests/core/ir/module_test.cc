#include "core/ir/module.h"

#include "core/ir/leaves.h"
#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/elementwise.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

class ModuleTest : public testing::Test {
 protected:
  ValueId Parameter(Computation& c, Dims dims = {}) {
    auto value = c.Append(module_, kParameter, {},
                          {{"dims", dims}, {"dtype", DType::kF32}});
    EXPECT_OK(value);
    return *value;
  }
  Module module_;
};

TEST_F(ModuleTest, ValuesAreNumberedInOrder) {
  Computation c("f");
  EXPECT_EQ(Parameter(c), 0);
  EXPECT_EQ(Parameter(c, {2}), 1);
  EXPECT_EQ(*c.Append(module_, kNegate, {1}), 2);
  EXPECT_EQ(c.num_parameters(), 2);
  EXPECT_EQ(c.num_values(), 3);
  EXPECT_EQ(c.shape(2).ToString(), "f32[2]");
  EXPECT_EQ(c.producer(2), 2);
  ASSERT_OK(c.SetResults({2, 0, 2}));
  EXPECT_EQ(c.signature().ToString(),
            "(f32[], f32[2]) -> (f32[2], f32[], f32[2])");
}

TEST_F(ModuleTest, AppendRefusesOperandsThatAreNotSmallerNumbers) {
  Computation c("f");
  Parameter(c);
  for (ValueId bad : {1, 5, -1, INT32_MAX, INT32_MIN}) {
    EXPECT_THAT(c.Append(module_, kNegate, {bad}),
                StatusIs(StatusCode::kInvalidArgument, "negate: operand"))
        << bad;
  }
  EXPECT_EQ(c.num_values(), 1);
  EXPECT_EQ(c.instructions().size(), 1u);
}

TEST_F(ModuleTest, AppendRefusesUnknownComputations) {
  Computation c("f");
  const ValueId x = Parameter(c);
  for (int bad : {0, -1, 7}) {
    EXPECT_THAT(c.Append(module_, kCase, {x}, {}, {bad}),
                StatusIs(StatusCode::kInvalidArgument, "called computation"))
        << bad;
  }
}

TEST_F(ModuleTest, AppendRefusesLateParameters) {
  Computation c("f");
  const ValueId x = Parameter(c);
  ASSERT_OK(c.Append(module_, kNegate, {x}));
  EXPECT_THAT(c.Append(module_, kParameter, {},
                       {{"dims", Dims{}}, {"dtype", DType::kF32}}),
              StatusIs(StatusCode::kInvalidArgument, "behind another"));
  EXPECT_EQ(c.num_parameters(), 1);
}

TEST_F(ModuleTest, ARefusedParameterCountsForNothing) {
  Computation c("f");
  EXPECT_THAT(c.Append(module_, kParameter, {},
                       {{"dims", Dims{-2}}, {"dtype", DType::kF32}}),
              StatusIs(StatusCode::kInvalidArgument, "C1"));
  EXPECT_EQ(c.num_parameters(), 0);
  EXPECT_EQ(Parameter(c), 0);
}

TEST_F(ModuleTest, AppendGivesTheShapeRulesError) {
  Computation c("f");
  const ValueId x = Parameter(c, {2});
  const ValueId y = Parameter(c, {3});
  EXPECT_THAT(c.Append(module_, kAdd, {x, y}),
              StatusIs(StatusCode::kInvalidArgument, "add: C3"));
}

TEST_F(ModuleTest, ResultsMustBeValues) {
  Computation c("f");
  Parameter(c);
  EXPECT_THAT(c.SetResults({1}),
              StatusIs(StatusCode::kInvalidArgument, "returns value 1"));
  EXPECT_THAT(c.SetResults({-1}),
              StatusIs(StatusCode::kInvalidArgument, "returns value -1"));
  EXPECT_OK(c.SetResults({}));
}

TEST_F(ModuleTest, InstructionsMayHaveSeveralResults) {
  Computation branch("branch");
  const ValueId x = Parameter(branch);
  ASSERT_OK(branch.SetResults({x, x, x}));
  EXPECT_EQ(module_.Add(std::move(branch)), 0);
  Computation c("main");
  ASSERT_OK(c.Append(module_, kParameter, {},
                     {{"dims", Dims{}}, {"dtype", DType::kS32}}));
  const ValueId y = Parameter(c);
  EXPECT_EQ(*c.Append(module_, kCase, {0, y}, {}, {0}), 2);
  EXPECT_EQ(c.instructions().back().num_results, 3);
  EXPECT_EQ(c.producer(4), 2);
  EXPECT_EQ(*c.Append(module_, kNegate, {4}), 5);
}

TEST_F(ModuleTest, EntryIsTheLast) {
  EXPECT_TRUE(module_.empty());
  module_.Add(Computation("first"));
  Computation second("second");
  Parameter(second);
  module_.Add(std::move(second));
  EXPECT_EQ(module_.entry().name(), "second");
  EXPECT_EQ(module_.signature().parameters.size(), 1u);
  EXPECT_EQ(module_.num_instructions(), 1);
  EXPECT_EQ(module_.opset(), 1);
}

}  // namespace
}  // namespace hawser
