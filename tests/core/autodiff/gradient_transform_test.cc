#include "core/autodiff/gradient_transform.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/ir/verifier.h"
#include "core/ops/contraction/control.h"
#include "core/ops/contraction/dot.h"
#include "core/ops/contraction/reduce.h"
#include "core/ops/elementwise/convert.h"
#include "core/ops/elementwise/elementwise.h"
#include "core/ops/expression.h"
#include "core/ops/gradient/gradient.h"
#include "core/passes/optimize.h"
#include "tests/core/autodiff/differentiate.h"

namespace hawser {
namespace {

using absl::StatusCode;
using Ids = absl::Span<const ValueId>;
const Shape kScalar = Shape::Scalar(DType::kF64);
const Literal kTwo = Literal::Scalar(2.0);

Module Unary(const Body& body) { return ModuleOf({kTwo}, body); }

TEST(ValueAndGradient, GivesTheResultsThenTheGradients) {
  const Module module =
      ModuleOf({kTwo, kTwo}, [](ComputationBuilder& b, Ids p) {
        return std::vector<ValueId>{b.Add(kMultiply, p), p[1]};
      });
  ASSERT_OK_AND_ASSIGN(const Module both,
                       ValueAndGradient(module, {.parameters = {1, 0, 1}}));
  EXPECT_OK(Verify(both));
  EXPECT_EQ(both.signature().ToString(),
            "(f64[], f64[]) -> (f64[], f64[], f64[], f64[], f64[])");
  ASSERT_OK_AND_ASSIGN(const auto got,
                       Evaluate(both, {Literal::Scalar(3.0),
                                       Literal::Scalar(5.0)}));
  const double want[] = {15, 5, 3, 5, 3};
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(got[i], LiteralEquals(Literal::Scalar(want[i]))) << i;
  }
}

TEST(ValueAndGradient, SharedValuesSumWhatTheirUsersGiveBack) {
  // x^2 = a; a * a + a + x
  const Module module = Unary([](ComputationBuilder& b, Ids p) {
    const ValueId a = b.Add(kMultiply, {p[0], p[0]});
    const ValueId c = b.Add(kAdd, {b.Add(kMultiply, {a, a}), a});
    return std::vector<ValueId>{b.Add(kAdd, {c, p[0]})};
  });
  ASSERT_OK_AND_ASSIGN(const auto g, GradientAt(module, {kTwo}));
  EXPECT_THAT(g[0], LiteralEquals(Literal::Scalar(32.0 + 4 + 1)));
}

TEST(ValueAndGradient, AResultThatIsTheParameterOrDoesNotDepend) {
  const Module same = Unary([](ComputationBuilder&, Ids p) {
    return std::vector<ValueId>{p[0]};
  });
  EXPECT_THAT(GradientAt(same, {kTwo})->at(0),
              LiteralEquals(Literal::Scalar(1.0)));
  const Module constant = Unary([](ComputationBuilder& b, Ids) {
    return std::vector<ValueId>{b.Constant(kTwo)};
  });
  EXPECT_THAT(GradientAt(constant, {kTwo})->at(0),
              LiteralEquals(Literal::Scalar(0.0)));
}

TEST(ValueAndGradient, OnlyOneOfSeveralResultsIsDifferentiated) {
  const Module module = Unary([](ComputationBuilder& b, Ids p) {
    return std::vector<ValueId>{b.Add(kNegate, p), b.Add(kSine, p)};
  });
  ASSERT_OK_AND_ASSIGN(const Module both,
                       ValueAndGradient(module, {.result = 1}));
  ASSERT_OK_AND_ASSIGN(const auto got, Evaluate(both, {kTwo}));
  EXPECT_THAT(got[2], LiteralEquals(Literal::Scalar(std::cos(2.0))));
}

TEST(ValueAndGradient, AChainOf100000CostsNoStackAndLinearSize) {
  constexpr int kLength = 100000;
  const auto chain = [](int length) {
    return Unary([length](ComputationBuilder& b, Ids p) {
      ValueId v = p[0];
      for (int i = 0; i < length; ++i) {
        v = b.Add(i % 2 == 0 ? kNegate : kTanh, {v});
      }
      return std::vector<ValueId>{v};
    });
  };
  ASSERT_OK_AND_ASSIGN(const Module small, ValueAndGradient(chain(1000)));
  ASSERT_OK_AND_ASSIGN(const Module large, ValueAndGradient(chain(kLength)));
  EXPECT_LE(large.entry().instructions().size(),
            100 * small.entry().instructions().size());
  ASSERT_OK_AND_ASSIGN(const auto g, Evaluate(large, {Literal::Scalar(0.0)}));
  EXPECT_THAT(g[1], LiteralEquals(Literal::Scalar(1.0)));
}

TEST(ValueAndGradient, RepeatedDifferentiation) {
  // x^5: 5 x^4, 20 x^3, 60 x^2, 120 x, 120, 0.
  Module module = Unary([](ComputationBuilder& b, Ids p) {
    ValueId v = p[0];
    for (int i = 0; i < 4; ++i) v = b.Add(kMultiply, {v, p[0]});
    return std::vector<ValueId>{v};
  });
  const double want[] = {80, 160, 240, 240, 120, 0};
  for (int order = 0; order < 6; ++order) {
    auto next = ValueAndGradient(std::move(module), {.result = order});
    ASSERT_OK(next);
    ASSERT_OK_AND_ASSIGN(module, Optimize(*std::move(next)));
    ASSERT_OK_AND_ASSIGN(const auto got, Evaluate(module, {kTwo}));
    EXPECT_THAT(got[order + 1], LiteralEquals(Literal::Scalar(want[order])));
  }
}

TEST(ValueAndGradient, RefusesWhatHasNoGradient) {
  const Module whole = ModuleOf(
      {Literal::Scalar(1), kTwo}, [](ComputationBuilder&, Ids p) {
        return std::vector<ValueId>{p[1], p[0]};
      });
  const auto error = [&](GradientOptions options) {
    return ValueAndGradient(whole, options).status();
  };
  EXPECT_THAT(error({.parameters = {0}}),
              StatusIs(StatusCode::kInvalidArgument, "parameter 0 is s32[]"));
  EXPECT_THAT(error({.result = 1, .parameters = {1}}),
              StatusIs(StatusCode::kInvalidArgument, "result 1 is s32[]"));
  EXPECT_THAT(error({.parameters = {2}}),
              StatusIs(StatusCode::kInvalidArgument, "no parameter 2 among 2"));
  EXPECT_THAT(error({.parameters = {-1}}),
              StatusIs(StatusCode::kInvalidArgument, "no parameter -1"));
  EXPECT_THAT(error({.result = 2}),
              StatusIs(StatusCode::kInvalidArgument, "no result 2 among 2"));
  EXPECT_THAT(ValueAndGradient(Module()),
              StatusIs(StatusCode::kInvalidArgument, "empty"));
}

TEST(ValueAndGradient, AnOpWithoutAGradientIsAnErrorOnThePathOnly) {
  const Literal half = Literal::Scalar(Half(2.0f));
  const auto module = [&](bool on_path) {
    return ModuleOf({half}, [on_path](ComputationBuilder& b, Ids p) {
      const ValueId bits =
          b.Add(kBitcastConvert, p, {{"dtype", DType::kBF16}});
      const ValueId back = b.Add(kConvert, {bits}, {{"dtype", DType::kF16}});
      const ValueId stopped =
          on_path ? back : b.Add(kStopGradient, {back});
      return std::vector<ValueId>{b.Add(kMultiply, {stopped, p[0]})};
    });
  };
  EXPECT_THAT(ValueAndGradient(module(true)),
              StatusIs(StatusCode::kInvalidArgument,
                       "bitcast_convert: has no gradient"));
  EXPECT_OK(ValueAndGradient(module(false)));
}

Module Loop() {
  return Unary([](ComputationBuilder& b, Ids p) {
    const int condition = AddComputation(
        b.module(), "c", {kScalar}, [](ComputationBuilder& f, Ids q) {
          return std::vector<ValueId>{
              f.Add(kCompare, {q[0], q[0]}, {{"direction", std::string("LT")}})};
        });
    const int body = AddComputation(
        b.module(), "b", {kScalar}, [](ComputationBuilder& f, Ids q) {
          return std::vector<ValueId>{f.Add(kSine, q)};
        });
    return std::vector<ValueId>{b.Add(kWhile, p, {}, {condition, body})};
  });
}

TEST(ValueAndGradient, ALoopIsUnimplementedNamingOpAndPlace) {
  EXPECT_THAT(ValueAndGradient(Loop()),
              StatusIs(StatusCode::kUnimplemented,
                       "while: the gradient of a loop whose turns only a "
                       "run can count"));
  const SourceLocation where[] = {{"user.cc", 1}, {"user.cc", 42}};
  EXPECT_THAT(ValueAndGradient(Loop(), {.where = where}),
              StatusIs(StatusCode::kUnimplemented, "(at user.cc:42)"));
}

// Five turns of tanh(h w). What a turn made of h is what the next one began with:
// backwards there are the products of two cotangents and no other.
TEST(ValueAndGradient, ALoopsTurnIsNotComputedAgain) {
  const Shape matrix = Shape::Of(DType::kF64, {2, 2});
  const Shape turn = Shape::Scalar(DType::kS32);
  const std::vector<Shape> shapes = {turn, matrix, matrix};
  const Literal h = Literal::Of<double>({0.1, 0.2, 0.3, 0.4}, {2, 2});
  const Literal w = Literal::Of<double>({0.5, -0.25, 0.75, 1}, {2, 2});
  const Module module = ModuleOf({h, w}, [&](ComputationBuilder& b, Ids p) {
    const int condition = AddComputation(
        b.module(), "c", shapes, [](ComputationBuilder& f, Ids q) {
          const ValueId five = f.Constant(Literal::Scalar<int32_t>(5));
          return std::vector<ValueId>{
              f.Add(kCompare, {q[0], five}, {{"direction", std::string("LT")}})};
        });
    const int body = AddComputation(
        b.module(), "b", shapes, [](ComputationBuilder& f, Ids q) {
          const ValueId one = f.Constant(Literal::Scalar<int32_t>(1));
          const ValueId product =
              f.Add(kDotGeneral, {q[1], q[2]},
                    {{"lhs_batching_dimensions", Dims{}},
                     {"rhs_batching_dimensions", Dims{}},
                     {"lhs_contracting_dimensions", Dims{1}},
                     {"rhs_contracting_dimensions", Dims{0}}});
          return std::vector<ValueId>{f.Add(kAdd, {q[0], one}),
                                      f.Add(kTanh, {product})};
        });
    const ValueId zero = b.Constant(Literal::Scalar<int32_t>(0));
    const ValueId last =
        1 + b.Add(kWhile, {zero, p[0], p[1]}, {{"num_invariant", int64_t{1}}},
                  {condition, body});
    return std::vector<ValueId>{last};
  });
  ASSERT_OK_AND_ASSIGN(Module gradient,
                       ValueAndGradient(module, {.parameters = {1}}));
  ASSERT_OK_AND_ASSIGN(gradient, Optimize(std::move(gradient)));
  int products = 0, tangents = 0;
  for (const Computation& c : gradient.computations()) {
    for (const Instruction& i : c.instructions()) {
      products += i.op == &kDotGeneral ? 1 : 0;
      tangents += i.op == &kTanh ? 1 : 0;
    }
  }
  EXPECT_EQ(products, 3);
  EXPECT_EQ(tangents, 1);
}

TEST(ValueAndGradient, AReductionByAnotherComputationIsUnimplemented) {
  const Literal x = Literal::Vector<double>({1, 2});
  const auto module = [&](bool by_initial) {
    return ModuleOf({x, kTwo}, [by_initial](ComputationBuilder& b, Ids p) {
      const int fold = AddComputation(
          b.module(), "odd fold", {kScalar, kScalar},
          [&](ComputationBuilder& f, Ids q) {
            return std::vector<ValueId>{
                f.Add(by_initial ? kAdd : kAtan2, q)};
          });
      return std::vector<ValueId>{
          b.Add(kReduce, p, {{"dimensions", Dims{0}}}, {fold})};
    });
  };
  EXPECT_THAT(ValueAndGradient(module(false)),
              StatusIs(StatusCode::kUnimplemented,
                       "reduce: the gradient of a reduction by computation "
                       "\"odd fold\""));
  EXPECT_THAT(ValueAndGradient(module(true), {.parameters = {1}}),
              StatusIs(StatusCode::kUnimplemented, "initial value 0"));
}

// A rule of a user's own op that forgets the operand's shape.
absl::Status ForgetfulGradient(GradientContext& c) {
  c.Give(0, [&] { return ConvertTo(c.g(), DType::kF32); });
  return absl::OkStatus();
}

TEST(ValueAndGradient, AWrongRuleIsNamed) {
  OpDef forgetful = kNegate;
  forgetful.name = "forgetful";
  forgetful.gradient = ByRule(ForgetfulGradient);
  const Module module = Unary([&](ComputationBuilder& b, Ids p) {
    return std::vector<ValueId>{b.Add(forgetful, p)};
  });
  EXPECT_THAT(ValueAndGradient(module),
              StatusIs(StatusCode::kInternal,
                       "forgetful: its gradient by operand 0 is f32[], the "
                       "operand is f64[]"));
}

TEST(ValueAndGradient, BranchesHaveOnePullBackHoweverOftenTheyAreCalled) {
  const auto calls = [](int count) {
    return ModuleOf({kTwo, Literal::Scalar(0)},
                    [count](ComputationBuilder& b, Ids p) {
                      const int branch = AddComputation(
                          b.module(), "branch", {kScalar},
                          [](ComputationBuilder& f, Ids q) {
                            return std::vector<ValueId>{f.Add(kSine, q)};
                          });
                      ValueId v = p[0];
                      for (int i = 0; i < count; ++i) {
                        v = b.Add(kCase, {p[1], v}, {}, {branch, branch});
                      }
                      return std::vector<ValueId>{v};
                    });
  };
  ASSERT_OK_AND_ASSIGN(const Module few, ValueAndGradient(calls(2)));
  ASSERT_OK_AND_ASSIGN(const Module many, ValueAndGradient(calls(20)));
  EXPECT_EQ(few.computations().size(), many.computations().size());
}

TEST(ValueAndGradient, PassesTakeStopGradientOut) {
  const Module module = Unary([](ComputationBuilder& b, Ids p) {
    const ValueId stopped = b.Add(kStopGradient, p);
    return std::vector<ValueId>{b.Add(kMultiply, {stopped, p[0]})};
  });
  ASSERT_OK_AND_ASSIGN(Module both, ValueAndGradient(module));
  ASSERT_OK_AND_ASSIGN(const Module optimized, Optimize(std::move(both)));
  for (const Instruction& i : optimized.entry().instructions()) {
    EXPECT_NE(i.op, &kStopGradient);
  }
  ASSERT_OK_AND_ASSIGN(const auto got, Evaluate(optimized, {kTwo}));
  EXPECT_THAT(got[0], LiteralEquals(Literal::Scalar(4.0)));
  EXPECT_THAT(got[1], LiteralEquals(Literal::Scalar(2.0)));
}

}  // namespace
}  // namespace hawser
