// What an element is thought to take, by dtype.
#include "kernels/cpu/costs/lane_costs.h"

#include "core/ops/elementwise/elementwise.h"
#include "gtest/gtest.h"
#include "kernels/cpu/kernel.h"

namespace hawser::cpu {
namespace {

TEST(LaneCosts, IntegersTakeByTheirWidth) {
  const double word = LaneSteps(kAdd, DType::kS32, Isa::kAvx512);
  EXPECT_LT(word, 0.5);
  EXPECT_DOUBLE_EQ(LaneSteps(kAdd, DType::kU8, Isa::kAvx512), word / 4);
  EXPECT_DOUBLE_EQ(LaneSteps(kAdd, DType::kS64, Isa::kAvx512), word * 2);
}

// Bytes have no lanes that are shifted.
TEST(LaneCosts, NarrowIntegersMayTakeMore) {
  EXPECT_GT(LaneSteps(kShiftLeft, DType::kU8, Isa::kAvx512),
            2 * LaneSteps(kShiftLeft, DType::kU32, Isa::kAvx512));
}

TEST(LaneCosts, WithoutLanesItIsTheRows) {
  for (const DType dtype : {DType::kC64, DType::kF32, DType::kU8}) {
    const int row = FindCpuKernel(kMultiply)->steps.Of(dtype);
    EXPECT_EQ(LaneSteps(kMultiply, dtype, Isa::kBase), row);
  }
}

}  // namespace
}  // namespace hawser::cpu
