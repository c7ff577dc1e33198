// In which order of axes products are read and written: what a library is
// asked for, and what is transposed for it.
#include "kernels/plan/fusion/dot_layout.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/ir/text/printer.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/expression.h"
#include "core/ops/movement/shape.h"
#include "gtest/gtest.h"
#include "kernels/cpu/evaluator.h"
#include "kernels/plan/plan.h"
#include "tests/kernels/gpu/drawn_products.h"
#include "tests/kernels/plan/words.h"
#include "tests/testing/expression_module.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::plan {
namespace {

struct ProductAxes {
  Dims left_batch, left_summed, right_batch, right_summed;
};
Expression Dot(const Expression& x, const Expression& y,
               const ProductAxes& axes, DType wide = DType::kInvalid) {
  Attributes attributes = {{"lhs_batching_dimensions", axes.left_batch},
                           {"lhs_contracting_dimensions", axes.left_summed},
                           {"rhs_batching_dimensions", axes.right_batch},
                           {"rhs_contracting_dimensions", axes.right_summed}};
  if (wide != DType::kInvalid) attributes.Set("result_dtype", wide);
  return Apply(kDotGeneral, {x, y}, std::move(attributes));
}

// The only product of the module as a GPU is given it, and the transposes that
// run beside it.
struct LaidOut {
  std::optional<ProductCall> call;
  int transposes = 0;
  Shape result;
};
LaidOut OnGpu(const std::vector<Shape>& shapes,
              const std::function<Expression(const Values&)>& body) {
  const Module module = testing::ExpressionModule(
      shapes, [&](const Values& p) { return Values{body(p)}; });
  const auto plan = MakePlan(module, GpuTarget());
  EXPECT_OK(plan);
  LaidOut out;
  if (!plan.ok()) return out;
  const Computation& c = plan->module.entry();
  for (const Region& r : plan->entry().regions) {
    if (r.kind == RegionKind::kLibraryDot) out.call = r.epilogue.call;
    const OpDef* op = c.instructions()[r.instruction].op;
    if (op == &kTranspose) out.transposes += r.launches;
  }
  out.result = c.shape(c.results()[0]);
  return out;
}

std::vector<Shape> Heads(int64_t batch, int64_t length, int64_t heads,
                         int64_t size) {
  return std::vector<Shape>(
      2, Shape::Of(DType::kBF16, {batch, length, heads, size}));
}
// Scores of attention over [b,s,h,d].
Expression Scores(const Values& p) {
  return Dot(p[0], p[1], {{0, 2}, {3}, {0, 2}, {3}});
}

TEST(DotLayout, BatchAxesApartAreCallsOfTheirOwn) {
  const LaidOut one = OnGpu(Heads(1, 512, 16, 64), Scores);
  ASSERT_TRUE(one.call);
  EXPECT_EQ(one.call->calls.size(), 1u);
  EXPECT_EQ(one.call->batch, 16);
  const LaidOut large = OnGpu(Heads(8, 4096, 16, 128), Scores);
  ASSERT_TRUE(large.call);
  EXPECT_EQ(large.transposes, 0);
  EXPECT_EQ(large.call->calls.size(), 8u);
  EXPECT_EQ(large.call->batch, 16);
  EXPECT_EQ(large.call->m, 4096);
  EXPECT_EQ(large.call->n, 4096);
  EXPECT_EQ(large.call->k, 128);
  EXPECT_EQ(large.call->a.leading, 16 * 128);
  EXPECT_EQ(large.call->a.batch_stride, 128);
  EXPECT_EQ(large.call->calls[3].a, int64_t{3} * 4096 * 16 * 128);
  EXPECT_EQ(large.call->calls[3].d, int64_t{3} * 16 * 4096 * 4096);
  // The same where the graph says it by transposes.
  const LaidOut said = OnGpu(Heads(8, 4096, 16, 128), [](const Values& p) {
    return Dot(Transposed(p[0], {0, 2, 1, 3}), Transposed(p[1], {0, 2, 1, 3}),
               {{0, 1}, {3}, {0, 1}, {3}});
  });
  ASSERT_TRUE(said.call);
  EXPECT_EQ(said.transposes, 0);
  EXPECT_EQ(*said.call, *large.call);
}

// What a library has, it is asked for; operands are converted for what it has
// of the result's dtype alone, and else a kernel of ours has to do it.
TEST(DotLayout, AWiderResultIsTheLibrarysOrOfConvertedOperands) {
  const struct {
    DType from, to, factor;  // kInvalid: no call
  } rows[] = {
      {DType::kBF16, DType::kF32, DType::kBF16},
      {DType::kF16, DType::kF32, DType::kF16},
      {DType::kS8, DType::kS32, DType::kS8},
      {DType::kBF16, DType::kF64, DType::kF64},
      {DType::kF32, DType::kF64, DType::kF64},
      {DType::kC64, DType::kC128, DType::kC128},
      {DType::kS8, DType::kS64, DType::kInvalid},
      {DType::kU8, DType::kU32, DType::kInvalid},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(absl::StrCat(DTypeName(row.from), " ", DTypeName(row.to)));
    const Shape shape = Shape::Of(row.from, {64, 64});
    for (const bool turned : {false, true}) {
      const LaidOut out = OnGpu({shape, shape}, [&](const Values& p) {
        const Expression y = turned ? Transposed(p[1], {1, 0}) : p[1];
        return Dot(p[0], y, {{}, {1}, {}, {0}}, row.to);
      });
      EXPECT_EQ(out.result, Shape::Of(row.to, {64, 64}));
      ASSERT_EQ(out.call.has_value(), row.factor != DType::kInvalid);
      if (!out.call) continue;
      EXPECT_EQ(out.call->a.dtype, row.factor);
      EXPECT_EQ(out.call->b.dtype, row.factor);
      EXPECT_EQ(out.call->d.dtype, row.to);
      EXPECT_EQ(out.call->b.column_major, turned);
    }
  }
}

// Of so many products of s8 the sum may leave s32, which wraps here.
TEST(DotLayout, LongSumsOfS8AreNoLibrarys) {
  for (const int64_t k : {(1 << 17) - 1, 1 << 17}) {
    const Shape left = Shape::Of(DType::kS8, {4, k});
    const Shape right = Shape::Of(DType::kS8, {k, 4});
    const LaidOut out = OnGpu({left, right}, [](const Values& p) {
      return Dot(p[0], p[1], {{}, {1}, {}, {0}}, DType::kS32);
    });
    EXPECT_EQ(out.call.has_value(), k < 1 << 17) << k;
  }
}

TEST(DotLayout, ManySmallCallsAreTransposedInstead) {
  const LaidOut small = OnGpu(Heads(512, 8, 4, 16), Scores);
  ASSERT_TRUE(small.call);
  EXPECT_EQ(small.call->calls.size(), 1u);
  EXPECT_EQ(small.call->batch, 512 * 4);
  EXPECT_EQ(small.transposes, 2);
  // No second one where the graph has one.
  const LaidOut said = OnGpu(Heads(512, 8, 4, 16), [](const Values& p) {
    return Dot(Transposed(p[0], {0, 2, 1, 3}), Transposed(p[1], {0, 2, 1, 3}),
               {{0, 1}, {3}, {0, 1}, {3}});
  });
  EXPECT_EQ(said.transposes, 2);
}

TEST(DotLayout, FreeAxesApartAreABatchOfOneOtherSide) {
  // Channels in the middle: [n,c,p] times [c,o].
  const LaidOut out =
      OnGpu({Shape::Of(DType::kF32, {6, 4, 5}), Shape::Of(DType::kF32, {4, 3})},
            [](const Values& p) {
              return Dot(p[0], p[1], {{}, {1}, {}, {0}});
            });
  ASSERT_TRUE(out.call);
  EXPECT_EQ(out.transposes, 0);
  EXPECT_EQ(out.call->calls.size(), 1u);
  EXPECT_EQ(out.call->batch, 6);
  EXPECT_EQ(out.call->m, 5);
  EXPECT_TRUE(out.call->a.column_major);
  EXPECT_EQ(out.call->b.batch_stride, 0);
}

TEST(DotLayout, SummedAxesApartAreTransposedTogether) {
  const LaidOut out = OnGpu(
      {Shape::Of(DType::kF32, {4, 5, 6}), Shape::Of(DType::kF32, {4, 6, 3})},
      [](const Values& p) {
        return Dot(p[0], p[1], {{}, {0, 2}, {}, {0, 1}});
      });
  ASSERT_TRUE(out.call);
  EXPECT_EQ(out.transposes, 1);
  EXPECT_EQ(out.call->k, 24);
}

TEST(DotLayout, ATransposedResultIsTheOtherProduct) {
  const std::vector<Shape> shapes = {Shape::Of(DType::kF32, {4, 3}),
                                     Shape::Of(DType::kF32, {3, 6})};
  const LaidOut turned = OnGpu(shapes, [](const Values& p) {
    return Transposed(Product(p[0], p[1]), {1, 0});
  });
  ASSERT_TRUE(turned.call);
  EXPECT_EQ(turned.transposes, 0);
  EXPECT_EQ(turned.call->m, 6);
  EXPECT_EQ(turned.call->n, 4);
  EXPECT_EQ(turned.result.dims(), (Dims{6, 4}));
  // In each batch.
  const LaidOut batches = OnGpu(
      {Shape::Of(DType::kF32, {2, 4, 3}), Shape::Of(DType::kF32, {2, 3, 6})},
      [](const Values& p) {
        return Transposed(Dot(p[0], p[1], {{0}, {2}, {0}, {1}}), {0, 2, 1});
      });
  EXPECT_EQ(batches.transposes, 0);
  EXPECT_EQ(batches.result.dims(), (Dims{2, 6, 4}));
}

TEST(DotLayout, AProductThatIsReadTwiceStays) {
  Module module = testing::ExpressionModule(
      testing::ShapesOf(DType::kF32, {{4, 3}, {3, 6}}), [](const Values& p) {
        const Expression x = Product(p[0], p[1]);
        return Values{Transposed(x, {1, 0}), x};
      });
  ASSERT_OK_AND_ASSIGN(const Plan plan, MakePlan(module, GpuTarget()));
  int products = 0;
  for (const Region& r : plan.entry().regions) {
    products += r.kind == RegionKind::kLibraryDot;
  }
  EXPECT_EQ(products, 1);
}

// What no library multiplies is read as it lies.
TEST(DotLayout, IntegersKeepTheirAxes) {
  const LaidOut out = OnGpu(
      {Shape::Of(DType::kS32, {4, 5, 6}), Shape::Of(DType::kS32, {4, 6, 3})},
      [](const Values& p) {
        return Dot(p[0], p[1], {{}, {0, 2}, {}, {0, 1}});
      });
  EXPECT_FALSE(out.call);
  EXPECT_EQ(out.transposes, 0);
}

// One value per column of the last axis is not one per column of both: such a
// bias was read beyond its end.
TEST(DefectBiasOfTwoColumnAxes, IsNoBiasOfTheCall) {
  const auto out =
      OnGpu({Shape::Of(DType::kF32, {4, 3}), Shape::Of(DType::kF32, {3, 2, 5}),
             Shape::Of(DType::kF32, {5})},
            [](const Values& p) {
              return Dot(p[0], p[1], {{}, {1}, {}, {0}}) +
                     Spread(p[2], {4, 2, 5}, {0, 1});
            });
  ASSERT_TRUE(out.call);
  EXPECT_FALSE(out.call->has_bias);
  EXPECT_EQ(out.call->n, 10);
  // Nor is one value per row of a product that has no columns.
  const auto rows = OnGpu(
      {Shape::Of(DType::kF32, {4, 3}), Shape::Of(DType::kF32, {3}),
       Shape::Of(DType::kF32, {4})},
      [](const Values& p) {
        return Dot(p[0], p[1], {{}, {1}, {}, {0}}) +
               Apply(kBroadcastInDim, {p[2]},
                     {{"broadcast_dimensions", Dims{0}}, {"dims", Dims{4}}});
      });
  ASSERT_TRUE(rows.call);
  EXPECT_FALSE(rows.call->has_bias);
}

// Factors are quarters: sums are exact, so that no order of them shows.
TEST(DotLayout, KeepsTheValuesOfDrawnProducts) {
  cpu::CpuEvaluator evaluator({.numerics = runtime::Numerics::kStrict});
  for (uint64_t seed = 0; seed < 400; ++seed) {
    const gpu::DrawnProduct drawn = gpu::DrawProduct(seed, 4);
    SCOPED_TRACE(drawn.words + "\n" + Print(drawn.module));
    ASSERT_OK_AND_ASSIGN(const Module laid_out,
                         LayOutProducts(drawn.module, GpuTarget()));
    Random random(seed);
    const auto arguments = RandomArguments(drawn.module.signature(), random,
                                           /*extremes=*/false);
    ASSERT_OK_AND_ASSIGN(
        const auto want,
        evaluator.Evaluate(drawn.module, 0, arguments, CancelToken()));
    ASSERT_OK_AND_ASSIGN(
        const auto got,
        evaluator.Evaluate(laid_out, 0, arguments, CancelToken()));
    ASSERT_EQ(got[0].bytes(), want[0].bytes());
  }
}

}  // namespace
}  // namespace hawser::plan
