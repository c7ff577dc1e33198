#include "core/passes/inline_calls.h"

#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/elementwise.h"
#include "tests/core/passes/build_module.h"

namespace hawser {
namespace {

TEST(InlineCalls, PutsAComputationInItsPlace) {
  Module module("m");
  // Gives a parameter, and what an inner call gives of it twice.
  const int inner = AddComputation(&module, "inner", [](ComputationBuilder& b) {
    return std::vector<ValueId>{b.Add(kNegate, {b.Parameter(kF)})};
  });
  const int outer =
      AddComputation(&module, "outer", [&](ComputationBuilder& b) {
        const ValueId x = b.Parameter(kF), y = b.Parameter(kF);
        const ValueId given = b.Add(kCall, {x}, {}, {inner});
        return std::vector<ValueId>{y, b.Add(kAdd, {given, y}), given};
      });
  AddComputation(&module, "main", [&](ComputationBuilder& b) {
    const ValueId x = b.Parameter(kF), y = b.Parameter(kF);
    const ValueId first = b.Add(kCall, {x, y}, {}, {outer});
    return std::vector<ValueId>{b.Add(kMultiply, {first, first + 1}),
                                first + 2};
  });
  bool changed = false;
  ASSERT_OK_AND_ASSIGN(const Module out, InlineCalls(module, &changed));
  EXPECT_TRUE(changed);
  EXPECT_EQ(EntryText(out),
            "  %2: f32[] = negate(%0)\n"
            "  %3: f32[] = add(%2, %1)\n"
            "  %4: f32[] = multiply(%1, %3)\n"
            "  return %4, %2\n");
  EXPECT_OK(Verify(out));
}

TEST(InlineCalls, LeavesBranchesAlone) {
  Module module("m");
  const int branch =
      AddComputation(&module, "branch", [](ComputationBuilder& b) {
        return std::vector<ValueId>{b.Add(kNegate, {b.Parameter(kF)})};
      });
  AddComputation(&module, "main", [&](ComputationBuilder& b) {
    const ValueId i = b.Parameter(Shape::Scalar(DType::kS32));
    const ValueId x = b.Parameter(kF);
    return std::vector<ValueId>{b.Add(kCase, {i, x}, {}, {branch})};
  });
  bool changed = false;
  ASSERT_OK_AND_ASSIGN(const Module out, InlineCalls(module, &changed));
  EXPECT_FALSE(changed);
  EXPECT_EQ(EntryText(out), EntryText(module));
}

}  // namespace
}  // namespace hawser
