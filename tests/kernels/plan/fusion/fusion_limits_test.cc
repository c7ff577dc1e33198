// Where fusion stops, to the element: limits of a region, and costs that come
// to the same either way.
#include <functional>
#include <string>
#include <vector>

#include "core/ops/contraction/dot.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "core/ops/movement/shape.h"
#include "core/ops/movement/slice.h"
#include "gtest/gtest.h"
#include "kernels/plan/target/target.h"
#include "tests/kernels/plan/fusion/steps.h"
#include "tests/kernels/plan/words.h"
#include "tests/testing/expression_module.h"

namespace hawser::plan {
namespace {

Module ChainOf(int count) {
  return Build({{8}}, [count](const Values& p) {
    return Values{Times(count, kNegate, p[0])};
  });
}

// ---- limits

TEST(FusionLimits, Instructions) {
  Target target = Free();
  target.max_instructions = 5;
  EXPECT_EQ(Steps(ChainOf(5), target), "loop of 5");
  EXPECT_EQ(Steps(ChainOf(6), target), "loop of 1, loop of 5");
  EXPECT_EQ(Steps(ChainOf(12), target), "loop of 2, loop of 5, loop of 5");
}

TEST(FusionLimits, Points) {
  Target target = Free();
  target.max_points = 6;  // five instructions and a load
  EXPECT_EQ(Steps(ChainOf(5), target), "loop of 5");
  EXPECT_EQ(Steps(ChainOf(6), target), "loop of 1, loop of 5");
  // x[i] and x[n - i]: every instruction is there twice, but for the last.
  const Module both = Build({{8}}, [](const Values& p) {
    const Expression y = Times(3, kNegate, p[0]);
    return Values{y + Apply(kReverse, {y}, {{"dimensions", Dims{0}}})};
  });
  for (const auto& [most, steps] :
       {std::pair(9, "loop of 1, loop of 4"), std::pair(10, "loop of 5"),
        std::pair(5, "loop of 3, loop of 2")}) {
    target.max_points = most;
    EXPECT_EQ(Steps(both, target), steps) << most;
  }
}

TEST(FusionLimits, BuffersButNoScalarsNorWhatIsReplaced) {
  Target target = Free();
  const Module sum = Build({{8}, {8}, {8}, {8}}, [](const Values& p) {
    return Values{p[0] + p[1] + p[2] + p[3]};
  });
  target.max_buffers = 5;
  EXPECT_EQ(Steps(sum, target), "loop of 3");
  target.max_buffers = 4;
  EXPECT_EQ(Steps(sum, target), "loop of 1, loop of 2");
  target.max_buffers = 3;
  EXPECT_EQ(Steps(sum, target), "loop of 1, loop of 1, loop of 1");
  // One value read comes for one that is no more.
  const Module replaced = Build({{8}, {8}}, [](const Values& p) {
    return Values{p[0] + Times(3, kNegate, p[1])};
  });
  EXPECT_EQ(Steps(replaced, target), "loop of 4");
  const Module scalars = Build({{8}}, [](const Values& p) {
    const auto number = [&](float x) {
      return ConstantOf(p[0].scope(), Literal::Scalar(x));
    };
    return Values{Apply(kClamp, {number(0), Apply(kNegate, p), number(1)})};
  });
  target.max_buffers = 2;
  EXPECT_EQ(Steps(scalars, target), "loop of 4");
  target.max_buffers = 3;
  const Module beside = Build({{8}, {8}}, [](const Values& p) {
    const auto number = [&](float x) {
      return ConstantOf(p[0].scope(), Literal::Scalar(x));
    };
    return Values{Apply(kClamp, {number(0), p[0], number(1)}) + p[1]};
  });
  EXPECT_EQ(Steps(beside, target), "loop of 4");
  // What is read anyway is no more.
  const Module again = Build(
      {{8}, {8}}, [](const Values& p) { return Values{p[0] + p[0] * p[1]}; });
  EXPECT_EQ(Steps(again, target), "loop of 2");
  // An instruction that is beyond the limit by itself takes what adds nothing.
  const Module three = Build({{8}, {8}, {8}}, [](const Values& p) {
    return Values{Apply(kClamp, {p[0], Apply(kNegate, {p[1]}), p[2]})};
  });
  target.max_buffers = 2;
  EXPECT_EQ(Steps(three, target), "loop of 2");
  // Each result is one more.
  target.max_buffers = 3;
  const Module results = Build({{8}}, [](const Values& p) {
    const Expression a = Apply(kNegate, {p[0]}), b = Apply(kTanh, {a});
    return Values{a, b, Apply(kSine, {b})};
  });
  EXPECT_EQ(Steps(results, target), "loop of 1, loop of 2 for 2");
  target.max_buffers = 4;
  EXPECT_EQ(Steps(results, target), "loop of 3 for 3");
}

Expression Padded(const Expression& x) {
  return Apply(kPad, {x, Filled(x.scope(), Shape::Scalar(x.dtype()), 3)},
               {{"edge_padding_low", Dims{1}},
                {"edge_padding_high", Dims{1}},
                {"interior_padding", Dims{0}}});
}

TEST(FusionLimits, ConditionsWithinConditions) {
  const Module pads = Build({{8}}, [](const Values& p) {
    return Values{Padded(Padded(Padded(p[0])))};
  });
  Target target = Free();
  target.max_predicates = 3;
  EXPECT_EQ(Steps(pads, target), "loop of 6");
  target.max_predicates = 2;
  EXPECT_EQ(Steps(pads, target), "loop of 2, loop of 4");
  target.max_predicates = 1;
  EXPECT_EQ(Steps(pads, target), "loop of 2, loop of 2, loop of 2");
  // What does not choose may be as deep as it is.
  const Module deep = Build({{8}}, [](const Values& p) {
    return Values{Padded(Times(3, kNegate, p[0] * p[0]))};
  });
  EXPECT_EQ(Steps(deep, target), "loop of 6");
  const Module turned = Build({{8}}, [](const Values& p) {
    return Values{Padded(Apply(kReverse, {p[0]}, {{"dimensions", Dims{0}}}))};
  });
  EXPECT_EQ(Steps(turned, target), "loop of 3");
  const Module once = Build({{8}}, [](const Values& p) {
    return Values{Apply(kNegate, {Padded(p[0])})};
  });
  EXPECT_EQ(Steps(once, target), "loop of 3");
}

TEST(FusionLimits, ConcatenatedOperands) {
  const Module joined = Build({{8}, {4}, {2}}, [](const Values& p) {
    return Values{
        Apply(kNegate, {Apply(kConcatenate, p, {{"dimension", int64_t{0}}})})};
  });
  Target target = Free();
  target.max_concatenated = 3;
  EXPECT_EQ(Steps(joined, target), "loop of 2");
  target.max_concatenated = 2;
  EXPECT_EQ(Steps(joined, target), "loop of 1, loop of 1");
  // Of other operations it says nothing.
  const Module clamped = Build({{8}, {8}, {8}}, [](const Values& p) {
    return Values{Apply(kNegate, {Apply(kClamp, p)})};
  });
  EXPECT_EQ(Steps(clamped, target), "loop of 2");
}

TEST(FusionLimits, RowsThatStay) {
  const auto normalized = [](int64_t columns) {
    return Build({{64, columns}}, [columns](const Values& p) {
      return Values{p[0] / Spread(Summed(p[0], {1}), {64, columns}, {1})};
    });
  };
  Target target = GpuTarget();
  target.max_row_bytes = 256 * 4;
  EXPECT_EQ(Steps(normalized(256), target), "row of 4");
  EXPECT_EQ(Steps(normalized(257), target), "row of 2, loop of 2");
}

// Who writes a value for others has each of its elements once, in order.
TEST(FusionLimits, AValueIsWrittenByWhoMakesItInOrder) {
  const auto steps = [](bool reversed) {
    return Steps(Build({{8, 8}, {8, 8}},
                       [reversed](const Values& p) {
                         const Expression y = Apply(kTanh, {p[0]});
                         const Expression z =
                             reversed ? Apply(kReverse, {y},
                                              {{"dimensions", Dims{0}}})
                                      : y;
                         return Values{y, z + p[1]};
                       }),
                 GpuTarget());
  };
  EXPECT_EQ(steps(false), "loop of 2 for 2");
  EXPECT_EQ(steps(true).find("for 2"), std::string::npos) << steps(true);
}

// ---- costs

// 8 of 32 evaluations are needed, each costs 12; one launch and 32 bytes
// written and read are saved.
TEST(FusionCosts, WorkIsRepeatedForUpToWhatItSaves) {
  const Module spread = Build({{8}, {4, 8}}, [](const Values& p) {
    return Values{p[1] + Spread(Apply(kTanh, {p[0]}), {4, 8}, {0})};
  });
  constexpr double kEven = 24 * 12 - 2 * 32;
  EXPECT_EQ(Steps(spread, Counted(kEven)), "loop of 3");
  EXPECT_EQ(Steps(spread, Counted(kEven - 1)), "loop of 1, loop of 2");
}

// All that would be repeated counts: a chain goes whole or not at all, since in
// its middle as many bytes are written as in front of it.
TEST(FusionCosts, AChainIsRepeatedWholeOrNotAtAll) {
  const Module chain = Build({{8}, {4, 8}}, [](const Values& p) {
    return Values{p[1] + Spread(Times(2, kTanh, p[0]), {4, 8}, {0})};
  });
  constexpr double kEven = 2 * 24 * 12 - 2 * 32;
  EXPECT_EQ(Steps(chain, Counted(kEven)), "loop of 4");
  EXPECT_EQ(Steps(chain, Counted(kEven - 1)), "loop of 2, loop of 2");
}

// Two words that each round makes of both: joined, they would be computed twice.
TEST(FusionCosts, RoundsOfTwoWordsAreNotRepeatedToJoinThem) {
  const Module rounds = Build({{8}, {8}}, [](const Values& p) {
    Expression x = p[0], y = p[1];
    for (int round = 0; round < 12; ++round) {
      x = x + y;
      y = y * x;
    }
    return Values{
        Apply(kConcatenate, {x, y}, {{"dimension", int64_t{0}}})};
  });
  // Repeating one round is worth less than its bytes, and all of them more.
  EXPECT_EQ(Steps(rounds, Counted(1)), "loop of 24 for 2, loop of 1");
}

// Two readers of y = -x: 2 x 24 lanes and 2 x 96 bytes each on their own;
// else 24 lanes, x read once, y read twice.
TEST(FusionCosts, SeveralReadersComputeWhatIsCheaperThanReading) {
  const Module two = Build({{4, 6}}, [](const Values& p) {
    const Expression y = Apply(kNegate, {p[0]});
    return Values{Summed(y, {1}), Summed(y, {0})};
  });
  Target target = Counted(1e-9);
  target.split_above_elements = int64_t{1} << 40;
  constexpr double kEven = 24.0 / 96;
  target.lanes_per_second = kEven;
  EXPECT_EQ(Steps(two, target), "row of 3 for 2, column reduction of 2");
  target.lanes_per_second = kEven * 1.01;
  EXPECT_EQ(Steps(two, target), "row of 3, column reduction of 3");
  // 12 lanes each.
  const Module dear = Build({{4, 6}}, [](const Values& p) {
    const Expression y = Apply(kTanh, {p[0]});
    return Values{Summed(y, {1}), Summed(y, {0})};
  });
  target.lanes_per_second = 12 * kEven;
  EXPECT_EQ(Steps(dear, target), "row of 3 for 2, column reduction of 2");
  target.lanes_per_second = 12 * kEven * 1.01;
  EXPECT_EQ(Steps(dear, target), "row of 3, column reduction of 3");
}

}  // namespace
}  // namespace hawser::plan
