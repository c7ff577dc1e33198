// What is computed tile by tile, that its values stay, and what is left whole.
#include "kernels/plan/tiling/tiling.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/autodiff/gradient_transform.h"
#include "core/ir/leaves.h"
#include "core/ir/text/printer.h"
#include "core/ir/verifier.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/trip_count.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "core/ops/movement/shape.h"
#include "core/passes/optimize.h"
#include "gtest/gtest.h"
#include "tests/kernels/plan/words.h"
#include "tests/reference/evaluator.h"
#include "tests/testing/expression_module.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::plan {
namespace {

constexpr int64_t kTile = 256;  // bytes

Target SmallTiles() {
  Target target = CpuTarget();
  target.tile_bytes = kTile;
  return target;
}

// ---- attention as JAX writes it: [b, s, h, d] -------------------------------

struct Sizes {
  int64_t batch, queries, keys, heads, width;
};
std::vector<Shape> InputsOf(const Sizes& s, DType dtype = DType::kF32) {
  return testing::ShapesOf(dtype, {{s.batch, s.queries, s.heads, s.width},
                                   {s.batch, s.keys, s.heads, s.width},
                                   {s.batch, s.keys, s.heads, s.width}});
}

Expression Dot(const Expression& x, const Expression& y, Dims left_batch,
               Dims left_summed, Dims right_batch, Dims right_summed) {
  return Apply(kDotGeneral, {x, y},
               {{"lhs_batching_dimensions", std::move(left_batch)},
                {"lhs_contracting_dimensions", std::move(left_summed)},
                {"rhs_batching_dimensions", std::move(right_batch)},
                {"rhs_contracting_dimensions", std::move(right_summed)}});
}

Expression Scores(const Values& p) {
  const Expression scores = Dot(p[0], p[1], {0, 2}, {3}, {0, 2}, {3});
  return 0.125 * scores;
}
Expression Causal(const Expression& scores) {
  const auto count = [&](int64_t axis) {
    ExpressionScope* scope = scores.scope();
    return Expression(scope, scope->builder.Add(kIota, {},
                                                {{"dims", scores.dims()},
                                                 {"dtype", DType::kS32},
                                                 {"iota_dimension", axis}}));
  };
  return Choose(Compare(count(2), CompareDirection::kGe, count(3)), scores,
                Like(scores, -1e30));
}
Expression Softmax(const Expression& x) {
  const Dims dims = x.dims();
  const Dims kept = {0, 1, 2};
  const Expression most = Folded(
      kMaximum, x,
      ScalarOf(x.dtype(), -std::numeric_limits<double>::infinity()), {3});
  const Expression sizes = Apply(kExponential, {x - Spread(most, dims, {3})});
  return sizes / Spread(Summed(sizes, {3}), dims, {3});
}
Expression WithValues(const Expression& weights, const Expression& values) {
  return Transposed(Dot(weights, values, {0, 1}, {3}, {0, 2}, {1}),
                    {0, 2, 1, 3});
}
Expression Attention(const Values& p) {
  return WithValues(Softmax(Scores(p)), p[2]);
}
Expression CausalAttention(const Values& p) {
  return WithValues(Softmax(Causal(Scores(p))), p[2]);
}

// ---- what becomes of modules ------------------------------------------------

Module ModuleOf(const Sizes& sizes, const Body& body) {
  return testing::ExpressionModule(InputsOf(sizes), body);
}
Module ModuleOf(const Sizes& sizes, Expression body(const Values&)) {
  return ModuleOf(sizes, [=](const Values& p) { return Values{body(p)}; });
}
// The first result's sum of squares and its gradients by q, k and v.
Module WithGradients(Module module) {
  auto gradient =
      ValueAndGradient(std::move(module), {.parameters = {0, 1, 2}});
  EXPECT_OK(gradient);
  auto optimized = Optimize(*std::move(gradient));
  EXPECT_OK(optimized);
  return *std::move(optimized);
}

std::optional<Module> TiledOf(const Module& module,
                              const Target& target = SmallTiles()) {
  std::vector<bool> marked(module.computations().size(), false);
  marked.back() = true;
  auto tiled = Tiled(module, marked, target);
  EXPECT_OK(tiled);
  if (!tiled.ok() || !tiled->has_value()) return std::nullopt;
  EXPECT_OK(Verify(**tiled));
  return **std::move(tiled);
}

// How often each loop of the entry runs.
std::vector<int64_t> TurnsOf(const Module& module) {
  std::vector<int64_t> turns;
  const int entry = static_cast<int>(module.computations().size()) - 1;
  const auto all = module.entry().instructions();
  for (size_t k = 0; k < all.size(); ++k) {
    if (all[k].op != &kWhile) continue;
    turns.push_back(TripCount(module, entry, static_cast<int>(k)).value_or(-1));
  }
  return turns;
}
int64_t LargestBytes(const Module& module) {
  int64_t most = 0;
  for (const Computation& c : module.computations()) {
    for (int v = 0; v < c.num_values(); ++v) {
      most = std::max(most, c.shape(v).byte_size());
    }
  }
  return most;
}

// Both give the same bits on the evaluator that knows no plans.
void ExpectSameValues(const Module& whole, const Module& tiled) {
  reference::Evaluator evaluator;
  const auto run = [&](const Module& module, absl::Span<const Literal> given) {
    return evaluator.Evaluate(
        module, static_cast<int>(module.computations().size()) - 1, given,
        CancelToken());
  };
  Random random(7);
  const auto given =
      RandomArguments(whole.signature(), random, /*extremes=*/false);
  const auto expected = run(whole, given), got = run(tiled, given);
  ASSERT_OK(expected);
  ASSERT_OK(got);
  ASSERT_EQ(expected->size(), got->size());
  for (size_t k = 0; k < got->size(); ++k) {
    EXPECT_EQ((*got)[k].shape(), (*expected)[k].shape());
    EXPECT_EQ((*got)[k].bytes(), (*expected)[k].bytes())
        << "result " << k << "\n"
        << Print(tiled);
  }
}

struct TiledCase {
  const char* name;
  Module module;
  std::vector<int64_t> turns;  // of each loop of the entry
};

TEST(Tiling, LargeProductsAreNeverWhole) {
  const TiledCase cases[] = {
      // Batches of two heads, 16 x 16 of f32.
      {"by batches", ModuleOf({4, 16, 16, 2, 4}, Attention), {4}},
      {"by heads", ModuleOf({1, 16, 16, 6, 2}, Attention), {6}},
      {"some batches a tile", ModuleOf({8, 8, 8, 1, 2}, Attention), {8}},
      {"several batches a tile", ModuleOf({8, 8, 4, 1, 1}, Attention), {4}},
      {"by queries", ModuleOf({1, 48, 8, 1, 2}, Attention), {6}},
      {"masked by place", ModuleOf({1, 48, 8, 1, 2}, CausalAttention), {6}},
  };
  for (const TiledCase& c : cases) {
    SCOPED_TRACE(c.name);
    const auto tiled = TiledOf(c.module);
    ASSERT_TRUE(tiled.has_value());
    EXPECT_EQ(TurnsOf(*tiled), c.turns) << Print(*tiled);
    EXPECT_LT(LargestBytes(*tiled), LargestBytes(c.module));
    ExpectSameValues(c.module, *tiled);
  }
}

TEST(Tiling, ATileThatIsStillLargeIsTiledAgain) {
  const Module module = ModuleOf({3, 16, 16, 5, 4}, Attention);
  const auto once = TiledOf(module);
  ASSERT_TRUE(once.has_value());
  std::vector<bool> marked(once->computations().size(), true);
  const auto twice = Tiled(*once, marked, SmallTiles());
  ASSERT_OK(twice);
  ASSERT_TRUE(twice->has_value());
  EXPECT_EQ(LargestBytes(**twice), module.entry().shape(0).byte_size());
  ExpectSameValues(module, **twice);
}

TEST(Tiling, GradientsByElementsAreOfTheSameLoop) {
  const Module module =
      WithGradients(ModuleOf({9, 16, 16, 1, 4}, [](const Values& p) {
        const Expression y = CausalAttention(p);
        return Values{SummedAll(y * y)};
      }));
  const auto tiled = TiledOf(module);
  ASSERT_TRUE(tiled.has_value()) << Print(module);
  EXPECT_EQ(TurnsOf(*tiled), (std::vector<int64_t>{9}));
  ExpectSameValues(module, *tiled);
}

TEST(Tiling, OtherGradientsComputeScoresAgain) {
  const auto of = [](int64_t batches) {
    return WithGradients(ModuleOf({batches, 16, 16, 1, 4}, [](const Values& p) {
      const Expression y = CausalAttention(p);
      const Expression sum = SummedAll(y);
      return Values{sum * sum};
    }));
  };
  const Module module = of(9);
  const auto tiled = TiledOf(module);
  ASSERT_TRUE(tiled.has_value()) << Print(module);
  EXPECT_EQ(TurnsOf(*tiled), (std::vector<int64_t>{9, 9}));
  ExpectSameValues(module, *tiled);
  // That costs, and pays off only where much is saved.
  EXPECT_FALSE(TiledOf(of(4)).has_value());
}

TEST(Tiling, LayersAreLoopsOfTheirOwn) {
  const Module module = ModuleOf({4, 16, 16, 2, 4}, [](const Values& p) {
    const Expression y = Attention(p) + p[0];
    return Values{Attention({y, p[1], y})};
  });
  const auto tiled = TiledOf(module);
  ASSERT_TRUE(tiled.has_value());
  EXPECT_EQ(TurnsOf(*tiled), (std::vector<int64_t>{4, 4}));
  ExpectSameValues(module, *tiled);
}

TEST(Tiling, WhatStaysWhole) {
  const Sizes sizes = {4, 16, 16, 2, 4};
  const TiledCase cases[] = {
      {"scores are a result",
       ModuleOf(sizes, [](const Values& p) { return Values{Scores(p)}; })},
      {"weights are a result too",
       ModuleOf(sizes,
                [](const Values& p) {
                  const Expression weights = Softmax(Scores(p));
                  return Values{WithValues(weights, p[2]), weights};
                })},
      {"small", ModuleOf({1, 8, 8, 2, 2}, Attention)},
      {"no larger than its factors", ModuleOf({4, 16, 16, 2, 32}, Attention)},
      {"nothing reads it", ModuleOf(sizes,
                                    [](const Values& p) {
                                      Scores(p);
                                      return Values{p[0]};
                                    })},
      // The gradient by the matrix sums over what the loss is parallel in.
      {"no axis for all",
       WithGradients(Build({{64, 4}, {4, 64}, {64, 64}},
                           [](const Values& p) {
                             const Expression y =
                                 Apply(kExponential, {Product(p[0], p[1])});
                             return Values{SummedAll(y * p[2])};
                           }))},
  };
  for (const TiledCase& c : cases) {
    EXPECT_FALSE(TiledOf(c.module).has_value()) << c.name;
  }
  Target whole = SmallTiles();
  whole.tile_bytes = 0;
  EXPECT_FALSE(TiledOf(ModuleOf(sizes, Attention), whole).has_value());
}

}  // namespace
}  // namespace hawser::plan
