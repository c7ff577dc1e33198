// The prelude's functions against what the same ops mean on the CPU.
#define HK_HOST 1
#include "kernels/dialect/prelude.cuh"
#include "kernels/dialect/reduce.cuh"
#include "kernels/dialect/complex.cuh"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include "core/base/dtype.h"
#include "kernels/cpu/arithmetic.h"
#include "kernels/cpu/conversion.h"

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
          1e-45, 127.5, 255.9, 2147483648.0, 4294967296.0, 9.3e18, 1.9e19,
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
      for (const From x : Values<From>()) {
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

TEST(Prelude, ClampKeepsNaN) {
  EXPECT_EQ(hk::Clamp(0.0f, 5.0f, 1.0f), 1.0f);
  EXPECT_EQ(hk::Clamp(0.0f, -5.0f, 1.0f), 0.0f);
  EXPECT_TRUE(std::isnan(hk::Clamp(0.0f, NAN, 1.0f)));
  EXPECT_EQ(hk::Clamp<hk::u8>(3, 1, 9), 3);
}

}  // namespace
}  // namespace hawser
