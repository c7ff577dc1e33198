#include "core/passes/dce.h"

#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/elementwise.h"
#include "tests/core/passes/build_module.h"

namespace hawser {
namespace {

TEST(EliminateDeadCode, DropsWhatNoResultNeeds) {
  const Module module = BuildModule([](ComputationBuilder& b) {
    const ValueId x = b.Parameter(kF);
    const ValueId dead = b.Add(kNegate, {x});
    b.Add(kAdd, {dead, x});
    return std::vector<ValueId>{b.Add(kMultiply, {x, x})};
  });
  bool changed = false;
  ASSERT_OK_AND_ASSIGN(const Module out, EliminateDeadCode(module, &changed));
  EXPECT_TRUE(changed);
  EXPECT_EQ(EntryText(out), "  %1: f32[] = multiply(%0, %0)\n  return %1\n");
  EXPECT_OK(Verify(out));
}

TEST(EliminateDeadCode, KeepsTheSignature) {
  const Module module = BuildModule([](ComputationBuilder& b) {
    b.Parameter(kF);
    b.Parameter(kF23);
    return std::vector<ValueId>{b.Constant(Literal::Scalar(1.0f))};
  });
  bool changed = false;
  ASSERT_OK_AND_ASSIGN(const Module out, EliminateDeadCode(module, &changed));
  EXPECT_FALSE(changed);
  EXPECT_EQ(out.signature(), module.signature());
}

TEST(EliminateDeadCode, DropsUnreachedComputationsAndRenumbers) {
  Module module("m");
  const auto branch = [](ComputationBuilder& b) {
    return std::vector<ValueId>{b.Parameter(kF)};
  };
  const int unused = AddComputation(&module, "unused", branch);
  // Only what is itself unreached calls this one.
  AddComputation(&module, "caller", [&](ComputationBuilder& b) {
    const ValueId i = b.Parameter(Shape::Scalar(DType::kS32));
    const ValueId x = b.Parameter(kF);
    return std::vector<ValueId>{b.Add(kCase, {i, x}, {}, {unused})};
  });
  const int used = AddComputation(&module, "used", branch);
  AddComputation(&module, "main", [&](ComputationBuilder& b) {
    const ValueId i = b.Parameter(Shape::Scalar(DType::kS32));
    const ValueId x = b.Parameter(kF);
    return std::vector<ValueId>{b.Add(kCase, {i, x}, {}, {used})};
  });
  bool changed = false;
  ASSERT_OK_AND_ASSIGN(const Module out, EliminateDeadCode(module, &changed));
  EXPECT_TRUE(changed);
  ASSERT_EQ(out.computations().size(), 2u);
  EXPECT_EQ(out.computation(0).name(), "used");
  EXPECT_EQ(EntryText(out), "  %2: f32[] = case(%0, %1) @0\n  return %2\n");
  EXPECT_OK(Verify(out));
}

TEST(EliminateDeadCode, ACallThatIsDeadDoesNotReach) {
  Module module("m");
  const int callee = AddComputation(&module, "f", [](ComputationBuilder& b) {
    return std::vector<ValueId>{b.Parameter(kF)};
  });
  AddComputation(&module, "main", [&](ComputationBuilder& b) {
    const ValueId i = b.Parameter(Shape::Scalar(DType::kS32));
    const ValueId x = b.Parameter(kF);
    b.Add(kCase, {i, x}, {}, {callee});
    return std::vector<ValueId>{x};
  });
  bool changed = false;
  ASSERT_OK_AND_ASSIGN(const Module out, EliminateDeadCode(module, &changed));
  EXPECT_EQ(out.computations().size(), 1u);
}

// One used result keeps the instruction, and the numbers stay together.
TEST(EliminateDeadCode, SeveralResultsLiveOrDieTogether) {
  Module module("m");
  const int branch = AddComputation(&module, "f", [](ComputationBuilder& b) {
    const ValueId x = b.Parameter(kF);
    return std::vector<ValueId>{x, x, x};
  });
  AddComputation(&module, "main", [&](ComputationBuilder& b) {
    const ValueId i = b.Parameter(Shape::Scalar(DType::kS32));
    const ValueId x = b.Parameter(kF);
    b.Add(kNegate, {x});
    const ValueId first = b.Add(kCase, {i, x}, {}, {branch});
    return std::vector<ValueId>{b.Add(kNegate, {first + 2})};
  });
  bool changed = false;
  ASSERT_OK_AND_ASSIGN(const Module out, EliminateDeadCode(module, &changed));
  EXPECT_EQ(EntryText(out),
            "  %2: f32[], %3: f32[], %4: f32[] = case(%0, %1) @0\n"
            "  %5: f32[] = negate(%4)\n"
            "  return %5\n");
}

TEST(EliminateDeadCode, ReachedComputationsWithoutInstructionsStay) {
  Module module("m");
  const int empty =
      AddComputation(&module, "empty", [](ComputationBuilder&) {
        return std::vector<ValueId>{};
      });
  const int outer =
      AddComputation(&module, "outer", [&](ComputationBuilder& b) {
        const ValueId i = b.Parameter(Shape::Scalar(DType::kS32));
        b.Add(kCase, {i}, {}, {empty});  // gives nothing, so it is dead
        return std::vector<ValueId>{i};
      });
  AddComputation(&module, "main", [&](ComputationBuilder& b) {
    const ValueId i = b.Parameter(Shape::Scalar(DType::kS32));
    return std::vector<ValueId>{b.Add(kCase, {i, i}, {}, {outer})};
  });
  bool changed = false;
  ASSERT_OK_AND_ASSIGN(const Module out, EliminateDeadCode(module, &changed));
  EXPECT_EQ(out.computations().size(), 2u);
  EXPECT_OK(Verify(out));
}

TEST(EliminateDeadCode, EmptyModule) {
  bool changed = false;
  ASSERT_OK_AND_ASSIGN(const Module out,
                       EliminateDeadCode(Module("m"), &changed));
  EXPECT_TRUE(out.empty());
  EXPECT_FALSE(changed);
}

}  // namespace
}  // namespace hawser
