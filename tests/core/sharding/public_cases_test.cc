// Cases that other projects test their sharding with, or were reported to: the
// inputs and how they are cut. What comes out is compared with our own whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/autodiff/gradient_transform.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/elementwise/math.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "tests/core/sharding/formulas.h"
#include "tests/core/sharding/run_parts.h"
#include "tests/testing/matchers.h"

namespace hawser {
namespace {

using ::testing::ElementsAre;

Expression Sliced(const Expression& x, const Dims& start, const Dims& limit,
                  const Dims& strides) {
  return Apply(kSlice, {x},
               {{"start_indices", start},
                {"limit_indices", limit},
                {"strides", strides}});
}

Expression Padded(const Expression& x, const Dims& low, const Dims& high,
                  const Dims& interior) {
  return Apply(kPad, {x, Filled(x.scope(), Shape::Scalar(x.dtype()), 7)},
               {{"edge_padding_low", low},
                {"edge_padding_high", high},
                {"interior_padding", interior}});
}

// The sizes of the parts of axis `axis` of result 0.
std::vector<int64_t> PartsOf(const Sharding& sharding, int axis) {
  for (const ShardAxis& one : sharding.axes) {
    for (const ShardAxis::In& in : one.results) {
      if (in == ShardAxis::In{0, axis}) return one.sizes;
    }
  }
  return {sharding.whole.results[0].dim(axis)};
}

// elixir-nx/nx, sharding_compiler_test.exs.
TEST(PublicCases, NxSumsAndProductsAtEveryIndex) {
  const Shape s32 = Shape::Of(DType::kS32, {3, 3});
  const Module sum =
      ModuleOf({s32, s32}, [](const auto& p) { return Formulas{p[0] + p[1]}; });
  ASSERT_OK_AND_ASSIGN(const Sharding sums, ShardBy(sum, "0.0* 1.1*"));
  ASSERT_EQ(sums.tasks.size(), 9u);
  for (int64_t k = 0; k < 9; ++k) {
    const Box box = {{k / 3, k / 3 + 1}, {k % 3, k % 3 + 1}};
    EXPECT_THAT(sums.tasks[k].takes, ElementsAre(Piece{0, box}, Piece{1, box}));
  }
  ExpectWhole(sum, sums, 1);
  const Module product =
      ModuleOf({F32({3, 2}), F32({2, 3})},
               [](const auto& p) { return Formulas{Product(p[0], p[1])}; });
  ASSERT_OK_AND_ASSIGN(const Sharding products, Shard(product, ShardSpec()));
  ASSERT_EQ(products.tasks.size(), 9u);
  EXPECT_EQ(products.tasks[5].gives[0].box, (Box{{1, 2}, {2, 3}}));
  ExpectWhole(product, products, 2);
}

TEST(PublicCases, NxConstantsSqueezesAndTransposes) {
  const Module sum = ModuleOf({F32({4})}, [](const auto& p) {
    return Formulas{
        p[0] + ConstantOf(p[0].scope(), Literal::Vector<float>({1, 2, 3, 4}))};
  });
  const Module squeeze = ModuleOf({F32({1, 1, 4})}, [](const auto& p) {
    return Formulas{Reshaped(p[0], {4})};
  });
  const Module transpose = ModuleOf({F32({2, 3, 4})}, [](const auto& p) {
    return Formulas{Transposed(p[0], {2, 0, 1})};
  });
  for (const auto& [module, tasks] :
       {std::pair(&sum, 4u), {&squeeze, 4u}, {&transpose, 24u}}) {
    ASSERT_OK_AND_ASSIGN(const Sharding sharding, Shard(*module, ShardSpec()));
    EXPECT_EQ(sharding.tasks.size(), tasks);
    ExpectWhole(*module, sharding, tasks);
  }
}

// openxla/shardy, basic_propagation.mlir.
TEST(PublicCases, ShardyAddsThenContracts) {
  const Module module = ModuleOf(
      {F32({8, 8}), F32({8, 8}), F32({8, 16})},
      [](const auto& p) { return Formulas{Product(p[0] + p[1], p[2])}; });
  ASSERT_OK_AND_ASSIGN(const Sharding sharding, ShardBy(module, "0.0/2 0.1/2"));
  EXPECT_EQ(sharding.tasks.size(), 2u);
  EXPECT_THAT(PartsOf(sharding, 0), ElementsAre(4, 4));
  ASSERT_EQ(sharding.notes.size(), 1u);
  EXPECT_THAT(sharding.notes[0].why, ::testing::HasSubstr("dot_general"));
  ExpectWhole(module, sharding, 6);
  // Each of the four makes its rows of its products; two add them up.
  ASSERT_OK_AND_ASSIGN(const Sharding split,
                       ShardBy(module, "0.0/2 0.1/2 split"));
  ASSERT_EQ(split.tasks.size(), 6u);
  EXPECT_TRUE(split.notes.empty());
  EXPECT_THAT(split.tasks[1].takes, ElementsAre(Piece{0, {{0, 4}, {4, 8}}},
                                                Piece{1, {{0, 4}, {4, 8}}},
                                                Piece{2, {{4, 8}, {0, 16}}}));
  EXPECT_THAT(split.tasks[4].takes, ElementsAre(Piece{3, {{0, 4}, {0, 16}}},
                                                Piece{4, {{0, 4}, {0, 16}}}));
  ExpectWhole(module, split, 6);
}

// jax, shard_map_test.py.
TEST(PublicCases, JaxProductsOfRowsAndContractionInTwo) {
  const Module module = ModuleOf({F32({2, 4}), F32({4, 2})}, [](const auto& p) {
    return Formulas{Product(p[0], p[1])};
  });
  const std::vector<float> kCount = {0, 1, 2, 3, 4, 5, 6, 7};
  const auto count = absl::MakeConstSpan(kCount);
  ASSERT_OK_AND_ASSIGN(const Sharding sharding,
                       ShardBy(module, "0.0/2 0.1/2 split"));
  std::vector<Literal> partials;
  ASSERT_OK_AND_ASSIGN(const auto results,
                       RunTasks(sharding,
                                {Literal::Of<float>(count, {2, 4}),
                                 Literal::Of<float>(count, {4, 2})},
                                &partials));
  ASSERT_EQ(partials.size(), 2u);
  EXPECT_THAT(partials[0],
              LiteralBitEquals(Literal::Of<float>({2, 3, 10, 19}, {2, 2})));
  EXPECT_THAT(partials[1],
              LiteralBitEquals(Literal::Of<float>({26, 31, 66, 79}, {2, 2})));
  EXPECT_THAT(results[0],
              LiteralBitEquals(Literal::Of<float>({28, 34, 76, 98}, {2, 2})));
  const Module square = ModuleOf({F32({8, 8}), F32({8, 8})}, [](const auto& p) {
    return Formulas{Product(p[0], p[1])};
  });
  for (const auto& [cuts, tasks] :
       {std::pair("0.0/4 1.0/4 split", 20u), {"0.0/4 1.0/4", 4u}}) {
    ASSERT_OK_AND_ASSIGN(const Sharding rows, ShardBy(square, cuts));
    EXPECT_EQ(rows.tasks.size(), tasks);
    ExpectWhole(square, rows, 9);
  }
}

// jax issue 3970: value and gradient were 0 and 4.
TEST(PublicCases, JaxLossSummedOverACutAxis) {
  const Module loss = ModuleOf({F32({}), F32({2})}, [](const auto& p) {
    const Expression w = Spread(p[0] * p[0] + 1, {2}, {0});
    return Formulas{SummedAll(w * p[1])};
  });
  ASSERT_OK_AND_ASSIGN(const Module module, ValueAndGradient(loss));
  for (const char* cuts : {"1.0/2 split", "1.0/2", "1.0* split", "1.0."}) {
    ASSERT_OK_AND_ASSIGN(const Sharding sharding, ShardBy(module, cuts));
    ASSERT_OK_AND_ASSIGN(const auto results,
                         RunTasks(sharding, {Literal::Scalar<float>(1),
                                             Literal::Vector<float>({0, 1})}));
    EXPECT_THAT(results,
                ElementsAre(LiteralBitEquals(Literal::Scalar<float>(2)),
                            LiteralBitEquals(Literal::Scalar<float>(2))))
        << cuts;
  }
}

// A sum and a largest of two arrays f32[4,64,8] over axis 1.
Module TwoAtOnce() {
  Module module("two");
  const int combine = [&] {
    ComputationBuilder b(&module, "combine");
    std::vector<ValueId> x;
    for (int i = 0; i < 4; ++i) {
      x.push_back(b.Parameter(Shape::Scalar(DType::kF32)));
    }
    return *b.Finish(
        {b.Add(kAdd, {x[0], x[2]}), b.Add(kMaximum, {x[1], x[3]})});
  }();
  ComputationBuilder b(&module, "main");
  const ValueId x = b.Parameter(F32({4, 64, 8}));
  const ValueId y = b.Parameter(F32({4, 64, 8}));
  const ValueId zero = b.Constant(Literal::Scalar<float>(0));
  const ValueId low = b.Constant(NeutralOf(kMaximum, DType::kF32));
  const ValueId first =
      b.Add(kReduce, {x, y, zero, low}, {{"dimensions", Dims{1}}}, {combine});
  EXPECT_OK(b.Finish({first, first + 1}));
  return module;
}

TEST(PublicCases, ShardyReducesTwoAtOnce) {
  const Module module = TwoAtOnce();
  ASSERT_OK_AND_ASSIGN(const Sharding sharding, ShardBy(module, "0.2/4"));
  EXPECT_EQ(sharding.tasks.size(), 4u);
  EXPECT_EQ(sharding.tasks[3].takes[1].box, (Box{{0, 4}, {0, 64}, {6, 8}}));
  ExpectWhole(module, sharding, 66);
  ASSERT_OK_AND_ASSIGN(const Sharding split,
                       ShardBy(module, "1.1=16+48 split"));
  ASSERT_EQ(split.tasks.size(), 3u);
  EXPECT_EQ(split.tasks[1].takes[0].box, (Box{{0, 4}, {16, 64}, {0, 8}}));
  EXPECT_EQ(split.tasks[1].gives.size(), 2u);
  ExpectWhole(module, split, 67);
}

// openxla/xla, spmd_partitioner_test.cc.
TEST(PublicCases, XlaPads) {
  const Module edge = ModuleOf({F32({14, 257})}, [](const auto& p) {
    return Formulas{Padded(p[0], {0, 0}, {0, 2}, {0, 0})};
  });
  ASSERT_OK_AND_ASSIGN(const Sharding two, ShardBy(edge, "0.1/2"));
  EXPECT_EQ(two.tasks.size(), 2u);
  EXPECT_EQ(two.whole.results[0], F32({14, 259}));
  ExpectWhole(edge, two, 7);
  const Module interior = ModuleOf({F32({7})}, [](const auto& p) {
    return Formulas{Padded(p[0], {2}, {1}, {2})};
  });
  ASSERT_OK_AND_ASSIGN(const Sharding parts, ShardBy(interior, "0.0/2"));
  EXPECT_EQ(parts.whole.results[0], F32({22}));
  EXPECT_GE(parts.tasks.size(), 2u);
  ExpectWhole(interior, parts, 77);
}

TEST(PublicCases, XlaSlicesConcatenatesAndRotates) {
  const Module slice = ModuleOf({F32({128, 14, 257})}, [](const auto& p) {
    return Formulas{Sliced(p[0], {1, 0, 3}, {127, 14, 254}, {2, 1, 1})};
  });
  ASSERT_OK_AND_ASSIGN(const Sharding slices, ShardBy(slice, "0.2/2 0.0/2"));
  EXPECT_EQ(slices.whole.results[0], F32({63, 14, 251}));
  EXPECT_EQ(slices.tasks.size(), 4u);
  ExpectWhole(slice, slices, 8);
  const Module joined =
      ModuleOf({F32({14, 257}), F32({14, 116})}, [](const auto& p) {
        return Formulas{
            Apply(kConcatenate, {p[0], p[1]}, {{"dimension", int64_t{1}}})};
      });
  ASSERT_OK_AND_ASSIGN(const Sharding join, ShardBy(joined, "0.1/2 1.1/2"));
  EXPECT_EQ(join.tasks.size(), 4u);
  ExpectWhole(joined, join, 9);
  const Module rotate = ModuleOf({F32({12})}, [](const auto& p) {
    return Formulas{
        Apply(kConcatenate,
              {Sliced(p[0], {10}, {12}, {1}), Sliced(p[0], {0}, {10}, {1})},
              {{"dimension", int64_t{0}}})};
  });
  ASSERT_OK_AND_ASSIGN(const Sharding rotated, ShardBy(rotate, "0.0/4"));
  EXPECT_GE(rotated.tasks.size(), 4u);
  ExpectWhole(rotate, rotated, 10);
}

// dask test_reshape.py; dask issue 8110: 80 MB became 8 GB.
TEST(PublicCases, DaskReshapesTakeNoMoreThanTheirPart) {
  const Module merged = ModuleOf({F32({2, 3, 4})}, [](const auto& p) {
    return Formulas{Reshaped(p[0], {6, 4})};
  });
  ASSERT_OK_AND_ASSIGN(const Sharding chunks,
                       ShardBy(merged, "0.0=1+1 0.1=1+2 0.2=2+2"));
  EXPECT_THAT(PartsOf(chunks, 0), ElementsAre(1, 2, 1, 2));
  EXPECT_THAT(PartsOf(chunks, 1), ElementsAre(2, 2));
  ExpectWhole(merged, chunks, 12);
  const Module wide = ModuleOf({F32({300, 180, 4, 18483})}, [](const auto& p) {
    return Formulas{Reshaped(p[0], {300, 180, 73932})};
  });
  ASSERT_OK_AND_ASSIGN(const Sharding sharding, ShardBy(wide, "0.2* 0.3/101"));
  EXPECT_EQ(sharding.tasks.size(), 404u);
  for (const ShardTask& task : sharding.tasks) {
    ASSERT_EQ(task.takes.size(), 1u);
    EXPECT_EQ(ElementsOf(task.takes[0].box), ElementsOf(task.gives[0].box));
  }
}

// pytorch issues 179502 and 143372.
TEST(PublicCases, PytorchViewsOfShards) {
  const Module view = ModuleOf({F32({12, 8})}, [](const auto& p) {
    return Formulas{Reshaped(p[0], {16, 6})};
  });
  ASSERT_OK_AND_ASSIGN(const Sharding columns, ShardBy(view, "0.1/4"));
  ExpectWhole(view, columns, 13);
  ASSERT_OK_AND_ASSIGN(const Sharding rows, ShardBy(view, "0.0/4"));
  EXPECT_EQ(rows.tasks.size(), 4u);
  ExpectWhole(view, rows, 14);
  const Module flat = ModuleOf({F32({6, 256})}, [](const auto& p) {
    return Formulas{Reshaped(p[0], {1536})};
  });
  ASSERT_OK_AND_ASSIGN(const Sharding uneven, ShardBy(flat, "0.0=2+2+2+0"));
  EXPECT_THAT(PartsOf(uneven, 0), ElementsAre(512, 512, 512));
  ExpectWhole(flat, uneven, 15);
  const Module total = ModuleOf({F32({6, 256})}, [](const auto& p) {
    return Formulas{SummedAll(Reshaped(p[0], {1536}))};
  });
  ASSERT_OK_AND_ASSIGN(const Sharding split,
                       ShardBy(total, "0.0=2+2+2+0 split"));
  EXPECT_EQ(split.tasks.size(), 4u);
  EXPECT_EQ(split.tasks[2].takes[0].box, (Box{{4, 6}, {0, 256}}));
  ExpectWhole(total, split, 16);
}

// pytorch test_math_ops.py.
TEST(PublicCases, PytorchSoftmaxOverEachAxisCutAlongEach) {
  for (int over = 0; over < 3; ++over) {
    const Module softmax = ModuleOf({F32({8, 12, 16})}, [&](const auto& p) {
      const Dims axes = {over};
      const Dims dims = p[0].dims();
      const auto spread = [&](const Expression& x) {
        return Spread(x, dims, axes);
      };
      const Expression most =
          Folded(kMaximum, p[0], NeutralOf(kMaximum, DType::kF32), axes);
      const Expression e = Apply(kExponential, {p[0] - spread(most)});
      return Formulas{e / spread(Summed(e, axes))};
    });
    for (int cut = 0; cut < 3; ++cut) {
      ASSERT_OK_AND_ASSIGN(const Sharding sharding,
                           ShardBy(softmax, absl::StrCat("0.", cut, "/4")));
      EXPECT_EQ(sharding.tasks.size(), 4u) << over << " " << cut;
      ExpectWhole(softmax, sharding, 10 * over + cut);
      // The largest, the sum, and what is made of them: an exchange only where
      // they meet.
      ASSERT_OK_AND_ASSIGN(
          const Sharding split,
          ShardBy(softmax, absl::StrCat("0.", cut, "/4 split")));
      EXPECT_EQ(ExchangeOf(split).stages, cut == over ? 3 : 1);
      EXPECT_EQ(split.tasks.size(), cut == over ? 12u : 4u);
      ExpectWhole(softmax, split, 10 * over + cut);
    }
  }
}

TEST(PublicCases, PytorchReducesOverACutAxis) {
  for (const OpDef* op : {&kAnd, &kOr, &kMaximum, &kMinimum}) {
    const DType dtype = op == &kAnd || op == &kOr ? DType::kBool : DType::kF32;
    for (int64_t over = 0; over < 3; ++over) {
      const Module module =
          ModuleOf({Shape::Of(dtype, {12, 8, 8})}, [&](const auto& p) {
            return Formulas{Folded(*op, p[0], NeutralOf(*op, dtype), {over})};
          });
      for (int cut = 0; cut < 3; ++cut) {
        ASSERT_OK_AND_ASSIGN(const Sharding sharding,
                             ShardBy(module, absl::StrCat("0.", cut, "/4")));
        EXPECT_EQ(sharding.tasks.size(), cut == over ? 1u : 4u);
        ExpectWhole(module, sharding, 20 + cut);
        ASSERT_OK_AND_ASSIGN(
            const Sharding split,
            ShardBy(module, absl::StrCat("0.", cut, "/4 split")));
        EXPECT_EQ(split.tasks.size(), cut == over ? 5u : 4u);
        ExpectWhole(module, split, 20 + cut);
      }
    }
  }
}

}  // namespace
}  // namespace hawser
