// fmod in a time that does not grow with the distance of the exponents.
#ifndef HAWSER_KERNELS_CPU_ELEMENTS_REMAINDER_H_
#define HAWSER_KERNELS_CPU_ELEMENTS_REMAINDER_H_

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>

namespace hawser::cpu {

// `Wide` holds twice a product of two significands; exponents of T are less
// than (bits of Bits) << kSquarings apart.
template <std::floating_point T>
struct RemainderTraits;
template <>
struct RemainderTraits<float> {
  using Bits = uint32_t;
  using Wide = uint64_t;
  static constexpr int kSquarings = 4;
};
template <>
struct RemainderTraits<double> {
  using Bits = uint64_t;
  using Wide = unsigned __int128;
  static constexpr int kSquarings = 5;
};

// a 2^n mod m by powers: kSquarings + 2 divisions whatever n is. n is
// below (bits of Bits) << kSquarings.
template <typename Wide, int kSquarings, typename Bits>
Bits ScaledRemainder(Bits a, int n, Bits m) {
  Bits power = Bits{1} << (n >> kSquarings);
  if (power >= m) power %= m;  // where m is small
  for (int i = kSquarings - 1; i >= 0; --i) {
    const Wide square = (Wide{power} * Wide{power}) << (n >> i & 1);
    power = static_cast<Bits>(square % Wide{m});
  }
  return static_cast<Bits>(Wide{power} * Wide{a} % Wide{m});
}

// std::fmod bit for bit; numbers that are none, and 0 for b, are left to it.
template <std::floating_point T>
T FloatRemainder(T a, T b) {
  using Traits = RemainderTraits<T>;
  using Bits = typename Traits::Bits;
  constexpr int kWidth = 8 * sizeof(T);
  constexpr int kFraction = std::numeric_limits<T>::digits - 1;
  constexpr int kSpare = kWidth - 1 - kFraction;  // above a significand
  constexpr Bits kSign = Bits{1} << (kWidth - 1);
  constexpr Bits kOne = Bits{1} << kFraction;  // the bit that is not stored
  const Bits infinity = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
  const Bits sign = std::bit_cast<Bits>(a) & kSign;
  const Bits x = std::bit_cast<Bits>(a) & ~kSign;
  const Bits y = std::bit_cast<Bits>(b) & ~kSign;
  if (x >= infinity || y > infinity || y == 0) return std::fmod(a, b);
  if (x < y) return a;
  // Numbers as significand times 2 to the power of the exponent.
  const auto from = static_cast<int>(x >> kFraction);
  const auto to = static_cast<int>(y >> kFraction);
  const Bits big = (x & (kOne - 1)) | (from != 0 ? kOne : 0);
  const Bits small = (y & (kOne - 1)) | (to != 0 ? kOne : 0);
  const int exponent = to != 0 ? to : 1;
  const int apart = (from != 0 ? from : 1) - exponent;
  const Bits rest =
      apart <= kSpare
          ? (big << apart) % small
          : ScaledRemainder<typename Traits::Wide, Traits::kSquarings>(
                big, apart, small);
  if (rest == 0) return std::bit_cast<T>(sign);
  const int up = std::countl_zero(rest) - kSpare;
  const Bits bits =
      up < exponent
          ? (static_cast<Bits>(exponent - up - 1) << kFraction) + (rest << up)
          : rest << (exponent - 1);  // subnormal
  return std::bit_cast<T>(sign | bits);
}

}  // namespace hawser::cpu
#endif  // HAWSER_KERNELS_CPU_ELEMENTS_REMAINDER_H_
