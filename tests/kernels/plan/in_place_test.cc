// Which memory a step may write over, and which arguments a caller may give
// away.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/ops/convert.h"
#include "core/ops/dot.h"
#include "core/ops/elementwise.h"
#include "core/ops/expression.h"
#include "core/ops/reduce.h"
#include "core/ops/shape.h"
#include "core/ops/slice.h"
#include "gtest/gtest.h"
#include "kernels/plan/plan.h"
#include "tests/testing/expression_module.h"
#include "tests/testing/matchers.h"
#include "tests/testing/sample_modules.h"

namespace hawser::plan {
namespace {

using Values = std::vector<Expression>;
using Body = std::function<Values(const Values&)>;

Shape F32(const Dims& dims) { return Shape::Of(DType::kF32, dims); }
Expression Product(const Expression& a, const Expression& b) {
  return Apply(kDotGeneral, {a, b},
               {{"lhs_batching_dimensions", Dims{}},
                {"lhs_contracting_dimensions", Dims{1}},
                {"rhs_batching_dimensions", Dims{}},
                {"rhs_contracting_dimensions", Dims{0}}});
}

Plan PlanOf(const std::vector<Shape>& parameters, const Body& body) {
  Target target = GpuTarget();
  target.epilogues = EpilogueSupport::kNone;
  auto plan = MakePlan(testing::ExpressionModule(parameters, body), target);
  EXPECT_OK(plan);
  return plan.ok() ? *std::move(plan) : Plan();
}

// Where result 0 is written over what a product has left: the product's value,
// a temporary of the same size, is read by the step that makes the result.
bool OverProduct(const Dims& dims, const Body& after) {
  const Plan plan =
      PlanOf({F32({dims[0], 3}), F32({3, dims[1]})},
             [&](const Values& p) { return after({Product(p[0], p[1])}); });
  const Computation& c = plan.module.entry();
  const auto& values = plan.entry().buffers.values;
  return values[c.results()[0]].owner == c.num_parameters();
}
Expression AlongRows(const Expression& row, const Dims& dims) {
  return Spread(row, dims, {1});
}

TEST(InPlace, ElementsAreWrittenOverThemselvesAlone) {
  EXPECT_TRUE(OverProduct(
      {4, 6}, [](const Values& p) { return Values{Apply(kNegate, p)}; }));
  EXPECT_TRUE(OverProduct({4, 6}, [](const Values& p) {
    return Values{ConvertTo(p[0], DType::kS32)};
  }));
  EXPECT_FALSE(OverProduct({4, 6}, [](const Values& p) {
    return Values{ConvertTo(p[0], DType::kBF16)};
  }));
  EXPECT_FALSE(OverProduct({4, 6}, [](const Values& p) {
    return Values{Apply(kReverse, p, {{"dimensions", Dims{0}}})};
  }));
  EXPECT_FALSE(OverProduct({6, 6}, [](const Values& p) {
    return Values{p[0] + Transposed(p[0], {1, 0})};
  }));
  // Read again later.
  EXPECT_FALSE(OverProduct({4, 6}, [](const Values& p) {
    const Expression y = Apply(kTanh, p);
    return Values{y, Product(p[0], Transposed(y, {1, 0}))};
  }));
}

// It reads its own element or nothing.
TEST(InPlace, AMaskedReadOfItsOwnElementIsNoObstacle) {
  EXPECT_TRUE(OverProduct({8, 6}, [](const Values& p) {
    const Expression top = Apply(kSlice, p,
                                 {{"start_indices", Dims{0, 0}},
                                  {"limit_indices", Dims{4, 6}},
                                  {"strides", Dims{1, 1}}});
    return Values{Apply(kConcatenate,
                        {top, Filled(p[0].scope(), F32({4, 6}), 1)},
                        {{"dimension", int64_t{0}}})};
  }));
}

// As many bytes and the same offsets, and yet other places.
TEST(InPlace, ElementsOfAnotherWidthAreOthers) {
  const Plan plan = PlanOf(
      {Shape::Of(DType::kF64, {8, 2}), Shape::Of(DType::kF64, {2, 2})},
      [](const Values& p) {
        const Expression wide = Product(p[0], p[1]);
        const Expression more = Apply(
            kPad, {wide, Filled(wide.scope(), Shape::Scalar(wide.dtype()), 1)},
            {{"edge_padding_low", Dims{0, 0}},
             {"edge_padding_high", Dims{8, 0}},
             {"interior_padding", Dims{0, 0}}});
        return Values{ConvertTo(more, DType::kF32)};
      });
  const ValueId result = plan.module.entry().results()[0];
  EXPECT_EQ(plan.entry().buffers.values[result].owner, result);
}

TEST(InPlace, RowsThatOneBlockReadsMayBeWrittenOver) {
  const auto normalized = [](const Values& p) {
    return Values{p[0] / AlongRows(Summed(p[0], {1}), p[0].dims())};
  };
  EXPECT_TRUE(OverProduct({64, 8}, normalized));
  // Sums are not where their rows were.
  EXPECT_FALSE(OverProduct(
      {64, 1}, [](const Values& p) { return Values{Summed(p[0], {1})}; }));
  // Other blocks have parts of the row.
  const Body squares = [](const Values& p) {
    const Expression y = p[0] * p[0];
    return Values{y, Summed(y, {1})};
  };
  EXPECT_FALSE(OverProduct({2, 4096}, squares));
  EXPECT_TRUE(OverProduct({2, 1024}, squares));
  // Columns are read by many.
  EXPECT_FALSE(OverProduct({64, 8}, [](const Values& p) {
    return Values{p[0] * p[0], Summed(p[0] * p[0], {0})};
  }));
}

// A fold along no axis has one lane read what another stores.
TEST(InPlace, RowsOfNothingAreNot) {
  EXPECT_FALSE(OverProduct({4, 6}, [](const Values& p) {
    ComputationBuilder& b = p[0].scope()->builder;
    const int sum = p[0].scope()->monoids.Find(kAdd, DType::kF32, b.module());
    const ValueId zero = b.Constant(Literal::Scalar(0.0f));
    return Values{{p[0].scope(), b.Add(kReduce, {p[0].value(), zero},
                                       {{"dimensions", Dims{}}}, {sum})}};
  }));
}

// One kernel, two results, one temporary: one of them takes it.
TEST(InPlace, NoTwoResultsTakeTheSameMemory) {
  const Plan plan = PlanOf({F32({4, 3}), F32({3, 6})}, [](const Values& p) {
    const Expression d = Product(p[0], p[1]);
    const Expression y = Apply(kTanh, {d});
    return Values{y, Apply(kSine, {y})};
  });
  const Computation& c = plan.module.entry();
  const auto& values = plan.entry().buffers.values;
  const ValueId product = c.num_parameters();
  int taken = 0;
  for (const ValueId r : c.results()) {
    if (values[r].owner == product) ++taken;
  }
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(values[product].kind, Place::kResult);
  EXPECT_NE(values[c.results()[0]].index, values[c.results()[1]].index);
}

Module Updates(const std::function<std::vector<ValueId>(
                   ComputationBuilder&, ValueId x, ValueId zero)>& body) {
  Module module("update");
  ComputationBuilder b(&module, "main");
  const ValueId x = b.Parameter(F32({8}));
  const ValueId zero = b.Parameter(Shape::Scalar(DType::kS32));
  EXPECT_OK(b.Finish(body(b, x, zero)));
  return module;
}

TEST(InPlace, UpdatesOfWhatIsReadBesidesAreNot) {
  for (const bool besides : {false, true}) {
    const Module module =
        Updates([&](ComputationBuilder& b, ValueId x, ValueId zero) {
          const ValueId y = b.Add(kNegate, {x});
          return std::vector<ValueId>{
              b.Add(kDynamicUpdateSlice, {y, besides ? y : x, zero})};
        });
    ASSERT_OK_AND_ASSIGN(const Plan plan, MakePlan(module, GpuTarget()));
    const ValueId result = plan.module.entry().results()[0];
    EXPECT_EQ(plan.entry().buffers.values[result].owner == result, besides);
  }
  // Into the argument: the update has as many bytes and dies as well.
  const Module module =
      Updates([&](ComputationBuilder& b, ValueId x, ValueId zero) {
        const ValueId y = b.Add(kNegate, {x});
        return std::vector<ValueId>{b.Add(kDynamicUpdateSlice, {x, y, zero})};
      });
  ASSERT_OK_AND_ASSIGN(const Plan plan, MakePlan(module, GpuTarget()));
  const ValueId result = plan.module.entry().results()[0];
  EXPECT_EQ(plan.entry().buffers.values[result].owner, result);
  ASSERT_EQ(plan.entry().buffers.donations.size(), 1u);
  EXPECT_EQ(plan.entry().buffers.donations[0].argument, 0);
  EXPECT_TRUE(plan.entry().buffers.donations[0].in_place);
}

// ---- what a caller may give away

// "0 for 1 in place": the argument, the result.
std::string Donations(const Plan& plan) {
  std::string text;
  for (const Donation& d : plan.entry().buffers.donations) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", d.argument, " for ",
                    d.result, d.in_place ? " in place" : "");
  }
  return text;
}
// Of two arguments of 64 elements.
std::string Donations(const Body& body, const Dims& dims = {64}) {
  return Donations(PlanOf({F32(dims), F32(dims)}, body));
}

TEST(Donations, InPlaceWhereTheStepReadsItsOwnElements) {
  EXPECT_EQ(Donations([](const Values& p) { return Values{p[0] + p[1]}; }),
            "0 for 0 in place");
  EXPECT_EQ(Donations([](const Values& p) {
              return Values{Apply(kReverse, {p[0]}, {{"dimensions", Dims{0}}}) +
                            p[1]};
            }),
            "1 for 0 in place");
  EXPECT_EQ(Donations([](const Values& p) {
              return Values{Apply(kReverse, {p[0]}, {{"dimensions", Dims{0}}})};
            }),
            "1 for 0");
  EXPECT_EQ(Donations([](const Values& p) {
              const Expression y = p[0] + p[1];
              return Values{y, Apply(kTanh, {y})};
            }),
            "0 for 1 in place, 1 for 0 in place");
}

TEST(Donations, AfterTheLastReadOrNotAtAll) {
  const Dims square = {8, 8};
  // Read by the step that writes, from everywhere.
  EXPECT_EQ(
      Donations([](const Values& p) { return Values{Product(p[0], p[1])}; },
                square),
      "");
  // Both are used up when the second product is written.
  EXPECT_EQ(Donations(
                [](const Values& p) {
                  const Expression y = Product(p[0], p[1]);
                  return Values{Product(y, y)};
                },
                square),
            "0 for 0");
  // What leaves as it is stays the caller's.
  EXPECT_EQ(Donations([](const Values& p) {
              return Values{p[0] + p[1], p[0]};
            }),
            "1 for 0 in place");
  EXPECT_EQ(Donations([](const Values& p) {
              return Values{p[0] + p[1], p[0], p[1]};
            }),
            "");
  // Sizes in bytes decide.
  EXPECT_EQ(Donations([](const Values& p) {
              return Values{ConvertTo(p[0] + p[1], DType::kBF16)};
            }),
            "");
  EXPECT_EQ(Donations([](const Values& p) { return Values{p[0] + p[1]}; }, {0}),
            "");
  EXPECT_EQ(Donations([](const Values& p) { return Values{p[0] + p[1]}; }, {1}),
            "0 for 0 in place");
}

// However many others leave as they are.
TEST(Donations, TheOneThatDoesNotLeaveIsFound) {
  constexpr int kOthers = 20;
  const Plan plan =
      PlanOf(std::vector<Shape>(kOthers + 1, F32({64})), [](const Values& p) {
        Values results = {Apply(kReverse, {p[0]}, {{"dimensions", Dims{0}}})};
        results.insert(results.end(), p.begin(), p.end() - 1);
        return results;
      });
  EXPECT_EQ(Donations(plan), absl::StrCat(kOthers, " for 0"));
}

TEST(Donations, ResultsThatAreNothingNewAreNamed) {
  const auto aliases = [](const Body& body) {
    const Plan plan = PlanOf({F32({8}), F32({8})}, body);
    std::string text;
    for (const int r : plan.entry().buffers.aliased_results) {
      absl::StrAppend(&text, r, " ");
    }
    return text;
  };
  EXPECT_EQ(aliases([](const Values& p) { return Values{p[0] + p[1]}; }), "");
  EXPECT_EQ(aliases([](const Values& p) {
              return Values{p[0] + p[1], p[1]};
            }),
            "1 ");
  EXPECT_EQ(aliases([](const Values& p) {
              const Expression y = p[0] + p[1];
              return Values{y, y, Reshaped(y, {2, 4})};
            }),
            "1 2 ");
  EXPECT_EQ(aliases([](const Values& p) {
              return Values{Apply(kNegate, {p[0]}),
                            ConstantOf(p[0].scope(), Literal::Scalar(1.0f))};
            }),
            "1 ");
}

// ---- the arena

// Three products in a row: two of their values are there at a time.
TEST(ArenaPlan, ValuesLeaveWithTheirLastReader) {
  const Plan plan = PlanOf({F32({64, 64})}, [](const Values& p) {
    Expression x = p[0];
    for (int k = 0; k < 4; ++k) x = Product(x, x);
    return Values{x};
  });
  const BufferPlan& b = plan.entry().buffers;
  constexpr int64_t kBytes = 64 * 64 * 4;
  EXPECT_EQ(b.temporary_bytes, 3 * kBytes);
  EXPECT_EQ(b.arena_bytes, 2 * kBytes);
  EXPECT_EQ(b.values[1].offset, 0);
  EXPECT_EQ(b.values[2].offset, kBytes);
  EXPECT_EQ(b.values[3].offset, 0);
  EXPECT_EQ(b.values[1].first, 1);
  EXPECT_EQ(b.values[1].last, 2);
  for (const int64_t scratch : b.scratch) EXPECT_EQ(scratch, -1);
}

// What a loop's body needs is there while the loop runs.
TEST(ArenaPlan, LoopsHaveTheArenaOfTheirBodies) {
  int with_arena = 0;
  for (const NamedModule& sample : SampleModules()) {
    ASSERT_OK_AND_ASSIGN(const Plan plan, MakePlan(sample.module, CpuTarget()));
    for (const ComputationPlan& c : plan.computations) {
      if (c.computation < 0) continue;
      const auto instructions =
          plan.module.computation(c.computation).instructions();
      for (size_t k = 0; k < instructions.size(); ++k) {
        int64_t bytes = 0;
        if (c.regions[k].kind == RegionKind::kControl) {
          for (const int called : instructions[k].called) {
            bytes =
                std::max(bytes, plan.computations[called].buffers.arena_bytes);
          }
        }
        if (bytes == 0) continue;
        ++with_arena;
        EXPECT_GE(c.buffers.scratch[k], 0) << sample.name;
        EXPECT_LE(c.buffers.scratch[k] + bytes, c.buffers.arena_bytes)
            << sample.name;
      }
    }
  }
  EXPECT_GT(with_arena, 0);
}

// Partial results are beside what is read, and gone afterwards.
TEST(ArenaPlan, ScratchIsThereForItsStepAlone) {
  const Plan plan = PlanOf({F32({2, 3}), F32({3, 4096})}, [](const Values& p) {
    const Expression d = Product(p[0], p[1]);
    const Expression sum = Summed(d, {1});
    const Expression small =
        Product(Reshaped(sum, {2, 1}), Reshaped(sum, {1, 2}));
    return Values{Product(small, small)};
  });
  const BufferPlan& b = plan.entry().buffers;
  constexpr int64_t kProduct = 2 * 4096 * 4, kSum = 256;
  ASSERT_EQ(b.values[2].kind, Place::kArena);
  EXPECT_EQ(b.values[2].offset, 0);
  EXPECT_EQ(b.values[3].offset, kProduct);
  EXPECT_EQ(b.scratch[3], kProduct + kSum);
  EXPECT_EQ(b.arena_bytes, kProduct + kSum + 256);
  // The next value takes its place.
  const ValueId small = plan.module.entry().results()[0] - 1;
  EXPECT_EQ(b.values[small].offset, kProduct + kSum);
}

}  // namespace
}  // namespace hawser::plan
