// Fusion decisions, one by one.
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/ir/builder.h"
#include "core/ir/text/parser.h"
#include "core/ir/text/printer.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "core/ops/registry.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kernels/plan/plan.h"
#include "tests/kernels/plan/graphs.h"
#include "tests/testing/matchers.h"
#include "tests/testing/sample_modules.h"

namespace hawser::plan {
namespace {

using ValueIds = std::vector<ValueId>;
const Shape kMatrix = Shape::Of(DType::kF32, {512, 1024});

Module BuildIds(const std::vector<Shape>& parameters,
             const std::function<ValueIds(ComputationBuilder&)>& body) {
  Module module("m");
  ComputationBuilder combiner(&module, "add");
  const ValueId x = combiner.Parameter(Shape::Scalar(DType::kF32));
  const ValueId y = combiner.Parameter(Shape::Scalar(DType::kF32));
  EXPECT_OK(combiner.Finish({combiner.Add(kAdd, {x, y})}));
  ComputationBuilder b(&module, "main");
  for (const Shape& shape : parameters) b.Parameter(shape);
  EXPECT_OK(b.Finish(body(b)));
  return module;
}

ValueId Sum(ComputationBuilder& b, ValueId x, Dims axes) {
  const ValueId zero = b.Constant(Literal::Scalar(0.0f));
  return b.Add(kReduce, {x, zero}, {{"dimensions", axes}}, {0});
}
ValueId Spread(ComputationBuilder& b, ValueId x, Dims to, Dims dims) {
  return b.Add(kBroadcastInDim, {x},
               {{"broadcast_dimensions", to}, {"dims", dims}});
}

// "loop:2 row:1": kinds of the steps in order and how many results each has.
std::string Kinds(const Module& module, const Target& target = GpuTarget()) {
  auto plan = MakePlan(module, target);
  EXPECT_OK(plan);
  if (!plan.ok()) return "";
  std::string text;
  const Computation& c = plan->module.entry();
  for (const Region& r : plan->entry().regions) {
    if (r.kind == RegionKind::kNone || r.kind == RegionKind::kConstant) {
      continue;
    }
    absl::StrAppend(&text, text.empty() ? "" : ", ", RegionKindName(r.kind),
                    ":", c.instructions()[r.instruction].num_results);
  }
  return text;
}

TEST(Fusion, OneKernelWritesSeveralResults) {
  EXPECT_EQ(Kinds(BuildIds({kMatrix, kMatrix},
                        [](ComputationBuilder& b) {
                          const ValueId sum = b.Add(kAdd, {0, 1});
                          return ValueIds{b.Add(kTanh, {sum}), sum};
                        })),
            "loop:2");
}

// The value in between would have to be written before it is read.
TEST(Fusion, KernelsNeverWaitForEachOther) {
  const Module module = BuildIds({kMatrix}, [](ComputationBuilder& b) {
    const ValueId e = b.Add(kExponential, {0});
    const ValueId t = b.Add(kTranspose, {e}, {{"permutation", Dims{1, 0}}});
    const ValueId d = b.Add(kDotGeneral, {e, t},
                            {{"lhs_batching_dimensions", Dims{}},
                             {"lhs_contracting_dimensions", Dims{1}},
                             {"rhs_batching_dimensions", Dims{}},
                             {"rhs_contracting_dimensions", Dims{0}}});
    const ValueId s = Spread(b, Sum(b, d, {1}), {0}, {512, 1024});
    return ValueIds{b.Add(kAdd, {e, s})};
  });
  Target no_tails = GpuTarget();
  no_tails.epilogues = EpilogueSupport::kNone;
  EXPECT_THAT(Kinds(module, no_tails), ::testing::HasSubstr("library dot:1"));
}

TEST(Fusion, CheapBroadcastsAreNeverWritten) {
  EXPECT_EQ(Kinds(BuildIds({Shape::Of(DType::kF32, {1024}), kMatrix},
                        [](ComputationBuilder& b) {
                          const ValueId wide = Spread(b, 0, {1}, {512, 1024});
                          const ValueId sum = b.Add(kAdd, {1, wide});
                          const ValueId row = Sum(b, wide, {1});
                          return ValueIds{sum, row};
                        })),
            "loop:1, row:1");
}

// 40 hyperbolic tangents per element of a wide consumer cost more than a
// launch.
TEST(Fusion, WorkIsNotRepeatedForEveryRow) {
  const auto graph = [](int64_t rows) {
    return BuildIds(
        {Shape::Of(DType::kF32, {4096}), Shape::Of(DType::kF32, {rows, 4096})},
        [rows](ComputationBuilder& b) {
          ValueId v = 0;
          for (int k = 0; k < 40; ++k) v = b.Add(kTanh, {v});
          return ValueIds{b.Add(kAdd, {1, Spread(b, v, {1}, {rows, 4096})})};
        });
  };
  EXPECT_EQ(Kinds(graph(1)), "loop:1");
  EXPECT_EQ(Kinds(graph(8192)), "loop:1, loop:1");
}

TEST(Fusion, RowsThatDoNotStayAreReadAgain) {
  const auto softmax_like = [](int64_t columns) {
    return BuildIds(
        {Shape::Of(DType::kF32, {64, columns})},
        [columns](ComputationBuilder& b) {
          return ValueIds{b.Add(
              kDivide, {0, Spread(b, Sum(b, 0, {1}), {0}, {64, columns})})};
        });
  };
  EXPECT_EQ(Kinds(softmax_like(50 * 1024)), "row:1");
  EXPECT_EQ(Kinds(softmax_like(60 * 1024)), "row:1, loop:1");
}

TEST(Fusion, ColumnsAreNotResident) {
  EXPECT_EQ(Kinds(BuildIds({kMatrix},
                        [](ComputationBuilder& b) {
                          return ValueIds{
                              b.Add(kDivide, {0, Spread(b, Sum(b, 0, {0}), {1},
                                                        {512, 1024})})};
                        })),
            "column reduction:1, loop:1");
}

TEST(Fusion, SiblingReductionsShareOnePass) {
  EXPECT_EQ(Kinds(BuildIds({kMatrix},
                        [](ComputationBuilder& b) {
                          return ValueIds{Sum(b, 0, {1}),
                                        Sum(b, b.Add(kMultiply, {0, 0}), {1}),
                                        Sum(b, 0, {0})};
                        })),
            "row:2, column reduction:1");
  EXPECT_EQ(Kinds(BuildIds({kMatrix},
                        [](ComputationBuilder& b) {
                          const ValueId most =
                              b.Add(kArgMax, {0}, {{"dimension", int64_t{1}}});
                          return ValueIds{Sum(b, 0, {1}), most};
                        })),
            "row:2");
}

// Sums of x and of y in one instruction over [64,8], and `body` of both.
Module TwoSums(const std::function<ValueIds(ComputationBuilder&, ValueId x,
                                          ValueId sums)>& body) {
  Module module("two");
  ComputationBuilder add(&module, "add");
  const Shape scalar = Shape::Scalar(DType::kF32);
  const ValueId a = add.Parameter(scalar), c = add.Parameter(scalar);
  EXPECT_OK(add.Finish({add.Add(kAdd, {a, c})}));
  ComputationBuilder both(&module, "both");
  std::vector<ValueId> p;
  for (int k = 0; k < 4; ++k) {
    p.push_back(both.Parameter(scalar));
  }
  EXPECT_OK(both.Finish(
      {both.Add(kAdd, {p[0], p[2]}), both.Add(kAdd, {p[1], p[3]})}));
  ComputationBuilder b(&module, "main");
  const Shape shape = Shape::Of(DType::kF32, {64, 8});
  const ValueId x = b.Parameter(shape), y = b.Parameter(shape);
  const ValueId zero = b.Constant(Literal::Scalar(0.0f));
  const ValueId sums =
      b.Add(kReduce, {x, y, zero, zero}, {{"dimensions", Dims{1}}}, {1});
  EXPECT_OK(b.Finish(body(b, x, sums)));
  return module;
}

TEST(Fusion, BothResultsOfAReductionAreReadInItsKernel) {
  EXPECT_EQ(Kinds(TwoSums([](ComputationBuilder& b, ValueId, ValueId sums) {
              return ValueIds{b.Add(kAdd, {sums, sums + 1})};
            })),
            "row:1");
  // One result has no reader, the other leaves the computation.
  for (const int k : {0, 1}) {
    EXPECT_EQ(Kinds(TwoSums([&](ComputationBuilder& b, ValueId, ValueId sums) {
                return ValueIds{b.Add(kTanh, {sums + k})};
              })),
              "row:1");
    EXPECT_EQ(Kinds(TwoSums([&](ComputationBuilder& b, ValueId, ValueId sums) {
                return ValueIds{b.Add(kTanh, {sums + k}), sums + 1 - k};
              })),
              "row:2");
  }
}

TEST(Fusion, AReductionOfTwoResultsJoinsItsSibling) {
  EXPECT_EQ(Kinds(TwoSums([](ComputationBuilder& b, ValueId x, ValueId sums) {
              return ValueIds{sums, sums + 1, Sum(b, x, {1})};
            })),
            "row:3");
}

// The maximum comes back to every element of a row that is summed: in one
// kernel while the row stays at hand.
TEST(Fusion, WhatComesBackToEveryElementNeedsRowsThatStay) {
  const auto graph = [](int64_t columns, bool reversed) {
    return BuildIds(
        {Shape::Of(DType::kF32, {64, columns})}, [=](ComputationBuilder& b) {
          ValueId first = Sum(b, 0, {1});
          if (reversed) {
            first = b.Add(kReverse, {first}, {{"dimensions", Dims{0}}});
          }
          const ValueId d =
              b.Add(kSubtract, {0, Spread(b, first, {0}, {64, columns})});
          return ValueIds{Sum(b, b.Add(kTanh, {d}), {1})};
        });
  };
  EXPECT_EQ(Kinds(graph(1024, false)), "row:1");
  EXPECT_EQ(Kinds(graph(1024, true)), "row:1, row:1");
  Target target = GpuTarget();
  target.max_row_bytes = 4 * 1024;
  EXPECT_EQ(Kinds(graph(1024, false), target), "row:1");
  EXPECT_EQ(Kinds(graph(1025, false), target), "row:1, row:1");
}

TEST(Fusion, ViewsMoveNothing) {
  const std::function<ValueId(ComputationBuilder&)> views[] = {
      [](ComputationBuilder& b) {
        return b.Add(kReshape, {0}, {{"dims", Dims{1024, 512}}});
      },
      [](ComputationBuilder& b) { return b.Add(kStopGradient, {0}); },
      [](ComputationBuilder& b) {
        return b.Add(kBitcastConvert, {0}, {{"dtype", DType::kS32}});
      },
      [](ComputationBuilder& b) {
        return b.Add(kBitcastConvert, {0}, {{"dtype", DType::kU8}});
      },
  };
  for (const auto& view : views) {
    const Module module = BuildIds(
        {kMatrix}, [&](ComputationBuilder& b) { return ValueIds{view(b)}; });
    ASSERT_OK_AND_ASSIGN(const Plan plan, MakePlan(module, GpuTarget()));
    EXPECT_EQ(CostOf(plan.entry(), GpuTarget()).launches, 0);
    EXPECT_EQ(plan.entry().buffers.values[1].kind, Place::kArgument);
    EXPECT_THAT(plan.entry().buffers.aliased_results,
                ::testing::ElementsAre(0));
  }
}

TEST(Fusion, LimitsHold) {
  Target target = GpuTarget();
  target.max_buffers = 6;
  const std::vector<Shape> many(20, kMatrix);
  const Module module = BuildIds(many, [](ComputationBuilder& b) {
    ValueId v = 0;
    for (int k = 1; k < 20; ++k) v = b.Add(kAdd, {v, k});
    return ValueIds{v};
  });
  ASSERT_OK_AND_ASSIGN(const Plan plan, MakePlan(module, target));
  for (const Region& r : plan.entry().regions) {
    if (r.kind != RegionKind::kLoop) continue;
    EXPECT_LE(r.accesses.size(), 6u);
  }
  EXPECT_EQ(CostOf(plan.entry(), target).launches, 5);
}

TEST(Fusion, TailsOfProductsByWhatTheTargetTakes) {
  const auto graph = [](const OpDef& activation) {
    return BuildIds(
        {Shape::Of(DType::kF32, {64, 32}), Shape::Of(DType::kF32, {32, 16}),
         Shape::Of(DType::kF32, {16})},
        [&](ComputationBuilder& b) {
          const ValueId d = b.Add(kDotGeneral, {0, 1},
                                  {{"lhs_batching_dimensions", Dims{}},
                                   {"lhs_contracting_dimensions", Dims{1}},
                                   {"rhs_batching_dimensions", Dims{}},
                                   {"rhs_contracting_dimensions", Dims{0}}});
          const ValueId y = b.Add(kAdd, {d, Spread(b, 2, {1}, {64, 16})});
          return ValueIds{b.Add(activation, {y})};
        });
  };
  EXPECT_EQ(Kinds(graph(kTanh), GpuTarget()), "library dot:1, loop:1");
  EXPECT_EQ(Kinds(graph(kTanh), CpuTarget()), "library dot:1");
  Target none = GpuTarget();
  none.epilogues = EpilogueSupport::kNone;
  EXPECT_EQ(Kinds(graph(kTanh), none), "library dot:1, loop:1");
}

TEST(Fusion, BodiesOfLoopsAreFusedToo) {
  for (const NamedModule& sample : SampleModules()) {
    ASSERT_OK_AND_ASSIGN(const Plan plan, MakePlan(sample.module, GpuTarget()));
    for (const ComputationPlan& c : plan.computations) {
      if (c.computation < 0) continue;
      const auto instructions =
          plan.module.computation(c.computation).instructions();
      EXPECT_EQ(c.regions.size(), instructions.size());
      for (const Instruction& i : instructions) {
        if (i.op != &kWhile && i.op != &kCase) continue;
        for (const int called : i.called) {
          EXPECT_EQ(plan.computations[called].computation, called);
        }
      }
    }
  }
}

// "0 3": the computations that have steps, of a module as it is.
std::string Planned(absl::string_view text) {
  const auto module = ParseModule(text, FindOp);
  EXPECT_OK(module);
  if (!module.ok()) return "";
  const auto plan = PlanFused(*module, GpuTarget());
  EXPECT_OK(plan);
  if (!plan.ok()) return "";
  std::string planned;
  for (size_t c = 0; c < plan->computations.size(); ++c) {
    if (plan->computations[c].computation < 0) continue;
    EXPECT_EQ(plan->computations[c].computation, static_cast<int>(c));
    absl::StrAppend(&planned, planned.empty() ? "" : " ", c);
  }
  return planned;
}

constexpr absl::string_view kLoopText = R"(module "loops"
computation @0 "more" (%0: s32[]) {
  %1: s32[] = constant() value=s32[] {10}
  %2: bool[] = compare(%0, %1) direction="LT"
  return %2
}
computation @1 "next" (%0: s32[]) {
  %1: s32[] = add(%0, %0)
  return %1
}
)";

TEST(Fusion, WhatTheEntryStepsThroughIsPlanned) {
  // A loop within a loop, and an addition between them that a reduction calls.
  EXPECT_EQ(Planned(absl::StrCat(kLoopText, R"(
computation @2 "outer" (%0: s32[]) {
  %1: s32[] = while(%0) @0 @1
  return %1
}
computation @3 "add" (%0: s32[], %1: s32[]) {
  %2: s32[] = add(%0, %1)
  return %2
}
computation @4 "main" (%0: s32[], %1: s32[8]) {
  %2: s32[] = reduce(%1, %0) dimensions=[0] @3
  %3: s32[] = while(%2) @0 @2
  return %3
}
)")),
            "0 1 2 4");
  // A fusion with a loop in it is called as a whole.
  EXPECT_EQ(Planned(absl::StrCat(kLoopText, R"(
computation @2 "fused" (%0: s32[]) {
  %1: s32[] = while(%0) @0 @1
  return %1
}
computation @3 "main" (%0: s32[]) {
  %1: s32[] = fusion(%0) kind="any" @2
  return %1
}
)")),
            "3");
}

TEST(Fusion, FusionsSayWhatTheyAre) {
  const auto kind = [](const Module& module, const Target& target) {
    const auto plan = MakePlan(module, target);
    EXPECT_OK(plan);
    for (const Instruction& i : plan->module.entry().instructions()) {
      if (i.op == &kFusion) {
        return std::string(i.attributes.GetString("kind", ""));
      }
    }
    return std::string("none");
  };
  EXPECT_EQ(kind(BuildIds({kMatrix},
                       [](ComputationBuilder& b) {
                         return ValueIds{b.Add(kTanh, {b.Add(kTanh, {0})})};
                       }),
                 GpuTarget()),
            "loop");
  EXPECT_EQ(kind(BuildIds({kMatrix},
                       [](ComputationBuilder& b) {
                         return ValueIds{Sum(b, b.Add(kTanh, {0}), {1})};
                       }),
                 GpuTarget()),
            "reduction");
  EXPECT_EQ(kind(BuildIds({Shape::Of(DType::kF32, {8, 8})},
                       [](ComputationBuilder& b) {
                         const ValueId d =
                             b.Add(kDotGeneral, {0, 0},
                                   {{"lhs_batching_dimensions", Dims{}},
                                    {"lhs_contracting_dimensions", Dims{1}},
                                    {"rhs_batching_dimensions", Dims{}},
                                    {"rhs_contracting_dimensions", Dims{0}}});
                         return ValueIds{b.Add(kTanh, {d})};
                       }),
                 CpuTarget()),
            "dot");
}

// A launch, and the longer of its bytes and its lanes.
TEST(Fusion, SecondsAreLaunchesAndWhatTakesLonger) {
  Target target = GpuTarget();
  target.launch_seconds = 1000;
  target.bytes_per_second = 2;
  target.lanes_per_second = 4;
  const auto seconds = [&](const OpDef& op) {
    const Module module =
        BuildIds({Shape::Of(DType::kF32, {8})},
              [&](ComputationBuilder& b) { return ValueIds{b.Add(op, {0})}; });
    const auto plan = MakePlan(module, target);
    EXPECT_OK(plan);
    return CostOf(plan->entry(), target).seconds;
  };
  EXPECT_EQ(seconds(kNegate), 1000 + 64 / 2);
  EXPECT_EQ(seconds(kSine), 1000 + 8 * 40 / 4);
}

// Nothing recurses on the graph, and nothing is quadratic in it.
TEST(Fusion, TakesADeepChain) {
  const Module module = ChainModule(100000);
  ASSERT_OK_AND_ASSIGN(const Plan plan, MakePlan(module, GpuTarget()));
  EXPECT_LE(CostOf(plan.entry(), GpuTarget()).launches, 100000 / 190);
}

}  // namespace
}  // namespace hawser::plan
