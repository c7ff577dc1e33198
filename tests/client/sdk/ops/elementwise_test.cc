#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>

#include "tests/client/sdk/values.h"

namespace hawser {
namespace {

using absl::StatusCode;
using C = std::complex<float>;

Literal I(std::initializer_list<int32_t> v) {
  return Literal::Vector<int32_t>(v);
}
Literal B(std::initializer_list<bool> v) { return Literal::Vector<bool>(v); }

TEST(Elementwise, UnaryKeepsTheDType) {
  EXPECT_VALUE(-T1<float>({1, -2}), F({-1, 2}));
  EXPECT_VALUE(-T1<uint8_t>({1, 0}), Literal::Vector<uint8_t>({255, 0}));
  EXPECT_VALUE(Abs(T1<int8_t>({-3, -128})),
               Literal::Vector<int8_t>({3, -128}));
  EXPECT_VALUE(Abs(T1<C>({{3, 4}})), F({5}));
  EXPECT_VALUE(Sign(T1<float>({-2, 0, 3, kNan})), F({-1, 0, 1, kNan}));
  EXPECT_VALUE(Square(T1<int32_t>({-3})), I({9}));
  EXPECT_VALUE(Square(T1<bool>({true})), Literal::Vector<uint8_t>({1}));
  EXPECT_VALUE(BitwiseNot(T1<uint8_t>({0, 255})),
               Literal::Vector<uint8_t>({255, 0}));
  EXPECT_VALUE(BitwiseNot(T1<bool>({true, false})), B({false, true}));
}

TEST(Elementwise, Rounding) {
  const auto x = T1<float>({-2.5f, -0.5f, 0.5f, 1.5f, 2.4f, kInf});
  EXPECT_VALUE(Floor(x), F({-3, -1, 0, 1, 2, kInf}));
  EXPECT_VALUE(Ceil(x), F({-2, -0.0f, 1, 2, 3, kInf}));
  EXPECT_VALUE(RoundEven(x), F({-2, -0.0f, 0, 2, 2, kInf}));
  EXPECT_VALUE(Round(x), F({-3, -1, 1, 2, 2, kInf}));
  // The largest float below a half must not become 1, big ones must not move.
  EXPECT_VALUE(Round(T1<float>({0.49999997f, 8388609.0f, -kInf, kNan})),
               F({0, 8388609.0f, -kInf, kNan}));
  EXPECT_VALUE(Round(T1<int32_t>({3})), I({3}));
  EXPECT_VALUE(Floor(T1<uint8_t>({3})), Literal::Vector<uint8_t>({3}));
}

TEST(Elementwise, CountsAndPrecisions) {
  EXPECT_VALUE(PopulationCount(T1<int8_t>({-1, 5, 0})),
               Literal::Vector<int8_t>({8, 2, 0}));
  EXPECT_VALUE(CountLeadingZeros(T1<uint16_t>({0, 1, 40000})),
               Literal::Vector<uint16_t>({16, 15, 0}));
  EXPECT_VALUE(ReducePrecision(T1<float>({1.0009765625f, 70000, 1e-6f}), 5, 7),
               F({1, kInf, 0}));
  EXPECT_VALUE(Bitcast(T1<float>({1, -2}), DType::kU16),
               Literal::Of<uint16_t>({0, 0x3F80, 0, 0xC000}, {2, 2}));
  EXPECT_VALUE(Bitcast(Bitcast(T1<double>({0.1}), DType::kBool), DType::kF64),
               Literal::Vector<double>({0.1}));
  EXPECT_VALUE(NextAfter(T1<float>({1, -1, 0, kInf}), 0),
               F({std::nextafterf(1, 0), std::nextafterf(-1, 0), 0,
                  std::numeric_limits<float>::max()}));
  EXPECT_VALUE(NextAfter(0.0f, T1<float>({-1, kNan})),
               F({-std::numeric_limits<float>::denorm_min(), kNan}));
  EXPECT_EQ(NextAfter(T1<Half>({Half(1.0f)}), 2).dtype(), DType::kF16);
}

// Not the real part alone.
TEST(Elementwise, ComplexNumbersAreTrueUnlessZero) {
  const auto z = T1<C>({{0, 0}, {0, 1}, {1, 0}});
  EXPECT_VALUE(Convert(z, DType::kBool), B({false, true, true}));
  EXPECT_VALUE(LogicalNot(z), B({true, false, false}));
  EXPECT_VALUE(LogicalAnd(z, true), B({false, true, true}));
}

TEST(Elementwise, UnaryMakesIntegersF32) {
  EXPECT_NEAR_VALUE(Exp(T1<int32_t>({0, 1})), 1e-6, F({1, std::exp(1.0f)}));
  EXPECT_NEAR_VALUE(Log(T1<float>({1, 10})), 1e-6, F({0, std::log(10.0f)}));
  EXPECT_VALUE(Log(T1<float>({0, -1})), F({-kInf, kNan}));
  EXPECT_NEAR_VALUE(Expm1(T1<float>({1e-8f})), 1e-6, F({1e-8f}));
  EXPECT_NEAR_VALUE(Log1p(T1<float>({1e-8f})), 1e-6, F({1e-8f}));
  EXPECT_VALUE(Sqrt(T1<uint8_t>({4, 9})), F({2, 3}));
  EXPECT_VALUE(Rsqrt(T1<float>({4})), F({0.5f}));
  EXPECT_NEAR_VALUE(Cbrt(T1<int32_t>({-8, 27})), 1e-6, F({-2, 3}));
  EXPECT_NEAR_VALUE(Log(T1<int32_t>({8, 1}), 2), 1e-6, F({3, 0}));
  EXPECT_NEAR_VALUE(Log(T1<double>({81}), T1<double>({3})), 4e-16,
                    Literal::Vector<double>({4}));
  EXPECT_VALUE(Sigmoid(T1<float>({0, -kInf, kInf})), F({0.5f, 0, 1}));
  EXPECT_NEAR_VALUE(Tanh(T1<float>({1})), 1e-6, F({std::tanh(1.0f)}));
  EXPECT_NEAR_VALUE(Sin(T1<float>({1})), 1e-6, F({std::sin(1.0f)}));
  EXPECT_NEAR_VALUE(Cos(T1<bool>({true})), 1e-6, F({std::cos(1.0f)}));
  EXPECT_EQ(Exp(T1<Half>({Half(1.0f)})).dtype(), DType::kF16);
  EXPECT_VALUE(Real(T1<C>({{3, 4}})), F({3}));
  EXPECT_VALUE(Imag(T1<C>({{3, 4}})), F({4}));
  EXPECT_VALUE(Imag(T1<int32_t>({3})), F({0}));
  EXPECT_VALUE(Exp(0), Literal::Scalar<float>(1));
}

TEST(Elementwise, Predicates) {
  const auto x = T1<float>({1, kNan, -kInf});
  EXPECT_VALUE(IsNan(x), B({false, true, false}));
  EXPECT_VALUE(IsFinite(x), B({true, false, false}));
  EXPECT_VALUE(IsFinite(T1<C>({{1, kInf}, {1, 1}})), B({false, true}));
  EXPECT_VALUE(IsFinite(T1<int32_t>({1})), B({true}));
  EXPECT_VALUE(LogicalNot(T1<float>({0, 2, kNan})), B({true, false, false}));
}

TEST(Elementwise, Arithmetic) {
  const auto a = T1<int32_t>({7, -7}), b = T1<int32_t>({2, 2});
  EXPECT_VALUE(a + b, I({9, -5}));
  EXPECT_VALUE(a - b, I({5, -9}));
  EXPECT_VALUE(a * b, I({14, -14}));
  EXPECT_VALUE(a / b, F({3.5f, -3.5f}));
  EXPECT_VALUE(Quotient(a, b), I({3, -3}));
  EXPECT_VALUE(Remainder(a, b), I({1, -1}));
  EXPECT_VALUE(Quotient(a, 0), I({-1, -1}));
  EXPECT_VALUE(Remainder(a, 0), I({7, -7}));
  EXPECT_VALUE(Power(a, 2), I({49, 49}));
  EXPECT_VALUE(Power(b, -1), I({0, 0}));
  EXPECT_VALUE(Maximum(a, b), I({7, 2}));
  EXPECT_VALUE(Minimum(a, 0), I({0, -7}));
  EXPECT_VALUE(Maximum(T1<float>({kNan, 1}), 5), F({kNan, 5}));
  EXPECT_NEAR_VALUE(Atan2(T1<int32_t>({1}), 1), 1e-6, F({std::atan2(1.f, 1.f)}));
  EXPECT_VALUE(Complex(T1<float>({1}), 2.0f), Literal::Vector<C>({{1, 2}}));
  EXPECT_VALUE(T1<uint8_t>({200}) + T1<uint8_t>({100}),
               Literal::Vector<uint8_t>({44}));
  EXPECT_THAT(Quotient(a, 0.5).status(),
              StatusIs(StatusCode::kInvalidArgument, "takes integers, not f32"));
}

TEST(Elementwise, CompoundOperators) {
  Tensor x = T1<float>({1, 2});
  x += 1;
  x *= T1<float>({2, 3});
  x -= 0.5;
  x /= 2;
  EXPECT_VALUE(x, F({1.75f, 4.25f}));
}

TEST(Elementwise, PromotesTensorsAndKeepsNumbersWeak) {
  EXPECT_EQ((T1<uint8_t>({1}) + T1<int8_t>({1})).dtype(), DType::kS16);
  EXPECT_EQ((T1<int64_t>({1}) + T1<Half>({Half(1.f)})).dtype(), DType::kF16);
  EXPECT_EQ((T1<BFloat16>({BFloat16(1.f)}) + 1.0).dtype(), DType::kBF16);
  EXPECT_EQ((T1<uint8_t>({1}) + 1).dtype(), DType::kU8);
  EXPECT_EQ((T1<uint8_t>({1}) + 1.5).dtype(), DType::kF32);
  EXPECT_EQ((1.5 + T1<double>({1})).dtype(), DType::kF64);
  EXPECT_EQ((T1<bool>({true}) + T1<bool>({true})).dtype(), DType::kU8);
  EXPECT_EQ((T1<float>({1}) + C(0, 1)).dtype(), DType::kC64);
  EXPECT_EQ(Add(1, 2).dtype(), DType::kS32);
  EXPECT_EQ(Add(1, 2.5).dtype(), DType::kF32);
  EXPECT_VALUE(T1<bool>({true, false}) + T1<bool>({true, true}),
               Literal::Vector<uint8_t>({2, 1}));
  EXPECT_EQ(Maximum(T1<bool>({true}), T1<bool>({true})).dtype(), DType::kBool);
}

TEST(Elementwise, Broadcasts) {
  const auto column = TN<int32_t>({10, 20}, {2, 1});
  EXPECT_VALUE(column + T1<int32_t>({1, 2, 3}),
               Literal::Of<int32_t>({11, 12, 13, 21, 22, 23}, {2, 3}));
  EXPECT_VALUE(Scalar(1) + T1<int32_t>({}), Literal::Vector<int32_t>({}));
  EXPECT_EQ((column + Zeros(DType::kS32, {4, 1, 3})).shape(),
            Shape::Of(DType::kS32, {4, 2, 3}));
}

TEST(Elementwise, Bits) {
  const auto a = T1<uint8_t>({0b1100}), b = T1<uint8_t>({0b1010});
  EXPECT_VALUE(BitwiseAnd(a, b), Literal::Vector<uint8_t>({0b1000}));
  EXPECT_VALUE(BitwiseOr(a, b), Literal::Vector<uint8_t>({0b1110}));
  EXPECT_VALUE(BitwiseXor(a, b), Literal::Vector<uint8_t>({0b0110}));
  EXPECT_VALUE(LeftShift(a, 5), Literal::Vector<uint8_t>({0b10000000}));
  EXPECT_VALUE(RightShift(T1<int8_t>({-8}), 1), Literal::Vector<int8_t>({-4}));
  EXPECT_VALUE(RightShift(T1<uint8_t>({248}), 1),
               Literal::Vector<uint8_t>({124}));
  EXPECT_VALUE(RightShiftLogical(T1<int8_t>({-8}), 1),
               Literal::Vector<int8_t>({124}));
  EXPECT_VALUE(LeftShift(a, 8), Literal::Vector<uint8_t>({0}));
  EXPECT_FALSE(BitwiseAnd(T1<float>({1}), 1.0).status().ok());
  const auto p = T1<float>({0, 2}), q = T1<float>({3, 0});
  EXPECT_VALUE(LogicalAnd(p, q), B({false, false}));
  EXPECT_VALUE(LogicalOr(p, 0.5), B({true, true}));
  EXPECT_VALUE(LogicalXor(p, T1<int32_t>({7, 7})), B({true, false}));
}

TEST(Elementwise, Clips) {
  const auto x = T1<int32_t>({-5, 0, 5});
  EXPECT_VALUE(Clip(x, -1, 2), I({-1, 0, 2}));
  EXPECT_VALUE(Clip(x, 3, 1), I({1, 1, 1}));  // high wins
  EXPECT_VALUE(Clip(x, T1<int32_t>({0, 1, 2}), 9), I({0, 1, 5}));
  EXPECT_EQ(Clip(T1<uint8_t>({1}), 2, 5).dtype(), DType::kU8);
  EXPECT_VALUE(Clip(x, 0.5, 2), F({0.5f, 0.5f, 2}));
  EXPECT_VALUE(Clip(Scalar(7), T1<int32_t>({0, 1}), T1<int32_t>({2, 9})),
               I({2, 7}));
}

TEST(Elementwise, Converts) {
  EXPECT_VALUE(Convert(T1<float>({1.9f, -1.9f, kNan, 1e30f}), DType::kS32),
               I({1, -1, 0, INT32_MAX}));
  EXPECT_VALUE(Convert(T1<int32_t>({300}), DType::kU8),
               Literal::Vector<uint8_t>({44}));
  EXPECT_VALUE(Convert(T1<float>({0, 0.5f}), DType::kBool), B({false, true}));
  EXPECT_VALUE(Bitcast(T1<float>({1}), DType::kS32), I({0x3F800000}));
  EXPECT_FALSE(Bitcast(T1<float>({1}), DType::kS64).status().ok());
}

TEST(Compare, GivesBool) {
  const auto a = T1<int32_t>({1, 2, 3});
  EXPECT_VALUE(Eq(a, 2), B({false, true, false}));
  EXPECT_VALUE(Ne(a, 2), B({true, false, true}));
  EXPECT_VALUE(Lt(a, 2), B({true, false, false}));
  EXPECT_VALUE(Le(a, 2), B({true, true, false}));
  EXPECT_VALUE(Gt(2.5, a), B({true, true, false}));
  EXPECT_VALUE(Ge(a, T1<uint8_t>({2, 2, 2})), B({false, true, true}));
  EXPECT_VALUE(Eq(T1<float>({kNan, -0.0f}), T1<float>({kNan, 0})),
               B({false, true}));
  EXPECT_VALUE(Ne(T1<float>({kNan}), kNan), B({true}));
  EXPECT_FALSE(Lt(T1<C>({{1, 2}}), 1).status().ok());
}

TEST(Compare, SelectBroadcastsAndPromotes) {
  const auto p = T1<bool>({true, false});
  EXPECT_VALUE(Select(p, T1<int32_t>({1, 2}), -1), I({1, -1}));
  EXPECT_VALUE(Select(p, 1.5, T1<int32_t>({7, 8})), F({1.5f, 8}));
  EXPECT_VALUE(Select(true, T1<int32_t>({1, 2}), 0), I({1, 2}));
  EXPECT_VALUE(Select(T1<float>({0, kNan}), 1, 2), I({2, 1}));
  EXPECT_VALUE(Select(p, TN<int32_t>({1, 2}, {2, 1}), 0),
               Literal::Of<int32_t>({1, 0, 2, 0}, {2, 2}));
}

}  // namespace
}  // namespace hawser
