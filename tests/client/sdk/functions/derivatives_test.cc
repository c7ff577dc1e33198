// Vjp, Jvp, Checkpoint and CustomGrad.
#include <tuple>

#include "core/ops/contraction/control.h"
#include "tests/client/sdk/counting_client.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;

class DerivativesTest : public testing::Test {
 protected:
  std::shared_ptr<CountingClient> counting_ =
      std::make_shared<CountingClient>();
  Client client_{counting_};
  ScopedClient scope_{client_};
};

// Its Jacobian is {{2x, 0}, {y, x}, {0, cos(y)}} of (x, y).
Tensor ThreeOfTwo(Tensor v) {
  const Tensor x = v[{0}], y = v[{1}];
  const Tensor all[] = {x * x, x * y, Sin(y)};
  return Stack(all);
}

TEST_F(DerivativesTest, VjpIsAVectorTimesTheJacobian) {
  const auto run = [](Tensor g, Tensor v) { return Vjp(ThreeOfTwo)(g, v); };
  const Tensor g = T1<double>({1, 10, 100}), v = T1<double>({3, 0});
  const auto outside = run(g, v);
  EXPECT_VALUE(std::get<0>(outside), Literal::Vector<double>({9, 0, 0}));
  EXPECT_VALUE(std::get<1>(outside), Literal::Vector<double>({6, 130}));
  ASSERT_OK_AND_ASSIGN(const auto inside, Jit(run)(g, v));
  EXPECT_VALUE(std::get<1>(inside), Literal::Vector<double>({6, 130}));
}

TEST_F(DerivativesTest, JvpIsTheJacobianTimesAVector) {
  const auto run = [](Tensor t, Tensor v) { return Jvp(ThreeOfTwo)(t, v); };
  const Tensor t = T1<double>({1, 10}), v = T1<double>({3, 0});
  const auto outside = run(t, v);
  EXPECT_VALUE(std::get<0>(outside), Literal::Vector<double>({9, 0, 0}));
  EXPECT_VALUE(std::get<1>(outside), Literal::Vector<double>({6, 30, 10}));
  ASSERT_OK_AND_ASSIGN(const auto inside, Jit(run)(t, v));
  EXPECT_VALUE(std::get<1>(inside), Literal::Vector<double>({6, 30, 10}));
}

TEST_F(DerivativesTest, BySeveralArgumentsOfSeveralResults) {
  // Integers come along and have no derivative.
  const auto f = [](Tensor x, Tensor n, Tensor y) {
    return std::tuple(x * y, n + 1, y * y);
  };
  const Tensor x = Scalar(2.0f), n = Scalar(5), y = Scalar(3.0f);
  const auto [value, gradients] = Vjp<0, 2>(f)(
      std::tuple(Scalar(1.0f), Scalar(0), Scalar(10.0f)), x, n, y);
  EXPECT_VALUE(std::get<1>(value), Literal::Scalar(6));
  EXPECT_VALUE(std::get<0>(gradients), Literal::Scalar(3.0f));
  EXPECT_VALUE(std::get<1>(gradients), Literal::Scalar(62.0f));
  const auto [same, tangents] =
      Jvp<0, 2>(f)(std::tuple(Scalar(1.0f), Scalar(10.0f)), x, n, y);
  EXPECT_VALUE(std::get<0>(same), Literal::Scalar(6.0f));
  EXPECT_VALUE(std::get<0>(tangents), Literal::Scalar(23.0f));
  EXPECT_VALUE(std::get<1>(tangents), Literal::Scalar(0));
  EXPECT_VALUE(std::get<2>(tangents), Literal::Scalar(60.0f));
}

TEST_F(DerivativesTest, OfComplexNumbersAndHalves) {
  using Z = std::complex<float>;
  const auto square = [](Tensor z) { return z * z; };
  const Tensor z = T1<Z>({Z(1, 2)}), by = T1<Z>({Z(0, 1)});
  const Literal want = Literal::Vector<Z>({Z(-4, 2)});  // 2 z i
  EXPECT_VALUE(std::get<1>(Jvp(square)(by, z)), want);
  EXPECT_VALUE(std::get<1>(Vjp(square)(by, z)), want);
  const auto [value, tangent] = Jvp(square)(
      Convert(T1<float>({3}), DType::kF16), Convert(T1<float>({2}), DType::kF16));
  EXPECT_VALUE(Convert(tangent, DType::kF32), F({12}));
}

TEST_F(DerivativesTest, OfHigherOrderAndThroughLoops) {
  const auto power = [](Tensor x) {
    return For(3, x, [&](Tensor, Tensor y) { return y * x; });  // x^4
  };
  const auto slope = [&](Tensor x) {
    return std::get<1>(Jvp(power)(F64(1.0), x));
  };
  EXPECT_VALUE(slope(F64(2.0)), Literal::Scalar(32.0));
  EXPECT_VALUE(Grad(slope)(F64(2.0)), Literal::Scalar(48.0));
  EXPECT_VALUE(std::get<1>(Jvp(slope)(F64(1.0), F64(2.0))),
               Literal::Scalar(48.0));
}

TEST_F(DerivativesTest, VectorsThatDoNotFitAreRefused) {
  const Tensor v = T1<double>({1, 2});
  EXPECT_THAT(std::get<1>(Vjp(ThreeOfTwo)(v, v)).status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "Vjp: the cotangent of tensor 0 is f64[2], must be "
                       "f64[3]"));
  EXPECT_THAT(std::get<1>(Jvp(ThreeOfTwo)(T1<float>({1, 2}), v)).status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "Jvp: the tangent of tensor 0 is f32[2], must be "
                       "f64[2]"));
  const auto none = Jvp(ThreeOfTwo)(std::tuple<>(), v);
  EXPECT_THAT(std::get<1>(none).status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "Jvp: there are 0 tangents of 1 tensors"));
}

// ---- Checkpoint -------------------------------------------------------------

Tensor Wave(Tensor x) { return Sin(Exp(x)); }

TEST_F(DerivativesTest, ACheckpointChangesNoValue) {
  const Tensor x = T1<float>({0.5, 1, -2});
  const auto plain = [](Tensor x) { return Sum(Wave(Wave(x))); };
  const auto kept = [](Tensor x) {
    return Sum(Checkpoint(Wave)(Checkpoint(Wave)(x)));
  };
  ASSERT_OK_AND_ASSIGN(const Literal value, plain(x).Fetch());
  ASSERT_OK_AND_ASSIGN(const Literal slope, Grad(plain)(x).Fetch());
  EXPECT_VALUE(kept(x), value);
  EXPECT_NEAR_VALUE(Grad(kept)(x), 1e-6, slope);
  ASSERT_OK_AND_ASSIGN(const Tensor inside, Jit(Grad(kept))(x));
  EXPECT_NEAR_VALUE(inside, 1e-6, slope);
  // Twice, through what is computed again.
  ASSERT_OK_AND_ASSIGN(
      const Literal bend,
      Grad([&](Tensor x) { return Sum(Grad(plain)(x)); })(x).Fetch());
  EXPECT_NEAR_VALUE(Grad([&](Tensor x) { return Sum(Grad(kept)(x)); })(x), 1e-5,
                    bend);
}

// The gradient computes the function again, in a branch of its own, and keeps
// none of what is inside.
TEST_F(DerivativesTest, ACheckpointIsComputedAgain) {
  const auto count = [&](auto fn) {
    auto step = Jit(Grad(fn));
    EXPECT_OK(step(T1<float>({1, 2})));
    const std::shared_ptr<const Module> module = counting_->module();
    int waves = 0, branches = 0;
    for (const Computation& c : module->computations()) {
      for (const Instruction& i : c.instructions()) {
        waves += i.op->name == "exponential";
        branches += i.op == &kCase;
        EXPECT_NE(i.op, &kCall);
      }
    }
    return std::pair(waves, branches);
  };
  EXPECT_EQ(count([](Tensor x) { return Sum(Wave(x)); }), std::pair(1, 0));
  EXPECT_EQ(count([](Tensor x) { return Sum(Checkpoint(Wave)(x)); }),
            std::pair(1, 1));
  // Of two, the first runs forward, for what the second is of; both are computed
  // again by branches that call the same computation.
  EXPECT_EQ(count([](Tensor x) {
              return Sum(Checkpoint(Wave)(Checkpoint(Wave)(x)));
            }),
            std::pair(2, 2));
}

TEST_F(DerivativesTest, ACheckpointMayUseWhatIsInScope) {
  const Tensor x = T1<float>({1, 2});
  const auto f = [](Tensor w, Tensor x) {
    return Sum(Checkpoint([&](Tensor x) { return w * x * x; })(x));
  };
  const auto [gw, gx] = Grad<0, 1>(f)(T1<float>({3, 4}), x);
  EXPECT_VALUE(gw, F({1, 4}));
  EXPECT_VALUE(gx, F({6, 16}));
}

// ---- CustomGrad -------------------------------------------------------------

TEST_F(DerivativesTest, ARuleOfOnesOwnIsTheGradient) {
  const auto clipped =
      CustomGrad([](Tensor x) { return x * x; },
                 [](Tensor g, Tensor x) { return Clip(g * 2 * x, -1, 1); });
  const Tensor x = T1<float>({0.25, -3, 5});
  const auto loss = [&](Tensor x) { return Sum(clipped(x)); };
  EXPECT_VALUE(clipped(x), F({0.0625, 9, 25}));
  EXPECT_VALUE(Grad(loss)(x), F({0.5, -1, 1}));
  ASSERT_OK_AND_ASSIGN(const Tensor inside, Jit(Grad(loss))(x));
  EXPECT_VALUE(inside, F({0.5, -1, 1}));
  // Higher orders go through the rule.
  EXPECT_VALUE(Grad([&](Tensor x) { return Sum(Grad(loss)(x)); })(x),
               F({2, 0, 0}));
}

TEST_F(DerivativesTest, ARuleOfSeveralArgumentsAndResults) {
  const Tensor c = Scalar(7.0f);
  const auto f = CustomGrad(
      [&](Tensor x, Tensor n) { return std::pair(x * c, n + 1); },
      [](std::pair<Tensor, Tensor> g, Tensor x, Tensor n) {
        return std::tuple(g.first * 100 + x, n);
      });
  const auto loss = [&](Tensor x, Tensor n) {
    auto [y, m] = f(x, n);
    return std::pair(Sum(y), m);
  };
  const auto [values, g] =
      ValueAndGrad(loss)(T1<float>({1, 2}), Scalar(3));
  EXPECT_VALUE(values.first, Literal::Scalar(21.0f));
  EXPECT_VALUE(values.second, Literal::Scalar(4));
  EXPECT_VALUE(g, F({101, 102}));
}

TEST_F(DerivativesTest, WhatARuleUsesBesideIsAConstant) {
  const auto loss = [](Tensor x, Tensor w) {
    const auto f = CustomGrad([&](Tensor x) { return x * w; },
                              [&](Tensor g, Tensor) { return g * w * w; });
    return Sum(f(x));
  };
  const auto [gx, gw] =
      Grad<0, 1>(loss)(T1<float>({1, 2}), T1<float>({3, 4}));
  EXPECT_VALUE(gx, F({9, 16}));
  EXPECT_VALUE(gw, F({0, 0}));
}

TEST_F(DerivativesTest, ARuleThatDoesNotFitIsRefused) {
  const auto wrong = CustomGrad([](Tensor x) { return x; },
                                [](Tensor g, Tensor) { return Sum(g); });
  EXPECT_THAT(wrong(T1<float>({1, 2})).status(),
              StatusIs(StatusCode::kInvalidArgument,
                       "CustomGrad: the rule gives f32[] for tensor 0 of the "
                       "arguments, which is f32[2]"));
}

}  // namespace
}  // namespace hawser
