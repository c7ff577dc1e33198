#include "core/ops/elementwise/convert.h"

#include <cmath>
#include <complex>
#include <limits>

#include "kernels/cpu/elements/conversion.h"
#include "tests/kernels/cpu/evaluate.h"
#include "tests/testing/matchers.h"
#include "tests/testing/random/random_literal.h"

namespace hawser::cpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename To, typename From>
To Convert(From value) {
  return Cast(Literal::Scalar(value), kDTypeOf<To>).template data<To>()[0];
}

template <typename T>
class ConvertToIntegerTest : public testing::Test {};
using IntegerTypes = testing::Types<uint8_t, uint16_t, uint32_t, uint64_t,
                                    int8_t, int16_t, int32_t, int64_t>;
TYPED_TEST_SUITE(ConvertToIntegerTest, IntegerTypes);

template <typename To, typename From>
void ExpectSaturates() {
  using Limits = std::numeric_limits<To>;
  EXPECT_EQ((Convert<To>(From(kInfinity))), Limits::max());
  EXPECT_EQ((Convert<To>(From(-kInfinity))), Limits::min());
  EXPECT_EQ((Convert<To>(From(NAN))), To{0});
  EXPECT_EQ((Convert<To>(From(2.75))), To{2});
  EXPECT_EQ((Convert<To>(From(-0.75))), To{0});
  EXPECT_EQ((Convert<To>(From(-2.75))),
            Limits::is_signed ? static_cast<To>(-2) : To{0});
}

TYPED_TEST(ConvertToIntegerTest, FromFloatTruncatesAndSaturates) {
  using T = TypeParam;
  ExpectSaturates<T, Half>();
  ExpectSaturates<T, BFloat16>();
  ExpectSaturates<T, float>();
  ExpectSaturates<T, double>();
  // The first number too large, and the one before it.
  const double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
  EXPECT_EQ(Convert<T>(end), std::numeric_limits<T>::max());
  EXPECT_EQ(Convert<T>(static_cast<float>(end)),
            std::numeric_limits<T>::max());
  const double below = std::nextafter(end, 0);
  EXPECT_EQ(Convert<T>(below), static_cast<T>(below));
}

TYPED_TEST(ConvertToIntegerTest, FromIntegerWraps) {
  using T = TypeParam;
  EXPECT_EQ((Convert<T>(int64_t{-1})), static_cast<T>(-1));
  EXPECT_EQ((Convert<T>(uint64_t{0x8182838485868788})),
            static_cast<T>(0x8182838485868788));
  EXPECT_EQ((Convert<T>(true)), T{1});
}

TEST(ConvertTest, ToBoolIsNotZero) {
  EXPECT_FALSE(Convert<bool>(0.0));
  EXPECT_FALSE(Convert<bool>(-0.0f));
  EXPECT_TRUE(Convert<bool>(NAN));
  EXPECT_TRUE(Convert<bool>(0.25f));
  EXPECT_TRUE(Convert<bool>(Half(6e-8f)));
  EXPECT_TRUE(Convert<bool>(int64_t{1} << 40));
  EXPECT_TRUE(Convert<bool>(std::complex<float>(1, 0)));
  // The real part counts.
  EXPECT_FALSE(Convert<bool>(std::complex<float>(0, 1)));
  EXPECT_FALSE(Convert<bool>(std::complex<float>(0, 0)));
}

TEST(ConvertTest, Complex) {
  using C64 = std::complex<float>;
  using C128 = std::complex<double>;
  EXPECT_EQ(Convert<float>(C64(1.5, 2)), 1.5f);
  EXPECT_EQ(Convert<int32_t>(C128(-3.75, 2)), -3);
  EXPECT_EQ(Convert<C64>(int8_t{-3}), C64(-3, 0));
  EXPECT_EQ(Convert<C64>(C128(0.1, 0.2)), C64(0.1f, 0.2f));
  EXPECT_EQ(Convert<C128>(C64(0.5, 0.25)), C128(0.5, 0.25));
  EXPECT_EQ(Convert<C128>(true), C128(1, 0));
}

// 1 + 2^-11 + tiny lies above the middle of two f16, but a float between
// would round it to the middle, and then to even.
TEST(ConvertTest, NarrowingRoundsOnce) {
  const double above = 1 + std::ldexp(1, -11) + std::ldexp(1, -40);
  EXPECT_EQ(Convert<Half>(above).bits, Half(1 + std::ldexp(1, -10)).bits);
  const double below = 1 + 3 * std::ldexp(1, -11) - std::ldexp(1, -40);
  EXPECT_EQ(Convert<Half>(below).bits, Half(1 + std::ldexp(1, -10)).bits);
  const double b = 1 + std::ldexp(1, -8) + std::ldexp(1, -40);
  EXPECT_EQ(Convert<BFloat16>(b).bits, BFloat16(1 + std::ldexp(1, -7)).bits);
  // The same with integers: 2^60 * (1 + 2^-8) + 1.
  const int64_t i = (int64_t{1} << 60) + (int64_t{1} << 52) + 1;
  const float up = std::ldexp(1 + std::ldexp(1, -7), 60);
  EXPECT_EQ(Convert<BFloat16>(i).bits, BFloat16(up).bits);
  EXPECT_EQ(Convert<BFloat16>(-i).bits, BFloat16(-up).bits);
  EXPECT_EQ(Convert<BFloat16>(i - 1).bits,
            BFloat16(std::ldexp(1, 60)).bits);  // a tie goes to even
  EXPECT_EQ(Convert<BFloat16>(static_cast<uint64_t>(i)).bits,
            BFloat16(up).bits);
}

TEST(ConvertTest, ExtremesOfNarrowFloats) {
  EXPECT_EQ(Convert<Half>(65519.99).bits, 0x7BFF);
  EXPECT_EQ(Convert<Half>(65520.0).bits, 0x7C00);
  EXPECT_EQ(Convert<Half>(1e300).bits, 0x7C00);
  EXPECT_EQ(Convert<Half>(-1e300).bits, 0xFC00);
  EXPECT_EQ(Convert<Half>(1e-300).bits, 0);
  EXPECT_EQ(Convert<Half>(std::numeric_limits<uint64_t>::max()).bits, 0x7C00);
  EXPECT_EQ(Convert<Half>(std::ldexp(1.0, -24)).bits, 1);
  EXPECT_EQ(Convert<Half>(std::ldexp(1.0, -25)).bits, 0);  // tie to even
  EXPECT_EQ(Convert<Half>(std::ldexp(1.0001, -25)).bits, 1);
  EXPECT_EQ(Convert<BFloat16>(3.4e38).bits, 0x7F80);
  EXPECT_TRUE(std::isnan(static_cast<float>(Convert<Half>(double{NAN}))));
}

TEST(ConvertTest, StickyDoubleKeepsTheSideOfEveryInteger) {
  for (int64_t base : {int64_t{1} << 54, int64_t{1} << 62,
                       std::numeric_limits<int64_t>::min() + 4096}) {
    EXPECT_LT(StickyDouble(base - 1), StickyDouble(base));
    EXPECT_LT(StickyDouble(base), StickyDouble(base + 1));
  }
  EXPECT_EQ(StickyDouble(std::numeric_limits<int64_t>::min()),
            -std::ldexp(1.0, 63));
  EXPECT_EQ(StickyDouble(int64_t{-5}), -5.0);
}

TEST(ConvertTest, EveryPairRuns) {
  Random random(8);
  for (DType from : AllDTypes()) {
    const Literal x = RandomLiteral(Shape::Of(from, {3, 5}), random);
    for (DType to : AllDTypes()) {
      const Literal y = Cast(x, to);
      EXPECT_EQ(y.shape(), x.shape().WithDType(to));
      if (from == to) {
        EXPECT_THAT(y, LiteralBitEquals(x));
      }
    }
  }
}

TEST(BitcastConvertTest, KeepsBits) {
  const Literal x = Literal::Vector<float>({1.0f, -0.0f});
  EXPECT_THAT(EvaluateOp(kBitcastConvert, {x}, {{"dtype", DType::kU32}}),
              LiteralEquals(Literal::Vector<uint32_t>(
                  {0x3F800000u, 0x80000000u})));
  const Literal bits = Literal::Vector<int16_t>({0x7E01, 0x3C00});
  const Literal half =
      EvaluateOp(kBitcastConvert, {bits}, {{"dtype", DType::kF16}});
  EXPECT_THAT(EvaluateOp(kBitcastConvert, {half}, {{"dtype", DType::kS16}}),
              LiteralBitEquals(bits));
}

// Of a size that several blocks of whole bytes make.
TEST(BitcastConvertTest, BitsThereAndBack) {
  Random random(3);
  const Literal x = RandomLiteral(Shape::Of(DType::kU16, {40001, 1}), random);
  const Literal bits =
      EvaluateOp(kBitcastConvert, {x}, {{"dtype", DType::kBool}});
  EXPECT_EQ(bits.shape(), Shape::Of(DType::kBool, {40001, 1, 16}));
  EXPECT_OK(CheckBytes(bits.shape(), bits.bytes()));
  EXPECT_THAT(EvaluateOp(kBitcastConvert, {bits}, {{"dtype", DType::kU16}}),
              LiteralBitEquals(x));
}

}  // namespace
}  // namespace hawser::cpu
