#include "kernels/plan/region/block_layout.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "core/ir/builder.h"
#include "core/ops/contraction/scan.h"
#include "core/ops/elementwise/compare.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/slice.h"
#include "core/ops/movement/sort.h"
#include "kernels/plan/plan.h"
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

// What the order of compare(`direction`, of these values) is called.
std::string OrderBy(
    DType dtype, const char* direction,
    const std::function<ValueId(ComputationBuilder&, ValueId, ValueId,
                                bool is_left)>& value) {
  Module module("m");
  ComputationBuilder b(&module, "less");
  const ValueId l = b.Parameter(Shape::Scalar(dtype));
  const ValueId r = b.Parameter(Shape::Scalar(dtype));
  const ValueId left = value(b, l, r, true), right = value(b, l, r, false);
  const ValueId less =
      b.Add(kCompare, {left, right}, {{"direction", std::string(direction)}});
  const auto number = b.Finish({less});
  EXPECT_OK(number);
  if (!number.ok()) return "error";
  const auto order = OrderOfComparator(module.computation(*number));
  if (!order.has_value()) return "none";
  EXPECT_EQ(order->image, left);
  return order->descending ? "descending" : "ascending";
}

TEST(OrderOfComparator, KnowsComparisonsOfOneFunctionOfBothSides) {
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
  EXPECT_EQ(OrderBy(DType::kS32, "LT", own), "ascending");
  EXPECT_EQ(OrderBy(DType::kU8, "GT", other), "ascending");
  EXPECT_EQ(OrderBy(DType::kBool, "GT", own), "descending");
  EXPECT_EQ(OrderBy(DType::kS8, "LT", other), "descending");
  EXPECT_EQ(OrderBy(DType::kS32, "LT", negated), "ascending");
  EXPECT_EQ(OrderBy(DType::kF32, "LT", own), "none");
  EXPECT_EQ(OrderBy(DType::kS32, "LE", own), "none");
  EXPECT_EQ(OrderBy(DType::kS32, "LT", uneven), "none");
  EXPECT_EQ(OrderBy(DType::kS32, "LT", both), "none");
}

TEST(OrderOfComparator, KnowsWhatAddComparatorMakes) {
  for (const DType dtype : AllDTypes()) {
    if (IsComplex(dtype)) continue;
    for (const bool descending : {false, true}) {
      Module module("m");
      const int number =
          AddComparator(dtype, descending, {DType::kF64}, &module);
      const Computation& comparator = module.computation(number);
      const auto order = OrderOfComparator(comparator);
      ASSERT_TRUE(order.has_value()) << DTypeName(dtype);
      EXPECT_EQ(order->descending, descending);
      EXPECT_EQ(ByteWidth(comparator.shape(order->image).dtype()),
                ByteWidth(dtype));
      EXPECT_EQ(KeysOfComparator(comparator), std::vector<int>{0});
    }
  }
}

TEST(BlockRegions, AreTheGpusAndTheHosts) {
  Module module("m");
  const int less = AddComparator(DType::kF32, false, {}, &module);
  ComputationBuilder b(&module, "main");
  const ValueId x = b.Parameter(Shape::Of(DType::kF32, {10000}));
  const ValueId y = b.Add(kSort, {x}, {{"dimension", int64_t{0}}}, {less});
  ASSERT_OK_AND_ASSIGN(const int main, b.Finish({y}));
  ASSERT_OK_AND_ASSIGN(const Region gpu,
                       LowerRegion(module, main, 1, GpuTarget()));
  EXPECT_EQ(gpu.kind, RegionKind::kBlock);
  // Three tiles, four digits: keys, and counts of 256 values for each tile.
  EXPECT_EQ(gpu.launches, 8);
  EXPECT_EQ(gpu.scratch_bytes, 40000 + 3 * 1024);
  ASSERT_OK_AND_ASSIGN(const Region cpu,
                       LowerRegion(module, main, 1, CpuTarget()));
  EXPECT_EQ(cpu.kind, RegionKind::kHost);
}

// What is read of a sort of 10000 elements: by slices, by whatever else.
int64_t WantedOf(absl::FunctionRef<ValueId(ComputationBuilder&, ValueId)> read) {
  Module module("m");
  const int less = AddComparator(DType::kF32, false, {}, &module);
  ComputationBuilder b(&module, "main");
  const ValueId x = b.Parameter(Shape::Of(DType::kF32, {10000}));
  const ValueId y = b.Add(kSort, {x}, {{"dimension", int64_t{0}}}, {less});
  EXPECT_OK(b.Finish({read(b, y)}));
  const auto plan = MakePlan(module, CpuTarget());
  EXPECT_OK(plan);
  return *absl::c_max_element(plan->entry().wanted);  // others' are 0
}

ValueId Part(ComputationBuilder& b, ValueId x, int64_t begin, int64_t end) {
  return b.Add(kSlice, {x},
               {{"start_indices", Dims{begin}},
                {"limit_indices", Dims{end}},
                {"strides", Dims{1}}});
}

TEST(WantedOfSort, IsWhatStandsInFrontOfTheLastOneRead) {
  constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
  const auto first = [](ComputationBuilder& b, ValueId x) {
    return b.Add(kNegate, {Part(b, x, 0, 10)});
  };
  const auto two = [](ComputationBuilder& b, ValueId x) {
    return b.Add(kAdd, {Part(b, x, 0, 10), Part(b, x, 30, 40)});
  };
  const auto entry = [](ComputationBuilder& b, ValueId x) {
    const ValueId at = b.Constant(Literal::Scalar<int32_t>(5));
    return b.Add(kDynamicSlice, {x, at}, {{"slice_sizes", Dims{1}}});
  };
  const auto whole = [](ComputationBuilder& b, ValueId x) {
    return b.Add(kAdd, {Part(b, b.Add(kNegate, {x}), 0, 10), Part(b, x, 0, 10)});
  };
  const auto all = [](ComputationBuilder& b, ValueId x) {
    return b.Add(kNegate, {x});
  };
  const auto itself = [](ComputationBuilder&, ValueId x) { return x; };
  EXPECT_EQ(WantedOf(first), 10);
  EXPECT_EQ(WantedOf(two), 40);
  EXPECT_EQ(WantedOf(entry), 10000);
  EXPECT_EQ(WantedOf(whole), 10);
  EXPECT_EQ(WantedOf(all), 10000);
  EXPECT_EQ(WantedOf(itself), kAll);
}

}  // namespace
}  // namespace hawser::plan
