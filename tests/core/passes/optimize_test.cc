#include "core/passes/optimize.h"

#include "core/ops/contraction/control.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "tests/core/passes/build_module.h"

namespace hawser {
namespace {

OptimizeOptions Verified() {
  OptimizeOptions options;
  options.verify = true;
  return options;
}

std::string Optimized(const Module& module) {
  const auto out = Optimize(module, Verified());
  EXPECT_OK(out);
  EXPECT_EQ(out->signature(), module.signature());
  return EntryText(*out);
}

// Each pass frees work for another: the transposes merge, then the negations
// are equal, then the select has one value, then all but one are dead.
TEST(Optimize, GoesOnUntilNothingChanges) {
  const Module module = BuildModule([](ComputationBuilder& b) {
    const ValueId p = b.Parameter(Shape::Scalar(DType::kBool));
    const ValueId x = b.Parameter(kF23);
    ValueId y = x;
    for (int i = 0; i < 2; ++i) {
      y = b.Add(kTranspose, {y}, {{"permutation", Dims{1, 0}}});
    }
    const ValueId a = b.Add(kNegate, {x});
    const ValueId c = b.Add(kNegate, {y});
    return std::vector<ValueId>{b.Add(kSelect, {p, a, c})};
  });
  EXPECT_EQ(Optimized(module),
            "  %2: f32[2,3] = negate(%1)\n  return %2\n");
}

TEST(Optimize, KeepsTheEntrysUnusedParameters) {
  const Module module = BuildModule([](ComputationBuilder& b) {
    b.Parameter(kF);
    return std::vector<ValueId>{b.Parameter(kF23)};
  });
  EXPECT_EQ(Optimized(module), "  return %1\n");
}

TEST(Optimize, IsIdempotent) {
  const Module module = BuildModule([](ComputationBuilder& b) {
    const ValueId x = b.Parameter(kF23);
    const ValueId a = b.Add(kReshape, {x}, {{"dims", Dims{6}}});
    const ValueId c = b.Add(kReshape, {a}, {{"dims", Dims{3, 2}}});
    return std::vector<ValueId>{b.Add(kAdd, {c, c}), a};
  });
  ASSERT_OK_AND_ASSIGN(const Module once, Optimize(module, Verified()));
  ASSERT_OK_AND_ASSIGN(const Module twice, Optimize(once, Verified()));
  EXPECT_EQ(Print(once), Print(twice));
  EXPECT_LE(once.num_instructions(), module.num_instructions());
}

TEST(Optimize, FoldsWithAnEvaluatorOnly) {
  const Module module = BuildModule([](ComputationBuilder& b) {
    const ValueId one = b.Constant(Literal::Scalar(1.0f));
    return std::vector<ValueId>{b.Add(kNegate, {one})};
  });
  EXPECT_THAT(Optimized(module), testing::HasSubstr("negate"));
  OptimizeOptions options = Verified();
  options.evaluate = [](const Module&, int) {
    return std::vector<Literal>{Literal::Scalar(-1.0f)};
  };
  ASSERT_OK_AND_ASSIGN(const Module out, Optimize(module, options));
  EXPECT_EQ(EntryText(out),
            "  %0: f32[] = constant() value=f32[] {-1}\n  return %0\n");
}

TEST(Optimize, ErrorsNameThePass) {
  const Module module = BuildModule([](ComputationBuilder& b) {
    const ValueId one = b.Constant(Literal::Scalar(1.0f));
    return std::vector<ValueId>{b.Add(kNegate, {one})};
  });
  OptimizeOptions options;
  options.evaluate = [](const Module&, int) { return std::vector<Literal>(); };
  EXPECT_THAT(Optimize(module, options),
              StatusIs(absl::StatusCode::kInternal, "pass fold: "));
}

TEST(Optimize, EmptyModule) {
  ASSERT_OK_AND_ASSIGN(const Module out, Optimize(Module("m"), Verified()));
  EXPECT_TRUE(out.empty());
}

TEST(Optimize, LoopsKeepTheirSignatures) {
  Module module("m");
  const int condition =
      AddComputation(&module, "condition", [](ComputationBuilder& b) {
        const ValueId i = b.Parameter(kF);
        const ValueId n = b.Parameter(kF);
        b.Add(kNegate, {n});  // dead
        return std::vector<ValueId>{
            b.Add(kCompare, {i, n}, {{"direction", std::string("LT")}})};
      });
  const int body = AddComputation(&module, "body", [](ComputationBuilder& b) {
    const ValueId i = b.Parameter(kF);
    b.Parameter(kF);
    return std::vector<ValueId>{b.Add(kAdd, {i, i})};
  });
  AddComputation(&module, "main", [&](ComputationBuilder& b) {
    const ValueId i = b.Parameter(kF);
    const ValueId n = b.Parameter(kF);
    return std::vector<ValueId>{b.Add(
        kWhile, {i, n}, {{"num_invariant", int64_t{1}}}, {condition, body})};
  });
  ASSERT_OK_AND_ASSIGN(const Module out, Optimize(module, Verified()));
  EXPECT_EQ(out.num_instructions(), module.num_instructions() - 1);
  EXPECT_EQ(EntryText(out),
            "  %2: f32[] = while(%0, %1) num_invariant=1 @0 @1\n"
            "  return %2\n");
}

// A chain of 50,000 instructions that all merge takes a moment, not minutes.
TEST(Optimize, LongChainsCollapseInOneGo) {
  const Module module = BuildModule([](ComputationBuilder& b) {
    ValueId x = b.Parameter(kF23);
    for (int i = 0; i < 50000; ++i) {
      x = b.Add(kTranspose, {x}, {{"permutation", Dims{1, 0}}});
    }
    return std::vector<ValueId>{x};
  });
  EXPECT_EQ(Optimized(module), "  return %0\n");
}

}  // namespace
}  // namespace hawser
