// The two 16-bit floating types. Storage is the bit pattern; arithmetic is
// done in float and rounded once (nearest, ties to even) on the way back.
#ifndef HAWSER_CORE_BASE_VALUES_HALF_H_
#define HAWSER_CORE_BASE_VALUES_HALF_H_

#include <bit>
#include <cstdint>
#include <limits>

namespace hawser {

// IEEE binary16: 1 sign, 5 exponent, 10 mantissa bits.
struct Half {
  uint16_t bits = 0;

  constexpr Half() = default;
  constexpr explicit Half(float value) : bits(FromFloat(value)) {}
  static constexpr Half FromBits(uint16_t bits) {
    Half h;
    h.bits = bits;
    return h;
  }
  constexpr operator float() const {  // NOLINT: widening is exact
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
    const uint32_t exponent = (bits >> 10) & 0x1Fu;
    uint32_t mantissa = bits & 0x3FFu;
    if (exponent == 0x1F) {
      return std::bit_cast<float>(sign | 0x7F800000u | (mantissa << 13));
    }
    if (exponent != 0) {
      return std::bit_cast<float>(sign | ((exponent + 112) << 23) |
                                  (mantissa << 13));
    }
    // Subnormals: mantissa * 2^-24 is exact in float.
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }

 private:
  static constexpr uint16_t FromFloat(float value) {
    const uint32_t f = std::bit_cast<uint32_t>(value);
    const uint16_t sign = static_cast<uint16_t>((f >> 16) & 0x8000u);
    const uint32_t magnitude = f & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) {  // NaN: keep it quiet
      return sign | 0x7E00u | static_cast<uint16_t>((magnitude >> 13) & 0x3FF);
    }
    if (magnitude >= 0x477FF000u) return sign | 0x7C00u;  // rounds to Inf
    if (magnitude < 0x38800000u) {  // subnormal half or zero
      if (magnitude < 0x33000000u) return sign;  // below half the smallest
      const int shift = 126 - static_cast<int>(magnitude >> 23);
      const uint32_t mantissa = (magnitude & 0x7FFFFFu) | 0x800000u;
      uint32_t half = mantissa >> shift;
      const uint32_t rest = mantissa & ((1u << shift) - 1);
      const uint32_t middle = 1u << (shift - 1);
      if (rest > middle || (rest == middle && (half & 1))) ++half;
      return sign | static_cast<uint16_t>(half);
    }
    uint32_t rounded = magnitude - (112u << 23);
    rounded += 0xFFFu + ((rounded >> 13) & 1);
    return sign | static_cast<uint16_t>(rounded >> 13);
  }
};

// bfloat16: the upper half of a binary32.
struct BFloat16 {
  uint16_t bits = 0;

  constexpr BFloat16() = default;
  constexpr explicit BFloat16(float value) : bits(FromFloat(value)) {}
  static constexpr BFloat16 FromBits(uint16_t bits) {
    BFloat16 b;
    b.bits = bits;
    return b;
  }
  constexpr operator float() const {  // NOLINT: widening is exact
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }

 private:
  static constexpr uint16_t FromFloat(float value) {
    const uint32_t f = std::bit_cast<uint32_t>(value);
    if ((f & 0x7FFFFFFFu) > 0x7F800000u) {
      return static_cast<uint16_t>((f >> 16) | 0x40u);
    }
    return static_cast<uint16_t>((f + 0x7FFFu + ((f >> 16) & 1)) >> 16);
  }
};

static_assert(sizeof(Half) == 2 && sizeof(BFloat16) == 2);

}  // namespace hawser
#endif  // HAWSER_CORE_BASE_VALUES_HALF_H_
