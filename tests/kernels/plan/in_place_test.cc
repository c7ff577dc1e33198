// Which memory a step may write over, and which arguments a caller may give
// away.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "gtest/gtest.h"
#include "kernels/plan/plan.h"
#include "tests/kernels/plan/words.h"
#include "tests/testing/expression_module.h"
#include "tests/testing/matchers.h"
#include "tests/testing/sample_modules.h"

namespace hawser::plan {
namespace {

Plan PlanOf(const std::vector<Shape>& parameters, const Body& body) {
  Target target = GpuTarget();
  target.epilogues = EpilogueSupport::kNone;
  target.joined_elements = 0;
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
  // Of several results of one step each is as wide as it is.
  const Plan two = PlanOf({F32({4, 4})}, [](const Values& p) {
    const Expression y = ConvertTo(Product(p[0], p[0]), DType::kF64);
    return Values{y, ConvertTo(y, DType::kBF16)};
  });
  for (const ValueId r : two.module.entry().results()) {
    EXPECT_EQ(two.entry().buffers.values[r].owner, r);
  }
}

TEST(InPlace, LargerAndSmallerValuesAreOthers) {
  EXPECT_FALSE(OverProduct({4, 6}, [](const Values& p) {
    return Values{Apply(kPad, {p[0], Filled(p[0].scope(), F32({}), 1)},
                        {{"edge_padding_low", Dims{0, 0}},
                         {"edge_padding_high", Dims{4, 0}},
                         {"interior_padding", Dims{0, 0}}})};
  }));
  EXPECT_FALSE(OverProduct({4, 6}, [](const Values& p) {
    return Values{Apply(kSlice, p,
                        {{"start_indices", Dims{0, 0}},
                         {"limit_indices", Dims{2, 6}},
                         {"strides", Dims{1, 1}}})};
  }));
}

// A view of what was written over a temporary is that memory, which is there
// as long as the view is read.
TEST(InPlace, ViewsFollowWhatTheyLookAt) {
  const Plan plan = PlanOf({F32({4, 4})}, [](const Values& p) {
    const Expression product = Product(p[0], p[0]);
    const Expression view = Reshaped(Apply(kNegate, {product}), {2, 8});
    return Values{Product(view, Reshaped(p[0], {8, 2}))};
  });
  const auto& values = plan.entry().buffers.values;
  int views = 0;
  for (const Region& r : plan.entry().regions) {
    if (r.kind != RegionKind::kView) continue;
    const ValueId view =
        plan.module.entry().instructions()[r.instruction].first_result;
    views += values[view].owner == plan.module.entry().num_parameters();
  }
  EXPECT_EQ(views, 1);
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
  EXPECT_FALSE(OverProduct({2, 2048}, squares));  // two parts
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

// A fusion that another made may have a result without a reader. It is written
// all the same.
TEST(InPlace, AResultThatNobodyReadsHasItsOwnMemory) {
  Module module("unread");
  ComputationBuilder body(&module, "body");
  const ValueId y = body.Parameter(F32({4, 4}));
  ASSERT_OK_AND_ASSIGN(const int called, body.Finish({body.Add(kNegate, {y}),
                                                      body.Add(kTanh, {y})}));
  ComputationBuilder b(&module, "main");
  Monoids monoids;
  ExpressionScope scope{b, monoids};
  const Expression x(&scope, b.Parameter(F32({4, 4})));
  const Expression product = Product(x, x);
  const ValueId both = b.Add(kFusion, {product.value()},
                             {{"kind", std::string("loop")}}, {called});
  const Expression read(&scope, both + 1);
  ASSERT_OK(b.Finish({Product(read, read).value()}));
  ASSERT_OK_AND_ASSIGN(const Plan plan, PlanFused(module, GpuTarget()));
  const auto& values = plan.entry().buffers.values;
  EXPECT_EQ(values[both].owner, product.value());
  EXPECT_EQ(values[both + 1].owner, both + 1);
}

// What comes first among the operands may be an argument: the caller's. So are
// constants the executable's.
TEST(InPlace, TemporariesAreTakenArgumentsAndConstantsAreNot) {
  const Plan plan = PlanOf({F32({4, 4})}, [](const Values& p) {
    const Expression more = p[0] + Product(p[0], p[0]);
    const Expression list =
        ConstantOf(p[0].scope(), Literal::Zeros(F32({4, 4})));
    return Values{Product(more, Apply(kNegate, {list}))};
  });
  const Computation& c = plan.module.entry();
  const auto& values = plan.entry().buffers.values;
  const Instruction& last = c.instructions().back();
  const ValueId more = last.operands[0], negated = last.operands[1];
  const ValueId product = more - 1;
  EXPECT_EQ(values[more].owner, product);
  EXPECT_EQ(values[negated].owner, negated);
  EXPECT_EQ(values[negated].kind, Place::kArena);
  const ValueId list = c.instructions()[c.producer(negated)].operands[0];
  EXPECT_EQ(values[list].kind, Place::kConstant);
  EXPECT_EQ(values[list].index, c.producer(list));
}

// A step reads an argument and a temporary, and writes two results: the one is
// the caller's to give away, so the other takes the temporary.
TEST(InPlace, OneResultIsPromisedTheArgumentTheOtherTakesTheTemporary) {
  const Plan plan =
      PlanOf({F32({4, 3}), F32({3, 6}), F32({4, 6})}, [](const Values& p) {
        const Expression y = Product(p[0], p[1]) + p[2];
        return Values{y, Apply(kTanh, {y})};
      });
  const Computation& c = plan.module.entry();
  const BufferPlan& b = plan.entry().buffers;
  int taken = 0;
  for (const ValueId r : c.results()) {
    if (b.values[r].owner == c.num_parameters()) ++taken;
  }
  EXPECT_EQ(taken, 1);
  EXPECT_EQ(b.arena_bytes, 0);
  ASSERT_EQ(b.donations.size(), 1u);
  EXPECT_EQ(b.donations[0].argument, 2);
}

// Neither what the step writes nor what follows it, however large.
TEST(InPlace, WhatIsReadInAnotherOrderIsNotTaken) {
  const Plan plan = PlanOf({F32({4, 4})}, [](const Values& p) {
    const Expression reversed =
        Apply(kReverse, {Product(p[0], p[0])}, {{"dimensions", Dims{0}}});
    return Values{Product(reversed, reversed)};
  });
  for (ValueId v = 1; v < plan.module.entry().num_values(); ++v) {
    EXPECT_EQ(plan.entry().buffers.values[v].owner, v);
  }
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
            "1 for 1 in place, 0 for 0 in place");
  // Each over its own, though the first one made could be over either.
  EXPECT_EQ(Donations([](const Values& p) {
              const Expression y = p[0] + p[1];
              return Values{Apply(kTanh, {p[0]}) * p[1], y};
            }),
            "0 for 0 in place, 1 for 1 in place");
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

TEST(Donations, OfOneByte) {
  EXPECT_EQ(Donations(PlanOf(
                {Shape::Of(DType::kU8, {1})},
                [](const Values& p) { return Values{Apply(kNot, {p[0]})}; })),
            "0 for 0 in place");
}

// Eight arguments are searched for one without a later reader.
TEST(Donations, AfterManyThatAreReadLaterNoneIsLookedFor) {
  const auto found = [](int read_later) {
    return Donations(PlanOf(
        std::vector<Shape>(read_later + 1, F32({8, 8})), [](const Values& p) {
          const Expression y = Product(p.back(), p.back());
          const Expression result = Product(y, y);
          Expression sum = result;
          for (size_t k = 0; k + 1 < p.size(); ++k) sum = sum + p[k];
          return Values{result, ConvertTo(sum, DType::kBF16)};
        }));
  };
  EXPECT_EQ(found(7), "7 for 0");
  EXPECT_EQ(found(8), "");
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

// The first value of all, which here is no argument, is there as long as it is
// read, and no longer.
TEST(ArenaPlan, TheFirstValueIsAsAnyOther) {
  const Shape square = F32({8, 8});
  Module module("first");
  ComputationBuilder b(&module, "main");
  Monoids monoids;
  ExpressionScope scope{b, monoids};
  Expression x(&scope, b.Add(kIota, {},
                             {{"dtype", DType::kF32},
                              {"dims", square.dims()},
                              {"iota_dimension", int64_t{0}}}));
  for (int k = 0; k < 3; ++k) x = Product(x, x);
  ASSERT_OK(b.Finish({x.value()}));
  ASSERT_OK_AND_ASSIGN(const Plan plan, MakePlan(module, GpuTarget()));
  const BufferPlan& buffers = plan.entry().buffers;
  ASSERT_EQ(buffers.values.size(), 4u);
  EXPECT_EQ(buffers.values[0].offset, 0);
  EXPECT_EQ(buffers.values[1].offset, square.byte_size());
  EXPECT_EQ(buffers.values[2].offset, 0);
}

// What a loop's body needs is there while the loop runs.
TEST(ArenaPlan, LoopsHaveTheArenaOfTheirBodies) {
  int with_arena = 0;
  Target target = CpuTarget();
  target.unrolled_instructions = 0;  // loops stay
  for (const NamedModule& sample : SampleModules()) {
    ASSERT_OK_AND_ASSIGN(const Plan plan, MakePlan(sample.module, target));
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
