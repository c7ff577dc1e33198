// Counts of bits, and floats of fewer bits. Needs prelude.cuh before it.
#ifndef HK_BITS
#define HK_BITS

namespace hk {
template <class T> HK_DEVICE T PopulationCount(T x) {
  return (T)CountBits((typename Type<T>::Unsigned)x);
}
template <class T> HK_DEVICE T CountLeadingZeros(T x) {
  constexpr s32 kUnused = 64 - 8 * (s32)sizeof(T);
  return (T)(CountZerosAbove((typename Type<T>::Unsigned)x) - kUnused);
}

// Rounds a float of kExponent and kMantissa bits to `exponent` and `mantissa`
// of them: to nearest even, infinite beyond the largest, 0 below the smallest
// normal one. A carry into the exponent is as it should be.
template <int kExponent, int kMantissa, int exponent, int mantissa, class Word>
HK_DEVICE Word ReducedBits(Word x) {
  constexpr int dropped = kMantissa - mantissa;
  constexpr u64 one = 1, bias = (one << (kExponent - 1)) - 1;
  constexpr u64 reach = (one << (exponent - 1)) - 1;
  constexpr u64 infinity = ((one << kExponent) - 1) << kMantissa;
  const u64 sign = x & one << (kExponent + kMantissa);
  u64 size = x ^ sign;
  if (size > infinity) return x;
  if constexpr (dropped > 0) {
    size += (size >> dropped & 1) + (one << (dropped - 1)) - 1;
    size = size >> dropped << dropped;
  }
  if constexpr (exponent < kExponent) {
    const u64 power = size & infinity;
    if (power > (bias + reach) << kMantissa) size = infinity;
    if (power <= (bias - reach) << kMantissa) size = 0;
  }
  return (Word)(sign | size);
}
template <int exponent, int mantissa> HK_DEVICE f16 ReducePrecision(f16 x) {
  return {ReducedBits<5, 10, exponent, mantissa>(x.bits)};
}
template <int exponent, int mantissa> HK_DEVICE bf16 ReducePrecision(bf16 x) {
  return {ReducedBits<8, 7, exponent, mantissa>(x.bits)};
}
template <int exponent, int mantissa> HK_DEVICE float ReducePrecision(float x) {
  return BitCast<float>(
      ReducedBits<8, 23, exponent, mantissa>(BitCast<u32>(x)));
}
template <int exponent, int mantissa>
HK_DEVICE double ReducePrecision(double x) {
  return BitCast<double>(
      ReducedBits<11, 52, exponent, mantissa>(BitCast<u64>(x)));
}

// 1 / (1 + e^-x), of an e^ that cannot overflow.
template <class T> HK_DEVICE T Logistic(T x) {
  const T e = Exp(-Abs(x));
  return x < 0 ? e / (1 + e) : 1 / (1 + e);
}
}  // namespace hk
#endif  // HK_BITS
