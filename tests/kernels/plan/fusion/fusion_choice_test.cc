// Which of several readers takes a value, and what that is worth.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "gtest/gtest.h"
#include "kernels/plan/target/target.h"
#include "tests/kernels/plan/fusion/steps.h"
#include "tests/kernels/plan/words.h"
#include "tests/testing/expression_module.h"
#include "tests/testing/matchers.h"

namespace hawser::plan {
namespace {

std::string Steps(const std::vector<Dims>& dims, const Body& body,
                  const Target& target = GpuTarget()) {
  return Steps(Build(dims, body), target);
}

Expression Negated(const Expression& x) { return Apply(kNegate, {x}); }
Expression Tanh(const Expression& x) { return Apply(kTanh, {x}); }
Expression Reversed(const Expression& x) {
  return Apply(kReverse, {x}, {{"dimensions", Dims{0}}});
}
Expression Rows(const Expression& x, int64_t count) {
  const auto n = static_cast<size_t>(x.rank());
  Dims to = x.dims();
  to[0] = count;
  return Apply(kSlice, {x},
               {{"start_indices", Dims(n, 0)},
                {"limit_indices", to},
                {"strides", Dims(n, 1)}});
}
// `part` written into `whole` from its first element on: no loop, and it reads
// what it does as it is.
Expression Updated(const Expression& whole, const Expression& part) {
  const Expression at = ConstantOf(whole.scope(), Literal::Scalar(int32_t{0}));
  Values operands = {whole, part};
  operands.insert(operands.end(), whole.rank(), at);
  return Apply(kDynamicUpdateSlice, operands);
}
Expression RowSums(const Expression& x) { return Summed(x, {1}); }
Expression Maxima(const Expression& x) {
  return Folded(kMaximum, x, ScalarOf(DType::kF32, -1e30), {1});
}

// Sums of the rows of `x` and of `y` in one instruction.
Values BothSums(const Expression& x, const Expression& y) {
  ExpressionScope* const scope = x.scope();
  ComputationBuilder both(scope->builder.module(), "both");
  std::vector<ValueId> p;
  for (int k = 0; k < 4; ++k) {
    p.push_back(both.Parameter(Shape::Scalar(DType::kF32)));
  }
  const auto called =
      both.Finish({both.Add(kAdd, {p[0], p[2]}), both.Add(kAdd, {p[1], p[3]})});
  EXPECT_OK(called);
  const ValueId zero = scope->builder.Constant(Literal::Scalar(0.0f));
  const ValueId first =
      scope->builder.Add(kReduce, {x.value(), y.value(), zero, zero},
                         {{"dimensions", Dims{1}}}, {*called});
  return {{scope, first}, {scope, first + 1}};
}

// ---- who writes

// A view is no work: not written with what reads it, and read as what it
// is a view of.
TEST(FusionChoice, ViewsAreNotWritten) {
  EXPECT_EQ(Steps({{24}, {4, 6}},
                  [](const Values& p) {
                    const Expression view = Reshaped(p[0], {4, 6});
                    return Values{view, view + p[1]};
                  }),
            "loop of 2");
  EXPECT_EQ(Steps({{24}, {4, 6}},
                  [](const Values& p) {
                    const Expression view = Reshaped(p[0], {4, 6});
                    return Values{Negated(view), Updated(p[1], view)};
                  }),
            "loop of 2, update of 1");
}

TEST(FusionChoice, WhatLeavesIsWrittenByItsReader) {
  EXPECT_EQ(Steps({{4, 6}},
                  [](const Values& p) {
                    const Expression y = Negated(p[0]);
                    return Values{y, y * p[0]};
                  }),
            "loop of 2 for 2");
}

// Neither reads the other, both read one value.
TEST(FusionChoice, ResultsThatReadOneValueAreOneKernel) {
  const auto two = [](const Values& p) {
    return Values{Tanh(p[0]), Negated(Negated(p[0]) * p[1])};
  };
  EXPECT_EQ(Steps({{4, 6}, {4, 6}}, two), "loop of 4 for 2");
  EXPECT_EQ(Steps({{512, 512}, {512, 512}}, two), "loop of 4 for 2");
  const auto apart = [](const Values& p) {
    return Values{Tanh(p[0]), Negated(p[1])};
  };
  EXPECT_EQ(Steps({{512, 512}, {512, 512}}, apart), "loop of 1, loop of 1");
  const auto rows = [](const Values& p) {
    return Values{RowSums(Negated(p[0])), Maxima(p[0])};
  };
  EXPECT_EQ(Steps({{64, 64}}, rows), "row of 5 for 2");
}

// Loops that share no value are one kernel where they are short, and where
// neither waits for the other.
TEST(FusionChoice, ShortLoopsThatShareNothingAreOneKernel) {
  const auto apart = [](const Values& p) {
    return Values{Tanh(p[0]), Negated(p[1])};
  };
  EXPECT_EQ(Steps({{4, 6}, {4, 6}}, apart), "loop of 2 for 2");
  EXPECT_EQ(Steps({{}, {}}, apart), "loop of 2 for 2");
  EXPECT_EQ(Steps({{256, 256}, {256, 256}}, apart), "loop of 2 for 2");
  EXPECT_EQ(Steps({{257, 256}, {257, 256}}, apart), "loop of 1, loop of 1");
  EXPECT_EQ(Steps({{4, 6}, {6, 4}}, apart), "loop of 1, loop of 1");
  Target target = GpuTarget();
  target.joined_elements = 0;
  EXPECT_EQ(Steps({{4, 6}, {4, 6}}, apart, target), "loop of 1, loop of 1");
  const auto chained = [](const Values& p) {
    return Values{Negated(Updated(p[0], Tanh(p[1])))};
  };
  EXPECT_EQ(Steps({{4, 6}, {4, 6}}, chained),
            "loop of 1, update of 1, loop of 1");
  // What waits for arguments alone, and what only results wait for.
  const auto ends = [](const Values& p) {
    const Expression updated = Updated(p[0], Tanh(p[1]));
    return Values{Negated(updated), Negated(p[2]),
                  Updated(p[2], Negated(p[3]))};
  };
  EXPECT_EQ(Steps({{4, 6}, {4, 6}, {4, 6}, {4, 6}}, ends),
            "loop of 2 for 2, update of 1, loop of 2 for 2, update of 1");
}

// A kernel takes no more operands and results than it may have.
TEST(FusionChoice, ShortLoopsAreJoinedUpToTheLimitOfBuffers) {
  Target target = GpuTarget();
  target.max_buffers = 6;
  const auto negated = [](const Values& p) {
    Values all;
    for (const Expression& x : p) all.push_back(Negated(x));
    return all;
  };
  EXPECT_EQ(Steps(std::vector<Dims>(5, Dims{8}), negated, target),
            "loop of 2 for 2, loop of 3 for 3");
}

// Two halves of a long chain, which is not worth being computed for each: one
// kernel writes both, and who puts them together reads them.
TEST(FusionChoice, HalvesOfOneLongChainAreOneKernel) {
  const auto halves = [](const Values& p) {
    const Expression y = Times(40, kTanh, p[0]);
    return Values{Apply(kConcatenate, {Negated(y), Tanh(y)},
                        {{"dimension", int64_t{0}}})};
  };
  EXPECT_EQ(Steps({{1 << 20}}, halves), "loop of 42 for 2, loop of 1");
}

// A conversion that makes no fewer bytes is computed wherever it is read, one
// that makes fewer is not: its reader is asked for every row.
TEST(FusionChoice, ConversionsToMoreBytesAreNoKernels) {
  const auto rows = [](DType from, DType to) {
    const Dims large = {1 << 14, 1 << 12};
    const Module module = testing::ExpressionModule(
        {Shape::Of(to, large), Shape::Of(from, {1 << 12})},
        [&](const Values& p) {
          const Expression row = Apply(kConvert, {p[1]}, {{"dtype", to}});
          return Values{p[0] * Spread(row, large, {0})};
        });
    return Steps(module, GpuTarget());
  };
  EXPECT_EQ(rows(DType::kBF16, DType::kF32), "loop of 3");
  EXPECT_EQ(rows(DType::kF32, DType::kF32), "loop of 3");
  EXPECT_EQ(rows(DType::kF64, DType::kF32), "loop of 1, loop of 2");
}

// What is centered is computed again from halves rather than read as floats.
TEST(FusionChoice, WhatIsReadCountsAsItLies) {
  const auto centered = [](DType dtype) {
    const Dims large = {1 << 14, 1 << 12};
    const Module module = testing::ExpressionModule(
        {Shape::Of(dtype, large), F32({1 << 14})}, [&](const Values& p) {
          const Expression wide =
              Apply(kConvert, {p[0]}, {{"dtype", DType::kF32}});
          const Expression y = wide - AlongRows(p[1], large);
          return Values{Summed(y, {1}), Summed(y * y, {0})};
        });
    return Steps(module, GpuTarget());
  };
  EXPECT_EQ(centered(DType::kBF16), "row of 5, column reduction of 6");
}

// Sums of one long input are one pass, though each has a reader of its own that
// could take it; of a short one each is its reader's.
TEST(FusionChoice, SumsOfOneLongInputAreOnePass) {
  const auto both = [](const Values& p) {
    return Values{Negated(Summed(p[0], {0})),
                  Negated(Summed(p[0] * p[1], {0}))};
  };
  EXPECT_EQ(Steps({{1 << 15, 256}, {1 << 15, 256}}, both),
            "column reduction of 6 for 2, loop of 1");
  EXPECT_EQ(Steps({{64, 8}, {64, 8}}, both),
            "column reduction of 3, column reduction of 4");
}

TEST(FusionChoice, OnlyWhoMakesEachElementOnceInOrderWrites) {
  // Each element twice.
  EXPECT_EQ(Steps({{64}},
                  [](const Values& p) {
                    const Expression y = Tanh(p[0]);
                    return Values{y, y + Reversed(y)};
                  }),
            "loop of 1, loop of 2");
  // Where a condition holds.
  EXPECT_EQ(Steps({{8}, {4}},
                  [](const Values& p) {
                    const Expression y = Tanh(p[0]);
                    return Values{y, Apply(kConcatenate, {Rows(y, 4), p[1]},
                                           {{"dimension", int64_t{0}}})};
                  }),
            "loop of 1, loop of 2");
  // Half of them, in a loop and in a reduction.
  EXPECT_EQ(Steps({{64, 8}},
                  [](const Values& p) {
                    const Expression y = Tanh(p[0]);
                    return Values{y, Negated(Rows(y, 32))};
                  }),
            "loop of 1, loop of 3");
  EXPECT_EQ(Steps({{64, 8}},
                  [](const Values& p) {
                    const Expression y = Tanh(p[0]);
                    return Values{y, RowSums(Rows(y, 32))};
                  }),
            "loop of 1, row of 4");
  // All of them, as the reduction's input.
  EXPECT_EQ(Steps({{64, 8}},
                  [](const Values& p) {
                    const Expression y = Tanh(p[0]);
                    return Values{y, RowSums(y)};
                  }),
            "row of 3 for 2");
}

// A value that is too dear to be computed twice, by the first reader that waits
// for no other.
TEST(FusionChoice, AReaderThatWaitsForAnotherDoesNotWrite) {
  Target target = Counted(0);
  target.lanes_per_second = 1e-6;
  EXPECT_EQ(Steps(
                {{64}, {64}},
                [](const Values& p) {
                  const Expression y = Tanh(p[0]);
                  const Expression between = Updated(p[1], Tanh(y));
                  return Values{Negated(y) + between};
                },
                target),
            "loop of 2 for 2, update of 1, loop of 2");
}

// Each of two readers may be as full as it gets: it reads one for another.
TEST(FusionChoice, WhatEachReaderComputesIsNoBuffer) {
  Target target = Free();
  target.max_buffers = 3;
  EXPECT_EQ(Steps(
                {{8}, {8}, {8}},
                [](const Values& p) {
                  const Expression y = Negated(p[0]);
                  return Values{y * p[1], Reversed(y) * p[2]};
                },
                target),
            "loop of 2, loop of 3");
}

TEST(FusionChoice, AProductWritesAndReducesNothingBesides) {
  Target target = Free();
  target.epilogues = EpilogueSupport::kAny;
  const auto steps = [&](const Body& body) {
    return Steps({{4, 3}, {3, 6}, {4, 6}, {4, 6, 2}}, body, target);
  };
  const auto product = [](const Values& p) {
    return Apply(kDotGeneral, {p[0], p[1]},
                 {{"lhs_batching_dimensions", Dims{}},
                  {"lhs_contracting_dimensions", Dims{1}},
                  {"rhs_batching_dimensions", Dims{}},
                  {"rhs_contracting_dimensions", Dims{0}}});
  };
  EXPECT_EQ(steps([&](const Values& p) {
              const Expression y = Tanh(p[2]);
              return Values{y, product(p) + y};
            }),
            "loop of 1, library dot of 2");
  EXPECT_EQ(steps([&](const Values& p) {
              const Expression sums = Summed(p[3], {2});
              return Values{product(p) + sums};
            }),
            "row of 2, library dot of 2");
  // A factor is read as it is, also where other instructions read it.
  EXPECT_EQ(Steps(
                {{4, 4}, {4, 4}},
                [&](const Values& p) {
                  const Expression y = Negated(p[0]);
                  return Values{product({y, p[1]}) + y};
                },
                target),
            "loop of 1, library dot of 2");
}

// ---- who takes a reduction

// Steps of a program in which the sums of rows are read by `readers`, of which
// the last is asked first.
std::string ReadersOfSums(const std::function<Values(const Expression& sums,
                                                     const Values& p)>& readers,
                          const Target& target = GpuTarget()) {
  return Steps(
      {{64, 8}, {64}, {32}},
      [&](const Values& p) { return readers(RowSums(p[0]), p); }, target);
}

TEST(FusionChoice, AReductionGoesToTheFirstReaderThatCanTakeIt) {
  // Who reads it as a whole, or in another order, or in part, cannot.
  EXPECT_EQ(ReadersOfSums([](const Expression& sums, const Values& p) {
              return Values{Negated(sums), Updated(p[1], sums)};
            }),
            "row of 3 for 2, update of 1");
  EXPECT_EQ(ReadersOfSums([](const Expression& sums, const Values&) {
              return Values{Negated(sums), Rows(Reversed(sums), 32)};
            }),
            "row of 3 for 2, loop of 2");
  EXPECT_EQ(ReadersOfSums([](const Expression& sums, const Values& p) {
              return Values{Apply(kConcatenate, {Rows(sums, 32), p[2]},
                                  {{"dimension", int64_t{0}}})};
            }),
            "row of 2, loop of 2");
  // Neither can who waits for another reader.
  EXPECT_EQ(ReadersOfSums([](const Expression& sums, const Values& p) {
              const Expression between = Updated(p[1], Tanh(sums));
              return Values{Negated(sums) + between};
            }),
            "row of 3 for 2, update of 1, loop of 2");
}

// A slice of everything starts at 0 whatever the number is: the group reads the
// number, but has no element of it to compute.
TEST(FusionChoice, AReductionThatIsReadAsAWholeStaysOne) {
  const Shape ints = Shape::Of(DType::kS32, {8});
  const Module module =
      testing::ExpressionModule({ints, ints}, [](const Values& p) {
        return Values{Negated(Apply(kDynamicSlice, {p[1], SummedAll(p[0])},
                                    {{"slice_sizes", Dims{8}}}))};
      });
  EXPECT_EQ(Steps(module, GpuTarget()), "full reduction of 2, loop of 2");
}

TEST(FusionChoice, AReductionNeedsRoomWhereItGoes) {
  Target target = Free();
  target.max_instructions = 2;
  EXPECT_EQ(ReadersOfSums(
                [](const Expression& sums, const Values&) {
                  return Values{Times(2, kNegate, sums)};
                },
                target),
            "row of 2, loop of 2");
  // Beside a sibling too: each of them is a fold and where it begins.
  const auto siblings = [](const Values& p) {
    return Values{RowSums(p[0]), Maxima(p[0])};
  };
  EXPECT_EQ(Steps({{64, 8}}, siblings, target), "row of 2, row of 2");
  target.max_instructions = 4;
  EXPECT_EQ(Steps({{64, 8}}, siblings, target), "row of 4 for 2");
  // What is written for others is a buffer.
  target.max_buffers = 2;
  EXPECT_EQ(Steps({{64, 8}}, siblings, target), "row of 2, row of 2");
  const auto with_reader = [](const Expression& sums, const Values&) {
    return Values{sums, Negated(sums)};
  };
  EXPECT_EQ(ReadersOfSums(with_reader, target), "row of 2, loop of 1");
  EXPECT_EQ(ReadersOfSums(
                [](const Expression& sums, const Values& p) {
                  return Values{Negated(sums), Updated(p[1], sums)};
                },
                target),
            "row of 2, loop of 1, update of 1");
  target.max_buffers = 3;
  EXPECT_EQ(Steps({{64, 8}}, siblings, target), "row of 4 for 2");
  EXPECT_EQ(ReadersOfSums(with_reader, target), "row of 3 for 2");
}

// Long rows are read once by all that needs no result of another.
TEST(FusionChoice, LongRowsAreSummedTogether) {
  Target target = GpuTarget();
  target.max_row_bytes = 16;
  EXPECT_EQ(
      Steps(
          {{64, 8}},
          [](const Values& p) { return Values{RowSums(p[0]) * Maxima(p[0])}; },
          target),
      "row of 5");
}

// Siblings read one element for both: a load, a link of the chain each, the
// folds and where they begin.
TEST(FusionChoice, SiblingsShareWhatTheyRead) {
  Target target = Free();
  for (const int links : {1, 5}) {
    const auto chain = [&](const Values& p) {
      const Expression y = Times(links, kNegate, p[0]);
      return Values{RowSums(y), Maxima(y)};
    };
    target.max_points = 4 + links + 1;
    EXPECT_EQ(Steps({{64, 8}}, chain, target),
              links == 1 ? "row of 5 for 2" : "row of 9 for 2");
  }
}

TEST(FusionChoice, OnlyAFewReadersAreAsked) {
  // The first in the order of kernels is asked, then three others; of a
  // reduction the sixteenth.
  const auto hosted = [](int others) {
    Target target = Counted(0);
    target.lanes_per_second = 1e-6;
    return Steps(
        {{8}},
        [&](const Values& p) {
          const Expression y = Tanh(p[0]);
          Values results = {Rows(Reversed(y), 1), Negated(y)};
          for (int k = 0; k < others; ++k) {
            results.push_back(Rows(Reversed(y), k + 2));
          }
          return results;
        },
        target);
  };
  EXPECT_EQ(hosted(2), "loop of 2 for 2, loop of 2, loop of 2, loop of 2");
  EXPECT_EQ(hosted(3),
            "loop of 1, loop of 2, loop of 1, loop of 2, loop of 2, loop of 2");
  const auto reduced = [](int others) {
    return ReadersOfSums([&](const Expression& sums, const Values& p) {
      Values results = {Negated(sums)};
      for (int k = 0; k < others; ++k) {
        // Twice the same value counts once.
        results.push_back(Updated(sums, sums));
      }
      return results;
    });
  };
  std::string updates;
  for (int k = 0; k < 15; ++k) updates += ", update of 1";
  EXPECT_EQ(reduced(15), "row of 3 for 2" + updates);
  EXPECT_EQ(reduced(16), "row of 2, loop of 1, update of 1" + updates);
  // The eighth reader of the input may be a sibling.
  const auto joined = [](int others) {
    std::string text = Steps({{64, 8}}, [&](const Values& p) {
      Values results = {RowSums(p[0]), Maxima(p[0])};
      for (int k = 0; k < others; ++k) {
        results.push_back(Rows(Negated(p[0]), k + 1));
      }
      return results;
    });
    return text.substr(0, text.find(", loop"));
  };
  EXPECT_EQ(joined(7), "row of 4 for 2");
  EXPECT_EQ(joined(8), "row of 2, row of 2");
}

// Whether one kernel waits for another is not looked for endlessly: then it
// counts as waiting, and the next reader takes the value.
TEST(FusionChoice, AfterManyKernelsOneCountsAsWaiting) {
  const auto first = [](int between) {
    return ReadersOfSums([&](const Expression& sums, const Values& p) {
             Values results;
             const Expression y = Tanh(sums);
             for (int k = 0; k < between; ++k) {
               results.push_back(Updated(p[1], y));
             }
             results.push_back(Times(2, kNegate, sums));
             return results;
           })
        .substr(0, 14);
  };
  EXPECT_EQ(first(1023), "row of 4 for 2");
  EXPECT_EQ(first(1024), "row of 3 for 2");
}

// ---- reductions of several results

TEST(FusionChoice, EachResultIsReadWhereItIs) {
  const auto steps = [](const auto& body, const Target& target) {
    return Steps(
        {{64, 8}, {64, 8}},
        [&](const Values& p) { return body(p, BothSums(p[0], p[1])); }, target);
  };
  const auto second_reversed = [](const Values&, const Values& sums) {
    return Values{sums[0] + Reversed(sums[1])};
  };
  EXPECT_EQ(steps(second_reversed, GpuTarget()), "row of 2 for 2, loop of 2");
  // The second comes back to every element: while the row stays.
  const auto second_per_turn = [](const Values& p, const Values& sums) {
    return Values{RowSums(p[0] - Spread(sums[1], {64, 8}, {1}))};
  };
  Target target = GpuTarget();
  target.max_row_bytes = 32;
  EXPECT_EQ(steps(second_per_turn, target), "row of 6");
  target.max_row_bytes = 31;
  EXPECT_EQ(steps(second_per_turn, target), "row of 2, row of 4");
}

// Who reads the first result waits for who reads the second.
TEST(FusionChoice, ReadersOfAnyResultAreReaders) {
  EXPECT_EQ(Steps({{64, 8}, {64, 8}, {64}},
                  [](const Values& p) {
                    const Values sums = BothSums(p[0], p[1]);
                    const Expression between = Updated(p[2], Tanh(sums[1]));
                    return Values{Negated(sums[0]) + between};
                  }),
            "row of 3 for 2, update of 1, loop of 2");
}

TEST(FusionChoice, ResultsThatNobodyReadsTakeNoRoom) {
  const auto steps = [](const auto& body, const Target& target) {
    return Steps({{64, 8}, {64, 8}, {64, 8}}, body, target);
  };
  // Points of a sum, where it begins, two elements, and what one is made of.
  const auto second = [](const Values& p) {
    return Values{BothSums(Negated(p[0]), p[1])[1]};
  };
  Target target = Free();
  target.max_points = 5;
  EXPECT_EQ(steps(second, target), "row of 3");
  target.max_points = 4;
  EXPECT_EQ(steps(second, target), "loop of 1, row of 2");
  // One value for two that are read.
  const auto first = [](const Values& p) {
    return Values{Tanh(BothSums(p[0], p[1])[0])};
  };
  target = Free();
  target.max_buffers = 3;
  EXPECT_EQ(steps(first, target), "row of 3");
  target.max_buffers = 2;
  EXPECT_EQ(steps(first, target), "row of 2, loop of 1");
  // Two for two, and one of these for two more.
  const auto both = [](const Values& p) {
    const Values sums = BothSums(p[0], p[1]);
    return Values{sums[0] + sums[1]};
  };
  target.max_buffers = 3;
  EXPECT_EQ(steps(both, target), "row of 3");
  const auto product = [](const Values& p) {
    const Values sums = BothSums(p[0] * p[2], p[1]);
    return Values{sums[0] + sums[1]};
  };
  EXPECT_EQ(steps(product, target), "loop of 1, row of 3");
  target.max_buffers = 4;
  EXPECT_EQ(steps(product, target), "row of 4");
}

// The mean is a quotient that is made once a row; the deviations need it at each
// element all the same.
TEST(FusionChoice, APassThatNeedsAMeanIsAKernelWithItWhereRowsStay) {
  const auto steps = [](int64_t rows, int64_t length, Dims axes) {
    return Steps(
        {{rows, length}},
        [&](const Values& p) {
          const Dims dims = p[0].dims();
          const Expression mean = 0.5 * Summed(p[0], axes);
          const Expression far = p[0] - Spread(mean, dims, axes);
          return Values{Summed(far * far, axes)};
        },
        GpuTarget());
  };
  EXPECT_EQ(steps(4096, 1024, {1}), "row of 10");
  EXPECT_EQ(steps(8, 1 << 20, {1}), "row of 2, row of 8");
  EXPECT_EQ(steps(1 << 20, 8, {0}),
            "column reduction of 2, column reduction of 8");
}

// ---- what it is worth

// Four links that two kernels read: 24 lanes each, 96 bytes of `x`, `w` seconds
// for the lanes. In both: 4 w more; else 96 for x and 2 * 96 for what is
// written and read, wherever the chain is cut.
TEST(FusionChoice, AChainIsRepeatedWholeOrNotAtAll) {
  const auto steps = [](double w) {
    Target target = Counted(1e-9);
    target.split_above_elements = int64_t{1} << 40;
    target.lanes_per_second = 24 / w;
    return Steps(
        {{4, 6}},
        [](const Values& p) {
          const Expression y = Times(4, kNegate, p[0]);
          return Values{RowSums(y), Summed(y, {0})};
        },
        target);
  };
  EXPECT_EQ(steps(71.9), "row of 6, column reduction of 6");
  EXPECT_EQ(steps(72.1), "row of 6 for 2, column reduction of 2");
}

// The second of a value's operands is read anew, where the first is there.
TEST(FusionChoice, EachOperandThatIsNotThereIsRead) {
  const auto steps = [](double w) {
    Target target = Counted(1e-9);
    target.split_above_elements = int64_t{1} << 40;
    target.lanes_per_second = 24 / w;
    return Steps(
        {{4, 6}, {4, 6}},
        [](const Values& p) {
          const Expression y = p[0] * p[1];
          return Values{RowSums(y + p[0]), Summed(y - p[0], {0})};
        },
        target);
  };
  // 2 w + 2 * 96 for p[1], against w, 2 * 96 for y and 2 * 96 to make it.
  EXPECT_EQ(steps(191), "row of 4, column reduction of 4");
  EXPECT_EQ(steps(193), "row of 4 for 2, column reduction of 3");
}

TEST(FusionChoice, IndicesAreMadeWhereverTheyAreRead) {
  EXPECT_EQ(Steps(
                {{64, 8}},
                [](const Values& p) {
                  const Expression iota(p[0].scope(),
                                        p[0].scope()->builder.Add(
                                            kIota, {},
                                            {{"dtype", DType::kF32},
                                             {"dims", Dims{8}},
                                             {"iota_dimension", int64_t{0}}}));
                  return Values{p[0] + Spread(iota, {64, 8}, {0})};
                },
                Counted(0)),
            "loop of 3");
}

// 12 lanes, and not for each of 8 elements.
TEST(FusionChoice, NumbersAreComputedOnce) {
  EXPECT_EQ(Steps(
                {{}, {8}},
                [](const Values& p) {
                  return Values{Apply(kClamp, {Tanh(p[0]), p[1], p[0]})};
                },
                Counted(0)),
            "loop of 2");
}

// Dear work per row goes into the loop over rows that are about to be summed
// there; of sums of other rows it does not.
TEST(FusionChoice, WorkPerRowGoesWhereTheRowIs) {
  const Dims dims = {64, 256};
  const auto steps = [&](const std::function<Expression(const Values&)>& row,
                         int64_t axis) {
    return Steps(
        {dims, {64, 8}, {64}},
        [&](const Values& p) {
          return Values{p[0] / Spread(Tanh(row(p)), dims, {axis})};
        },
        Counted(0));
  };
  EXPECT_EQ(steps([](const Values& p) { return RowSums(p[0]); }, 1),
            "row of 5");
  // Behind what is no reduction of these rows.
  EXPECT_EQ(steps([](const Values& p) { return p[2] * RowSums(p[0]); }, 1),
            "row of 6");
  EXPECT_EQ(
      steps([](const Values& p) { return RowSums(p[1]) * RowSums(p[0]); }, 1),
      "row of 2, row of 6");
  // Of other rows, and of columns.
  EXPECT_EQ(steps([](const Values& p) { return RowSums(p[1]); }, 1),
            "row of 3, loop of 2");
  EXPECT_EQ(steps([](const Values& p) { return Summed(p[0], {0}); }, 0),
            "column reduction of 3, loop of 2");
  // The reduction is looked for among 24 instructions.
  for (const int links : {23, 24}) {
    EXPECT_EQ(steps(
                  [links](const Values& p) {
                    return Times(links - 1, kTanh, RowSums(p[0]));
                  },
                  1),
              links == 23 ? "row of 27" : "row of 26, loop of 2");
  }
}

// ---- buffers

// A factor is one buffer however often the product's tail reads it.
TEST(FusionChoice, FactorsAreCountedOnce) {
  const auto steps = [](int buffers, const auto& tail) {
    Target target = Free();
    target.epilogues = EpilogueSupport::kAny;
    target.max_buffers = buffers;
    return Steps(
        {{4, 4}, {4, 4}, {4, 4}, {4, 4}},
        [&](const Values& p) {
          const Expression more = p[2] * p[3];
          return Values{tail(p, more)};
        },
        target);
  };
  const auto product = [](const Expression& a, const Expression& b) {
    return Apply(kDotGeneral, {a, b},
                 {{"lhs_batching_dimensions", Dims{}},
                  {"lhs_contracting_dimensions", Dims{1}},
                  {"rhs_batching_dimensions", Dims{}},
                  {"rhs_contracting_dimensions", Dims{0}}});
  };
  // As both factors.
  const auto square = [&](const Values& p, const Expression& more) {
    return product(p[0], p[0]) + more;
  };
  EXPECT_EQ(steps(4, square), "library dot of 3");
  EXPECT_EQ(steps(3, square), "loop of 1, library dot of 2");
  // As a factor and as it is.
  const auto added = [&](const Values& p, const Expression& more) {
    return product(p[0], p[1]) + p[0] + more;
  };
  EXPECT_EQ(steps(5, added), "library dot of 4");
  EXPECT_EQ(steps(4, added), "loop of 1, library dot of 3");
  // As a factor, and by what was computed of it before.
  const auto computed = [&](const Values& p, const Expression& more) {
    const Expression y = Tanh(p[0]);
    return product(p[0], p[1]) + y + more;
  };
  EXPECT_EQ(steps(5, computed), "library dot of 5");
  EXPECT_EQ(steps(4, computed), "loop of 1, library dot of 4");
}

TEST(FusionChoice, ConstantsOfSeveralElementsAreBuffers) {
  Target target = Free();
  const auto added = [](const Values& p) {
    const Expression list =
        ConstantOf(p[0].scope(), Literal::Zeros(Shape::Of(DType::kF32, {8})));
    return Values{p[0] + p[1] + list};
  };
  target.max_buffers = 3;
  EXPECT_EQ(Steps({{8}, {8}}, added, target), "loop of 1, loop of 1");
  target.max_buffers = 4;
  EXPECT_EQ(Steps({{8}, {8}}, added, target), "loop of 2");
  // So are arguments of one; numbers are none.
  target.max_buffers = 3;
  EXPECT_EQ(
      Steps(
          {{1}, {1}, {1}},
          [](const Values& p) { return Values{p[0] + p[1] + p[2]}; }, target),
      "loop of 1, loop of 1");
  EXPECT_EQ(
      Steps(
          {{8}, {8}},
          [](const Values& p) {
            ExpressionScope* const scope = p[0].scope();
            const Expression low = ConstantOf(scope, Literal::Scalar(0.0f));
            const Expression high = ConstantOf(scope, Literal::Scalar(1.0f));
            return Values{Apply(kClamp, {low, p[0] + p[1], high})};
          },
          target),
      "loop of 4");
}

// What moves nothing is read all the same, each once.
TEST(FusionChoice, NumbersThatNothingDependsOnAreReadOnce) {
  const Shape cube = Shape::Of(DType::kF32, {2, 2, 2});
  const Shape number = Shape::Scalar(DType::kS32);
  const Module module = testing::ExpressionModule(
      {cube, number, number, cube, cube}, [](const Values& p) {
        const Expression more = p[3] * p[4];
        return Values{more + Apply(kDynamicSlice, {p[0], p[1], p[1], p[2]},
                                   {{"slice_sizes", Dims{2, 2, 2}}})};
      });
  Target target = Free();
  target.max_buffers = 6;
  EXPECT_EQ(Steps(module, target), "loop of 3");
}

}  // namespace
}  // namespace hawser::plan
