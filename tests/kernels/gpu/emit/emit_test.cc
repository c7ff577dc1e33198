// Indices in words, to the last number that fits; regions that no kernel does.
#include "kernels/gpu/emit/emit.h"

#include <string>
#include <vector>

#include "core/ir/builder.h"
#include "core/ops/control.h"
#include "core/ops/dot.h"
#include "core/ops/elementwise.h"
#include "core/ops/reduce.h"
#include "core/ops/scatter.h"
#include "core/ops/shape.h"
#include "gtest/gtest.h"
#include "kernels/gpu/emit/index_text.h"
#include "kernels/gpu/emit/launch.h"
#include "kernels/plan/plan.h"
#include "tests/testing/matchers.h"

namespace hawser::gpu {
namespace {

using plan::IndexExpr;

TEST(IndexText, FitsBelow2To31OnBothSides) {
  constexpr int64_t kEnd = int64_t{1} << 31;
  EXPECT_TRUE(FitsU32(IndexExpr::Dim(0, kEnd)));
  EXPECT_FALSE(FitsU32(IndexExpr::Dim(0, kEnd + 1)));
  EXPECT_TRUE(FitsU32(IndexExpr::Dim(0, 8) + (1 - kEnd)));
  EXPECT_FALSE(FitsU32(IndexExpr::Dim(0, 8) + -kEnd));
  // What is divided has to fit too.
  const IndexExpr large = IndexExpr::Dim(0, int64_t{1} << 40);
  EXPECT_FALSE(FitsU32(large.FloorDiv(1 << 20)));
  EXPECT_FALSE(FitsU32(large.FloorDiv(1 << 20).Mod(7)));
  EXPECT_TRUE(FitsU32(IndexExpr::Dim(0, kEnd).FloorDiv(1 << 20)));
}

TEST(IndexText, SumsOfTermsInU32OrU64) {
  IndexNames names;
  names.loops = {"i", "j"};
  names.symbols = {"s"};
  const IndexExpr i = IndexExpr::Dim(0, 6), j = IndexExpr::Dim(1, 8);
  const auto text = [&](const IndexExpr& e) { return IndexText(e, names); };
  EXPECT_EQ(text(IndexExpr()), "0u");
  EXPECT_EQ(text(IndexExpr::Constant(7)), "7u");
  EXPECT_EQ(text(IndexExpr::Constant(-7)), "0u - 7u");
  EXPECT_EQ(text(i + j * 3), "i + 3u * j");
  EXPECT_EQ(text(i * -1 + 5), "0u - i + 5u");
  EXPECT_EQ(text(i - j * 2), "i - 2u * j");
  EXPECT_EQ(text(i + -2), "i - 2u");
  EXPECT_EQ(text(IndexExpr::Symbol(0, {0, 4}) + i), "i + s");
  EXPECT_EQ(text(j.FloorDiv(3)), "((j) / 3u)");
  EXPECT_EQ(text(j.Mod(3)), "((j) % 3u)");
  // Moved up by whole divisors, and down again.
  EXPECT_EQ(text((j * -1).FloorDiv(3)), "((0u - j + 9u) / 3u - 3u)");
  EXPECT_EQ(text((j * -1).Mod(3)), "((0u - j + 9u) % 3u)");
  names.wide = true;
  EXPECT_EQ(text(i + j * 3 + 1), "i + 3ull * j + 1ull");
  EXPECT_EQ(std::string(names.type()), "u64");
}

TEST(IndexText, PredicatesAreOneComparison) {
  IndexNames names;
  names.loops = {"i"};
  const IndexExpr i = IndexExpr::Dim(0, 9);
  EXPECT_EQ(PredicateText({i, {2, 5}}, names), "i - 2u <= 3u");
  EXPECT_EQ(PredicateText({i, {0, 5}}, names), "i <= 5u");
  EXPECT_EQ(PredicateText({i, {5, 5}}, names), "i - 5u <= 0u");
  EXPECT_EQ(PredicateText({i, {6, 5}}, names), "false");
}

TEST(Launch, NumbersOfBlocks) {
  EXPECT_EQ(CeilDivide(0, 8), 0);
  EXPECT_EQ(CeilDivide(8, 8), 1);
  EXPECT_EQ(CeilDivide(9, 8), 2);
  EXPECT_EQ(PowerOfTwo(0), 1);
  EXPECT_EQ(PowerOfTwo(1), 1);
  EXPECT_EQ(PowerOfTwo(5), 8);
  EXPECT_EQ(PowerOfTwo(8), 8);
  EXPECT_EQ(ProductOf({2, 3, 4}), 24);
  const EmitOptions one = {.multiprocessors = 1}, none = {.multiprocessors = 0};
  EXPECT_EQ(LoopShape(0, one).grid.x, 1u);
  EXPECT_EQ(LoopShape(257, one).grid.x, 2u);
  EXPECT_EQ(LoopShape(256 * 32, one).grid.x, 32u);
  EXPECT_EQ(LoopShape(256 * 33, one).grid.x, 32u);
  EXPECT_EQ(LoopShape(256 * 33, none).grid.x, 1u);
  EXPECT_EQ(LoopShape(1, one).threads, 256u);
}

// A product of x and y as a fusion, with x negated before it where `before`.
Module ProductIn(bool before, int products) {
  Module module("fusion");
  const Shape square = Shape::Of(DType::kF32, {8, 8});
  const Attributes axes = {{"lhs_batching_dimensions", Dims{}},
                           {"lhs_contracting_dimensions", Dims{1}},
                           {"rhs_batching_dimensions", Dims{}},
                           {"rhs_contracting_dimensions", Dims{0}}};
  ComputationBuilder inner(&module, "body");
  const ValueId x = inner.Parameter(square), y = inner.Parameter(square);
  const ValueId left = before ? inner.Add(kNegate, {x}) : x;
  ValueId result = inner.Add(kDotGeneral, {left, y}, axes);
  for (int k = 1; k < products; ++k) {
    result = inner.Add(kAdd, {result, inner.Add(kDotGeneral, {y, x}, axes)});
  }
  const auto called = inner.Finish({inner.Add(kTanh, {result})});
  EXPECT_OK(called);
  ComputationBuilder b(&module, "main");
  const ValueId p = b.Parameter(square), q = b.Parameter(square);
  EXPECT_OK(b.Finish(
      {b.Add(kFusion, {p, q}, {{"kind", std::string("dot")}}, {*called})}));
  return module;
}

TEST(EmitRegion, ComputesOneProductOfOperands) {
  const auto can = [](bool before, int products) {
    const Module module = ProductIn(before, products);
    const auto region = plan::LowerRegion(module, 1, 2, plan::GpuTarget());
    EXPECT_OK(region);
    return region.ok() && CanEmit(module, *region);
  };
  EXPECT_TRUE(can(false, 1));
  EXPECT_FALSE(can(true, 1));
  EXPECT_FALSE(can(false, 2));
}

// Folds and scatters by a computation of ops of one element, and of others.
TEST(EmitRegion, TakesComputationsOfOneElementAlone) {
  for (const bool other : {false, true}) {
    Module module("folds");
    ComputationBuilder two(&module, "two");
    const Shape number = Shape::Scalar(DType::kF32);
    const ValueId x = two.Parameter(number), y = two.Parameter(number);
    const ValueId z = two.Add(kSubtract, {x, y});
    const auto called =
        two.Finish({other ? two.Add(kReshape, {z}, {{"dims", Dims{}}}) : z});
    ASSERT_OK(called);
    ComputationBuilder b(&module, "main");
    const ValueId rows = b.Parameter(Shape::Of(DType::kF32, {2000, 40}));
    const ValueId few = b.Parameter(Shape::Of(DType::kF32, {2, 4096}));
    const ValueId at = b.Parameter(Shape::Of(DType::kS32, {6, 1}));
    const ValueId updates = b.Parameter(Shape::Of(DType::kF32, {6, 40}));
    const ValueId zero = b.Constant(Literal::Scalar(0.0f));
    std::vector<ValueId> results;
    for (const int64_t axis : {0, 1}) {
      for (const ValueId v : {rows, few}) {
        results.push_back(
            b.Add(kReduce, {v, zero}, {{"dimensions", Dims{axis}}}, {*called}));
      }
    }
    results.push_back(b.Add(kScatter, {rows, at, updates},
                            {{"index_vector_dim", int64_t{1}},
                             {"inserted_window_dims", Dims{0}},
                             {"scatter_dims_to_operand_dims", Dims{0}},
                             {"update_window_dims", Dims{1}}},
                            {*called}));
    const auto entry = b.Finish(results);
    ASSERT_OK(entry);
    for (int k = 5; k < 10; ++k) {
      ASSERT_OK_AND_ASSIGN(
          const plan::Region region,
          plan::LowerRegion(module, *entry, k, plan::GpuTarget()));
      EXPECT_EQ(CanEmit(module, region), !other) << k;
    }
  }
}

TEST(EmitRegion, ParametersBeginAsTheWholeOfTheFirstOperand) {
  const KernelParameter p;
  EXPECT_EQ(p.kind, KernelParameter::kOperand);
  EXPECT_EQ(p.index, 0);
  EXPECT_EQ(p.offset, 0);
  EXPECT_EQ(p.bytes, 0);
  EXPECT_EQ(p.access, Access::kRead);
  EXPECT_FALSE(EmitOptions().strict);
  EXPECT_EQ(EmitOptions().multiprocessors, 132);
}

}  // namespace
}  // namespace hawser::gpu
