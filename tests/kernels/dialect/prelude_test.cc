// The prelude's functions against what the same ops mean on the CPU.
#define HK_HOST 1
#include "kernels/dialect/prelude.cuh"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "core/base/values/dtype.h"
#include "core/ir/attributes.h"
#include "kernels/cpu/elements/arithmetic.h"
#include "kernels/cpu/elements/conversion.h"
#include "kernels/cpu/elements/precision.h"
#include "kernels/dialect/bits.cuh"
#include "kernels/dialect/complex.cuh"
#include "kernels/dialect/powers.cuh"
#include "kernels/dialect/reduce.cuh"

namespace hawser {
namespace {

template <typename... T>
struct TypeList {};
using Integers = TypeList<uint8_t, uint16_t, uint32_t, uint64_t, int8_t,
                          int16_t, int32_t, int64_t>;
using Reals = TypeList<float, double>;
using Everything =
    TypeList<bool, uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t,
             int32_t, int64_t, Half, BFloat16, float, double>;

template <typename Fn, typename... T>
void ForEach(TypeList<T...>, Fn fn) {
  (fn(TypeTag<T>{}), ...);
}

// The prelude's name of a type, and values of it from and to.
template <typename T>
using Inner = std::conditional_t<
    std::is_same_v<T, Half>, hk::f16,
    std::conditional_t<
        std::is_same_v<T, BFloat16>, hk::bf16,
        std::conditional_t<
            std::is_same_v<T, int64_t>, hk::s64,
            std::conditional_t<std::is_same_v<T, uint64_t>, hk::u64, T>>>>;
template <typename To, typename From>
To Same(From x) {
  if constexpr (sizeof(To) == sizeof(From)) return std::bit_cast<To>(x);
}
template <typename T>
T Outer(Inner<T> x) {
  return Same<T>(x);
}

// Equal bits, or NaN both.
template <typename T>
bool Equal(T a, T b) {
  using C = ComputeType<T>;
  if (static_cast<C>(a) != static_cast<C>(a)) {
    return static_cast<C>(b) != static_cast<C>(b);
  }
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// Edges, their neighbours, and random ones.
template <typename T>
std::vector<T> Values() {
  std::mt19937_64 random(11);
  if constexpr (std::is_same_v<T, bool>) {
    return {false, true};
  } else if constexpr (std::is_integral_v<T>) {
    std::vector<T> v;
    for (int bit = 0; bit < 64; ++bit) {
      for (const int64_t step : {-1, 0, 1}) {
        v.push_back(static_cast<T>((uint64_t{1} << bit) + step));
        v.push_back(static_cast<T>(~(uint64_t{1} << bit) + step));
      }
    }
    for (int i = 0; i < 50; ++i) v.push_back(static_cast<T>(random()));
    return v;
  } else {
    std::vector<T> v;
    for (const double x :
         {0.0, -0.0, 0.5, 1.0, 1.5, 2.5, 1e-7, 65504.0, 65520.0, 1e9, 3e38,
          1e-45, 125.0, 126.0, 127.5, 252.0, 255.9, 2147483648.0, 4294967296.0, 9.3e18, 1.9e19,
          std::numeric_limits<double>::infinity()}) {
      v.push_back(T(static_cast<ComputeType<T>>(x)));
      v.push_back(T(static_cast<ComputeType<T>>(-x)));
    }
    v.push_back(T(std::numeric_limits<ComputeType<T>>::quiet_NaN()));
    std::uniform_real_distribution<double> exponent(-30, 30);
    for (int i = 0; i < 200; ++i) {
      const double x = std::exp2(exponent(random));
      v.push_back(T(static_cast<ComputeType<T>>(i % 2 == 0 ? x : -x)));
    }
    return v;
  }
}

// What lies halfway between two numbers of 8, 11 or 24 bits, and beside it.
template <typename T>
std::vector<T> Ties() {
  std::vector<T> v;
  if constexpr (std::is_integral_v<T> && sizeof(T) > 2) {
    for (int bit = 8; bit < static_cast<int>(8 * sizeof(T)) - 1; ++bit) {
      for (const int digits : {8, 11, 24}) {
        if (bit < digits) continue;
        const T tie = (T{1} << bit) + (T{1} << (bit - digits));
        for (const int step : {-1, 0, 1}) {
          v.push_back(tie + step);
          v.push_back(T{0} - tie + step);
        }
      }
    }
  }
  return v;
}

template <typename T, typename Ours, typename Theirs>
void CompareBinary(const char* name, Ours ours, Theirs theirs) {
  for (const T a : Values<T>()) {
    for (const T b : Values<T>()) {
      const T x = Outer<T>(ours(Same<Inner<T>>(a), Same<Inner<T>>(b)));
      const T y = theirs(a, b);
      ASSERT_TRUE(Equal(x, y)) << name << " " << DTypeName(kDTypeOf<T>) << " "
                               << +a << ", " << +b << ": " << +x << ", not "
                               << +y;
    }
  }
}
#define COMPARE_BINARY(T, name, meaning)                             \
  CompareBinary<T>(                                                  \
      #name, [](auto a, auto b) { return hk::name(a, b); },          \
      [](T a, T b) { return cpu::meaning::Apply(a, b); })

TEST(Prelude, IntegersHaveTheHousesCorners) {
  ForEach(Integers(), [](auto tag) {
    using T = typename decltype(tag)::type;
    COMPARE_BINARY(T, Add, Add);
    COMPARE_BINARY(T, Subtract, Subtract);
    COMPARE_BINARY(T, Multiply, Multiply);
    COMPARE_BINARY(T, Divide, Divide);
    COMPARE_BINARY(T, Remainder, Remainder);
    COMPARE_BINARY(T, Power, Power);
    COMPARE_BINARY(T, Max, Maximum);
    COMPARE_BINARY(T, Min, Minimum);
    COMPARE_BINARY(T, ShiftLeft, ShiftLeft);
    COMPARE_BINARY(T, ShiftRightLogical, ShiftRightLogical);
    COMPARE_BINARY(T, ShiftRightArithmetic, ShiftRightArithmetic);
  });
}

TEST(Prelude, RealArithmeticIsBitEqual) {
  ForEach(Reals(), [](auto tag) {
    using T = typename decltype(tag)::type;
    COMPARE_BINARY(T, Add, Add);
    COMPARE_BINARY(T, Subtract, Subtract);
    COMPARE_BINARY(T, Multiply, Multiply);
    COMPARE_BINARY(T, Divide, Divide);
    COMPARE_BINARY(T, Remainder, Remainder);
    COMPARE_BINARY(T, Max, Maximum);
    COMPARE_BINARY(T, Min, Minimum);
  });
}

TEST(Prelude, EveryConversionIsTheCpus) {
  ForEach(Everything(), [](auto from_tag) {
    using From = typename decltype(from_tag)::type;
    ForEach(Everything(), [](auto to_tag) {
      using To = typename decltype(to_tag)::type;
      std::vector<From> values = Values<From>();
      for (const From x : Ties<From>()) values.push_back(x);
      for (const From x : values) {
        const To ours =
            Outer<To>(hk::Convert<Inner<To>>(Same<Inner<From>>(x)));
        const To theirs = cpu::ConvertElement<To>(x);
        ASSERT_TRUE(Equal(ours, theirs))
            << DTypeName(kDTypeOf<From>) << " to " << DTypeName(kDTypeOf<To>)
            << " of " << +x << ": " << +ours << ", not " << +theirs;
      }
    });
  });
}

TEST(Prelude, EveryHalfIsReadAndWrittenBack) {
  for (uint32_t i = 0; i < 65536; ++i) {
    const uint16_t bits = static_cast<uint16_t>(i);
    const float x = hk::HalfToFloat({bits});
    ASSERT_TRUE(Equal(x, static_cast<float>(Half::FromBits(bits)))) << i;
    ASSERT_TRUE(Equal(Half::FromBits(hk::FloatToHalf(x).bits),
                      Half::FromBits(bits)))
        << i;
  }
}

TEST(Prelude, HalvesRoundToNearestEvenEverywhere) {
  std::mt19937 random(5);
  for (int i = 0; i < 500000; ++i) {
    uint32_t bits = static_cast<uint32_t>(random());
    // Ties and their neighbours, of either type.
    if (i % 3 == 1) bits = (bits & ~0x1fffu) | (0x1000u + i % 5 - 2);
    if (i % 3 == 2) bits = (bits & ~0xffffu) | (0x8000u + i % 5 - 2);
    const float x = std::bit_cast<float>(bits);
    ASSERT_TRUE(Equal(Half::FromBits(hk::FloatToHalf(x).bits), Half(x))) << x;
    ASSERT_TRUE(Equal(BFloat16::FromBits(hk::FloatToBrain(x).bits),
                      BFloat16(x)))
        << x;
  }
}

TEST(Prelude, FunctionsOfOneNumber) {
  ForEach(Reals(), [](auto tag) {
    using T = typename decltype(tag)::type;
    for (const T x : Values<T>()) {
      EXPECT_TRUE(Equal(hk::Negate(x), -x));
      EXPECT_TRUE(Equal(hk::Abs(x), std::abs(x)));
      EXPECT_TRUE(Equal(hk::Sign(x), x > 0 ? T{1} : x < 0 ? T{-1} : x)) << x;
      EXPECT_TRUE(Equal(hk::Floor(x), std::floor(x)));
      EXPECT_TRUE(Equal(hk::Ceil(x), std::ceil(x)));
      EXPECT_TRUE(Equal(hk::RoundEven(x), std::rint(x)));
      EXPECT_TRUE(Equal(hk::Sqrt(x), std::sqrt(x)));
      EXPECT_EQ(hk::IsFinite(x), std::isfinite(x));
    }
    EXPECT_EQ(hk::Logistic(T{0}), T{0.5});
    EXPECT_EQ(hk::Logistic(T{-1e30f}), T{0});
    EXPECT_EQ(hk::Logistic(T{1e30f}), T{1});
  });
  EXPECT_EQ(hk::Abs(std::numeric_limits<int32_t>::min()),
            std::numeric_limits<int32_t>::min());
  EXPECT_EQ(hk::Sign(int8_t{-128}), -1);
}

TEST(Prelude, ComplexRootsKeepTheSideOfTheBranchCut) {
  for (const float im : {0.0f, -0.0f, 1.0f, -1.0f}) {
    for (const float re : {-4.0f, -0.0f, 0.0f, 4.0f}) {
      const auto got = hk::Sqrt(hk::Complex<float>{re, im});
      const std::complex<float> want = std::sqrt(std::complex<float>(re, im));
      EXPECT_FLOAT_EQ(got.re, want.real()) << re << " " << im;
      EXPECT_FLOAT_EQ(got.im, want.imag()) << re << " " << im;
      EXPECT_EQ(std::signbit(got.im), std::signbit(im)) << re << " " << im;
    }
  }
}

// ---- complex numbers

using Wide = std::complex<long double>;
using C64 = hk::Complex<float>;
using C128 = hk::Complex<double>;

// Parts of all sizes, where one cancels the other and where squares overflow.
template <typename T>
std::vector<hk::Complex<T>> ComplexValues(double largest) {
  std::vector<T> parts;
  for (const double x : {0.0, 1e-12, 1e-5, 0.01, 0.3, 0.5, 0.7, 0.999, 1.0,
                         1.001, 1.5, 2.0, 3.0, 7.9, 8.1, 20.0, 60.0, 1e5,
                         1e19, 1e30}) {
    if (x > largest) break;
    parts.push_back(static_cast<T>(x));
    parts.push_back(static_cast<T>(-x));
  }
  std::vector<hk::Complex<T>> values;
  for (const T re : parts) {
    for (const T im : parts) values.push_back({re, im});
  }
  return values;
}

template <typename T>
Wide WideOf(hk::Complex<T> z) {
  return {z.re, z.im};
}

// Within a few units in the last place of the magnitude of what `name` is at
// `z`.
template <typename T>
void ExpectNear(const char* name, hk::Complex<T> z, hk::Complex<T> got,
                Wide want, double units = 8) {
  const long double allowed =
      units * (std::numeric_limits<T>::epsilon() * std::abs(want) +
               std::numeric_limits<T>::denorm_min());
  EXPECT_LE(std::abs(WideOf(got) - want), allowed)
      << name << " of " << z.re << " + " << z.im << "i: " << got.re << " + "
      << got.im << "i, not " << want.real() << " + " << want.imag() << "i";
}

#define EXPECT_FUNCTION(T, name, largest, want)                        \
  for (const hk::Complex<T> at : ComplexValues<T>(largest)) {          \
    const Wide z = WideOf(at);                                         \
    ExpectNear(#name, at, hk::name(at), want);                         \
  }

TEST(Prelude, ComplexFunctionsAreGoodToAFewUnits) {
  ForEach(Reals(), [](auto tag) {
    using T = typename decltype(tag)::type;
    EXPECT_FUNCTION(T, Exp, 60, std::exp(z));
    EXPECT_FUNCTION(T, Sin, 60, std::sin(z));
    EXPECT_FUNCTION(T, Cos, 60, std::cos(z));
    EXPECT_FUNCTION(T, Tanh, 20, std::tanh(z));
    EXPECT_FUNCTION(T, Sqrt, 1e30, std::sqrt(z));
    for (const hk::Complex<T> at : ComplexValues<T>(60)) {
      const Wide z = WideOf(at);
      if (at.re == 0 && at.im == 0) continue;
      ExpectNear("Log", at, hk::Log(at), std::log(z));
      ExpectNear("Rsqrt", at, hk::Rsqrt(at), Wide(1) / std::sqrt(z));
      ExpectNear("Sign", at, hk::Sign(at), z / std::abs(z));
    }
    EXPECT_FUNCTION(T, Logistic, 20, Wide(1) / (Wide(1) + std::exp(-z)));
    const hk::Complex<T> up = {1000, 1}, down = {-1000, 1};
    ExpectNear("Logistic", up, hk::Logistic(up), Wide(1));
    ExpectNear("Logistic", down, hk::Logistic(down), Wide(0));
    ExpectNear("Tanh", up, hk::Tanh(up), Wide(1));
    ExpectNear("Tanh", down, hk::Tanh(down), Wide(-1));
    const T infinity = std::numeric_limits<T>::infinity();
    EXPECT_EQ(hk::Expm1(hk::Complex<T>{1000, 0}),
              (hk::Complex<T>{infinity, 0}));
    EXPECT_EQ(hk::Sinh(T{1000}), infinity);
    EXPECT_EQ(hk::Cosh(T{-1000}), infinity);
  });
}

// Of what is near 0 no digits are lost: the wide sums have more than enough.
TEST(Prelude, ComplexFunctionsKeepTheirDigitsNearZero) {
  EXPECT_FUNCTION(float, Expm1, 20, std::exp(z) - Wide(1));
  for (const C64 at : ComplexValues<float>(1e30)) {
    if (at.re == -1 && at.im == 0) continue;
    ExpectNear("Log1p", at, hk::Log1p(at),
               std::log(Wide(1 + static_cast<long double>(at.re), at.im)), 16);
  }
  for (const float x : {0.0f, 1e-12f, 1e-5f, 0.3f, 0.7f, 1.0f, 5.0f, 60.0f}) {
    for (const float y : {x, -x}) {
      EXPECT_NEAR(hk::Sinh(y), std::sinh(y), 4e-7 * std::abs(std::sinh(y)));
      EXPECT_EQ(std::signbit(hk::Sinh(y)), std::signbit(y));
      EXPECT_NEAR(hk::Cosh(y), std::cosh(y), 4e-7 * std::cosh(y));
    }
  }
}

TEST(Prelude, ComplexArithmeticKeepsItsMagnitude) {
  std::vector<C64> values;
  for (const float re : {0.0f, 0.3f, -1.0f, 7.0f, -1e19f}) {
    for (const float im : {0.0f, -0.3f, 1.0f, -5.0f, 1e19f}) {
      values.push_back({re, im});
    }
  }
  for (const C64 a : values) {
    for (const C64 b : values) {
      const Wide x = WideOf(a), y = WideOf(b);
      ExpectNear("sum", b, hk::Add(a, b), x + y, 1);
      ExpectNear("difference", b, hk::Subtract(a, b), x - y, 1);
      if (std::abs(x * y) < 1e37L) {
        ExpectNear("product", b, hk::Multiply(a, b), x * y);
      }
      if (b.re != 0 || b.im != 0) {
        ExpectNear("quotient", b, hk::Divide(a, b), x / y);
      }
    }
    EXPECT_EQ(hk::Negate(a), (C64{-a.re, -a.im}));
    EXPECT_EQ(hk::Real(a), a.re);
    EXPECT_EQ(hk::Imag(a), a.im);
    EXPECT_NEAR(hk::Abs(a), std::abs(WideOf(a)),
                2e-7 * static_cast<double>(std::abs(WideOf(a))));
  }
  EXPECT_EQ(hk::Sign(C64{0, -0.0f}), C64{});
  // The CPU's zero: parts of one size are divided by the real one.
  const C64 i = hk::Divide(C64{1, 1}, C64{1, -1});
  EXPECT_EQ(i, (C64{0, 1}));
  EXPECT_FALSE(std::signbit(i.re));
}

TEST(Prelude, ComplexExponentsAreThoseOfTheLargerPart) {
  ForEach(Reals(), [](auto tag) {
    using T = typename decltype(tag)::type;
    using C = hk::Complex<T>;
    constexpr T kMax = std::numeric_limits<T>::max();
    constexpr T kMin = std::numeric_limits<T>::min();
    constexpr int kMost = std::numeric_limits<T>::max_exponent - 2;
    const struct {
      C z;
      int exponent;
    } cases[] = {{{1, 0}, 0},          {{-4, 3}, 2},
                 {{3, -4}, 2},         {{T(0.75), T(0.5)}, -1},
                 {{kMax, 1}, kMost},   {{0, kMax / 4}, kMost - 1},
                 {{kMin, 0}, -kMost},  {{kMin / 8, 0}, -kMost},
                 {{0, 2 * kMin}, 1 - kMost}};
    for (const auto& c : cases) {
      EXPECT_EQ(hk::Exponent(c.z), c.exponent) << c.z.re << " " << c.z.im;
      EXPECT_EQ(hk::TwoTo<T>(c.exponent), std::ldexp(T{1}, c.exponent));
    }
  });
}

// Magnitudes and squares that are beyond all numbers, or have few digits.
TEST(Prelude, ComplexFunctionsHoldAtBothEndsOfTheirRange) {
  ForEach(Reals(), [](auto tag) {
    using T = typename decltype(tag)::type;
    using Limits = std::numeric_limits<T>;
    std::vector<hk::Complex<T>> values;
    const T parts[] = {0,
                       Limits::denorm_min(),
                       3 * Limits::denorm_min(),
                       Limits::min() / 8,
                       Limits::min(),
                       1,
                       Limits::max() / 8,
                       Limits::max()};
    for (const T re : parts) {
      for (const T im : parts) {
        if (re == 0 && im == 0) continue;
        values.insert(values.end(), {{re, im}, {-re, im}, {im, -re}});
      }
    }
    for (const hk::Complex<T> at : values) {
      const Wide z = WideOf(at);
      ExpectNear("sign", at, hk::Sign(at), z / std::abs(z));
      ExpectNear("log", at, hk::Log(at), std::log(z));
      ExpectNear("sqrt", at, hk::Sqrt(at), std::sqrt(z));
      ExpectNear("rsqrt", at, hk::Rsqrt(at), Wide(1) / std::sqrt(z));
      for (const hk::Complex<T> by : values) {
        const Wide want = z / WideOf(by);
        const auto got = hk::Divide(at, by);
        if (std::abs(want) <= Limits::max()) {
          ExpectNear("quotient", by, got, want);
        } else {
          EXPECT_FALSE(std::isnan(got.re) || std::isnan(got.im));
        }
      }
    }
    const hk::Complex<T> large = {Limits::max(), -Limits::max()};
    ExpectNear("log1p", large, hk::Log1p(large), std::log(WideOf(large)));
  });
}

TEST(Prelude, ComplexPowers) {
  for (const C64 z : ComplexValues<float>(3)) {
    for (const C64 by : {C64{2, 0}, C64{0.5f, 0}, C64{-1, 0}, C64{0.5f, 1},
                         C64{0, 1}}) {
      if (z.re == 0 && z.im == 0) continue;
      if (std::abs(WideOf(z)) < 1e-6L) continue;
      ExpectNear("power", z, hk::Power(z, by),
                 std::exp(WideOf(by) * std::log(WideOf(z))), 64);
    }
    EXPECT_EQ(hk::Power(z, C64{0, 0}), (C64{1, 0}));
  }
  EXPECT_EQ(hk::Power(C64{0, 0}, C64{2, 1}), (C64{0, 0}));
  EXPECT_EQ(hk::Power(C64{0, 0}, C64{0.5f, 0}), (C64{0, 0}));
  EXPECT_FALSE(hk::IsFinite(hk::Power(C64{0, 0}, C64{-1, 0})));
  EXPECT_FALSE(hk::IsFinite(hk::Power(C64{0, 0}, C64{0, 1})));
}

// Exponents of which the result's digits are few, by both ways of the CPU.
template <typename C>
void ExpectPowers(std::initializer_list<C> bases, std::initializer_list<C> by) {
  using Part = decltype(C::re);
  for (const C z : bases) {
    for (const C y : by) {
      const std::complex<Part> want = cpu::Power::Apply(
          std::complex<Part>(z.re, z.im), std::complex<Part>(y.re, y.im));
      ExpectNear("power", z, hk::Power(z, y), Wide(want.real(), want.imag()),
                 16);
    }
  }
}

TEST(Prelude, ComplexPowersOfLargeExponents) {
  ExpectPowers<C64>(
      {{1.5f, 0.25f}, {-0.75f, 0.5f}, {0.01f, -1.5f}, {1, 1e-6f}},
      {{80, 30}, {-70, 11}, {0.5f, 50}, {3, -2}});
  ExpectPowers<C128>({{1.5, 0.25}, {-0.75, 0.5}, {0.01, -3}, {1, 1e-6}},
                     {{500, 30}, {-170, 11}, {0.5, 300}, {1, -2}, {0, 1}});
  ExpectPowers<C128>({{1e200, -1e190}, {3e-300, 1e-310}},
                     {{1.5, 20}, {-0.5, -3}, {1, -2}, {0, 1}});
}

TEST(Prelude, InfiniteExponentsAreThoseOfC) {
  const float kInf = std::numeric_limits<float>::infinity();
  const float kNan = std::numeric_limits<float>::quiet_NaN();
  const float parts[] = {0.0f, -0.0f, 1, -2, 3, kInf, -kInf, kNan};
  for (const float re : parts) {
    for (const float im : parts) {
      const C64 got = hk::Exp(C64{re, im});
      const std::complex<float> want = std::exp(std::complex<float>(re, im));
      if (std::isfinite(want.real()) && std::isfinite(want.imag())) {
        ExpectNear("Exp", C64{re, im}, got, Wide(want.real(), want.imag()));
        continue;
      }
      // Which sign an infinity has beside NaN is not said.
      EXPECT_EQ(std::isnan(got.re), std::isnan(want.real())) << re << " " << im;
      EXPECT_EQ(std::isnan(got.im), std::isnan(want.imag())) << re << " " << im;
      EXPECT_EQ(std::isinf(got.re), std::isinf(want.real())) << re << " " << im;
    }
  }
  ExpectNear("Exp", C64{89, 0.78125f}, hk::Exp(C64{89, 0.78125f}),
             std::exp(Wide(89, 0.78125L)));
  ExpectNear("Exp", C64{-95, 0.75f}, hk::Exp(C64{-95, 0.75f}),
             std::exp(Wide(-95, 0.75L)), 2);
  ExpectNear("Tan", C64{1, 60}, hk::Tan(C64{1, 60}), Wide(0, 1));
  ExpectNear("Tan", C64{0.5f, -0.25f}, hk::Tan(C64{0.5f, -0.25f}),
             std::tan(Wide(0.5L, -0.25L)));
}

TEST(Prelude, CountsBits) {
  ForEach(Integers(), [](auto tag) {
    using T = typename decltype(tag)::type;
    using Bits = std::make_unsigned_t<T>;
    for (const T x : Values<T>()) {
      const auto in = Same<Inner<T>>(x);
      EXPECT_EQ(Outer<T>(hk::PopulationCount(in)),
                static_cast<T>(std::popcount(static_cast<Bits>(x))));
      EXPECT_EQ(Outer<T>(hk::CountLeadingZeros(in)),
                static_cast<T>(std::countl_zero(static_cast<Bits>(x))));
    }
  });
}

// What the CPU's loop makes of a number.
template <typename T>
T Reduced(T x, int exponent, int mantissa) {
  const DType dtype = kDTypeOf<T>;
  const Attributes bits = {{"exponent_bits", int64_t{exponent}},
                           {"mantissa_bits", int64_t{mantissa}}};
  const char* const in[] = {reinterpret_cast<const char*>(&x)};
  T out;
  cpu::ReducePrecisionElement({{&dtype, 1}, dtype, bits})(
      in, reinterpret_cast<char*>(&out), 1);
  return out;
}

template <int exponent, int mantissa, typename T>
void ExpectReduced() {
  for (const T x : Values<T>()) {
    const T got =
        Outer<T>(hk::ReducePrecision<exponent, mantissa>(Same<Inner<T>>(x)));
    EXPECT_TRUE(Equal(got, Reduced(x, exponent, mantissa)))
        << +x << " in " << exponent << " and " << mantissa << " bits: " << +got;
  }
}

TEST(Prelude, FloatsOfFewerBits) {
  ExpectReduced<5, 10, float>();
  ExpectReduced<8, 7, float>();
  ExpectReduced<8, 23, float>();
  ExpectReduced<1, 0, float>();
  ExpectReduced<8, 23, double>();
  ExpectReduced<11, 3, double>();
  ExpectReduced<4, 3, Half>();
  ExpectReduced<5, 2, Half>();
  ExpectReduced<5, 0, BFloat16>();
  ExpectReduced<8, 4, BFloat16>();
}

TEST(Prelude, ComplexNumbersAreEqualInBothParts) {
  for (const C64 b : {C64{1, 2}, C64{1, 3}, C64{3, 2}, C64{3, 3}}) {
    const bool same = b.re == 1 && b.im == 2;
    EXPECT_EQ((C64{1, 2} == b), same);
    EXPECT_EQ((C64{1, 2} != b), !same);
  }
  EXPECT_TRUE(hk::IsFinite(C64{1, 2}));
  EXPECT_FALSE(hk::IsFinite(C64{INFINITY, 2}));
  EXPECT_FALSE(hk::IsFinite(C64{1, NAN}));
}

TEST(Prelude, ComplexNumbersAreConvertedByPart) {
  EXPECT_EQ((hk::ConvertComplex<C128>(C64{1.5f, -2})), (C128{1.5, -2}));
  EXPECT_EQ((hk::ConvertComplex<C64>(C128{1e-3, 3})), (C64{1e-3f, 3}));
  EXPECT_EQ((hk::ConvertComplex<C64>(int32_t{-7})), (C64{-7, 0}));
  EXPECT_EQ((hk::ConvertComplex<int32_t>(C64{-7.5f, 9})), -7);
  EXPECT_EQ((hk::ConvertComplex<double>(C64{0.5f, 9})), 0.5);
  for (const C64 z : {C64{0, 0}, C64{1, 0}, C64{0, 1}, C64{2, 3}}) {
    EXPECT_EQ((hk::ConvertComplex<bool>(z)), z.re != 0);
  }
}

TEST(Prelude, LogisticIsGoodOnBothSides) {
  for (const double x : {-700.0, -30.0, -2.0, -1e-3, 0.0, 1e-3, 2.0, 30.0}) {
    EXPECT_NEAR(hk::Logistic(x), 1 / (1 + std::exp(-x)),
                1e-15 / (1 + std::exp(-x)));
  }
}

// What nothing changes, for each fold and kind of number.
template <typename Op, typename T>
void ExpectIdentity(const std::vector<T>& values) {
  for (const T x : values) {
    EXPECT_EQ(Op::Combine(Op::Identity(), x), x);
    EXPECT_EQ(Op::Combine(x, Op::Identity()), x);
  }
}
TEST(Prelude, FoldsHaveAnIdentity) {
  const std::vector<float> reals = {-INFINITY, -3, 0, 2, INFINITY};
  ExpectIdentity<hk::Sum<float>>(reals);
  ExpectIdentity<hk::Product<float>>(reals);
  ExpectIdentity<hk::Maximum<float>>(reals);
  ExpectIdentity<hk::Minimum<float>>(reals);
  ExpectIdentity<hk::Maximum<double>>(std::vector<double>{-INFINITY, 1});
  ExpectIdentity<hk::Minimum<double>>(std::vector<double>{INFINITY, 1});
  const std::vector<int8_t> integers = {-128, -1, 0, 1, 127};
  ExpectIdentity<hk::Sum<int8_t>>(integers);
  ExpectIdentity<hk::Product<int8_t>>(integers);
  ExpectIdentity<hk::Maximum<int8_t>>(integers);
  ExpectIdentity<hk::Minimum<int8_t>>(integers);
  ExpectIdentity<hk::And<int8_t>>(integers);
  ExpectIdentity<hk::Or<int8_t>>(integers);
  ExpectIdentity<hk::Maximum<uint8_t>>(std::vector<uint8_t>{0, 1, 255});
  ExpectIdentity<hk::Minimum<uint8_t>>(std::vector<uint8_t>{0, 1, 255});
  const std::vector<bool> truths = {false, true};
  ExpectIdentity<hk::And<bool>>(truths);
  ExpectIdentity<hk::Or<bool>>(truths);
  ExpectIdentity<hk::Maximum<bool>>(truths);
  ExpectIdentity<hk::Minimum<bool>>(truths);
  for (const bool a : truths) {
    for (const bool b : truths) {
      EXPECT_EQ(hk::And<bool>::Combine(a, b), a && b);
      EXPECT_EQ(hk::Or<bool>::Combine(a, b), a || b);
    }
  }
  EXPECT_EQ((hk::And<int8_t>::Combine(12, 10)), 8);
  EXPECT_EQ((hk::Or<int8_t>::Combine(12, 10)), 14);
}

TEST(Prelude, ClampKeepsNaN) {
  EXPECT_EQ(hk::Clamp(0.0f, 5.0f, 1.0f), 1.0f);
  EXPECT_EQ(hk::Clamp(0.0f, -5.0f, 1.0f), 0.0f);
  EXPECT_TRUE(std::isnan(hk::Clamp(0.0f, NAN, 1.0f)));
  EXPECT_EQ(hk::Clamp<hk::u8>(3, 1, 9), 3);
}

}  // namespace
}  // namespace hawser
