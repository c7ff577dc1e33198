#include "core/ir/verifier.h"

#include "core/ir/builder.h"
#include "core/ir/leaves.h"
#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using absl::StatusCode;

const Shape kNumber = Shape::Scalar(DType::kF32);

// negate(negate(...)) `depth` times.
Module Chain(int depth) {
  Module module("chain");
  ComputationBuilder b(&module, "main");
  ValueId x = b.Parameter(kNumber);
  for (int i = 0; i < depth; ++i) x = b.Add(kNegate, {x});
  EXPECT_OK(b.Finish({x}));
  return module;
}

// Branches inside branches, `depth` computations deep.
Module Nested(int depth) {
  Module module("nested");
  for (int i = 0; i < depth; ++i) {
    ComputationBuilder b(&module, "level");
    const ValueId index = b.Parameter(Shape::Scalar(DType::kS32));
    ValueId x = index;
    if (i > 0) x = b.Add(kCase, {index, index}, {}, {i - 1});
    EXPECT_OK(b.Finish({x}));
  }
  return module;
}

TEST(Verify, AcceptsWhatWasBuilt) {
  EXPECT_OK(Verify(Chain(100)));
  EXPECT_OK(Verify(Nested(64)));
}

TEST(Verify, RefusesAnEmptyModule) {
  EXPECT_THAT(Verify(Module("m")),
              StatusIs(StatusCode::kInvalidArgument, "no computation"));
}

TEST(Verify, LimitsInstructions) {
  EXPECT_OK(Verify(Chain(99), {.instructions = 100}));
  EXPECT_THAT(Verify(Chain(100), {.instructions = 100}),
              StatusIs(StatusCode::kResourceExhausted,
                       "101 instructions, the limit is 100"));
}

TEST(Verify, LimitsNestingAndComputations) {
  EXPECT_OK(Verify(Nested(5), {.nesting = 5}));
  EXPECT_THAT(Verify(Nested(6), {.nesting = 5}),
              StatusIs(StatusCode::kResourceExhausted,
                       "6 levels of nested computations"));
  EXPECT_THAT(Verify(Nested(6), {.computations = 5}),
              StatusIs(StatusCode::kResourceExhausted, "6 computations"));
  EXPECT_THAT(Verify(Nested(65)),
              StatusIs(StatusCode::kResourceExhausted, "the limit is 64"));
}

TEST(Verify, LimitsOperands) {
  EXPECT_OK(Verify(Chain(10), {.operands = 10}));
  EXPECT_THAT(Verify(Chain(11), {.operands = 10}),
              StatusIs(StatusCode::kResourceExhausted, "11 operands"));
}

TEST(Verify, LimitsElementsOfAnyValue) {
  Module module;
  ComputationBuilder b(&module, "big");
  const ValueId x = b.Add(kIota, {},
                          {{"dims", Dims{1000}},
                           {"dtype", DType::kF32},
                           {"iota_dimension", int64_t{0}}});
  ASSERT_OK(b.Finish({x}));
  EXPECT_OK(Verify(module, {.elements = 1000}));
  EXPECT_THAT(Verify(module, {.elements = 999}),
              StatusIs(StatusCode::kResourceExhausted,
                       "computation big, iota %0: f32[1000]"));
}

TEST(Verify, LimitsConstantBytes) {
  Module module;
  ComputationBuilder b(&module, "f");
  b.Constant(Literal::Vector<float>({1, 2}));
  const ValueId x = b.Constant(Literal::Vector<float>({1, 2}));
  ASSERT_OK(b.Finish({x}));
  EXPECT_OK(Verify(module, {.constant_bytes = 16}));
  EXPECT_THAT(Verify(module, {.constant_bytes = 15}),
              StatusIs(StatusCode::kResourceExhausted,
                       "16 bytes of constants, the limit is 15"));
}

// Depth is walked, never recursed into.
TEST(Verify, DeepChainsDoNotOverflowTheStack) {
  EXPECT_OK(Verify(Chain(100000), {.instructions = 1 << 20}));
}

// A module of one computation, (parameter) -> what `body` gives.
Module Branch(const Shape& parameter,
              std::vector<ValueId> (*body)(ComputationBuilder&, ValueId)) {
  Module module("branch");
  ComputationBuilder b(&module, "branch");
  const ValueId x = b.Parameter(parameter);
  EXPECT_OK(b.Finish(body(b, x)));
  return module;
}

std::vector<ValueId> Same(ComputationBuilder&, ValueId x) { return {x}; }
std::vector<ValueId> Twice(ComputationBuilder&, ValueId x) { return {x, x}; }
std::vector<ValueId> Finite(ComputationBuilder& b, ValueId x) {
  return {b.Add(kIsFinite, {x})};
}

// Append checks a computation against the module it is built for; the one it
// joins may hold others.
TEST(Verify, RefusesAComputationThatWasBuiltForAnotherModule) {
  const Module home = Branch(kNumber, Same);
  Computation main("main");
  ASSERT_OK(main.Append(home, kParameter, {},
                        {{"dtype", DType::kS32}, {"dims", Dims{}}}));
  ASSERT_OK(main.Append(home, kParameter, {},
                        {{"dtype", DType::kF32}, {"dims", Dims{}}}));
  ASSERT_OK(main.Append(home, kCase, {0, 1}, {}, {0}));
  ASSERT_OK(main.SetResults({2}));
  const struct {
    Module module;
    const char* part;
  } rows[] = {
      {Module("none"),
       "computation main, instruction 2 (case): calls computation 0, which is "
       "not a smaller index"},
      {Branch(kNumber, Twice),
       "instruction 2 (case): claims 1 results, has 2"},
      {Branch(kNumber, Finite),
       "instruction 2 (case): claims result 0 is f32[], it is bool[]"},
      {Branch(Shape::Scalar(DType::kS32), Same),
       "computation main, instruction 2 (case): case: C"},
  };
  for (const auto& row : rows) {
    Module module = row.module;
    module.Add(main);
    EXPECT_THAT(Verify(module),
                StatusIs(StatusCode::kInvalidArgument, row.part));
  }
  Module module = home;
  module.Add(main);
  EXPECT_OK(Verify(module));
}

TEST(CheckLimits, DoesNotNeedAnEntry) { EXPECT_OK(CheckLimits(Module(), {})); }

}  // namespace
}  // namespace hawser
