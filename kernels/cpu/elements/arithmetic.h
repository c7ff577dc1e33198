// Arithmetic ops on one element, as functors. `Apply` exists for exactly the
// types an op is computed in (f16 and bf16 are computed in float); the integer
// corners are those of house.md, section 9.
#ifndef HAWSER_KERNELS_CPU_ELEMENTS_ARITHMETIC_H_
#define HAWSER_KERNELS_CPU_ELEMENTS_ARITHMETIC_H_

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "core/base/values/dtype.h"
#include "kernels/cpu/elements/remainder.h"

namespace hawser::cpu {

template <typename T>
concept BoolType = std::same_as<T, bool>;
template <typename T>
concept IntegerType = kIsInteger<T>;
template <typename T>
concept RealType = std::floating_point<T>;
template <typename T>
concept ComplexType = kIsComplex<T>;
template <typename T>
concept RealOrComplex = RealType<T> || ComplexType<T>;
template <typename T>
concept BitsType = BoolType<T> || IntegerType<T>;

// Unsigned and at least 32 bits wide, so that no promotion to int overflows.
template <IntegerType T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), uint32_t,
                                    std::make_unsigned_t<T>>;

template <IntegerType T>
constexpr int kBitsOf = 8 * sizeof(T);

template <RealType T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

// The exponent of the larger part; 0 if that is 0 or no number.
template <ComplexType T>
int ExponentOf(T z) {
  const auto size = std::max(std::abs(z.real()), std::abs(z.imag()));
  return size > 0 && std::isfinite(size) ? std::ilogb(size) : 0;
}

// z 2^exponent.
template <ComplexType T>
T Scaled(T z, int exponent) {
  return T(std::scalbn(z.real(), exponent), std::scalbn(z.imag(), exponent));
}

struct Add {
  template <IntegerType T>
  static T Apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) +
                          static_cast<Wrapping<T>>(b));
  }
  template <RealOrComplex T>
  static T Apply(T a, T b) {
    return a + b;
  }
};

struct Subtract {
  template <IntegerType T>
  static T Apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) -
                          static_cast<Wrapping<T>>(b));
  }
  template <RealOrComplex T>
  static T Apply(T a, T b) {
    return a - b;
  }
};

struct Multiply {
  template <IntegerType T>
  static T Apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) *
                          static_cast<Wrapping<T>>(b));
  }
  template <RealType T>
  static T Apply(T a, T b) {
    return a * b;
  }
  // The sums as they are, as NumPy and XLA have it: C's own product looks for
  // infinities where both are NaN, which no other engine does.
  template <ComplexType T>
  static T Apply(T a, T b) {
    return T(a.real() * b.real() - a.imag() * b.imag(),
             a.real() * b.imag() + a.imag() * b.real());
  }
};

struct Divide {
  template <IntegerType T>
  static T Apply(T a, T b) {
    if (b == 0) return static_cast<T>(~Wrapping<T>{0});
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) {
      return Subtract::Apply(T{0}, a);  // MIN / -1 = MIN
    }
    return static_cast<T>(a / b);
  }
  template <RealType T>
  static T Apply(T a, T b) {
    return a / b;
  }
  // Near either end of f64 g++ makes infinity, NaN and 0 of what is a number
  // (f32 it divides in f64).
  template <ComplexType T>
  static T Apply(T a, T b) {
    constexpr int kFar = 500;
    const int up = ExponentOf(a), down = ExponentOf(b);
    if (std::abs(up) < kFar && std::abs(down) < kFar) return a / b;
    return Scaled(Scaled(a, -up) / Scaled(b, -down), up - down);
  }
};

struct Remainder {
  template <IntegerType T>
  static T Apply(T a, T b) {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
  template <RealType T>
  static T Apply(T a, T b) {
    return FloatRemainder(a, b);
  }
};

// The larger; NaN wins, -0 is below +0. Equal bits give the same bits; of two
// zeros `&` keeps the sign only when both have it. Two NaNs add up to one.
struct Maximum {
  template <BitsType T>
  static T Apply(T a, T b) {
    return a > b ? a : b;
  }
  template <RealType T>
  static T Apply(T a, T b) {
    using Bits = BitsOf<T>;
    const T same = std::bit_cast<T>(static_cast<Bits>(
        std::bit_cast<Bits>(a) & std::bit_cast<Bits>(b)));
    return a > b ? a : b > a ? b : a == b ? same : a + b;
  }
};

struct Minimum {
  template <BitsType T>
  static T Apply(T a, T b) {
    return a < b ? a : b;
  }
  template <RealType T>
  static T Apply(T a, T b) {
    using Bits = BitsOf<T>;
    const T same = std::bit_cast<T>(static_cast<Bits>(
        std::bit_cast<Bits>(a) | std::bit_cast<Bits>(b)));
    return a < b ? a : b < a ? b : a == b ? same : a + b;
  }
};

struct And {
  template <BitsType T>
  static T Apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};

struct Or {
  template <BitsType T>
  static T Apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};

struct Xor {
  template <BitsType T>
  static T Apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};

// base^n modulo 2^32 or 2^64, by at most 16 squarings. The rest of n has a
// closed form: an even base to the power of 2^16 is 0, and an odd one is 1 + w
// where w is a multiple of 2^18, so that w^4 vanishes from (1 + w)^n.
template <typename U>
U WrappingPower(U base, U n) {
  constexpr int kSquarings = 16;
  U power{1};
  for (int i = 0; i < kSquarings && n != U{0}; ++i, n >>= 1) {
    if ((n & U{1}) != U{0}) power *= base;
    base *= base;
  }
  if (n == U{0}) return power;
  if ((base & U{1}) == U{0}) return U{0};
  const U third = (~U{0} / U{3} << 1) | U{1};  // 1/3
  const U w = base - U{1};
  const U pairs = (n & U{1}) == U{0} ? (n >> 1) * (n - U{1})
                                     : n * ((n - U{1}) >> 1);
  const U triples = pairs * (n - U{2}) * third;
  return power * (U{1} + w * (n + w * (pairs + w * triples)));
}

struct Power {
  // Squares and wraps. A negative exponent gives 1 of 1, +-1 of -1, else 0.
  template <IntegerType T>
  static T Apply(T base, T exponent) {
    if (std::is_signed_v<T> && exponent < 0) {
      if (base == 1) return 1;
      if (base != static_cast<T>(-1)) return 0;
      return exponent % 2 == 0 ? T{1} : base;
    }
    return static_cast<T>(WrappingPower(
        static_cast<Wrapping<T>>(base),
        static_cast<Wrapping<T>>(
            static_cast<std::make_unsigned_t<T>>(exponent))));
  }
  template <RealType T>
  static T Apply(T base, T exponent) {
    return std::pow(base, exponent);
  }
  // pow of the library goes through log and would make NaN of 0 to the 0. All
  // digits of the logarithm before its point are lost, so there are more.
  template <ComplexType T>
  static T Apply(T base, T exponent) {
    using Part = std::conditional_t<sizeof(T) == 8, double, long double>;
    using Wide = std::complex<Part>;
    if (exponent == T{0}) return T{1};
    if (base == T{0} && exponent.real() > 0 && std::isfinite(exponent.imag())) {
      return T{0};
    }
    const Wide power = std::pow(Wide(base.real(), base.imag()),
                                Wide(exponent.real(), exponent.imag()));
    using To = typename T::value_type;
    return T(static_cast<To>(power.real()), static_cast<To>(power.imag()));
  }
};

struct Atan2 {
  template <RealType T>
  static T Apply(T y, T x) {
    return std::atan2(y, x);
  }
};

// Amounts are read as unsigned, so negative ones are at least the width.
struct ShiftLeft {
  template <IntegerType T>
  static T Apply(T a, T by) {
    using U = std::make_unsigned_t<T>;
    if (static_cast<U>(by) >= kBitsOf<T>) return 0;
    return static_cast<T>(static_cast<Wrapping<T>>(a) << static_cast<U>(by));
  }
};

struct ShiftRightLogical {
  template <IntegerType T>
  static T Apply(T a, T by) {
    using U = std::make_unsigned_t<T>;
    if (static_cast<U>(by) >= kBitsOf<T>) return 0;
    return static_cast<T>(static_cast<U>(a) >> static_cast<U>(by));
  }
};

struct ShiftRightArithmetic {
  template <IntegerType T>
  static T Apply(T a, T by) {
    using U = std::make_unsigned_t<T>;
    using S = std::make_signed_t<T>;
    const int amount = static_cast<U>(by) >= kBitsOf<T>
                           ? kBitsOf<T> - 1
                           : static_cast<int>(by);
    return static_cast<T>(static_cast<S>(a) >> amount);
  }
};

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_ELEMENTS_ARITHMETIC_H_
