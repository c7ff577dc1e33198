// Indices in words, to the last number that fits; borders that graphs seldom
// meet; regions that no kernel does.
#include "kernels/gpu/emit/emit.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/ir/builder.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/scatter.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/gpu/emit/points/point_writer.h"
#include "kernels/gpu/emit/text/index_text.h"
#include "kernels/gpu/emit/text/launch.h"
#include "kernels/plan/plan.h"
#include "tests/kernels/gpu/emit/sample_graphs.h"
#include "tests/testing/expression_module.h"
#include "tests/testing/matchers.h"

namespace hawser::gpu {
namespace {

using plan::IndexExpr;
using plan::Point;
using plan::Region;
using ::testing::HasSubstr;
using ::testing::Not;

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

// The last region of a graph, which launches something.
struct Planned {
  explicit Planned(const Module& module,
                   const plan::Target& target = plan::GpuTarget()) {
    auto made = plan::MakePlan(module, target);
    EXPECT_OK(made);
    if (made.ok()) plan = *std::move(made);
    for (const Region& r : plan.entry().regions) {
      if (r.launches > 0) region = r;
    }
  }
  std::string Text(const EmitOptions& options = {}) const {
    std::string text;
    const auto kernels = EmitRegion(plan.module, region, options);
    EXPECT_OK(kernels);
    if (!kernels.ok()) return text;
    for (const EmittedKernel& k : *kernels) text += k.text;
    return text;
  }
  absl::Status Emit() const {
    return EmitRegion(plan.module, region, {}).status();
  }

  plan::Plan plan;
  Region region;
};

TEST(IndexText, AllIndicesAreWideWhereOneIs) {
  constexpr int64_t kEnd = int64_t{1} << 31;
  const Planned edges(Build({{{9}}, Edges}, DType::kF32));
  ASSERT_GT(edges.region.scopes.size(), 1u);
  EXPECT_THAT(edges.Text(), Not(HasSubstr("u64")));
  const auto is_wide = [&](auto change) {
    Planned changed = edges;
    change(changed.region);
    return changed.Text().find("u64") != std::string::npos;
  };
  EXPECT_TRUE(is_wide([](Region& r) { r.fits_u32 = false; }));
  EXPECT_TRUE(is_wide([](Region& r) {
    r.maps[0].axes[0] = r.maps[0].axes[0] + kEnd;
  }));
  EXPECT_TRUE(is_wide([](Region& r) {
    plan::Predicate& p = r.scopes[1].predicates[0];
    p.value = p.value + kEnd;
  }));
  EXPECT_TRUE(is_wide([](Region& r) { r.domain = {kEnd}; }));
  EXPECT_TRUE(is_wide([](Region& r) { r.domain = {0, kEnd}; }));
  EXPECT_FALSE(is_wide([](Region& r) { r.domain = {1, kEnd - 1}; }));
}

// A load under a condition, which a number of run time decides.
TEST(PointWriter, KnowsWhatAPointIsPlacedBy) {
  const Shape at = Shape::Scalar(DType::kS32);
  const Planned part(
      Build({Shape::Scalar(DType::kF32), at}, [](const Values& p) {
        const Expression nine = Spread(p[0], {9}, {0});
        return Values{FromOn({Padded(nine, 3, 3, 0), p[1]}, {7})};
      }));
  const Region& r = part.region;
  ASSERT_EQ(r.symbols.size(), 1u);
  const EmitOptions options;
  KernelBuilder kernel("test");
  const RegionSource source{part.plan.module, r, options};
  const PointWriter writer = WriterOverLoops(source, &kernel);
  int placed = 0;
  for (size_t n = 0; n < r.points.size(); ++n) {
    const Point& p = r.points[n];
    std::vector<bool> needed(r.points.size(), false);
    writer.maps().AddNeeds(static_cast<plan::PointId>(n), &needed);
    for (const plan::PointId o : p.operands) EXPECT_TRUE(needed[o]);
    const bool is_placed = p.scope != 0 || !p.cases.empty();
    EXPECT_EQ(needed[r.symbols[0].point], is_placed) << n;
    placed += is_placed;
  }
  EXPECT_EQ(placed, 3);  // what is loaded, spread, and chosen over the edge
}

TEST(SplitRows, AreCutWhereScratchMemoryHoldsTheParts) {
  Planned sums(Build({{{2, 5000}},
                      [](const Values& p) {
                        return Values{Summed(p[0], {1})};
                      }},
                     DType::kF32));
  const struct {
    int64_t splits, scratch_bytes;
    bool cut, vectors;
  } cases[] = {
      {1, 1 << 20, false, true},    {2, 16, true, true},
      {2, 15, false, true},         {5, 48, true, true},
      {5, 47, false, true},         {1250, 10000, true, true},
      {1251, 1 << 20, true, false},  // more than there are vectors
  };
  for (const auto& c : cases) {
    sums.region.splits = c.splits;
    sums.region.scratch_bytes = c.scratch_bytes;
    SCOPED_TRACE(absl::StrCat(c.splits, " in ", c.scratch_bytes));
    const std::string text = sums.Text();
    EXPECT_EQ(text.find("HK_BID_Y") != std::string::npos, c.cut);
    EXPECT_EQ(text.find("LoadVector<4>") != std::string::npos, c.vectors);
  }
}

TEST(Columns, HaveTheVectorsAndLinesThatSharedMemoryHolds) {
  const struct {
    DType dtype;
    int sums, width;
    uint32_t threads;
  } cases[] = {
      {DType::kF32, 8, 4, 256}, {DType::kF32, 9, 2, 256},
      {DType::kF16, 4, 8, 256}, {DType::kF16, 5, 4, 256},
      {DType::kS8, 2, 16, 256}, {DType::kS8, 3, 8, 256},
      {DType::kC64, 4, 2, 256}, {DType::kC64, 5, 1, 256},
      {DType::kC64, 8, 1, 256}, {DType::kC64, 9, 1, 128},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(absl::StrCat(c.sums, " of ", DTypeName(c.dtype)));
    const Planned planned(Build(
        {{{40, 4800}},
         [&](const Values& p) { return Sums(p[0], c.sums, {0}); }},
        c.dtype));
    ASSERT_OK_AND_ASSIGN(
        const std::vector<EmittedKernel> kernels,
        EmitRegion(planned.plan.module, planned.region, {}));
    ASSERT_EQ(kernels.size(), 1u);
    const EmittedKernel& k = kernels[0];
    EXPECT_EQ(k.shape.threads, c.threads);
    EXPECT_EQ(k.shape.grid.x, CeilDivide(4800 / c.width, 32));
    const std::string load = absl::StrCat("LoadVector<", c.width, ">");
    EXPECT_EQ(k.text.find(load) != std::string::npos, c.width > 1);
  }
}

TEST(Transposes, HaveTilesAsManyAsSharedMemoryHolds) {
  const struct {
    std::vector<DType> dtypes;
    int tiles;
  } cases[] = {
      {std::vector<DType>(4, DType::kF64), 4},
      {std::vector<DType>(5, DType::kF64), 4},
      {{DType::kC128, DType::kC128, DType::kF32, DType::kF16}, 4},
      {{DType::kC128, DType::kC128, DType::kF32, DType::kF16, DType::kU8}, 4},
  };
  plan::Target target = plan::GpuTarget();
  target.cached_bytes = 0;
  for (const auto& c : cases) {
    std::vector<Shape> shapes;
    for (const DType d : c.dtypes) shapes.push_back(Shape::Of(d, {33, 65}));
    const auto turned_sum = [&](const Values& p) {
      Expression sum = p[0];
      for (size_t k = 1; k < p.size(); ++k) {
        sum = sum + ConvertTo(p[k], c.dtypes[0]);
      }
      return Values{Transposed(sum, {1, 0})};
    };
    const std::string text = Planned(Build(shapes, turned_sum), target).Text();
    int tiles = 0;
    for (size_t at = 0; (at = text.find("HK_SHARED", at)) != text.npos; ++at) {
      ++tiles;
    }
    EXPECT_EQ(tiles, c.tiles) << text;
  }
}

TEST(Updates, AreAsWideAsTheirPlacesAreAligned) {
  const struct {
    Dims whole, part;
    int width;
  } cases[] = {
      {{64}, {64}, 4},         {{6}, {6}, 2},         {{7}, {7}, 1},
      {{1}, {1}, 1},           {{1, 1}, {1, 1}, 1},   {{64, 8}, {5, 8}, 4},
      {{64, 6}, {5, 6}, 2},    {{64, 7}, {5, 7}, 1},  {{64, 8}, {64, 4}, 1},
      {{64, 8}, {5, 1}, 1},    {{64, 1}, {4, 1}, 1},  {{9, 4, 4}, {9, 2, 4}, 4},
      {{9, 4, 4}, {2, 4, 4}, 4}, {{8}, {0}, 1},
  };
  for (const auto& c : cases) {
    std::vector<Shape> shapes = {Shape::Of(DType::kF32, c.whole),
                                 Shape::Of(DType::kF32, c.part)};
    shapes.resize(2 + c.whole.size(), Shape::Scalar(DType::kS32));
    const std::string text =
        Planned(hawser::testing::ExpressionModule(
                    shapes,
                    [](const Values& p) {
                      return Values{Apply(kDynamicUpdateSlice, p)};
                    }))
            .Text();
    const std::string load = absl::StrCat("LoadVector<", c.width, ">");
    EXPECT_EQ(text.find(c.width > 1 ? load : "Vector") != text.npos,
              c.width > 1)
        << text;
    EXPECT_EQ(text.empty(), c.part[0] == 0);
  }
}

TEST(EmitRegion, LaunchesNothingForAScatterOfNothing) {
  const Module module = Scattered(
      Shape::Of(DType::kF32, {10, 4}), Shape::Of(DType::kS32, {0, 1}),
      Shape::Of(DType::kF32, {0, 4}),
      {{"index_vector_dim", int64_t{1}},
       {"inserted_window_dims", Dims{0}},
       {"scatter_dims_to_operand_dims", Dims{0}},
       {"update_window_dims", Dims{1}}});
  EXPECT_EQ(Planned(module).Text(), "");
}

// A region of each emitter, with work before and behind its reductions.
std::vector<Planned> OneOfEach() {
  const auto scaled_sums = [](const Dims& axes) {
    return [axes](const Values& p) {
      const Expression y = Apply(kTanh, {p[0]});
      return Values{Apply(kSqrt, {Summed(y, axes)}), y};
    };
  };
  plan::Target target = plan::GpuTarget();
  target.cached_bytes = 0;
  const auto planned = [&](const Module& module) {
    return Planned(module, target);
  };
  const DType t = DType::kF32;
  return {planned(Build({{{8}, {8}}, Chain}, t)),
          planned(Build({{{33, 65}, {65, 33}}, Turned}, t)),
          planned(Fused({{{2000, 40}}, scaled_sums({1})}, t)),
          planned(Fused({{{2, 5000}}, scaled_sums({1})}, t)),
          planned(Fused({{{40, 132}}, scaled_sums({0})}, t)),
          planned(Fused({{{5000, 132}}, scaled_sums({0})}, t)),
          planned(Build({{{33, 31}, {31, 65}, {65}}, Product}, t))};
}

// Every kernel tells of what it has no text for.
TEST(EmitRegion, RefusesOpsWithoutAText) {
  std::set<std::string> kinds;
  for (Planned& planned : OneOfEach()) {
    ASSERT_OK_AND_ASSIGN(
        const std::vector<EmittedKernel> kernels,
        EmitRegion(planned.plan.module, planned.region, {}));
    for (const EmittedKernel& k : kernels) {
      kinds.insert(k.name.substr(0, k.name.find('_')));
    }
    const Computation& body =
        planned.plan.module.computation(planned.region.body);
    for (Point& p : planned.region.points) {
      const OpDef& op = *body.instructions()[p.instruction].op;
      if (p.kind != Point::kOp || !op.Is(kElementwise)) continue;
      const int was = std::exchange(p.instruction, 0);
      EXPECT_TRUE(absl::IsUnimplemented(planned.Emit()));
      EXPECT_THAT(planned.Emit().message(),
                  HasSubstr("no kernel computes parameter of f32"));
      EXPECT_FALSE(CanEmit(planned.plan.module, planned.region));
      p.instruction = was;
    }
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"loop", "transpose", "row", "parts",
                                          "combine", "columns", "dot"}));
}

// A product of x and y as a fusion, with x negated before it where `before`,
// and turned behind it where `turned`.
Module ProductIn(bool before, int products, bool turned = false) {
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
  if (turned) {
    result =
        inner.Add(kTranspose, {result}, {{"permutation", Dims{1, 0}}});
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
  const auto why_not = [](const Module& module) {
    const auto region = plan::LowerRegion(module, 1, 2, plan::GpuTarget());
    EXPECT_OK(region);
    if (!region.ok()) return std::string();
    const absl::Status status = EmitRegion(module, *region, {}).status();
    EXPECT_EQ(absl::IsUnimplemented(status), !status.ok());
    return std::string(status.message());
  };
  EXPECT_EQ(why_not(ProductIn(false, 1)), "");
  EXPECT_THAT(why_not(ProductIn(true, 1)), HasSubstr("the factors of"));
  EXPECT_THAT(why_not(ProductIn(false, 2)), HasSubstr("at two places"));
  EXPECT_THAT(why_not(ProductIn(false, 1, true)), HasSubstr("at two places"));
}

TEST(EmitRegion, NamesWhatIsWrongWithARegion) {
  Planned chain(Build({{{8}, {8}}, Chain}, DType::kF32));
  Point& last = chain.region.points[chain.region.results[0]];
  last.kind = Point::kReduce;
  EXPECT_TRUE(absl::IsInternal(chain.Emit()));
  EXPECT_THAT(chain.Emit().message(), HasSubstr("before its reduction"));
  last.kind = Point::kOp;
  chain.region.kind = plan::RegionKind::kLibraryDot;
  EXPECT_TRUE(absl::IsInternal(chain.Emit()));
}

// Part of a row is not what the reduction sums.
TEST(LowerRegion, FoldsNothingUnderACondition) {
  const Module module = Fused(
      {{{8, 10}, {8, 4}},
       [](const Values& p) {
         const Expression sums = Spread(Summed(p[0], {1}), {8, 6}, {1});
         return Values{
             Apply(kConcatenate, {sums, p[1]}, {{"dimension", int64_t{1}}})};
       }},
      DType::kF32);
  EXPECT_EQ(Planned(module).region.kind, plan::RegionKind::kHost);
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
  EXPECT_TRUE(EmitOptions().matrix_units);
  EXPECT_FALSE(EmitOptions().tf32);
}

}  // namespace
}  // namespace hawser::gpu
