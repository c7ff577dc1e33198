// Functions of several steps: corners that the vectors of Nx do not reach.
#include <cmath>
#include <complex>
#include <limits>

#include "client/sdk/functions/grad.h"
#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;
using C = std::complex<float>;

struct UnaryCase {
  const char* name;
  Tensor (*fn)(const Operand&);
  double (*want)(double);
  std::initializer_list<double> points;
};
const UnaryCase kUnary[] = {
    {"Tan", Tan, std::tan, {-1.5, 0, 1e-9, 1, 3}},
    {"Asin", Asin, std::asin, {-1, -1e-9, 0, 0.3, 1, 1.1}},
    {"Acos", Acos, std::acos, {-1, 0, 0.3, 0.999999999, 1, -2}},
    {"Atan", Atan, std::atan, {-1e300, -1, 0, 1e-9, 1e9}},
    {"Sinh", Sinh, std::sinh, {-709.9, -1, -1e-9, 0, 1e-300, 30, 710.1, 720}},
    {"Cosh", Cosh, std::cosh, {-709.9, -1, 0, 1e-9, 30, 710.1, 720}},
    {"Asinh", Asinh, std::asinh, {-1e300, -1e9, -1, -1e-9, 0, 1e-300, 1e200}},
    {"Acosh", Acosh, std::acosh, {0.5, 1, 1.000000001, 2, 1e8, 1e9, 1e300}},
    {"Atanh", Atanh, std::atanh, {-1, -0.5, -1e-9, 0, 0.999, 1, 2}},
    {"Log2", Log2, std::log2, {-1, 0, 1e-300, 1, 8, 1e300}},
    {"Log10", Log10, std::log10, {-1, 0, 1e-300, 1, 1000, 1e300}},
};

TEST(CompositeMath, IsThatOfTheCLibrary) {
  for (const UnaryCase& f : kUnary) {
    for (double x : f.points) {
      const Tensor at = Scalar(DType::kF64, x);
      ASSERT_OK_AND_ASSIGN(const Literal value, f.fn(at).Fetch());
      EXPECT_THAT(value, LiteralNear(Literal::Scalar<double>(f.want(x)),
                                     Tolerance{.rtol = 4e-15}))
          << f.name << " of " << x;
    }
    for (double x : {double{kInf}, -double{kInf}, std::nan("")}) {
      ASSERT_OK_AND_ASSIGN(const Literal value,
                           f.fn(Scalar(DType::kF64, x)).Fetch());
      if (f.name == std::string("Tan") && std::isinf(x)) {
        EXPECT_TRUE(std::isnan(value.data<double>()[0]));
        continue;
      }
      EXPECT_THAT(value, LiteralNear(Literal::Scalar<double>(f.want(x)),
                                     Tolerance{.rtol = 4e-15}))
          << f.name << " of " << x;
    }
  }
}

TEST(CompositeMath, KeepsF16AndMakesIntegersF32) {
  EXPECT_EQ(Sinh(T1<Half>({Half(1.0f)})).dtype(), DType::kF16);
  EXPECT_EQ(Log2(T1<BFloat16>({BFloat16(1.0f)})).dtype(), DType::kBF16);
  EXPECT_VALUE(Log2(T1<int32_t>({8, 1024})), F({3, 10}));
  EXPECT_EQ(Atan(T1<bool>({true})).dtype(), DType::kF32);
  EXPECT_THAT(Digamma(T1<C>({{1, 1}})).status(),
              StatusIs(StatusCode::kInvalidArgument, "Digamma: takes reals"));
}

struct F32Case {
  const char* name;
  Tensor (*fn)(const Operand&);
  double ulp;
  std::vector<float> x;
};
const F32Case kNarrow[] = {
    {"Acos", Acos, 8, {-0.99f, -0.1f, 0.3f, 0.999f}},
    {"Acosh", Acosh, 8, {1.001f, 1.5f, 30, 1e20f}},
    {"Asin", Asin, 8, {-0.99f, -0.1f, 1e-6f, 0.999f}},
    {"Asinh", Asinh, 8, {-3e30f, -0.1f, 1e-6f, 2}},
    {"Atan", Atan, 8, {-3e30f, -0.1f, 1e-6f, 2}},
    {"Atanh", Atanh, 8, {-0.99f, -0.1f, 1e-6f, 0.5f}},
    {"BesselI0e", BesselI0e, 16, {-3, 0.1f, 7.9f, 8.1f, 1e4f}},
    {"BesselI1e", BesselI1e, 16, {-3, 0.1f, 7.9f, 8.1f, 1e4f}},
    {"Cosh", Cosh, 8, {-30, 0.1f, 19.9f, 20.1f, 88}},
    {"Digamma", Digamma, 1, {-2.25f, 0.1f, 1.5f, 8.1f, 1e4f}},
    {"ErfInv", ErfInv, 8, {-0.99f, 1e-6f, 0.84f, 0.86f, 0.999f}},
    {"Sinh", Sinh, 8, {-30, 0.1f, 19.9f, 20.1f, 88}},
};

// As said in their comments: f64 is what f32 is compared with.
TEST(CompositeMath, OfF32KeepToTheirUlp) {
  for (const F32Case& f : kNarrow) {
    const Tensor x =
        Constant(Literal::Of<float>(f.x, {static_cast<int64_t>(f.x.size())}));
    ASSERT_OK_AND_ASSIGN(const Literal got, f.fn(x).Fetch());
    ASSERT_OK_AND_ASSIGN(
        const Literal want,
        Convert(f.fn(Convert(x, DType::kF64)), DType::kF32).Fetch());
    EXPECT_THAT(got, LiteralNear(want, Tolerance{.ulp = f.ulp})) << f.name;
    EXPECT_EQ(got.shape().dtype(), DType::kF32);
  }
}

TEST(CompositeMath, SpecialFunctions) {
  const auto at = [&](Tensor (*f)(const Operand&), double x) {
    return f(Scalar(DType::kF64, x)).Fetch()->data<double>()[0];
  };
  EXPECT_NEAR(at(Erf, 0.5), std::erf(0.5), 1e-15);
  EXPECT_NEAR(at(Erfc, 3), std::erfc(3), 1e-20);
  EXPECT_NEAR(at(Lgamma, 0.25), std::lgamma(0.25), 2e-15);
  for (double x : {-0.9999, -0.5, 1e-9, 0.3, 0.85, 0.9, 1 - 1e-12}) {
    EXPECT_NEAR(at(Erf, at(ErfInv, x)), x, 1e-15) << x;
  }
  // Of each whole number it rises by what is left of it.
  for (double x : {0.25, 1.0, 2.5, 40.0}) {
    EXPECT_NEAR(at(Digamma, x + 1) - at(Digamma, x), 1 / x, 2e-15) << x;
  }
  EXPECT_NEAR(at(BesselI0e, 3), 0.24300035416182539, 1e-15);
  EXPECT_NEAR(at(BesselI0e, -20), 0.089780311884826086, 1e-15);
  EXPECT_NEAR(at(BesselI1e, -3), -0.19682671329730085, 1e-15);
}

TEST(CompositeMath, InversesOfComplexNumbers) {
  using Z = std::complex<double>;
  const struct {
    const char* name;
    Tensor (*fn)(const Operand&);
    Z (*want)(const Z&);
  } kInverses[] = {
      {"Acos", Acos, std::acos}, {"Acosh", Acosh, std::acosh},
      {"Asin", Asin, std::asin}, {"Asinh", Asinh, std::asinh},
      {"Atan", Atan, std::atan}, {"Atanh", Atanh, std::atanh},
      {"Cosh", Cosh, std::cosh}, {"Sinh", Sinh, std::sinh},
      {"Tan", Tan, std::tan},
  };
  for (const auto& f : kInverses) {
    for (const Z z : {Z(0.5, 0.25), Z(-2, 0.5), Z(0, -3), Z(1e-8, 1e-8),
                      Z(1.5, 0.0), Z(1.5, -0.0), Z(-30, 7)}) {
      const Literal x = Literal::Vector<Z>({z});
      ASSERT_OK_AND_ASSIGN(const Literal got, f.fn(Constant(x)).Fetch());
      EXPECT_THAT(got, LiteralNear(Literal::Vector<Z>({f.want(z)}),
                                   Tolerance{.rtol = 8e-15}))
          << f.name << " of " << z;
    }
  }
}

TEST(CompositeMath, SlopesExistAtZeroAndFarOut) {
  const auto slope = [](Tensor (*f)(const Operand&)) {
    return Grad([f](Tensor x) { return f(x); });
  };
  const Tensor x = T1<float>({0, 1, -1});
  EXPECT_NEAR_VALUE(slope(Asinh)(x), 1e-6,
                    F({1, std::sqrt(0.5f), std::sqrt(0.5f)}));
  EXPECT_NEAR_VALUE(slope(Asinh)(T1<float>({1e10f})), 1e-6, F({1e-10f}));
  EXPECT_NEAR_VALUE(slope(Sinh)(x), 1e-6,
                    F({1, std::cosh(1.0f), std::cosh(1.0f)}));
  EXPECT_NEAR_VALUE(slope(Acosh)(T1<float>({2, 1e10f})), 1e-6,
                    F({1 / std::sqrt(3.0f), 1e-10f}));
  EXPECT_NEAR_VALUE(slope(Atanh)(T1<float>({0, 0.5f})), 1e-6,
                    F({1, 4 / 3.0f}));
}

TEST(CompositeMath, ComplexNumbers) {
  EXPECT_VALUE(Conjugate(T1<C>({{1, 2}})), Literal::Vector<C>({{1, -2}}));
  EXPECT_VALUE(Conjugate(T1<float>({3})), Literal::Vector<C>({{3, -0.0f}}));
  EXPECT_EQ(Conjugate(T1<double>({3})).dtype(), DType::kC128);
  EXPECT_NEAR_VALUE(Phase(T1<float>({-1, 0, 2})), 1e-6,
                    F({static_cast<float>(M_PI), 0, 0}));
  EXPECT_NEAR_VALUE(Phase(T1<C>({{0, -1}})), 1e-6,
                    F({static_cast<float>(-M_PI_2)}));
  EXPECT_NEAR_VALUE(Tan(T1<C>({{0, 500}})), 1e-6, Literal::Vector<C>({{0, 1}}));
  EXPECT_VALUE(IsInfinity(T1<C>({{kInf, kNan}, {kNan, 1}, {1, -kInf}})),
               Literal::Vector<bool>({true, false, true}));
  EXPECT_VALUE(IsInfinity(T1<int32_t>({1})), Literal::Vector<bool>({false}));
}

TEST(Statistics, WeightsAndSpread) {
  const Tensor x = TN<float>({1, 2, 3, 4}, {2, 2});
  EXPECT_VALUE(WeightedMean(x, T1<float>({1, 3}), {.axes = {1}}),
               F({1.75f, 3.75f}));
  EXPECT_VALUE(WeightedMean(x, T1<float>({1, 3}), {.axes = {0}}),
               F({2.5f, 3.5f}));
  EXPECT_THAT(WeightedMean(x, T1<float>({1, 3})).status(),
              StatusIs(StatusCode::kInvalidArgument, "weights have neither"));
  EXPECT_THAT(WeightedMean(x, T1<float>({1, 2, 3}), {.axes = {0}}).status(),
              StatusIs(StatusCode::kInvalidArgument, "weights have neither"));
  EXPECT_VALUE(StandardDeviation(T1<float>({1, 3})),
               Literal::Scalar<float>(1));
  EXPECT_VALUE(Covariance(x), Literal::Of<float>({1, 1, 1, 1}, {2, 2}));
  EXPECT_VALUE(Covariance(x, T1<float>({1, 3}), 1),
               Literal::Of<float>({4, 2, 2, 2}, {2, 2}));
  EXPECT_VALUE(Covariance(x, T1<float>({2, 3})), Covariance(x).Fetch().value());
  EXPECT_THAT(Covariance(x, T1<float>({1, 2, 3})).status(),
              StatusIs(StatusCode::kInvalidArgument, "broadcast_in_dim: C5"));
  EXPECT_THAT(Covariance(T1<float>({1})).status(),
              StatusIs(StatusCode::kInvalidArgument, "rank 2 or more"));
}

TEST(Statistics, LogOfAScaledSum) {
  const Tensor x = T1<float>({0, 1000, -kInf});
  EXPECT_NEAR_VALUE(LogSumExp(x, {}, T1<float>({5, 2, 1})), 1e-6,
                    Literal::Scalar<float>(1000 + std::log(2.0f)));
  EXPECT_VALUE(LogSumExp(x, {}, 1), LogSumExp(x).Fetch().value());
  EXPECT_NEAR_VALUE(Grad([](Tensor x) {
                      return LogSumExp(x, {}, T1<float>({1, 3}));
                    })(T1<float>({2, 2})),
                    1e-6, F({0.25f, 0.75f}));
}

TEST(Statistics, AllClose) {
  const auto close = [](const Tensor& a, const Tensor& b,
                        const Closeness& limits = {}) {
    return AllClose(a, b, limits).Fetch()->data<bool>()[0];
  };
  EXPECT_TRUE(close(T1<float>({1, kInf}), T1<float>({1.000001f, kInf})));
  EXPECT_FALSE(close(T1<float>({kInf}), T1<float>({-kInf})));
  EXPECT_FALSE(close(T1<float>({1}), T1<float>({kInf})));
  EXPECT_FALSE(close(T1<float>({kNan}), T1<float>({kNan})));
  EXPECT_TRUE(close(T1<float>({kNan}), T1<float>({kNan}), {.equal_nan = true}));
  EXPECT_FALSE(close(T1<int32_t>({1, 2}), T1<int32_t>({1, 3})));
  EXPECT_TRUE(close(T1<float>({1}), T1<float>({1.5f}), {.absolute = 0.5}));
  EXPECT_TRUE(close(Zeros(DType::kF32, {0}), Zeros(DType::kF32, {0})));
}

TEST(Diagonals, InStacksAndBeyond) {
  const Tensor x = Iota(DType::kS32, {2, 2, 3});
  EXPECT_VALUE(TakeDiagonal(x), Literal::Of<int32_t>({0, 4, 6, 10}, {2, 2}));
  EXPECT_VALUE(TakeDiagonal(x, -1), Literal::Of<int32_t>({3, 9}, {2, 1}));
  EXPECT_VALUE(TakeDiagonal(x, 3), Literal::Of<int32_t>({}, {2, 0}));
  EXPECT_THAT(TakeDiagonal(x, 4).status(),
              StatusIs(StatusCode::kInvalidArgument, "no diagonal 4"));
  EXPECT_VALUE(Tril(x, -1),
               Literal::Of<int32_t>({0, 0, 0, 3, 0, 0, 0, 0, 0, 9, 0, 0},
                                    {2, 2, 3}));
  EXPECT_VALUE(Triu(TN<bool>({true, true, true, true}, {2, 2})),
               Literal::Of<bool>({true, true, false, true}, {2, 2}));
  EXPECT_THAT(Triu(T1<float>({1})).status(),
              StatusIs(StatusCode::kInvalidArgument, "Triu: takes rank 2"));
  EXPECT_VALUE(MakeDiagonal(T1<float>({5}), -1),
               Literal::Of<float>({0, 0, 5, 0}, {2, 2}));
  EXPECT_VALUE(MakeDiagonal(Zeros(DType::kF32, {0}), 1),
               Literal::Of<float>({0}, {1, 1}));
  EXPECT_VALUE(PutDiagonal(Zeros(DType::kF32, {2, 3}), T1<float>({7, 8}), 1),
               Literal::Of<float>({0, 7, 0, 0, 0, 8}, {2, 3}));
  EXPECT_THAT(PutDiagonal(Zeros(DType::kF32, {2, 3}), T1<float>({7})).status(),
              StatusIs(StatusCode::kInvalidArgument, "has length 2, not 1"));
  EXPECT_EQ(MakeDiagonal(T1<float>({5}), INT64_MIN).dtype(), DType::kInvalid);
}

TEST(Diagonals, Differences) {
  EXPECT_VALUE(Diff(T1<int32_t>({1, 4, 9, 16}), 2),
               Literal::Vector<int32_t>({2, 2}));
  EXPECT_VALUE(Diff(T1<uint8_t>({3, 1})), Literal::Vector<uint8_t>({254}));
  EXPECT_VALUE(Diff(T1<float>({3}), 1), F({}));
  EXPECT_VALUE(Diff(T1<float>({3}), 0), F({3}));
  EXPECT_THAT(Diff(T1<float>({3}), 2).status(),
              StatusIs(StatusCode::kInvalidArgument, "order 2 is not between"));
}

TEST(Edges, RepeatAsOftenAsItTakes) {
  const Tensor x = T1<int32_t>({0, 1, 2});
  const auto padded = [&](Edge edge) {
    return PadOuter(x, edge, {{{.low = 4, .high = 5}}});
  };
  EXPECT_VALUE(padded(Edge::kCyclic), Literal::Vector<int32_t>(
                                          {2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1}));
  EXPECT_VALUE(padded(Edge::kReflect),
               Literal::Vector<int32_t>({0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1}));
  EXPECT_VALUE(padded(Edge::kMirror),
               Literal::Vector<int32_t>({2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1}));
  EXPECT_VALUE(padded(Edge::kReplicate),
               Literal::Vector<int32_t>({0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 2}));
  EXPECT_VALUE(PadOuter(T1<float>({7}), Edge::kReflect, {{{2, 1}}}),
               F({7, 7, 7, 7}));
  EXPECT_THAT(PadOuter(Zeros(DType::kF32, {0}), Edge::kCyclic, {{{1, 0}}})
                  .status(),
              StatusIs(StatusCode::kInvalidArgument, "cannot be padded"));
  EXPECT_VALUE(PadOuter(Zeros(DType::kF32, {0}), Edge::kCyclic, {{{0, 0}}}),
               F({}));
  EXPECT_FALSE(PadOuter(x, Edge::kCyclic, {}).status().ok());
  EXPECT_FALSE(
      PadOuter(x, Edge::kCyclic, {{{.low = INT64_MAX}}}).status().ok());
}

TEST(Edges, SplitAndTile) {
  const auto [a, b] = Split(T1<float>({1, 2, 3}), -1);
  EXPECT_VALUE(a, F({1, 2}));
  EXPECT_VALUE(b, F({3}));
  EXPECT_VALUE(Split(T1<float>({1, 2, 3}), 3).second, F({}));
  EXPECT_VALUE(Split(T1<float>({1, 2, 3}), Fraction{0.5}).first, F({1, 2}));
  EXPECT_VALUE(Split(T1<float>({1, 2, 3}), Fraction{1}).second, F({}));
  EXPECT_THAT(Split(T1<float>({1}), Fraction{1.5}).first.status(),
              StatusIs(StatusCode::kInvalidArgument, "a fraction of 1.5"));
  EXPECT_THAT(Split(T1<float>({1}), 2).first.status(),
              StatusIs(StatusCode::kInvalidArgument, "cannot be cut at 2"));
  EXPECT_VALUE(Tile(T1<float>({1, 2}), {2, 2}),
               Literal::Of<float>({1, 2, 1, 2, 1, 2, 1, 2}, {2, 4}));
  EXPECT_VALUE(Tile(Scalar(1.0f), {3}), F({1, 1, 1}));
  EXPECT_VALUE(Tile(T1<float>({1, 2}), {0}), F({}));
  EXPECT_THAT(Tile(T1<float>({1}), {-1}).status(),
              StatusIs(StatusCode::kInvalidArgument, "is negative"));
  EXPECT_FALSE(Tile(T1<float>({1}), {INT64_MAX}).status().ok());
  EXPECT_VALUE(BroadcastTo(T1<float>({1, 2}), {2, 2}, {0}),
               Literal::Of<float>({1, 1, 2, 2}, {2, 2}));
}

TEST(Created, LinspaceAndTri) {
  EXPECT_VALUE(Linspace(DType::kF32, 0, 1, 5), F({0, 0.25f, 0.5f, 0.75f, 1}));
  EXPECT_VALUE(Linspace(DType::kF32, 0, 1, 4, false),
               F({0, 0.25f, 0.5f, 0.75f}));
  EXPECT_VALUE(Linspace(DType::kS32, 0, 24, 8),
               Literal::Vector<int32_t>({0, 3, 6, 10, 13, 17, 20, 24}));
  EXPECT_VALUE(Linspace(DType::kF64, 2, 9, 1), Literal::Vector<double>({2}));
  EXPECT_FALSE(Linspace(DType::kF32, 0, 1, 0).status().ok());
  EXPECT_VALUE(Linspace(DType::kF32, T1<float>({0, 10}), 2, 3),
               Literal::Of<float>({0, 1, 2, 10, 6, 2}, {2, 3}));
  EXPECT_VALUE(Linspace(DType::kS32, TN<int32_t>({0, 1}, {2, 1}),
                        T1<int32_t>({4, 8}), 2),
               Literal::Of<int32_t>({0, 4, 0, 8, 1, 4, 1, 8}, {2, 2, 2}));
  EXPECT_THAT(Linspace(DType::kF32, T1<C>({{0, 1}}), 1, 3).status(),
              StatusIs(StatusCode::kInvalidArgument, "must be real"));
  EXPECT_VALUE(Tri(DType::kU8, 2, 3, 1),
               Literal::Of<uint8_t>({1, 1, 0, 1, 1, 1}, {2, 3}));
}

TEST(Indexed, TakeAlongAxisClampsAndChecks) {
  const Tensor x = TN<float>({1, 2, 3, 4}, {2, 2});
  const Tensor computed = TN<int32_t>({1, 0, 9, -9}, {2, 2}) + 0;
  EXPECT_VALUE(TakeAlongAxis(x, computed, 1),
               Literal::Of<float>({2, 1, 4, 3}, {2, 2}));
  EXPECT_VALUE(TakeAlongAxis(x, TN<uint8_t>({1, 1}, {1, 2}), 0),
               Literal::Of<float>({3, 4}, {1, 2}));
  EXPECT_THAT(TakeAlongAxis(x, T1<int32_t>({0}), 0).status(),
              StatusIs(StatusCode::kInvalidArgument, "other sizes"));
  EXPECT_THAT(TakeAlongAxis(x, x, 0).status(),
              StatusIs(StatusCode::kInvalidArgument, "integers"));
}

TEST(Products, OuterAndAdjoint) {
  EXPECT_VALUE(Outer(T1<C>({{1, 1}}), T1<C>({{0, 1}, {2, 0}})),
               Literal::Of<C>({{1, -1}, {2, 2}}, {1, 2}));
  EXPECT_VALUE(Outer(2, T1<int32_t>({3, 4})),
               Literal::Of<int32_t>({6, 8}, {1, 2}));
  EXPECT_VALUE(Adjoint(TN<C>({{1, 1}, {2, 2}}, {1, 2})),
               Literal::Of<C>({{1, -1}, {2, -2}}, {2, 1}));
  EXPECT_VALUE(Adjoint(T1<float>({1, 2})), F({1, 2}));
  EXPECT_FALSE(Adjoint(Scalar(1.0f)).status().ok());
}

}  // namespace
}  // namespace hawser
