#include "core/ops/elementwise/elementwise.h"

#include <cmath>
#include <complex>
#include <limits>

#include "core/ops/registry.h"
#include "kernels/cpu/families.h"
#include "tests/kernels/cpu/evaluate.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::cpu {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// One row of a table of values: op(x) or op(x, y) = want.
struct Row1 {
  const OpDef* op;
  double x, want;
};
struct Row2 {
  const OpDef* op;
  double x, y, want;
};

template <typename T>
Literal Scalar(double value) {
  return Literal::Scalar<T>(static_cast<T>(static_cast<ComputeType<T>>(value)));
}

template <typename T>
class IntegerTest : public testing::Test {};
using IntegerTypes = testing::Types<uint8_t, uint16_t, uint32_t, uint64_t,
                                    int8_t, int16_t, int32_t, int64_t>;
TYPED_TEST_SUITE(IntegerTest, IntegerTypes);

template <typename T>
T Int(const OpDef& op, T x) {
  return EvaluateOp(op, {Literal::Scalar<T>(x)}).template data<T>()[0];
}
template <typename T>
T Int(const OpDef& op, T x, T y) {
  return EvaluateOp(op, {Literal::Scalar<T>(x), Literal::Scalar<T>(y)})
      .template data<T>()[0];
}

TYPED_TEST(IntegerTest, ArithmeticWraps) {
  using T = TypeParam;
  constexpr T kMin = std::numeric_limits<T>::min();
  constexpr T kMax = std::numeric_limits<T>::max();
  EXPECT_EQ(Int<T>(kAdd, kMax, 1), kMin);
  EXPECT_EQ(Int<T>(kSubtract, kMin, 1), kMax);
  EXPECT_EQ(Int<T>(kMultiply, kMax, kMax), T{1});
  EXPECT_EQ(Int<T>(kMultiply, kMax, 2), static_cast<T>(-2));
  EXPECT_EQ(Int<T>(kNegate, kMin), kMin);
  EXPECT_EQ(Int<T>(kNegate, 1), static_cast<T>(-1));
  EXPECT_EQ(Int<T>(kAbs, kMin), kMin);
  EXPECT_EQ(Int<T>(kAbs, kMax), kMax);
}

TYPED_TEST(IntegerTest, DivideAndRemainderCorners) {
  using T = TypeParam;
  constexpr T kMin = std::numeric_limits<T>::min();
  constexpr T kAllOnes = static_cast<T>(~T{0});
  EXPECT_EQ(Int<T>(kDivide, 7, 2), T{3});
  EXPECT_EQ(Int<T>(kDivide, 7, 0), kAllOnes);
  EXPECT_EQ(Int<T>(kDivide, kMin, 0), kAllOnes);
  EXPECT_EQ(Int<T>(kDivide, 0, 0), kAllOnes);
  EXPECT_EQ(Int<T>(kRemainder, 7, 4), T{3});
  EXPECT_EQ(Int<T>(kRemainder, 7, 0), T{7});
  if constexpr (std::is_signed_v<T>) {
    EXPECT_EQ(Int<T>(kDivide, kMin, -1), kMin);
    EXPECT_EQ(Int<T>(kRemainder, kMin, -1), T{0});
    EXPECT_EQ(Int<T>(kDivide, -7, 2), T{-3});
    EXPECT_EQ(Int<T>(kRemainder, -7, 4), T{-3});
    EXPECT_EQ(Int<T>(kRemainder, 7, -4), T{3});
    EXPECT_EQ(Int<T>(kAbs, -7), T{7});
  }
}

TYPED_TEST(IntegerTest, Shifts) {
  using T = TypeParam;
  constexpr T kBits = 8 * sizeof(T);
  constexpr T kTop = static_cast<T>(std::make_unsigned_t<T>{1} << (kBits - 1));
  constexpr T kSigns = std::is_signed_v<T> ? static_cast<T>(-1) : T{1};
  EXPECT_EQ(Int<T>(kShiftLeft, 1, kBits - 1), kTop);
  EXPECT_EQ(Int<T>(kShiftLeft, 3, kBits - 1), kTop);
  EXPECT_EQ(Int<T>(kShiftLeft, 1, kBits), T{0});
  EXPECT_EQ(Int<T>(kShiftLeft, 1, static_cast<T>(-1)), T{0});
  EXPECT_EQ(Int<T>(kShiftRightLogical, kTop, kBits - 1), T{1});
  EXPECT_EQ(Int<T>(kShiftRightLogical, kTop, kBits), T{0});
  EXPECT_EQ(Int<T>(kShiftRightLogical, kTop, static_cast<T>(-1)), T{0});
  // Of unsigned numbers too the top bit counts as the sign.
  EXPECT_EQ(Int<T>(kShiftRightArithmetic, kTop, kBits - 1),
            static_cast<T>(-1));
  EXPECT_EQ(Int<T>(kShiftRightArithmetic, kTop, kBits), static_cast<T>(-1));
  EXPECT_EQ(Int<T>(kShiftRightArithmetic, 4, 2), T{1});
  EXPECT_EQ(Int<T>(kShiftRightArithmetic, 4, kBits), T{0});
  EXPECT_EQ(Int<T>(kSign, kSigns), kSigns);
}

TYPED_TEST(IntegerTest, Powers) {
  using T = TypeParam;
  EXPECT_EQ(Int<T>(kPower, 3, 4), T{81});
  EXPECT_EQ(Int<T>(kPower, 0, 0), T{1});
  EXPECT_EQ(Int<T>(kPower, 2, 8 * sizeof(T)), T{0});
  EXPECT_EQ(Int<T>(kPower, 3, 100), [] {
    std::make_unsigned_t<T> p = 1;
    for (int i = 0; i < 100; ++i) p = static_cast<T>(p * 3u);
    return static_cast<T>(p);
  }());
  if constexpr (std::is_signed_v<T>) {
    EXPECT_EQ(Int<T>(kPower, 2, -1), T{0});
    EXPECT_EQ(Int<T>(kPower, 1, -5), T{1});
    EXPECT_EQ(Int<T>(kPower, -1, -5), T{-1});
    EXPECT_EQ(Int<T>(kPower, -1, std::numeric_limits<T>::min()), T{1});
    EXPECT_EQ(Int<T>(kPower, 0, -1), T{0});
    EXPECT_EQ(Int<T>(kSign, std::numeric_limits<T>::min()), T{-1});
  }
}

TYPED_TEST(IntegerTest, Bits) {
  using T = TypeParam;
  EXPECT_EQ(Int<T>(kAnd, 12, 10), T{8});
  EXPECT_EQ(Int<T>(kOr, 12, 10), T{14});
  EXPECT_EQ(Int<T>(kXor, 12, 10), T{6});
  EXPECT_EQ(Int<T>(kNot, 0), static_cast<T>(~T{0}));
  EXPECT_EQ(Int<T>(kMaximum, 3, 5), T{5});
  EXPECT_EQ(Int<T>(kMinimum, static_cast<T>(-1), 5),
            std::is_signed_v<T> ? static_cast<T>(-1) : T{5});
  EXPECT_EQ(Int<T>(kSign, 0), T{0});
}

template <typename T>
class FloatTest : public testing::Test {};
using FloatTypes = testing::Types<Half, BFloat16, float, double>;
TYPED_TEST_SUITE(FloatTest, FloatTypes);

TYPED_TEST(FloatTest, UnaryCorners) {
  const Row1 kRows[] = {
      {&kAbs, -0.0, 0.0},        {&kAbs, -kInf, kInf},
      {&kNegate, 0.0, -0.0},     {&kNegate, kNaN, kNaN},
      {&kSign, -0.0, -0.0},      {&kSign, kNaN, kNaN},
      {&kSign, -kInf, -1},       {&kSign, 0.25, 1},
      {&kFloor, -0.5, -1},       {&kFloor, -0.0, -0.0},
      {&kCeil, -0.5, -0.0},      {&kCeil, kInf, kInf},
      {&kErf, -0.0, -0.0},       {&kErf, kInf, 1},
      {&kErfc, kInf, 0},         {&kErfc, -kInf, 2},
      {&kLgamma, 1, 0},          {&kLgamma, -2, kInf},
      {&kTan, -0.0, -0.0},       {&kTan, kInf, kNaN},
      {&kRoundNearestAfz, 0.5, 1},
      {&kRoundNearestAfz, -2.5, -3},
      {&kRoundNearestAfz, -0.25, -0.0},
      {&kRoundNearestAfz, kInf, kInf},
      {&kRoundNearestEven, 0.5, 0.0},
      {&kRoundNearestEven, 1.5, 2},
      {&kRoundNearestEven, 2.5, 2},
      {&kRoundNearestEven, -0.5, -0.0},
      {&kSqrt, -1, kNaN},        {&kSqrt, -0.0, -0.0},
      {&kSqrt, kInf, kInf},      {&kSqrt, 2.25, 1.5},
      {&kRsqrt, 0.25, 2},        {&kRsqrt, -0.0, -kInf},
      {&kCbrt, -8, -2},          {&kCbrt, -0.0, -0.0},
      {&kCbrt, -kInf, -kInf},    {&kCbrt, kNaN, kNaN},
      {&kRsqrt, kInf, 0},        {&kExponential, -kInf, 0},
      {&kExponential, kInf, kInf},
      {&kExponential, 0, 1},     {&kLog, 0, -kInf},
      {&kLog, -1, kNaN},         {&kLog, 1, 0},
      {&kLogPlusOne, -1, -kInf}, {&kLogPlusOne, -0.0, -0.0},
      {&kExponentialMinusOne, -kInf, -1},
      {&kExponentialMinusOne, -0.0, -0.0},
      {&kTanh, kInf, 1},         {&kTanh, -kInf, -1},
      {&kLogistic, 0, 0.5},      {&kLogistic, -kInf, 0},
      {&kLogistic, kInf, 1},     {&kLogistic, kNaN, kNaN},
      {&kSine, kInf, kNaN},      {&kCosine, 0, 1},
      {&kReal, -1.5, -1.5},      {&kImag, 3, 0},
  };
  for (const Row1& row : kRows) {
    const Literal want = Scalar<TypeParam>(row.want);
    const Literal got = EvaluateOp(*row.op, {Scalar<TypeParam>(row.x)});
    // -0 must be -0; a NaN may be any.
    EXPECT_THAT(got, LiteralEquals(want)) << row.op->name << " " << row.x;
    EXPECT_EQ(std::signbit(static_cast<double>(got.data<TypeParam>()[0])) &&
                  !std::isnan(row.want),
              std::signbit(row.want) && !std::isnan(row.want))
        << row.op->name << " " << row.x;
  }
}

TYPED_TEST(FloatTest, BinaryCorners) {
  const Row2 kRows[] = {
      {&kMaximum, -0.0, 0.0, 0.0},    {&kMaximum, 0.0, -0.0, 0.0},
      {&kMaximum, -0.0, -0.0, -0.0},  {&kMaximum, kNaN, 1, kNaN},
      {&kMaximum, 1, kNaN, kNaN},     {&kMaximum, kInf, 1, kInf},
      {&kMinimum, -0.0, 0.0, -0.0},   {&kMinimum, 0.0, -0.0, -0.0},
      {&kMinimum, 0.0, 0.0, 0.0},     {&kMinimum, kNaN, -kInf, kNaN},
      {&kMinimum, 2, 2, 2},           {&kDivide, 1, 0, kInf},
      {&kDivide, -1, 0, -kInf},       {&kDivide, 0, 0, kNaN},
      {&kRemainder, 5.5, 2, 1.5},     {&kRemainder, -5.5, 2, -1.5},
      {&kRemainder, 5.5, -2, 1.5},    {&kRemainder, 1, 0, kNaN},
      {&kRemainder, 2, kInf, 2},      {&kRemainder, -4, 2, -0.0},
      {&kPower, 0, 0, 1},             {&kPower, kNaN, 0, 1},
      {&kPower, -2, 3, -8},           {&kPower, -2, 0.5, kNaN},
      {&kAtan2, 0, -0.0, M_PI},       {&kAtan2, -0.0, 1, -0.0},
      {&kAdd, kInf, -kInf, kNaN},     {&kSubtract, 1, 1, 0},
      {&kMultiply, 0, kInf, kNaN},    {&kMultiply, -1, 0, -0.0},
  };
  for (const Row2& row : kRows) {
    const Literal want = Scalar<TypeParam>(row.want);
    const Literal got = EvaluateOp(
        *row.op, {Scalar<TypeParam>(row.x), Scalar<TypeParam>(row.y)});
    EXPECT_THAT(got, LiteralNear(want, Tolerance{.ulp = 1}))
        << row.op->name << " " << row.x << " " << row.y;
    EXPECT_EQ(std::signbit(static_cast<double>(got.data<TypeParam>()[0])) &&
                  !std::isnan(row.want),
              std::signbit(row.want) && !std::isnan(row.want))
        << row.op->name << " " << row.x << " " << row.y;
  }
}

TYPED_TEST(FloatTest, OverflowGivesInfinity) {
  using T = TypeParam;
  const Literal huge = Scalar<T>(std::is_same_v<T, Half>     ? 65504.0
                                 : std::is_same_v<T, double> ? 1.7e308
                                                             : 3e38);
  EXPECT_THAT(EvaluateOp(kAdd, {huge, huge}), LiteralEquals(Scalar<T>(kInf)));
  EXPECT_THAT(EvaluateOp(kExponential, {huge}),
              LiteralEquals(Scalar<T>(kInf)));
}

TYPED_TEST(FloatTest, IsFinite) {
  using T = TypeParam;
  for (double x : {kInf, -kInf, kNaN}) {
    EXPECT_THAT(EvaluateOp(kIsFinite, {Scalar<T>(x)}),
                LiteralEquals(Literal::Scalar(false)));
  }
  EXPECT_THAT(EvaluateOp(kIsFinite, {Scalar<T>(-1)}),
              LiteralEquals(Literal::Scalar(true)));
}

TEST(ElementwiseTest, HalvesRoundOnceFromFloat) {
  const float x = 1.0f + 1.0f / 1024;  // f16's next after 1
  const Literal a = Literal::Scalar(Half(x));
  EXPECT_THAT(EvaluateOp(kMultiply, {a, a}),
              LiteralBitEquals(Literal::Scalar(Half(x * x))));
  const float b = 1.0f + 1.0f / 128;
  const Literal c = Literal::Scalar(BFloat16(b));
  EXPECT_THAT(EvaluateOp(kExponential, {c}),
              LiteralBitEquals(Literal::Scalar(BFloat16(std::exp(b)))));
}

TEST(ElementwiseTest, LogisticOfLargeNumbersKeepsPrecision) {
  const Literal got = EvaluateOp(
      kLogistic, {Literal::Vector<float>({-100.0f, -30.0f, 30.0f, 100.0f})});
  EXPECT_NEAR(got.data<float>()[0], 3.7835e-44f, 1e-45);
  EXPECT_NEAR(got.data<float>()[1], 9.357623e-14f, 1e-19);
  EXPECT_EQ(got.data<float>()[2], 1.0f);
  EXPECT_EQ(got.data<float>()[3], 1.0f);
}

TEST(ElementwiseTest, ExpMinusOneAndLogPlusOneAreExactNearZero) {
  using C = std::complex<double>;
  const C z(1e-10, -2e-10);
  constexpr double kTwoUlp = 2.6e-26;  // of 1e-10
  const C expm1 =
      EvaluateOp(kExponentialMinusOne, {Literal::Scalar(z)}).data<C>()[0];
  EXPECT_NEAR(expm1.real(), 1e-10 + (1e-20 - 4e-20) / 2, kTwoUlp);
  EXPECT_NEAR(expm1.imag(), -2e-10 - 2e-20, kTwoUlp);
  const C log1p = EvaluateOp(kLogPlusOne, {Literal::Scalar(z)}).data<C>()[0];
  EXPECT_NEAR(log1p.real(), 1e-10 - (1e-20 - 4e-20) / 2, kTwoUlp);
  EXPECT_NEAR(log1p.imag(), -2e-10 + 2e-20, kTwoUlp);
}

// Where a (2 + a) + b^2 would be a difference of two numbers near 1.
TEST(ElementwiseTest, LogPlusOneKeepsItsDigitsNearMinusOne) {
  using C = std::complex<float>;
  for (const C z : {C(-0.999f, 0.01f), C(-0.99999f, -1e-4f), C(-0.6f, 0.9f),
                    C(-0.5f, 1e-3f), C(-1.0f, 1e-6f)}) {
    const C got =
        EvaluateOp(kLogPlusOne, {Literal::Scalar(z)}).data<C>()[0];
    const std::complex<double> want =
        std::log(std::complex<double>(1.0 + z.real(), z.imag()));
    EXPECT_LE(std::abs(std::complex<double>(got) - want),
              1e-6 * std::abs(want))
        << z;
  }
}

template <typename C>
C OfComplex(const OpDef& op, C x) {
  return EvaluateOp(op, {Literal::Scalar(x)}).template data<C>()[0];
}

// Where nothing cancels its formula gives the same.
TEST(ElementwiseTest, LogisticOfComplexNumbers) {
  using C = std::complex<double>;
  for (const C z : {C(0.5, 0.75), C(-0.5, 0.75), C(0.9, -2.5), C(-0.9, 2),
                    C(0, 1), C(1.5, 1), C(-1.5, -1)}) {
    const C want = 1.0 / (1.0 + std::exp(-z));
    EXPECT_LT(std::abs(OfComplex(kLogistic, z) - want), 1e-14) << z;
  }
}

TEST(ElementwiseTest, ComplexNumbers) {
  using C = std::complex<float>;
  const C z(3, -4);
  EXPECT_THAT(EvaluateOp(kAbs, {Literal::Scalar(z)}),
              LiteralEquals(Literal::Scalar(5.0f)));
  EXPECT_THAT(EvaluateOp(kReal, {Literal::Scalar(z)}),
              LiteralEquals(Literal::Scalar(3.0f)));
  EXPECT_THAT(EvaluateOp(kImag, {Literal::Scalar(z)}),
              LiteralEquals(Literal::Scalar(-4.0f)));
  EXPECT_EQ(OfComplex(kSign, z), C(0.6f, -0.8f));
  EXPECT_EQ(OfComplex(kSign, C(0)), C(0));
  EXPECT_EQ(OfComplex(kSqrt, C(-4, 0)), C(0, 2));
  EXPECT_LT(std::abs(OfComplex(kExponential, z) - std::exp(z)), 1e-5f);
  EXPECT_LT(std::abs(OfComplex(kLogistic, C(200, 1)) - C(1)), 1e-6f);
  EXPECT_LT(std::abs(OfComplex(kLogistic, C(-200, 1))), 1e-6f);
  EXPECT_LT(std::abs(OfComplex(kLogPlusOne, z) - std::log(C(4, -4))), 1e-5f);
  EXPECT_LT(std::abs(OfComplex(kRsqrt, z) - C(1) / std::sqrt(z)), 1e-6f);
  const Literal two[] = {Literal::Scalar(C(1, 2)), Literal::Scalar(C(3, -1))};
  EXPECT_THAT(EvaluateOp(kMultiply, {two[0], two[1]}),
              LiteralEquals(Literal::Scalar(C(5, 5))));
  EXPECT_THAT(EvaluateOp(kDivide, {Literal::Scalar(C(5, 5)), two[1]}),
              LiteralNear(two[0], Tolerance{.rtol = 1e-6}));
  const Literal zero = Literal::Scalar(C(0));
  EXPECT_THAT(EvaluateOp(kPower, {zero, zero}),
              LiteralEquals(Literal::Scalar(C(1))));
  EXPECT_THAT(EvaluateOp(kPower, {zero, two[0]}), LiteralEquals(zero));
  EXPECT_THAT(EvaluateOp(kComplex, {Literal::Scalar(1.0f),
                                    Literal::Scalar(2.0f)}),
              LiteralEquals(two[0]));
}

// f64 has no wider type to be divided in.
TEST(ElementwiseTest, ComplexQuotientsHoldAtBothEndsOfF64) {
  using C = std::complex<double>;
  const double parts[] = {0, 5e-324, 3e-310, 1, 1e308, 1.7e308};
  std::vector<C> values;
  for (const double re : parts) {
    for (const double im : parts) values.push_back(C(re, -im));
  }
  using Wide = std::complex<long double>;
  for (const C a : values) {
    const Literal x = Literal::Scalar(a);
    for (const C b : values) {
      const C got =
          EvaluateOp(kDivide, {x, Literal::Scalar(b)}).data<C>()[0];
      if (b == C(0)) {
        EXPECT_FALSE(std::isfinite(std::abs(got))) << a << " / " << b;
        continue;
      }
      const Wide want = Wide(a) / Wide(b);
      if (std::abs(want) > 1.7e308L) {
        EXPECT_FALSE(std::isnan(got.real()) || std::isnan(got.imag()))
            << a << " / " << b;
        continue;
      }
      EXPECT_LE(std::abs(Wide(got) - want), 1e-15 * std::abs(want) + 1e-323)
          << a << " / " << b << ": " << got;
    }
  }
}

TEST(ElementwiseTest, BoolLogic) {
  const Literal a = Literal::Vector<bool>({false, false, true, true});
  const Literal b = Literal::Vector<bool>({false, true, false, true});
  auto row = [](bool w, bool x, bool y, bool z) {
    return LiteralEquals(Literal::Vector<bool>({w, x, y, z}));
  };
  EXPECT_THAT(EvaluateOp(kAnd, {a, b}), row(false, false, false, true));
  EXPECT_THAT(EvaluateOp(kMinimum, {a, b}), row(false, false, false, true));
  EXPECT_THAT(EvaluateOp(kOr, {a, b}), row(false, true, true, true));
  EXPECT_THAT(EvaluateOp(kMaximum, {a, b}), row(false, true, true, true));
  EXPECT_THAT(EvaluateOp(kXor, {a, b}), row(false, true, true, false));
  EXPECT_THAT(EvaluateOp(kNot, {a}), row(true, true, false, false));
}

TEST(ElementwiseTest, ClampTakesScalarAndFullBounds) {
  const Literal x = Literal::Vector<float>({-2, 0.5, 7, NAN});
  const Literal want = Literal::Vector<float>({-1, 0.5, 3, NAN});
  const Literal low = Literal::Scalar(-1.0f);
  const Literal high = Literal::Scalar(3.0f);
  EXPECT_THAT(EvaluateOp(kClamp, {low, x, high}), LiteralEquals(want));
  EXPECT_THAT(EvaluateOp(kClamp, {Full(-1.0f, {4}), x, high}),
              LiteralEquals(want));
  EXPECT_THAT(EvaluateOp(kClamp, {low, x, Full(3.0f, {4})}),
              LiteralEquals(want));
  // Where the bounds cross, the upper one holds.
  EXPECT_THAT(EvaluateOp(kClamp, {high, x, low}),
              LiteralEquals(Literal::Vector<float>({-1, -1, -1, NAN})));
}

// Every row runs for every dtype its table claims, on every kind of shape, and
// the element at i depends on the operands' elements at i alone.
TEST(ElementwiseTest, EveryRowForEveryDTypeAndShape) {
  Random random(11);
  const std::vector<Dims> all_dims = {
      {},        {0},         {5},
      {2, 0, 3}, Dims(16, 1), {1, 2, 1, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 2}};
  for (const CpuKernel& kernel : ElementwiseKernels()) {
    Attributes attributes;
    if (kernel.op == &kReducePrecision) {
      attributes = {{"exponent_bits", int64_t{4}},
                    {"mantissa_bits", int64_t{3}}};
    }
    for (DType dtype : AllDTypes()) {
      if (!kernel.op->dtypes.Has(dtype)) continue;
      for (const Dims& dims : all_dims) {
        std::vector<Literal> operands;
        for (int i = 0; i < kernel.op->arity.min; ++i) {
          operands.push_back(RandomLiteral(Shape::Of(dtype, dims), random));
        }
        const Literal all = EvaluateOp(*kernel.op, operands, attributes);
        ASSERT_TRUE(all.shape().SameDims(operands[0].shape()));
        const int64_t width = ByteWidth(dtype);
        const int64_t out = ByteWidth(all.shape().dtype());
        for (int64_t i = 0; i < all.shape().num_elements(); ++i) {
          std::vector<Literal> single;
          for (const Literal& operand : operands) {
            single.push_back(
                *Literal::FromBytes(Shape::Scalar(dtype),
                                    operand.bytes().subspan(i * width, width)));
          }
          const Literal want = EvaluateOp(*kernel.op, single, attributes);
          const Literal got = *Literal::FromBytes(
              want.shape(), all.bytes().subspan(i * out, out));
          ASSERT_THAT(got, LiteralEquals(want))
              << kernel.op->name << " " << all.shape().ToString();
        }
      }
    }
  }
}

TEST(ElementwiseTest, ThreadsDoNotChangeBits) {
  Random random(3);
  const Shape shape = Shape::Of(DType::kF32, {300007});
  const Literal x = RandomLiteral(shape, random);
  const Literal y = RandomLiteral(shape, random);
  for (const OpDef* op : {&kAdd, &kPower, &kMaximum}) {
    const Literal one = EvaluateOp(*op, {x, y});
    EXPECT_THAT(EvaluateOp(*op, {x, y}, {}, {}, {.pool = Threads(4)}),
                LiteralBitEquals(one));
  }
}

TEST(ElementwiseTest, OperandsThatOthersHoldStayAsTheyAre) {
  const Literal x = Literal::Vector<float>({1, 2, 3});
  const Literal copy = Literal::Vector<float>({1, 2, 3});
  EXPECT_THAT(EvaluateOp(kAdd, {x, x}),
              LiteralEquals(Literal::Vector<float>({2, 4, 6})));
  EXPECT_THAT(x, LiteralBitEquals(copy));
}

}  // namespace
}  // namespace hawser::cpu
