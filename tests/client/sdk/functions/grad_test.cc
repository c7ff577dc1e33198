#include "client/sdk/functions/grad.h"

#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/client/sdk/counting_client.h"
#include "tests/client/sdk/values.h"

namespace hawser {

struct Layer {
  Tensor w, b;
};
auto HawserFields(Layer& l) { return std::tie(l.w, l.b); }

namespace {

using absl::StatusCode;

class GradTest : public testing::Test {
 protected:
  std::shared_ptr<CountingClient> counting_ =
      std::make_shared<CountingClient>();
  Client client_{counting_};
  ScopedClient scope_{client_};
};

Tensor SumOfSquares(Tensor x) { return Sum(x * x); }

TEST_F(GradTest, OfArgument0OutsideAndInsideJit) {
  const Tensor x = T1<float>({1, -2, 3});
  EXPECT_VALUE(Grad(SumOfSquares)(x), Literal::Vector<float>({2, -4, 6}));
  auto step = Jit(Grad(SumOfSquares));
  ASSERT_OK_AND_ASSIGN(const Tensor g, step(x));
  EXPECT_VALUE(g, Literal::Vector<float>({2, -4, 6}));
}

TEST_F(GradTest, ValueComesAlong) {
  const auto [value, g] =
      ValueAndGrad([](Tensor x, Tensor y) { return Sum(x * y); })(
          T1<float>({1, 2}), T1<float>({3, 4}));
  EXPECT_VALUE(value, Literal::Scalar(11.0f));
  EXPECT_VALUE(g, Literal::Vector<float>({3, 4}));
}

TEST_F(GradTest, OfOtherArgumentsAndSeveral) {
  const auto f = [](Tensor x, Tensor y, Tensor z) {
    return Sum(x * y * y + z);
  };
  const Tensor x = T1<float>({1, 2}), y = T1<float>({3, 4});
  EXPECT_VALUE(Grad<1>(f)(x, y, x), Literal::Vector<float>({6, 16}));
  const auto [gz, gx] = Grad<2, 0>(f)(x, y, x);
  EXPECT_VALUE(gz, Literal::Vector<float>({1, 1}));
  EXPECT_VALUE(gx, Literal::Vector<float>({9, 16}));
}

TEST_F(GradTest, TheSameTensorTwiceIsTwoVariables) {
  const Tensor x = T1<float>({1, 2});
  const auto [gx, gy] =
      Grad<0, 1>([](Tensor a, Tensor b) { return Sum(a * b * b); })(x, x);
  EXPECT_VALUE(gx, Literal::Vector<float>({1, 4}));
  EXPECT_VALUE(gy, Literal::Vector<float>({2, 8}));
}

TEST_F(GradTest, ArgumentsAreAnyNest) {
  using Net = std::tuple<Layer, std::vector<Tensor>>;
  const auto loss = [](Net net, Tensor x) {
    const auto& [layer, scales] = net;
    return Sum((x * layer.w + layer.b) * scales[0] * scales[1]);
  };
  const Net net = {Layer{T1<float>({1, 2}), Scalar(0.5f)},
                   {Scalar(2.0f), Scalar(3.0f)}};
  auto step = Jit([&](Net n, Tensor x) { return ValueAndGrad(loss)(n, x); });
  ASSERT_OK_AND_ASSIGN(auto both, step(net, T1<float>({10, 20})));
  const auto& [value, g] = both;
  EXPECT_VALUE(value, Literal::Scalar(306.0f));
  const auto& [layer, scales] = g;
  EXPECT_VALUE(layer.w, Literal::Vector<float>({60, 120}));
  EXPECT_VALUE(layer.b, Literal::Scalar(12.0f));
  ASSERT_EQ(scales.size(), 2u);
  EXPECT_VALUE(scales[0], Literal::Scalar(153.0f));
  EXPECT_VALUE(scales[1], Literal::Scalar(102.0f));
}

TEST_F(GradTest, NumbersAndLiteralsAreArguments) {
  EXPECT_VALUE(Grad([](Tensor x) { return x * x; })(3.0),
               Literal::Scalar(6.0f));
  EXPECT_VALUE(Grad(SumOfSquares)(Literal::Vector<double>({1, 2})),
               Literal::Vector<double>({2, 4}));
}

TEST_F(GradTest, OfAResultThatIsNoScalarTheSumIsDifferentiated) {
  const auto [value, g] = ValueAndGrad([](Tensor x) { return Exp(x) * x; })(
      T1<float>({0, 0}));
  EXPECT_VALUE(value, Literal::Vector<float>({0, 0}));
  EXPECT_VALUE(g, Literal::Vector<float>({1, 1}));
}

TEST_F(GradTest, WhatElseTheFunctionGivesComesAlong) {
  const auto f = [](Tensor x) {
    return std::tuple(Sum(x * x), std::vector<Tensor>{x + 1, Gt(x, 1)});
  };
  const auto [value, g] = ValueAndGrad(f)(T1<float>({1, 2}));
  EXPECT_VALUE(std::get<0>(value), Literal::Scalar(5.0f));
  EXPECT_VALUE(std::get<1>(value)[0], Literal::Vector<float>({2, 3}));
  EXPECT_VALUE(std::get<1>(value)[1], Literal::Vector<bool>({false, true}));
  EXPECT_VALUE(g, Literal::Vector<float>({2, 4}));
}

TEST_F(GradTest, HigherOrder) {
  const auto cube = [](Tensor x) { return x * x * x; };
  const Tensor x = Scalar(2.0f);
  EXPECT_VALUE(Grad(Grad(cube))(x), Literal::Scalar(12.0f));
  EXPECT_VALUE(Grad(Grad(Grad(cube)))(x), Literal::Scalar(6.0f));
  EXPECT_VALUE(Grad(Grad(Grad(Grad(cube))))(x), Literal::Scalar(0.0f));
  auto jitted = Jit(Grad(Jit(Grad(Jit(cube)))));
  ASSERT_OK_AND_ASSIGN(const Tensor g, jitted(x));
  EXPECT_VALUE(g, Literal::Scalar(12.0f));
}

TEST_F(GradTest, CapturesAreConstants) {
  const Tensor host = T1<float>({2, 3});
  Tensor ready = host + 0;
  ASSERT_OK(ready.Eval());
  const Tensor recorded = host * 2;
  const auto f = [&](Tensor x) { return Sum(x * host * ready * recorded); };
  EXPECT_VALUE(Grad(f)(T1<float>({1, 1})), Literal::Vector<float>({16, 54}));
  auto inside = Jit([](Tensor x, Tensor scale) {
    const Tensor twice = scale * 2;
    return Grad([&](Tensor v) { return Sum(v * twice); })(x);
  });
  ASSERT_OK_AND_ASSIGN(const Tensor g, inside(host, Scalar(5.0f)));
  EXPECT_VALUE(g, Literal::Vector<float>({10, 10}));
}

TEST_F(GradTest, AVariableThatIsNotUsedHasZeros) {
  const auto [gx, gy] = Grad<0, 1>([](Tensor, Tensor y) { return Sum(y); })(
      TN<double>({1, 2}, {2, 1}), Scalar(3.0f));
  EXPECT_VALUE(gx, Literal::Of<double>({0, 0}, {2, 1}));
  EXPECT_VALUE(gy, Literal::Scalar(1.0f));
}

TEST_F(GradTest, StopGradientBlocksAndLeavesNoTrace) {
  const auto f = [](Tensor x) { return Sum(StopGradient(x) * x); };
  EXPECT_VALUE(Grad(f)(T1<float>({2, 3})), Literal::Vector<float>({2, 3}));
  EXPECT_VALUE(f(T1<float>({2, 3})), Literal::Scalar(13.0f));
  EXPECT_VALUE(StopGradient(T1<int32_t>({7})), Literal::Vector<int32_t>({7}));
  for (const Computation& c : counting_->module()->computations()) {
    for (const Instruction& i : c.instructions()) {
      EXPECT_NE(i.op->name, "stop_gradient");
    }
  }
}

TEST_F(GradTest, TheGradientHasTheVariablesDType) {
  const auto f = [](Tensor x) {
    return Sum(Convert(x, DType::kF64) * Scalar(DType::kF64, 0.5));
  };
  for (DType d : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64,
                  DType::kC64, DType::kC128}) {
    const Tensor g = Grad(f)(Zeros(d, {2}));
    EXPECT_OK(g.status());
    EXPECT_EQ(g.shape(), Shape::Of(d, {2}));
    const Tensor half = Convert(g, DType::kF32);
    EXPECT_VALUE(half, Literal::Vector<float>({0.5, 0.5}));
  }
}

TEST_F(GradTest, ThroughCondOnlyTheTakenBranch) {
  const auto f = [](Tensor x) {
    return Cond(Gt(Sum(x), 0), [&] { return Sum(x * x); },
                [&] { return Sum(Sqrt(x) * 0); });
  };
  EXPECT_VALUE(Grad(f)(T1<float>({1, 2})), Literal::Vector<float>({2, 4}));
  auto jitted = Jit(Grad(f));
  ASSERT_OK_AND_ASSIGN(const Tensor g, jitted(T1<float>({3, -2})));
  EXPECT_VALUE(g, Literal::Vector<float>({6, -4}));
  EXPECT_VALUE(Grad([&](Tensor x) { return Sum(Grad(f)(x)); })(
                   T1<float>({1, 2})),
               Literal::Vector<float>({2, 2}));
}

TEST_F(GradTest, InsideALoop) {
  // Gradient descent on (x - 3)^2: the error halves at every turn.
  const auto loss = [](Tensor x) { return (x - 3) * (x - 3); };
  const auto [i, x] = While(
      std::tuple(0, 0.0), [](Tensor i, Tensor) { return Lt(i, 4); },
      [&](Tensor i, Tensor x) {
        return std::tuple(i + 1, x - 0.25 * Grad(loss)(x));
      });
  EXPECT_VALUE(x, Literal::Scalar(3.0f - 3.0f / 16));
}

TEST_F(GradTest, ThroughALoopIsUnimplementedAndNamesTheLine) {
  int line = 0;
  const auto f = [&](Tensor x) {
    line = __LINE__ + 1;
    return While(x, [](Tensor v) { return Lt(v, 10); },
                 [](Tensor v) { return v * 2; });
  };
  const auto [value, g] = ValueAndGrad(f)(Scalar(1.0f));
  for (const Tensor& t : {value, g}) {
    EXPECT_THAT(t.status(), StatusIs(StatusCode::kUnimplemented,
                                     "only a run can count"));
    EXPECT_THAT(t.status(), StatusIs(StatusCode::kUnimplemented,
                                     absl::StrCat("grad_test.cc:", line,
                                                  "); For and Scan, ")));
  }
  auto jitted = Jit(Grad(f));
  EXPECT_THAT(jitted(Scalar(1.0f)),
              StatusIs(StatusCode::kUnimplemented, "while"));
  // A loop beside the path does no harm.
  EXPECT_VALUE(Grad([&](Tensor x) { return x * StopGradient(f(x)); })(3.0f),
               Literal::Scalar(12.0f));
}

TEST_F(GradTest, AReductionOfOnesOwnIsUnimplemented) {
  const auto f = [](Tensor x) {
    return Reduce(x, 0.0, [](Tensor a, Tensor b) { return a + b * b; });
  };
  EXPECT_THAT(Grad(f)(T1<float>({1, 2})).status(),
              StatusIs(StatusCode::kUnimplemented,
                       "a reduction by computation \"reduce\""));
  // One that is known for what it is, is differentiated.
  const auto sum = [](Tensor x) {
    return Reduce(x, 0.0, [](Tensor a, Tensor b) { return b + a; });
  };
  EXPECT_VALUE(Grad(sum)(T1<float>({1, 2})), Literal::Vector<float>({1, 1}));
}

TEST_F(GradTest, IntegersHaveNoGradient) {
  EXPECT_THAT(Grad(SumOfSquares)(T1<int32_t>({1})).status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "argument 0 has a s32[1], and only floats"));
  const auto count = [](Tensor x) { return Sum(Convert(x, DType::kS32)); };
  EXPECT_THAT(Grad(count)(T1<float>({1})).status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "the function gives s32[]"));
  // Beside the variable they are welcome.
  EXPECT_VALUE(Grad([](Tensor x, Tensor n) { return x * n; })(2.0f, 3),
               Literal::Scalar(3.0f));
}

TEST_F(GradTest, TheFunctionsOwnErrorIsTheFirst) {
  const int line = __LINE__ + 2;
  const auto f = [](Tensor x) {
    const Tensor wrong = x + T1<float>({1, 2, 3});
    return Sum(wrong * wrong);
  };
  const auto [value, g] = ValueAndGrad(f)(T1<float>({1, 2}));
  for (const Tensor& t : {value, g}) {
    EXPECT_THAT(t.status(),
                StatusIs(StatusCode::kInvalidArgument, "do not broadcast"));
    EXPECT_THAT(t.status(), StatusIs(StatusCode::kInvalidArgument,
                                     absl::StrCat("grad_test.cc:", line)));
  }
  const Tensor bad = T1<float>({1, 2}) + T1<float>({1, 2, 3});
  EXPECT_EQ(Grad(SumOfSquares)(bad).status(), bad.status());
  EXPECT_THAT(Grad(SumOfSquares)(Tensor()).status(),
              StatusIs(StatusCode::kFailedPrecondition, "never given a value"));
}

TEST_F(GradTest, RepeatingARecordedGradientCompilesOnce) {
  for (float v : {1.0f, 2.0f, 3.0f}) {
    EXPECT_VALUE(Grad(SumOfSquares)(T1<float>({v})),
                 Literal::Vector<float>({2 * v}));
  }
  EXPECT_EQ(counting_->compiles, 1);
}

TEST_F(GradTest, ALongRecordingIsCutOnTheWay) {
  const auto f = [](Tensor x) {
    for (int i = 0; i < 3000; ++i) x = x + x * 0.0f;
    return x;
  };
  EXPECT_VALUE(Grad(f)(T1<float>({1, 2})), Literal::Vector<float>({1, 1}));
}

}  // namespace
}  // namespace hawser
