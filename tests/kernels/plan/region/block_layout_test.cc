#include "kernels/plan/region/block_layout.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "core/ir/builder.h"
#include "core/ops/contraction/scan.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/sort.h"
#include "kernels/plan/region/node_table.h"
#include "tests/testing/matchers.h"

namespace hawser::plan {
namespace {

// Parts cover a run, none is empty, and as many come out where their count is
// asked for: the emitter knows the count alone.
TEST(ScanLayout, PartsCoverTheRun) {
  for (const Dims& dims : {Dims{1 << 24, 1}, Dims{3, 100000}, Dims{16385, 1},
                           Dims{129, 7}, Dims{5000, 2}, Dims{70000, 9}}) {
    const Shape shape = Shape::Of(DType::kF32, dims);
    for (const int64_t axis : {0, 1}) {
      for (const int64_t units : {1, 4, 132}) {
        const int64_t parts = ScanLayout::PartsFor(shape, axis, units);
        const ScanLayout layout(shape, axis, parts);
        EXPECT_EQ(layout.parts, parts) << shape.ToString();
        EXPECT_GE(layout.parts * layout.part_size, shape.dim(axis));
        EXPECT_LT((layout.parts - 1) * layout.part_size, shape.dim(axis));
      }
    }
  }
}

TEST(ScanLayout, OnlyFewLongRunsAreCut) {
  const auto parts = [](const Dims& dims, int64_t axis) {
    return ScanLayout::PartsFor(Shape::Of(DType::kF32, dims), axis, 132);
  };
  EXPECT_EQ(parts({16383}, 0), 1);
  EXPECT_EQ(parts({1 << 24}, 0), 1024);
  EXPECT_EQ(parts({1056, 1 << 20}, 1), 1);
  EXPECT_EQ(parts({0, 4}, 0), 1);
  EXPECT_EQ(parts({4, 1000000}, 0), 1);
  EXPECT_GT(parts({1000000, 4}, 0), 1000);
}

// A comparator of two s32: compare(`direction`, of its values).
bool IsOrderOf(DType dtype, const char* direction,
               const std::function<ValueId(ComputationBuilder&, ValueId,
                                           ValueId, bool is_left)>& value) {
  Module module("m");
  ComputationBuilder b(&module, "less");
  const ValueId l = b.Parameter(Shape::Scalar(dtype));
  const ValueId r = b.Parameter(Shape::Scalar(dtype));
  const ValueId left = value(b, l, r, true), right = value(b, l, r, false);
  const ValueId less =
      b.Add(kCompare, {left, right}, {{"direction", std::string(direction)}});
  const auto number = b.Finish({less});
  EXPECT_OK(number);
  return number.ok() && IsOrder(module.computation(*number));
}

TEST(IsOrder, KnowsComparisonsOfOneFunctionOfBothSides) {
  const auto own = [](auto& b, ValueId l, ValueId r, bool is_left) {
    return is_left ? l : r;
  };
  const auto other = [](auto& b, ValueId l, ValueId r, bool is_left) {
    return is_left ? r : l;
  };
  const auto negated = [](auto& b, ValueId l, ValueId r, bool is_left) {
    return b.Add(kNegate, {is_left ? l : r});
  };
  const auto uneven = [](auto& b, ValueId l, ValueId r, bool is_left) {
    return is_left ? b.Add(kNegate, {l}) : r;
  };
  const auto both = [](auto& b, ValueId l, ValueId r, bool is_left) {
    return is_left ? l : b.Add(kMaximum, {l, r});
  };
  EXPECT_TRUE(IsOrderOf(DType::kS32, "LT", own));
  EXPECT_TRUE(IsOrderOf(DType::kU8, "GT", other));
  EXPECT_TRUE(IsOrderOf(DType::kBool, "GT", own));
  EXPECT_TRUE(IsOrderOf(DType::kS32, "LT", negated));
  EXPECT_FALSE(IsOrderOf(DType::kF32, "LT", own));
  EXPECT_FALSE(IsOrderOf(DType::kS32, "LE", own));
  EXPECT_FALSE(IsOrderOf(DType::kS32, "LT", uneven));
  EXPECT_FALSE(IsOrderOf(DType::kS32, "LT", both));
}

TEST(IsOrder, KnowsWhatAddComparatorMakes) {
  for (const DType dtype : AllDTypes()) {
    if (IsComplex(dtype)) continue;
    for (const bool descending : {false, true}) {
      Module module("m");
      const int number =
          AddComparator(dtype, descending, {DType::kF64}, &module);
      const Computation& comparator = module.computation(number);
      EXPECT_TRUE(IsOrder(comparator)) << DTypeName(dtype);
      EXPECT_EQ(KeysOfComparator(comparator), std::vector<int>{0});
    }
  }
}

TEST(BlockRegions, AreTheGpusAndTheHosts) {
  Module module("m");
  const int less = AddComparator(DType::kF32, false, {}, &module);
  ComputationBuilder b(&module, "main");
  const ValueId x = b.Parameter(Shape::Of(DType::kF32, {3000}));
  const ValueId y = b.Add(kSort, {x}, {{"dimension", int64_t{0}}}, {less});
  ASSERT_OK_AND_ASSIGN(const int main, b.Finish({y}));
  ASSERT_OK_AND_ASSIGN(const Region gpu,
                       LowerRegion(module, main, 1, GpuTarget()));
  EXPECT_EQ(gpu.kind, RegionKind::kBlock);
  EXPECT_EQ(gpu.launches, 3);  // tiles of 1024, two merges
  EXPECT_EQ(gpu.scratch_bytes, 12000);
  ASSERT_OK_AND_ASSIGN(const Region cpu,
                       LowerRegion(module, main, 1, CpuTarget()));
  EXPECT_EQ(cpu.kind, RegionKind::kHost);
}

}  // namespace
}  // namespace hawser::plan
