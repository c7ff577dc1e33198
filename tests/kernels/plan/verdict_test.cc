// What of a plan will be slow.
#include "kernels/plan/verdict.h"

#include "core/ops/contraction/dot.h"
#include "gtest/gtest.h"
#include "kernels/plan/region/region.h"
#include "kernels/plan/target/target.h"
#include "tests/testing/expression_module.h"
#include "tests/testing/matchers.h"

namespace hawser::plan {
namespace {

Module SquaresIn(DType dtype) {
  const Shape square = Shape::Of(dtype, {64, 64});
  return testing::ExpressionModule(
      {square, square}, [](const std::vector<Expression>& x) {
        return std::vector<Expression>{
            Apply(kDotGeneral, x,
                  {{"lhs_batching_dimensions", Dims{}},
                   {"lhs_contracting_dimensions", Dims{1}},
                   {"rhs_batching_dimensions", Dims{}},
                   {"rhs_contracting_dimensions", Dims{0}}})};
      });
}

TEST(Verdict, ProductsNeedACallOrMatrixInstructions) {
  const auto verdict = [](DType dtype, bool has_call, const Target& target) {
    const Module module = SquaresIn(dtype);
    auto region = LowerRegion(module, 0, 2, target);
    EXPECT_OK(region);
    if (!region.ok()) return std::string();
    if (!has_call) region->epilogue.call.reset();
    return VerdictOf(module, *region, target);
  };
  const Target target = GpuTarget();
  const std::string slow = "a product that no library call does";
  for (const DType d : {DType::kBF16, DType::kF16, DType::kF64}) {
    EXPECT_EQ(verdict(d, false, target), "") << DTypeName(d);
  }
  EXPECT_EQ(verdict(DType::kF32, false, target), slow);
  EXPECT_EQ(verdict(DType::kC64, false, target), slow);
  EXPECT_EQ(verdict(DType::kF32, true, target), "");
  Target tf32 = target, none = target;
  tf32.matrix_products = DTypeSet::Of(DType::kF32);
  none.matrix_products = {};
  EXPECT_EQ(verdict(DType::kF32, false, tf32), "");
  EXPECT_EQ(verdict(DType::kBF16, false, none), slow);
}

}  // namespace
}  // namespace hawser::plan
