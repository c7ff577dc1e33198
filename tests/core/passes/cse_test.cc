#include "core/passes/cse.h"

#include <cmath>

#include "core/ops/contraction/control.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "tests/core/passes/build_module.h"

namespace hawser {
namespace {

Module Merged(const Module& module, bool* changed) {
  *changed = false;
  auto out = EliminateCommonSubexpressions(module, changed);
  EXPECT_OK(out);
  EXPECT_OK(Verify(*out));
  return *std::move(out);
}

TEST(EliminateCommonSubexpressions, EqualInstructionsBecomeOne) {
  bool changed;
  const Module out = Merged(
      BuildModule([](ComputationBuilder& b) {
        const ValueId x = b.Parameter(kF);
        const ValueId a = b.Add(kNegate, {x});
        const ValueId c = b.Add(kNegate, {x});
        return std::vector<ValueId>{
            b.Add(kSubtract, {a, c}),
            b.Add(kSubtract, {b.Add(kNegate, {x}), a})};
      }),
      &changed);
  EXPECT_TRUE(changed);
  EXPECT_EQ(EntryText(out),
            "  %1: f32[] = negate(%0)\n"
            "  %2: f32[] = subtract(%1, %1)\n"
            "  return %2, %2\n");
}

TEST(EliminateCommonSubexpressions, CommutativeOperandsInAnyOrder) {
  bool changed;
  const Module out = Merged(
      BuildModule([](ComputationBuilder& b) {
        const ValueId x = b.Parameter(kF);
        const ValueId y = b.Parameter(kF);
        return std::vector<ValueId>{
            b.Add(kAdd, {y, x}), b.Add(kAdd, {x, y}),
            b.Add(kSubtract, {x, y}), b.Add(kSubtract, {y, x})};
      }),
      &changed);
  EXPECT_EQ(EntryText(out),
            "  %2: f32[] = add(%1, %0)\n"
            "  %3: f32[] = subtract(%0, %1)\n"
            "  %4: f32[] = subtract(%1, %0)\n"
            "  return %2, %2, %3, %4\n");
}

// Two arguments of one shape are two arguments.
TEST(EliminateCommonSubexpressions, ParametersStayApart) {
  bool changed;
  const Module out = Merged(
      BuildModule([](ComputationBuilder& b) {
        const ValueId x = b.Parameter(kF);
        const ValueId y = b.Parameter(kF);
        return std::vector<ValueId>{b.Add(kAdd, {x, y})};
      }),
      &changed);
  EXPECT_FALSE(changed);
  EXPECT_EQ(EntryText(out), "  %2: f32[] = add(%0, %1)\n  return %2\n");
}

TEST(EliminateCommonSubexpressions, AttributesMustBeTheSame) {
  bool changed;
  const Module out = Merged(
      BuildModule([](ComputationBuilder& b) {
        const ValueId x = b.Parameter(kF23);
        return std::vector<ValueId>{
            b.Add(kReshape, {x}, {{"dims", Dims{6}}}),
            b.Add(kReshape, {x}, {{"dims", Dims{3, 2}}}),
            b.Add(kReshape, {x}, {{"dims", Dims{6}}})};
      }),
      &changed);
  EXPECT_EQ(EntryText(out),
            "  %1: f32[6] = reshape(%0) dims=[6]\n"
            "  %2: f32[3,2] = reshape(%0) dims=[3,2]\n"
            "  return %1, %2, %1\n");
}

TEST(EliminateCommonSubexpressions, ConstantsCompareByBits) {
  bool changed;
  const Module out = Merged(
      BuildModule([](ComputationBuilder& b) {
        return std::vector<ValueId>{
            b.Constant(Literal::Scalar(0.0f)),
            b.Constant(Literal::Scalar(-0.0f)),
            b.Constant(Literal::Scalar(NAN)),
            b.Constant(Literal::Scalar(NAN)),
            b.Constant(Literal::Scalar(int32_t{0})),
            b.Constant(Literal::Of<float>({0}, {1}))};
      }),
      &changed);
  EXPECT_EQ(EntryText(out),
            "  %0: f32[] = constant() value=f32[] {0}\n"
            "  %1: f32[] = constant() value=f32[] {-0}\n"
            "  %2: f32[] = constant() value=f32[] {nan}\n"
            "  %3: s32[] = constant() value=s32[] {0}\n"
            "  %4: f32[1] = constant() value=f32[1] {0}\n"
            "  return %0, %1, %2, %2, %3, %4\n");
}

int Fold(Module* module, const OpDef& op, bool swapped) {
  return AddComputation(module, "fold", [&](ComputationBuilder& b) {
    const ValueId x = b.Parameter(kF);
    const ValueId y = b.Parameter(kF);
    return std::vector<ValueId>{
        swapped ? b.Add(op, {y, x}) : b.Add(op, {x, y})};
  });
}

TEST(EliminateCommonSubexpressions, EqualComputationsBecomeOne) {
  Module module("m");
  const int folds[] = {Fold(&module, kAdd, false), Fold(&module, kAdd, true),
                       Fold(&module, kMultiply, false),
                       Fold(&module, kSubtract, false),
                       Fold(&module, kSubtract, true)};
  AddComputation(&module, "main", [&](ComputationBuilder& b) {
    const ValueId x = b.Parameter(kF23);
    const ValueId zero = b.Constant(Literal::Scalar(0.0f));
    std::vector<ValueId> results;
    for (int f : folds) {
      results.push_back(
          b.Add(kReduce, {x, zero}, {{"dimensions", Dims{0, 1}}}, {f}));
    }
    return results;
  });
  bool changed;
  const Module out = Merged(module, &changed);
  EXPECT_TRUE(changed);
  EXPECT_EQ(out.computations().size(), 5u);
  EXPECT_EQ(EntryText(out),
            "  %1: f32[] = constant() value=f32[] {0}\n"
            "  %2: f32[] = reduce(%0, %1) dimensions=[0,1] @0\n"
            "  %3: f32[] = reduce(%0, %1) dimensions=[0,1] @1\n"
            "  %4: f32[] = reduce(%0, %1) dimensions=[0,1] @2\n"
            "  %5: f32[] = reduce(%0, %1) dimensions=[0,1] @3\n"
            "  return %2, %2, %3, %4, %5\n");
}

// The entry is the last whatever it is equal to.
TEST(EliminateCommonSubexpressions, EntryStays) {
  Module module("m");
  Fold(&module, kAdd, false);
  Fold(&module, kAdd, false);
  bool changed;
  const Module out = Merged(module, &changed);
  EXPECT_FALSE(changed);
  EXPECT_EQ(out.computations().size(), 2u);
}

// Computations that differ in a parameter's shape or in what they return.
TEST(EliminateCommonSubexpressions, SignaturesKeepComputationsApart) {
  Module module("m");
  const auto give = [&](const Shape& shape, int result) {
    return AddComputation(&module, "f", [&](ComputationBuilder& b) {
      b.Parameter(shape);
      b.Parameter(shape);
      return std::vector<ValueId>{result};
    });
  };
  give(kF, 0);
  give(kF, 1);
  give(kF23, 0);
  give(kF, 0);  // as the first
  give(kF, 0);  // the entry
  bool changed;
  EXPECT_EQ(Merged(module, &changed).computations().size(), 4u);
}

TEST(EliminateCommonSubexpressions, IsLinear) {
  Module module = BuildModule([](ComputationBuilder& b) {
    const ValueId x = b.Parameter(kF);
    ValueId sum = x;
    for (int i = 0; i < 20000; ++i) {
      sum = b.Add(kAdd, {sum, b.Add(kExponential, {x})});
    }
    return std::vector<ValueId>{sum};
  });
  bool changed;
  EXPECT_EQ(Merged(module, &changed).num_instructions(), 20002);
}

}  // namespace
}  // namespace hawser
